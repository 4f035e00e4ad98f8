"""What `pckid cluster` and `pckid predict` do with image stacks: a GeoTIFF comes out."""

import math
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from types import SimpleNamespace
from typing import NamedTuple

import click
import numpy as np

from pckid._utils.commands import as_argument, write_command
from pckid._utils.progress import DESCRIBING, PLACING, READING, part, tell
from pckid._utils.text import list_first
from pckid.assessment import Assessment, assess
from pckid.cubes.cube import Cube
from pckid.cubes.windows import window_side
from pckid.describe.cluster_names import check_cluster_names
from pckid.describe.merging import MergedClusters
from pckid.estimator import PCKID
from pckid.exceptions import PckidModelError, TableError
from pckid.explanation import cluster_tree
from pckid.frontends import run
from pckid.frontends.cli.cluster import make_estimator, split_names
from pckid.frontends.cli.codes import EXIT_DATA, EXIT_OK
from pckid.frontends.cli.map_words import (
    head_clusters,
    list_map_clusters,
    summarise_map,
    tell_scene,
    tell_tree,
    tell_verdict,
)
from pckid.frontends.cli.messages import fail, holding_notes, note, print_json, take_notes
from pckid.frontends.cli.outputs import check_paths, check_report
from pckid.frontends.cli.progress import progress_line
from pckid.frontends.cli.screen import show_found
from pckid.frontends.tables.missing import MissingTokens, as_number
from pckid.input.sentinels import find_codes
from pckid.input.warnings import without_own_words
from pckid.maps.classes import Legend, legend_of, read_classes
from pckid.maps.clustering import CONTEXT, SMOOTH, as_cube, check_sizes, cube_for
from pckid.maps.overview import Overview, OverviewMaker, choose_colouring
from pckid.maps.pixels import PixelSample, draw_pixels
from pckid.maps.placing import PlacedWindow, place_windows
from pckid.maps.sources import bound_cache, find_kind
from pckid.maps.writing import MapFile, check_map_path, open_map
from pckid.modelfile import load_with_description, save
from pckid.significance.new_rows import compare_rows

# Options of commands that images have, too; the others are about tables.
_OF_IMAGES = {
    "path", "model", "n_clusters", "names", "wants_verdict", "out", "as_json", "quiet",
    "report_path", "model_path", "settings", "random_state", "n_runs", "na_values", "not_missing",
    "context", "smooth", "confidence_path", "merge", "classes", "strict", "n_jobs", "take_advice",
}  # fmt: skip
_ONLY_IMAGES = ("context", "smooth", "confidence_path", "merge", "classes")


def is_image(path: str) -> bool:
    """Return whether a path is that of an image stack, read here or not."""
    return path != "-" and find_kind(path) is not None


def run_cluster_map(given: SimpleNamespace) -> None:
    """Cluster the pixels of an image stack, and write the map and what else was asked for."""
    given.names = split_names(given.names)
    estimator, missing = make_estimator(given), _check_use(given)
    if given.names and given.n_clusters and not (given.merge or given.classes):
        check_cluster_names(given.names, given.n_clusters)
    context = CONTEXT if given.context is None else given.context
    smooth = SMOOTH if given.smooth is None else given.smooth
    check_sizes(context=context, smooth=smooth)
    with holding_notes(given.quiet), ExitStack() as line:
        line.enter_context(progress_line(given.quiet))
        with part(0.1, READING):
            cube = as_cube(given.path, missing).with_context(context)
            bound_cache(cube, window_side(len(cube.layers)))
            tell_grid(cube)
            sample = draw_pixels(cube, estimator.random_state)
        _refuse_codes(sample, cube, given.not_missing)
        with part(0.4), without_own_words():
            estimator.fit(sample, positions=sample.positions)
        if given.names and not given.merge:
            estimator.cluster_names_ = given.names
        shown = _pick_classes(estimator, given)
        assessment = None
        if given.wants_verdict and bool(not given.quiet or given.as_json or given.report_path):
            with part(0.5):
                assessment = _judge(estimator, sample)
            for text in replace(assessment, codes=[], ignored=[]).notes:
                note(text)
        with part(0.9, PLACING):
            scene = _write_map(shown, cube, sample, smooth, given)
        totals = scene.totals
        if given.report_path:
            with part(1.0, DESCRIBING):
                _write_report(estimator, replace(sample, scene=scene), assessment, given)
        line.close()
        if given.model_path:
            reading = {"smooth": [str(smooth)], "na_values": [f"{number:g}" for number in missing]}
            save(estimator, given.model_path, reading=reading)
        if not given.quiet:
            told = tell_scene(given.path, cube, totals, shown.legend, sample.n_observed)
            told = tell_verdict(told, assessment, totals)
            if told.lines and shown.model is estimator:
                lines = list_map_clusters(estimator, totals, sample, assessment)
                told = told._replace(lines=lines, heading=head_clusters(assessment))
                told = told._replace(sentences=tell_tree(cluster_tree(estimator, sample)))
            show_found(told._replace(notes=take_notes(), paths=_list_paths(given)))
        if given.as_json:
            print_json(summarise_map(given.path, cube, totals, shown.legend, assessment))


