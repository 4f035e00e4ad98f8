"""The figures of a report by their names, each described once: for the page and for files."""

from dataclasses import replace

import numpy as np

from pckid.describe.rows import sample_by_cluster
from pckid.figures.figure import Figure
from pckid.figures.marks import Axis, Labels, Line, Mark, Panel, cluster_dots, text_width
from pckid.plots import (
    ChoiceDisplay,
    CorrelogramDisplay,
    FlowDisplay,
    NullDisplay,
    OutcomeDisplay,
    StabilityDisplay,
)
from pckid.plots.display import WIDTH
from pckid.reporting.scene import scene_figures
from pckid.reporting.summary import Summary

MAX_DOTS = 3000  # dots on the map: browsers become slow with more
MAX_PICTURE_COLUMNS = 60
MAX_AXIS = 8  # columns of the axis


def list_figures(summary: Summary) -> dict[str, Figure]:
    """Describe all figures of a report."""
    found, several = summary.assessment, len(summary.clusters) > 1
    figures = {"profile": summary.profile.figure(), "missing": missing_figure(summary)}
    if summary.axis is not None:
        figures["axis"] = summary.axis.profile.head(MAX_AXIS).figure()
    if several:
        figures["map"] = map_figure(summary)
        figures["likeness"] = summary.likeness.figure()
        if summary.heat_map is not None:
            figures["heat-map"] = summary.heat_map.figure()
        if summary.scores is not None:
            figures["scores"] = summary.scores.figure()
        if summary.is_about_groups:
            figures["confidence"] = summary.sureness.figure()
            figures["observed"] = observed_figure(summary)
    if found is not None and found.p_value is not None:
        figures["clearness"] = NullDisplay.from_assessment(found).figure()
    if found is not None and found.cluster_stability is not None:
        figures["stability"] = StabilityDisplay.from_assessment(found).figure()
    if found is not None and found.dependence and found.dependence.correlogram:
        figures["correlogram"] = CorrelogramDisplay.from_assessment(found).figure()
    display = summary.spectrum if summary.choice is None else ChoiceDisplay(summary.choice)
    figures["numbers"] = display.figure()
    if summary.matches is not None:
        flow = summary.matches
        figures["flow"] = FlowDisplay(flow.flows, flow.names_before, flow.names_now).figure()
    for o, outcome in enumerate(summary.outcomes.outcomes if summary.outcomes else ()):
        for v in range(len(outcome.values)):
            shown = OutcomeDisplay.from_comparison(summary.outcomes, o, v)
            figures[f"outcome-{o + 1}-{v + 1}"] = shown.figure()
    if summary.scene is not None:
        figures |= scene_figures(summary.scene)
    if summary.series is not None:
        for number, figure in enumerate(summary.series.display.figures(), 1):
            figures[f"series-{number}"] = figure
    return {name: replace(figure, name=name) for name, figure in figures.items()}


def choose_dots(summary: Summary) -> np.ndarray:
    """Choose the rows of the report that are drawn on the map, by their places (n_dots,)."""
    return np.sort(sample_by_cluster(summary.rows.labels, MAX_DOTS))


def map_figure(summary: Summary) -> Figure:
    """Draw the map of the rows that the report holds, or of a sample of them."""
    places, rows = choose_dots(summary), summary.rows
    return replace(
        summary.map,
        points=rows.points[places],
        labels=rows.labels[places],
        confidence=rows.confidence[places],
        rows=rows.rows[places],
        sized=summary.is_about_groups,
    ).figure()


def missing_figure(summary: Summary) -> Figure:
    """Draw what is missing in the first columns, as readers call them."""
    shown = summary.missingness
    names = [summary.column_titles.get(name, name) for name in shown.feature_names]
    few = slice(MAX_PICTURE_COLUMNS)
    return replace(shown, shares=shown.shares[:, few], feature_names=names[few]).figure()


def observed_figure(summary: Summary) -> Figure:
    """Draw the quartiles of the confidence of rows by the share of them that was observed."""
    groups = summary.confidence
    names = [observed_range(low, high) for low, high, *_ in groups]
    counts = [f"{n_rows:,} rows" for _, _, n_rows, *_ in groups]
    low, middle, high = np.array(
        [quartiles for *_, a, b, c in groups for quartiles in [(a, b, c)]]
    ).T
    places = np.arange(len(groups)) + 0.5
    marks: list[Mark] = [
        Line(np.array(ends), np.array([y, y]), "heat", 5, opacity=0.4)
        for *ends, y in zip(low, high, places, strict=True)
    ]
    marks.append(cluster_dots(middle, places, 0 * places.astype(int), 6, ["heat"] * len(groups)))
    marks.append(Labels(np.full(len(groups), 1.03), places, counts, "start", "soft", 11, dy=4))
    beside = max(map(text_width, counts)) / (WIDTH - 110)
    x = Axis(0, 1.04 + beside, [(v / 4, f"{v / 4:g}") for v in range(5)], "confidence", grid=True)
    y_axis = Axis(len(groups), 0, list(zip(places.tolist(), names, strict=True)))
    panel = Panel(marks, x, y_axis, WIDTH, 30.0 * len(groups) + 60)
    return Figure.of(panel, "Confidence of rows by the share of them that was observed.")


def observed_range(low: float, high: float) -> str:
    """Write a range of shares, or one share where both ends read alike."""
    ends = f"{low:.0%}", f"{high:.0%}"
    return ends[0] if ends[0] == ends[1] else "–".join(ends)
