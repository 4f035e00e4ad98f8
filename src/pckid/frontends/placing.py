"""A model and how its own table was read: written into its file, and read from it."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from pckid.estimator import PCKID
from pckid.exceptions import OptionError, PckidModelError
from pckid.frontends.cases import prepare_table
from pckid.frontends.formats.table import FileTable
from pckid.frontends.options import CaseOptions, ColumnOptions, ReadOptions
from pckid.frontends.tables.choosing import ModelColumns
from pckid.frontends.tables.prepared import Prepared
from pckid.modelfile import load_with_description
from pckid.series.table import SeriesFormat

_LISTS = ("na_values", "not_missing", "numbers", "dates")
# Options of reading that hold for other files of the same origin, too.
_KEPT = ("delimiter", "decimal", "encoding")


def describe_reading(prepared: Prepared) -> dict[str, list[str]]:
    """Describe how the table of a model was read, for the model's file: lists of texts."""
    series = []
    if prepared.lines is not None:
        series, prepared = [prepared.series.format.to_json()], prepared.lines
    chosen, options, units = prepared.options, prepared.table.reading, prepared.units
    places = ("", *prepared.names)  # what an option may be about: all columns, or one
    return {
        "na_values": list(chosen.na_values),
        "not_missing": list(chosen.not_missing),
        "limits": [chosen.limits] if chosen.limits else [],
        "skip_last": ["yes"] if prepared.table.parts[-1].n_below else [],
        "skip_below": ["yes"] if prepared.table.n_skipped else [],
        "numbers": [each for each in chosen.numbers if each.rpartition("=")[0] in places],
        "dates": [each for each in chosen.dates if each.rpartition("=")[0] in places],
        "units": [f"{name}={units[name]}" for name in prepared.names if name in units],
        **{key: [v for v in [getattr(options, key)] if v is not None] for key in _KEPT},
        "no_header": [] if options.header else ["yes"],
        "transpose": ["yes"] if options.transpose else [],
        "series": series,
    }


class KnownModel(NamedTuple):
    """A model from a file, and how tables are opened and prepared for it."""

    estimator: PCKID
    columns: ColumnOptions
    reading: ReadOptions
    known: ModelColumns
    na_values: list[str]  # what was missing in its own table
    noted: frozenset[str]  # options of reading that its file sets, and nobody else

    def prepare(self, open_it: Callable[[ReadOptions], FileTable]) -> Prepared:
        """Open a table, and prepare it as the model's own was.

        What does not suit it is the fault of the model's file, if nobody else asked for it.
        """
        try:
            return prepare_table(open_it(self.reading), self.columns, self.known)
        except OptionError as error:
            if not self.noted.issuperset(error.options):
                raise
            raise PckidModelError(
                f"The model's notes on how to read tables are not sound: {error} Its file is "
                "damaged, or from another version of pckid. Fit the model again."
            ) from None


def load_known(
    model: Any, columns: ColumnOptions, reading: ReadOptions, keep_lines: bool = False
) -> KnownModel:
    """Load a model; tables are read as its own was, where the options say nothing else."""
    estimator, description = load_with_description(model)
    kept = _kept_reading(description["reading"])
    if not isinstance(estimator, PCKID):
        raise PckidModelError("The model holds no clusters. Give one from `pckid cluster --save`.")
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        raise PckidModelError(
            "The model does not know the names of its columns. Fit it on a table with names."
        )
    try:
        form = SeriesFormat.from_json(kept["series"][0]) if kept["series"] else None
        lines = CaseOptions(**form.options, keep=keep_lines) if form else None
    except (AttributeError, KeyError, TypeError, ValueError):
        raise PckidModelError("The model's notes on how to read series are not sound.") from None
    units = dict(text.rpartition("=")[::2] for text in kept["units"])
    known = ModelColumns(tuple(map(str, names)), estimator.categories_, units, form)
    same: dict[str, Any] = {
        key: kept[key][-1] for key in _KEPT if kept[key] and getattr(reading, key) is None
    }
    noted = {*same, *(key for key in _LISTS if kept[key] and not getattr(columns, key))}
    if reading.encoding is None:
        # A table of another month may be UTF-8, which any other encoding reads as something else.
        same["fallback_encoding"] = same.pop("encoding", None)
    turned = reading.transpose or bool(kept["transpose"])
    header = reading.header and not kept["no_header"]
    reading = replace(reading, **same, header=header, transpose=turned)
    more: dict[str, Any] = {key: (*kept[key], *getattr(columns, key)) for key in _LISTS}
    if kept["limits"] and not columns.limits:
        more["limits"] = kept["limits"][-1]
        noted.add("limits")
    # Rows that look like totals or units are left out where those of the model's table were.
    more["take_advice"] = bool(kept["skip_last"] or kept["skip_below"])
    columns = replace(columns, decimal=reading.decimal, lines=lines, **more)
    return KnownModel(estimator, columns, reading, known, kept["na_values"], frozenset(noted))


def _kept_reading(reading: Mapping[str, Any]) -> dict[str, list[str]]:
    """Check what a model's file says of how the model's table was read."""
    keys = (
        *_LISTS,
        *_KEPT,
        "units",
        "no_header",
        "transpose",
        "limits",
        "skip_last",
        "skip_below",
        "series",
    )
    kept = {key: reading.get(key, []) for key in keys}
    for values in kept.values():
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            raise PckidModelError("The model's notes on how to read tables are no lists of texts.")
    return kept