def run_predict_map(given: SimpleNamespace) -> int:
    """Put the pixels of a scene into the clusters of a model, and write the map."""
    missing = _check_use(given)
    model, description = load_with_description(given.model)
    if not isinstance(model, PCKID):
        raise PckidModelError("The model holds no clusters. Give one from `pckid cluster --save`.")
    reading = description["reading"]
    missing = missing or [*MissingTokens.with_defaults(reading.get("na_values", ())).numbers]
    smooth = given.smooth or int(next(iter(reading.get("smooth", ())), 1))
    check_sizes(smooth=smooth)
    model.n_jobs, given.names = given.n_jobs, None
    shown = _pick_classes(model, given)
    with holding_notes(given.quiet):
        cube = cube_for(model, given.path, missing)
        bound_cache(cube, window_side(len(cube.layers)))
        tell_grid(cube)
        sample = draw_pixels(cube, 0)
        with without_own_words():
            compared = compare_rows(model, sample.frame)
        if not compared.alike and not given.strict:
            note(str(compared))
        with progress_line(given.quiet), part(1.0, PLACING):
            totals = _write_map(shown, cube, sample, smooth, given).totals
        if not given.quiet:
            told = tell_scene(given.path, cube, totals, shown.legend, sample.n_observed)
            show_found(told._replace(notes=take_notes(), paths=_list_paths(given)))
        if not compared.alike and given.strict:
            fail(str(compared))
        if given.as_json:
            more = {"changes": compared.records()}
            print_json(summarise_map(given.path, cube, totals, shown.legend, None) | more)
    return EXIT_OK if compared.alike or not given.strict else EXIT_DATA


def refuse_image_options(given: SimpleNamespace) -> None:
    """Refuse options about images where a table is given."""
    asked = [key for key in _ONLY_IMAGES if getattr(given, key, None) not in (None, ())]
    if asked:
        raise click.UsageError(f"{as_argument(asked[0])} is about images, and TABLE is none.")


def _check_use(given: SimpleNamespace) -> list[float]:
    """Refuse options about tables, and wrong outputs; list the numbers that are missing."""
    command = click.get_current_context()
    for param in command.command.params:
        is_given = command.get_parameter_source(str(param.name)) not in (
            click.core.ParameterSource.DEFAULT, None,
        )  # fmt: skip
        if param.name not in _OF_IMAGES and is_given and param.expose_value:
            told = f"{param.opts[0]} is about tables, and {given.path} is an image."
            raise click.UsageError(told)
    outputs = given.out, getattr(given, "report_path", None), getattr(given, "model_path", None)
    if not any((*outputs, given.confidence_path, given.as_json)) or given.out == "-":
        raise click.UsageError("A map is written to a file: add --out clusters.tif.")
    sources = [given.path, *filter(None, [getattr(given, "model", None)])]
    check_paths(sources, [*outputs, given.confidence_path])
    for path in filter(None, (given.out, given.confidence_path)):
        check_map_path(path)
    if outputs[1]:
        check_report(outputs[1])
    bad = [text for text in given.na_values if not math.isfinite(as_number(text))]
    if bad:
        raise click.BadParameter(f"{bad[0]!r} is no number.", param_hint="--na-values")
    return [*map(as_number, given.na_values)]


def tell_grid(cube: Cube) -> None:
    """Say where the map will not lie on the earth."""
    import rioxarray  # noqa: F401  for `.rio`

    if cube.space.rio.crs is None:
        note("The images have no georeference: the map has none, and areas are in pixels.")


