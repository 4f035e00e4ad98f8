"""New rows and a model: the model's columns, and the clusters."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pckid._utils.arrays import to_numpy
from pckid._utils.text import brief
from pckid.cli import _tables
from pckid.cli._cluster import named_columns
from pckid.cli._say import say
from pckid.cluster import PCKID
from pckid.exceptions import PckidModelError, TableError
from pckid.tables import Table


def with_known_codes(description: Mapping[str, Any], given: Sequence[str]) -> tuple[str, ...]:
    """Add the codes for missing values that the model's own table was read with.

    Parameters
    ----------
    description : mapping
        What the model file says of itself.
    given : sequence of str
        Codes from the command line.

    Returns
    -------
    codes : tuple of str
    """
    reading = description.get("reading")
    known = reading.get("na_values", []) if isinstance(reading, Mapping) else []
    if not isinstance(known, list) or not all(isinstance(code, str) for code in known):
        raise PckidModelError("The model's list of codes for missing values is no list of texts.")
    if known:
        say(f"Missing, as for the model's own table: {', '.join(map(brief, known[:10]))}.")
    return (*given, *known)


def select_known(estimator: Any, table: Table, options: Mapping[str, Any]) -> _tables.Selection:
    """Choose the columns that a model was fitted on, by name.

    Parameters
    ----------
    estimator : estimator from a model file
    table : Table
    options : mapping

    Returns
    -------
    selection : Selection
    """
    if not isinstance(estimator, PCKID):
        raise PckidModelError("The model holds no clusters. Give one from `pckid cluster --save`.")
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        raise PckidModelError(
            "The model does not know the names of its columns. Fit it on a table with names."
        )
    absent = [str(name) for name in names if name not in table.names]
    if absent:
        many = f"{len(absent)} of the model's {len(names)} columns, first"
        raise TableError(
            f"{table.source} lacks {many if len(names) > 1 else 'the only column of the model,'} "
            f"'{brief(absent[0])}'. Add it; its cells may be empty."
        )
    others = [name for name in table.names if name not in set(names)]
    known = {"columns": tuple(map(str, names)), "categorical": tuple(estimator.categories_)}
    chosen = _tables.select(table, {**options, "drop": (), **known}, guess=False)
    return chosen._replace(left_out=dict.fromkeys(others, "not known to the model"))


def assign(estimator: PCKID, selection: _tables.Selection) -> dict[str, np.ndarray]:
    """Find the cluster of each row, and how clearly it belongs there."""
    found = estimator.assign(named_columns(selection))
    return {"cluster": to_numpy(found.labels), "confidence": to_numpy(found.confidence)}
