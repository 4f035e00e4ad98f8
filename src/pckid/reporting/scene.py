"""The map in a report on a scene: pictures of an overview, areas, and each cluster's season."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pckid._utils.text import brief
from pckid.describe.trajectories import describe_trajectories
from pckid.figures.colours import PALETTES
from pckid.figures.figure import Figure
from pckid.figures.marks import Axis, Labels, Line, Mark, Panel, Picture
from pckid.maps.colours import rgb
from pckid.maps.overview import Overview
from pckid.maps.pixels import PixelSample
from pckid.plots.details import SeriesDisplay, as_numbers
from pckid.plots.display import WIDTH
from pckid.reporting.rows import MAX_CELLS, RowTable
from pckid.reporting.series import MAX_VARIABLES, SeriesSummary

MAX_STEPS = 64
"""Steps of a share, such as the confidence, that a picture tells apart."""
_MAX_HEIGHT = 1.5 * WIDTH
_ROUND = (1, 2, 5)


def scene_figures(scene: Overview) -> dict[str, Figure]:
    """Describe the pictures of a scene: clusters, the image, the confidence, what is missing."""
    seen = scene.labels >= 0
    colours = np.array([[*rgb(colour), 255] for colour in scene.legend.colours] + [[0, 0, 0, 0]])
    found = {
        "scene": _figure(scene, colours[scene.labels].astype(np.uint8), "Clusters of the pixels."),
        "scene-image": _figure(scene, scene.picture, "The image that was clustered."),
        "scene-confidence": _figure(
            scene, shade(np.where(seen, scene.confidence, np.nan)), "Confidence of the pixels."
        ),
    }
    if scene.missing.any():
        words = "Share of the layers that are missing."
        found["scene-missing"] = _figure(scene, shade(scene.missing), words)
    return found


def shade(shares: np.ndarray) -> np.ndarray:
    """Paint shares (height, width) from white, 0, to dark blue, 1; NaN is not painted.

    The result is of shape (height, width, 4), uint8.
    """
    steps = np.round(np.nan_to_num(np.clip(shares, 0, 1)) * (MAX_STEPS - 1)) / (MAX_STEPS - 1)
    dark = np.array(rgb(PALETTES["light"]["heat"]))
    pixels = np.empty((*shares.shape, 4), dtype=np.uint8)
    pixels[..., :3] = np.round(255 + steps[..., None] * (dark - 255.0))
    pixels[..., 3] = np.where(np.isnan(shares), 0, 255)
    return pixels


def _figure(scene: Overview, pixels: np.ndarray, words: str) -> Figure:
    """Draw a picture of a scene, with a scale where its grid is in metres."""
    height, width = scene.shape
    pixel_width, pixel_height = scene.pixel or (1.0, 1.0)
    across, down = width * pixel_width, height * pixel_height
    # The last pixels shown may stand for rows beyond the scene.
    right, bottom = (length * scene.step for length in pixels.shape[1::-1])
    marks: list[Mark] = [Picture(pixels, 0, right * pixel_width, 0, bottom * pixel_height)]
    size = min(WIDTH, _MAX_HEIGHT * across / down), min(_MAX_HEIGHT, WIDTH * down / across)
    room = 0.0
    if scene.pixel is not None:
        room = down * 26 / size[1]
        length = _round_down(across / 3)
        y = down + room * 0.35
        ends = np.array([0.0, length])
        text = f"{length / 1000:g} km" if length >= 1000 else f"{length:g} m"
        marks.append(Line(ends, np.array([y, y]), "ink", 2))
        marks.append(Labels(ends[1:], np.array([y]), [text], "start", "soft", 11, dx=6, dy=4))
    panel = Panel(marks, Axis(0, across), Axis(down + room, 0), size[0], size[1] + 26 * (room > 0))
    return Figure.of(panel, words)


def _round_down(length: float) -> float:
    """Find the largest round number that is not above a length."""
    power = 10.0 ** np.floor(np.log10(length))
    return float(max(step * power for step in _ROUND if step * power <= length))


def season_table(sample: PixelSample) -> tuple[list[str], np.ndarray, list[list[str]]] | None:
    """Find the bands that come at several dates, the dates, and the columns of each band.

    Returns names of bands, dates (n_times,) and, of each band, the name of the column at each date,
    "" where there is none. None where no band comes twice, or a date is none of this calendar.
    """
    series: dict[str, dict[str, str]] = {}
    for layer in sample.layers:
        if layer.date is not None:
            series.setdefault(layer.series, {})[layer.date] = layer.name
    series = {name: dates for name, dates in series.items() if len(dates) > 1}
    texts = sorted({date for dates in series.values() for date in dates})
    try:
        times = np.array(texts, dtype="M8[s]")
    except ValueError:
        return None
    if not series:
        return None
    if (times == times.astype("M8[D]")).all():
        times = times.astype("M8[D]")
    order = np.argsort(times)
    columns = [[dates.get(texts[place], "") for place in order] for dates in series.values()]
    return list(series), times[order], columns


def summarise_season(sample: Any, labels: np.ndarray, rows: RowTable) -> SeriesSummary | None:
    """Summarise each band's course over the dates by cluster; None where there are no dates."""
    found = season_table(sample) if isinstance(sample, PixelSample) else None
    if found is None:
        return None
    names, times, columns = found
    names, columns = names[:MAX_VARIABLES], columns[:MAX_VARIABLES]
    values = _gather(sample, columns)
    per_row = max(values[0].size, 1)
    places = range(min(len(rows.rows), MAX_CELLS // per_row))
    return SeriesSummary(
        [brief(name, 80) for name in names],
        [str(time).replace("T", " ") for time in times],
        as_numbers(times),
        SeriesDisplay(describe_trajectories(values, labels), times, names),
        {place: values[rows.rows[place]] for place in places},
    )


def _gather(sample: PixelSample, columns: Sequence[Sequence[str]]) -> np.ndarray:
    """Gather values (n_pixels, n_times, n_bands) of columns, NaN where there is none."""
    place = {str(name): number for number, name in enumerate(sample.frame.columns)}
    table = sample.frame.to_numpy()
    values = np.full((len(table), len(columns[0]), len(columns)), np.nan, dtype=np.float32)
    for band, of_band in enumerate(columns):
        for time, name in enumerate(of_band):
            if name:
                values[:, time, band] = table[:, place[name]]
    return values


def pack_scene(scene: Overview) -> dict[str, Any]:
    """Write what the page's script needs: the colours of classes, and their clusters."""
    return {
        "colours": scene.legend.colours,
        "groups": scene.legend.groups,
        "dark": rgb(PALETTES["light"]["heat"])[0],
    }