def _refuse_codes(sample: PixelSample, cube: Cube, not_missing: Sequence[str]) -> None:
    """Raise if numbers look like codes for "missing", unless they are said to be values."""
    own = sample.frame.to_numpy()[:, : len(cube.own_layers)]
    found = find_codes(own.astype(np.float64))
    kept = {*map(as_number, not_missing)}
    codes = sorted({each.value for codes in found.values() for each in codes} - kept)
    if not codes:
        return
    layers = [cube.names[j] for j, each in found.items() if {c.value for c in each} & {*codes}]
    share = np.isin(own, codes).mean()
    options = as_argument("na_values", f"{codes[0]:g}"), as_argument("not_missing", f"{codes[0]:g}")
    raise TableError(
        f"{codes[0]:g} looks like a code for nothing observed, in {share:.1%} of the cells "
        f"({list_first(layers)}), and the file does not say so. {options[0]} takes it as missing, "
        f"{options[1]} as a value."
    )


def _write_report(
    estimator: PCKID, sample: PixelSample, assessment: Assessment | None, given: SimpleNamespace
) -> None:
    """Write the report: the map, and the pixels that the model was fitted on."""
    from pckid.reporting import Background, report  # Without a report, nothing it needs.

    # A map's verdict is that of its pixels; False: none was asked for.
    about = Background(source=given.path)
    report(estimator, sample, given.report_path, about, assessment=assessment or False)


def _judge(estimator: PCKID, sample: PixelSample) -> Assessment:
    """Find out whether there are groups at all, and how stable the clusters are."""
    return assess(
        estimator, sample.frame, n_null=run.N_NULL, n_resamples=run.N_RESAMPLES,
        random_state=estimator.random_state, n_jobs=estimator.n_jobs,
    )  # fmt: skip


class _Shown(NamedTuple):
    """What the map shows: clusters, or classes of them, and their legend."""

    model: PCKID | MergedClusters
    legend: Legend


def _pick_classes(model: PCKID, given: SimpleNamespace) -> _Shown:
    """Join clusters into classes, by a file or by options, if asked to."""
    if given.classes and (given.merge or given.names):
        other = "--merge" if given.merge else "--names"
        raise click.UsageError(f"--classes says what {other} says: give one of them.")
    if given.classes:
        return _Shown(*read_classes(given.classes, model))
    if not given.merge:
        return _Shown(model, legend_of(model))
    try:
        groups = [[int(number) for number in text.split(",")] for text in given.merge]
        merged = model.merge(groups, given.names or None)
    except ValueError as error:
        told = str(error) if "invalid literal" not in str(error) else "give numbers, as in 0,3."
        raise click.BadParameter(told, param_hint="--merge") from None
    return _Shown(merged, legend_of(merged))


def _write_map(
    shown: _Shown, cube: Cube, sample: PixelSample, smooth: int, given: SimpleNamespace
) -> Overview:
    """Write the map, and the confidence if asked for, and make an overview."""
    colouring = choose_colouring(cube.own_layers, sample.frame.to_numpy())
    overview = OverviewMaker(cube, shown.legend, colouring)
    with ExitStack() as stack:
        files: list[tuple[MapFile, str]] = []
        for path, legend, what in (
            (given.out, shown.legend, "labels"), (given.confidence_path, None, "confidence"),
        ):  # fmt: skip
            if path:
                files.append((stack.enter_context(open_map(path, cube, legend)), what))
        done = 0
        for placed in place_windows(shown.model, cube, smooth, empty=sample.empty):
            for file, what in files:
                file.write(placed.window, _values_of(placed, what))
            overview.add(placed)
            done += placed.labels.size
            tell(done, math.prod(cube.shape))
    return overview.finish()


def _values_of(placed: PlacedWindow, what: str) -> np.ndarray:
    if what == "labels":
        return placed.labels
    return np.where(placed.labels < 0, np.nan, placed.confidence)


def _list_paths(given: SimpleNamespace) -> list[tuple[str, str]]:
    """List what was written, and a command to go on with."""
    paths = [
        ("Report", getattr(given, "report_path", None)),
        ("Map", given.out),
        ("Confidence", given.confidence_path),
        ("Model", getattr(given, "model_path", None)),
    ]
    if getattr(given, "model_path", None):
        words = ["predict", given.model_path, "new.tif"]
        paths.append(("New scenes", write_command(words, {"out": "new-clusters.tif"})))
    return [(name, path) for name, path in paths if path]
