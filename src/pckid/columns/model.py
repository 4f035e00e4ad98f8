"""What is known of the columns of a table before any mixture is: the model of its columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from pckid._utils.arrays import Array, namespace, to_numpy

# Names that model files have for some fields.
_NAMES = {"two_value_share": "higher", "one_hot_weight": "one_hot"}
# Fields that are measured anew on each table, whatever its columns are; without categories, all
# others are the same on tables of the same columns.
MEASURED = (
    "observed", "two_value_share", "one_hot_weight", "count_scale", "count_mean",
    "count_dispersion",
)  # fmt: skip
# Fields that are not of columns of numbers, or not of these alone.
_OF_OTHERS = ("column", "frequencies", "observed", "weights", "levels")
# A category of rows of almost no weight has at least this share, so that its column varies.
RAREST = 1e-6


class ColumnModel(NamedTuple):
    """What the kinds of columns measured over all rows, whatever their component.

    Columns are those of numbers (n_features), then those of categories (n_categorical).
    """

    column: Array  # (n_categories,), which of the categorical columns each category belongs to
    frequencies: Array  # (n_categories,), shares among the observed cells of its column
    observed: Array | None = None  # (n_columns,), shares observed; None: missingness is ignored
    # (n_features,), shares of the higher value in columns of two values, 0 in others; None where
    # no column is of this kind, or where these count as any other number
    two_value_share: Array | None = None
    # (n_features,), weights of those among them that hold one category together, 0 in others; None
    # where there are none
    one_hot_weight: Array | None = None
    # (n_columns,), how many times the log-density of a column counts; None: all count once
    weights: Array | None = None
    # (n_features,) each, of columns of counts, 0 in others: what their numbers were divided by, the
    # means of all rows, and the dispersion within a component; None where there are no counts
    count_scale: Array | None = None
    count_mean: Array | None = None
    count_dispersion: Array | None = None
    # (n_categories,), where levels lie in columns of ordered categories, from 1 for the lowest to 2
    # for the highest, 0 in other columns; None where no categories have an order
    levels: Array | None = None

    @property
    def values_held(self) -> Array | None:
        """How many values each column of numbers holds (n_features,); None: all hold one.

        Those that hold one category together hold one, all together.
        """
        weight = self.one_hot_weight
        return None if weight is None else namespace(weight).where(weight > 0, weight**2, 1.0)

    def astype(self, dtype: Any) -> ColumnModel:
        """Write all but indices in the numbers of the rows."""
        column, *parts = self
        xp = namespace(column)
        cast: Any = (p if p is None else xp.astype(p, dtype, copy=False) for p in parts)
        return ColumnModel(column, *cast)

    def on_host(self) -> ColumnModel:
        """Bring all to the host."""
        parts: Any = (part if part is None else to_numpy(part) for part in self)
        return ColumnModel(*parts)

    def in_groups(self, these: np.ndarray, scale: np.ndarray) -> ColumnModel:
        """Let columns of two values (n_features,), bool, count as numbers; on the host.

        Numbers are divided by another `scale` (n_features,) then.
        """
        model = self
        if self.count_scale is not None:
            is_count = to_numpy(self.count_scale) > 0
            model = model._replace(count_scale=np.where(is_count, scale, 0.0))
        if self.two_value_share is None:
            return model
        share = np.where(these, 0.0, to_numpy(self.two_value_share))
        return model._replace(two_value_share=share if share.any() else None)

    def upright(self, columns: slice) -> ColumnModel:
        """Take some columns of numbers, as vectors that stand upright (n, 1)."""
        parts: dict[str, Any] = self._asdict()
        parts = {k: v for k, v in parts.items() if k not in _OF_OTHERS and v is not None}
        return self._replace(**{k: v[columns][:, None] for k, v in parts.items()})


# Neither categories nor informative missingness.
PLAIN = ColumnModel(np.arange(0), np.zeros(0))


def to_file(model: ColumnModel) -> dict[str, Any]:
    """Name the arrays of a model as its file does."""
    return {_NAMES.get(name, name): part for name, part in model._asdict().items()}


def from_file(found: Mapping[str, Any]) -> ColumnModel:
    """Undo `to_file`."""
    return ColumnModel(**{name: found[_NAMES.get(name, name)] for name in ColumnModel._fields})
