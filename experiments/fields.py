"""Are smooth fields without groups taken for groups by `pckid.maps`?

    python -m experiments fields --runs 20 --jobs -1

Scenes of six layers are white noise smoothed over 0 to 25 pixels, a tenth of them under a cloud on
each layer. A claim is that there are groups (``has_groups``), and a number of clusters above 1.
Beside them stand scenes of four patches whose means differ by some standard deviations, which
should be found.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.ndimage import gaussian_filter

from experiments.output import Found, call_all, experiment, write_found

SMOOTHED = (0, 2, 5, 10, 25)  # standard deviation of the filter, in pixels
PATCHES = (4.0,)  # distances between the means of patches
SIDE, N_LAYERS, CLOUD = 100, 6, 32  # a cloud has so many pixels along its side


def draw_field(width: float, seed: int) -> np.ndarray:
    """Draw a field without groups (n_layers, height, width), NaN under clouds."""
    rng = np.random.default_rng(seed)
    mixed = rng.normal(size=(N_LAYERS, N_LAYERS)) / N_LAYERS**0.5 + np.eye(N_LAYERS)
    fields = rng.normal(size=(N_LAYERS, SIDE, SIDE))
    if width:
        fields = np.array([gaussian_filter(field, width, mode="wrap") for field in fields])
    fields /= fields.std(axis=(1, 2), keepdims=True)
    return _cover(np.einsum("ij,jyx->iyx", mixed, fields), rng)


def draw_patches(distance: float, seed: int) -> np.ndarray:
    """Draw squares of four kinds side by side, with noise that is smooth over two pixels."""
    rng = np.random.default_rng(seed)
    kinds = np.kron(rng.integers(0, 4, (10, 10)), np.ones((SIDE // 10, SIDE // 10), int))
    means = distance / 2**0.5 * np.eye(4, N_LAYERS)
    noise = np.array([gaussian_filter(each, 2) for each in rng.normal(size=(N_LAYERS, SIDE, SIDE))])
    noise /= noise.std()
    return _cover(means[kinds].transpose(2, 0, 1) + noise, rng)


def _cover(layers: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Hide a square of each layer."""
    for layer in layers:
        top, left = rng.integers(0, SIDE - CLOUD, 2)
        layer[top : top + CLOUD, left : left + CLOUD] = np.nan
    return layers


def judge_scene(kind: str, size: float, run: int, seed: int) -> list[Found]:
    """Cluster a scene with the number chosen, and judge what was found."""
    import xarray as xr

    from pckid import PCKID, assess
    from pckid.cubes.cube import read_cube
    from pckid.maps.clustering import CONTEXT, fit_pixels

    draw = draw_field if kind == "field" else draw_patches
    scene = xr.DataArray(draw(size, seed), dims=("band", "y", "x"))
    model = PCKID("auto", random_state=seed)
    pixels = fit_pixels(model, read_cube(scene).with_context(CONTEXT))
    found = assess(model, pixels.frame, random_state=seed)
    setting = f"{size:g}"
    return [
        Found(f"{kind}, groups claimed", setting, run, float(bool(found.has_groups))),
        Found(f"{kind}, k above 1", setting, run, float(model.n_clusters_ > 1)),
        Found(f"{kind}, cannot be judged", setting, run, float(found.has_groups is None)),
    ]


def list_calls(runs: int, seed: int) -> Iterator[tuple[Any, tuple]]:
    """List what is drawn and judged."""
    for kind, sizes in (("field", SMOOTHED), ("patches", PATCHES)):
        for number, size in enumerate(sizes):
            for run in range(runs):
                yield judge_scene, (kind, size, run, seed + 1000 * number + run)


@experiment("fields", "seed", "jobs", runs=20)
def fields_command(seed: int, jobs: int, runs: int, out: Path) -> None:
    """Map scenes without groups, smooth over some pixels, and scenes of patches."""
    write_found(out, "fields", call_all(list_calls(runs, seed), jobs, "scenes"))
