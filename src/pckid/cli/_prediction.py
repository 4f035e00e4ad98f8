"""New rows and a model: the model's columns, and the clusters."""

import difflib
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pckid._utils.arrays import to_numpy
from pckid._utils.text import brief, list_first
from pckid.cli import _tables
from pckid.cli._cluster import named_columns
from pckid.cli._say import say
from pckid.cluster import PCKID
from pckid.exceptions import PckidModelError, TableError
from pckid.inspection.problems import ABOUT_USE, Problem
from pckid.tables import FileTable, Reading

_OPTIONS = ("na_values", "numbers", "dates", "skip_last")
_OPTIONS_ON_COLUMNS = re.compile(r"--(drop|categorical|id|label)\b")


def with_known_reading(
    description: Mapping[str, Any], options: Mapping[str, Any]
) -> dict[str, Any]:
    """Add what the model's own table was read with: codes for missing, formats, dates and units.

    `description` is what the model file says of itself; options of the command line hold where both
    say something.
    """
    reading = description.get("reading")
    reading = reading if isinstance(reading, Mapping) else {}
    known = {key: reading.get(key, []) for key in ("na_values", "numbers", "dates", "units")}
    for values in known.values():
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            raise PckidModelError("The model's notes on how to read tables are no lists of texts.")
    if known["na_values"]:
        codes = ", ".join(map(brief, known["na_values"][:10]))
        say(f"Missing, as for the model's own table: {codes}.")
    return {**options, **{key: (*known[key], *options.get(key, ())) for key in known}}


def select_known(estimator: Any, table: FileTable, options: Mapping[str, Any]) -> _tables.Selection:
    """Choose the columns that a model was fitted on, by name."""
    if not isinstance(estimator, PCKID):
        raise PckidModelError("The model holds no clusters. Give one from `pckid cluster --save`.")
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        raise PckidModelError(
            "The model does not know the names of its columns. Fit it on a table with names."
        )
    others = [name for name in table.names if name not in set(names)]
    absent = [str(name) for name in names if name not in table.names]
    if absent:
        near = _similar_names(absent, others)
        if len(absent) == len(names) > 1 and not near:
            raise TableError(
                f"{table.source} has none of the model's {len(names)} columns, such as "
                f"'{brief(absent[0])}': it is another table, or its columns have other names. Give "
                "rows with the columns of the table that the model was fitted on."
            )
        many = f"{len(absent)} of the model's {len(names)} columns, first"
        raise TableError(
            f"{table.source} lacks {many if len(names) > 1 else 'the only column of the model,'} "
            f"'{brief(absent[0])}'. {_how_to_add(absent, near)}"
        )
    known = {"columns": tuple(map(str, names)), "categorical": tuple(estimator.categories_)}
    planned = _tables.plan_columns(table, {**options, "drop": (), **known}, guess=False)
    chosen = _tables.read_selection(table, planned, options)
    # The model has settled which columns are used, and as what.
    problems = [_for_new_rows(each) for each in chosen.problems if each.kind not in ABOUT_USE]
    problems += _other_units(options.get("units", ()), chosen.readings)
    left_out = dict.fromkeys(others, "not known to the model")
    return chosen._replace(left_out=left_out, problems=problems)


def _for_new_rows(problem: Problem) -> Problem:
    """Advise only what new rows can have: the columns and what they hold are the model's."""
    if not _OPTIONS_ON_COLUMNS.search(problem.fix):
        return problem
    kept = tuple(option for option in problem.options if option.key in _OPTIONS)
    return problem._replace(fix=problem.in_cells, options=kept)


def _other_units(units: Sequence[str], readings: Mapping[str, Reading]) -> list[Problem]:
    """Say which columns are not in the units ("weight=kg") of the model's own table."""
    found = []
    for name, _, unit in (text.rpartition("=") for text in units):
        choice = readings[name].choice if name in readings else None
        if choice and choice.unit and choice.unit.casefold() != unit.casefold():
            evidence = (
                f"Column '{brief(name)}' is in {brief(choice.unit)} here, but was in {brief(unit)} "
                "where the model was fitted."
            )
            found.append(
                Problem(name, "other unit", evidence, "If that is not the same, convert it.")
            )
    return found


def _similar_names(absent: Sequence[str], others: Sequence[str]) -> list[str]:
    """Say which absent columns may be there under other names."""
    plain = {_letters(name): name for name in reversed(others)}
    pairs = []
    for name in absent:
        near = difflib.get_close_matches(_letters(name), plain, n=1)
        if near:
            pairs.append(f"'{brief(plain[near[0]])}' for '{brief(name)}'")
    return pairs


def _how_to_add(absent: Sequence[str], pairs: Sequence[str]) -> str:
    """Say what to do about absent columns, of which `pairs` may have other names."""
    them, their = ("it", "its") if len(absent) == 1 else ("them", "their")
    if pairs:
        return f"Did you mean {list_first(pairs)}? Rename {them}, or add {them} with empty cells."
    return f"Add {them}; {their} cells may be empty."


def _letters(name: str) -> str:
    """Write a name without case and without signs between words."""
    return "".join(sign for sign in name.casefold() if sign.isalnum())


def assign_rows(estimator: PCKID, selection: _tables.Selection) -> dict[str, np.ndarray]:
    """Find the cluster of each row, and how clearly it belongs there."""
    found = estimator.assign(named_columns(selection))
    return {"cluster": to_numpy(found.labels), "confidence": to_numpy(found.confidence)}
