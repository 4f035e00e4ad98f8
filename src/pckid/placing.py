"""New rows and a model: how the model's own table was read, and the clusters of other rows."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from pckid._utils.arrays import to_numpy
from pckid._utils.parallel import n_threads
from pckid.cluster import PCKID
from pckid.exceptions import PckidModelError
from pckid.input.categories import UnseenCategoryWarning
from pckid.input.column_groups import plain_table
from pckid.input.validation import validate_table
from pckid.input.warnings import without_own_words
from pckid.series.table import SeriesFormat
from pckid.spectral.assignment import place_rows
from pckid.tables.known_columns import Known
from pckid.tables.options import CaseOptions, ColumnOptions, ReadOptions
from pckid.tables.prepared import Prepared

_LISTS = ("na_values", "not_missing", "numbers", "dates")
# Options of reading that hold for other files of the same origin, too.
_KEPT = ("delimiter", "decimal", "encoding")


def describe_reading(prepared: Prepared) -> dict[str, list[str]]:
    """Say how the table of a model was read, for the model's file: lists of texts."""
    series = []
    if prepared.lines is not None:
        series, prepared = [prepared.series.format.to_json()], prepared.lines
    chosen, options = prepared.options, prepared.table.reading
    kept = {key: list(getattr(chosen, key)) for key in ("na_values", "not_missing")}
    kept["limits"] = [chosen.limits] if chosen.limits else []
    kept["skip_last"] = ["yes"] if prepared.table.parts[-1].n_below else []
    kept["units_row"] = ["yes"] if prepared.table.units_row else []
    for key in ("numbers", "dates"):
        values = getattr(chosen, key)
        kept[key] = [v for v in values if v.rpartition("=")[0] in ("", *prepared.names)]
    units = prepared.units
    kept["units"] = [f"{name}={units[name]}" for name in prepared.names if name in units]
    for key in _KEPT:
        value = getattr(options, key)
        kept[key] = [] if value is None else [value]
    kept["no_header"] = [] if options.header else ["yes"]
    kept["series"] = series
    return kept


def known_reading(description: Mapping[str, Any]) -> dict[str, list[str]]:
    """Read how the table of a model was read from what its file says of itself."""
    reading = description.get("reading")
    reading = reading if isinstance(reading, Mapping) else {}
    keys = *_LISTS, *_KEPT, "units", "no_header", "limits", "skip_last", "units_row", "series"
    known = {key: reading.get(key, []) for key in keys}
    for values in known.values():
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            raise PckidModelError("The model's notes on how to read tables are no lists of texts.")
    return known


def as_known(
    estimator: Any, reading: Mapping[str, list[str]], columns: ColumnOptions, read: ReadOptions
) -> tuple[Known, ColumnOptions, ReadOptions]:
    """Say what a model knows of its columns, and add how its own table was read to options.

    Options that are given hold where both say something.
    """
    if not isinstance(estimator, PCKID):
        raise PckidModelError("The model holds no clusters. Give one from `pckid cluster --save`.")
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        raise PckidModelError(
            "The model does not know the names of its columns. Fit it on a table with names."
        )
    try:
        form = SeriesFormat.from_json(reading["series"][0]) if reading["series"] else None
        lines = CaseOptions(**form.options) if form else None
    except (AttributeError, KeyError, TypeError, ValueError):
        raise PckidModelError("The model's notes on how to read series are not sound.") from None
    units = dict(text.rpartition("=")[::2] for text in reading["units"])
    known = Known(tuple(map(str, names)), estimator.categories_, units, form)
    more: dict[str, Any] = {key: (*reading[key], *getattr(columns, key)) for key in _LISTS}
    for key in _KEPT:
        if reading[key] and getattr(read, key) is None:
            given: dict[str, Any] = {key: reading[key][-1]}
            read = replace(read, **given)
    if reading["no_header"]:
        read = replace(read, header=False)
    if reading["limits"] and not columns.limits:
        more["limits"] = reading["limits"][-1]
    # Rows that look like totals or units are left out where those of the model's table were.
    more["take_advice"] = bool(reading["skip_last"] or reading["units_row"])
    return known, replace(columns, decimal=read.decimal, lines=lines, **more), read


def assign_rows(
    estimator: PCKID, prepared: Prepared, outliers: bool = False
) -> tuple[np.ndarray, ...]:
    """Find the cluster of each row (n_rows,), how clearly it belongs there, and its outlier score.

    The last only if asked for.
    """
    with without_own_words():
        # Notes on the table say which categories the model does not know.
        warnings.simplefilter("ignore", UnseenCategoryWarning)
        X = validate_table(estimator, plain_table(prepared.frame), reset=False)
    return place_rows(estimator._fitted, to_numpy(X), None, n_threads(estimator.n_jobs), outliers)
