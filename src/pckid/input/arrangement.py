"""How rows are arranged: their positions in time or space, and which of them belong together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from pckid._utils.text import counted
from pckid.input.column_groups import has_groups, plain_table
from pckid.input.columns import as_array, as_frame, cells_of, is_blocked
from pckid.input.known import in_order_of, read_groups

_MAX_AXES = 3
_LATITUDES = ("lat", "latitude")
_LONGITUDES = ("lon", "lng", "long", "longitude")
_KILOMETRES = 6371.0  # the radius of the Earth
_SECONDS_A_DAY = 86400.0


class Arrangement(NamedTuple):
    """Where rows are, and which of them belong together; one of both at least."""

    # (n_samples, n_axes), NaN in all axes of a row whose position is not known
    positions: np.ndarray | None
    together: np.ndarray | None  # (n_samples,), numbers: equal ones belong together
    # What distances are measured in: "days", "km", or "" for the unit of the positions
    unit: str = ""
    # Whether the last axis is a time, in days, beside those of a place
    has_times: bool = False

    @property
    def n_samples(self) -> int:
        """The number of rows."""
        given = self.together if self.positions is None else self.positions
        return 0 if given is None else len(given)

    @property
    def are_known(self) -> np.ndarray:
        """Which rows have a position (n_samples,), if any have one."""
        if self.positions is None:
            return np.ones(self.n_samples, dtype=bool)
        return ~np.isnan(self.positions).any(axis=1)

    @property
    def n_groups(self) -> float:
        """The number of groups; ∞ where rows have positions, too, or no groups."""
        if self.together is None or self.positions is not None:
            return np.inf
        return len(np.unique(self.together))

    def take(self, rows: np.ndarray) -> Arrangement:
        """Keep some rows."""
        positions = None if self.positions is None else self.positions[rows]
        together = None if self.together is None else self.together[rows]
        return self._replace(positions=positions, together=together)

    def distances(self, rows: np.ndarray, others: np.ndarray, pace: float = 1.0) -> np.ndarray:
        """Measure the distances of rows from others (n_rows, n_others).

        Between two groups they are infinite; within one, 0 where there are no positions. Beside a
        place, a day is as far as `pace`.
        """
        found = np.zeros((len(rows), len(others)))
        if self.positions is not None:
            places = self._scaled(pace)
            found = cdist(places[rows], places[others])
        if self.together is not None:
            found[self.together[rows][:, None] != self.together[others]] = np.inf
        return found

    def blocks(self, size: float, pace: float = 1.0) -> np.ndarray:
        """Number the blocks of rows (n_samples,): groups, or squares of a size of positions.

        Rows without a position are blocks of their own.
        """
        keys = np.zeros((self.n_samples, 0))
        if self.positions is not None and size > 0:
            places = self._scaled(pace)
            keys = np.floor((places - np.nanmin(places, axis=0)) / size)
        if self.together is not None:
            keys = np.column_stack([self.together, keys])
        unknown = np.isnan(keys).any(axis=1)
        found = np.empty(len(keys), dtype=np.int64)
        inside = np.unique(keys[~unknown], axis=0, return_inverse=True)[1].reshape(-1)
        found[~unknown] = inside
        found[unknown] = inside.max(initial=-1) + 1 + np.arange(unknown.sum())
        return found

    def _scaled(self, pace: float) -> np.ndarray:
        """Give positions (n_samples, n_axes) in which a day is as far as `pace`, beside a place."""
        assert self.positions is not None
        if not self.has_times:
            return self.positions
        return np.column_stack([self.positions[:, :-1], pace * self.positions[:, -1]])


def split_arrangement(
    X: Any, positions: Any = None, groups: Any = None
) -> tuple[Any, Arrangement | None, tuple[str, ...]]:
    """Read how rows are arranged, and take columns that are named for it out of the table.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    positions : array-like of shape (n_samples,) or (n_samples, n_axes), str or sequence of str
    groups : array-like of shape (n_samples,) or str

    Returns
    -------
    X : array-like
        Without the columns that `positions` and `groups` name.
    arrangement : Arrangement or None
        None where nothing was given.
    names : tuple of str
        These columns.
    """
    if positions is None and groups is None:
        return X, None, ()
    plain = plain_table(X)
    if is_blocked(plain):
        given = "positions" if positions is not None else "groups"
        raise ValueError(
            f"{given} needs a table in memory, but X comes in blocks. Fit on a sample of its rows "
            "in memory, then predict the others."
        )
    n_samples = np.shape(plain)[0] if hasattr(plain, "shape") else len(plain)
    axes = _names_in(positions)
    owner = _names_in(groups) if isinstance(groups, str) else ()
    names = (*axes, *owner)
    frame = as_frame(plain) if names else None
    if names and (frame is None or has_groups(X)):
        raise TypeError(
            f"{'positions' if axes else 'groups'} names {names[0]!r}, a column, but X is no "
            "dataframe. Give the values of the column as an array."
        )
    lacking = [name for name in names if frame is None or name not in frame.columns]
    if lacking and names:
        raise ValueError(
            f"{'positions' if lacking[0] in axes else 'groups'} names {lacking[0]!r}, but X has no "
            "such column. Name columns of X, or give an array."
        )
    places, owners = None, None
    how = Axes()
    if frame is not None:
        if axes:
            columns = [as_array(cells_of(frame.get_column(name))) for name in axes]
            places, how = _read_axes(columns, axes)
        if owner:
            groups = as_array(cells_of(frame.get_column(owner[0])))
        X = frame.drop(list(dict.fromkeys(names))).to_native()
    if positions is not None and not axes:
        places, how = _read_array(in_order_of(plain, positions, "positions"), n_samples)
    if groups is not None:
        owners = read_groups(in_order_of(plain, groups, "groups"), n_samples)
    if places is not None:
        _check_positions(places)
    return X, Arrangement(places, owners, *how), names


class Axes(NamedTuple):
    """What the axes of positions are, as in `Arrangement`."""

    unit: str = ""
    has_times: bool = False


def without_columns(X: Any, names: Sequence[str]) -> Any:
    """Take columns of positions or groups, which are no features, out of a dataframe."""
    frame = as_frame(X) if len(names) else None
    found = [] if frame is None else [name for name in names if name in frame.columns]
    return X if frame is None or not found else frame.drop(found).to_native()


def _names_in(given: Any) -> tuple[str, ...]:
    """List the names of columns; none if `given` are values."""
    if isinstance(given, str):
        return (given,)
    few = isinstance(given, list | tuple) and 0 < len(given) <= _MAX_AXES
    return tuple(given) if few and all(isinstance(each, str) for each in given) else ()


def _read_array(positions: Any, n_samples: int) -> tuple[np.ndarray, Axes]:
    """Read positions (n_samples,) or (n_samples, n_axes) that were given as values."""
    frame = as_frame(positions)
    if frame is not None:
        names = tuple(map(str, frame.columns))
        columns = [as_array(cells_of(column)) for column in frame.iter_columns()]
    else:
        values = as_array(positions)
        values = values[:, None] if values.ndim == 1 else values
        fits = values.ndim == 2 and 0 < values.shape[1] <= _MAX_AXES
        if not fits or len(values) != n_samples:
            raise ValueError(
                f"positions must hold one position for each of the {n_samples} rows, of one to "
                f"three numbers or a time; got an array of shape {np.shape(positions)}."
            )
        names, columns = ("",) * values.shape[1], list(values.T)
    found, how = _read_axes(columns, names)
    if len(found) != n_samples:
        raise ValueError(
            f"positions has {counted(len(found), 'row')}, but X has {n_samples}. Give one position "
            "for each row."
        )
    return found, how


def _read_axes(columns: list[np.ndarray], names: Sequence[str]) -> tuple[np.ndarray, Axes]:
    """Turn columns (n_samples,) into positions (n_samples, n_axes), NaN where one is missing.

    A time goes to the end.
    """
    read = [_read_axis(column, name) for column, name in zip(columns, names, strict=True)]
    values = np.column_stack([column for column, _ in read])
    are_times = [is_time for _, is_time in read]
    if sum(are_times) > 1:
        raise ValueError("positions holds several times of each row. Give one of them.")
    has_times = any(are_times) and len(read) > 1
    times = values[:, are_times] if has_times else values[:, :0]
    lower = [name.strip().lower() for name in names]
    if has_times:
        values = values[:, np.logical_not(are_times)]
        lower = [name for name, is_time in zip(lower, are_times, strict=True) if not is_time]
    is_globe = len(lower) == 2 and any(
        (a in _LATITUDES and b in _LONGITUDES) for a, b in (lower, lower[::-1])
    )
    if is_globe:
        turned = values if lower[0] in _LATITUDES else values[:, ::-1]
        values = on_sphere(turned)
    values = np.column_stack([values, times])
    values[np.isnan(values).any(axis=1)] = np.nan
    unit = "km" if is_globe else "days" if any(are_times) and not has_times else ""
    return values, Axes(unit, has_times)


def _read_axis(column: np.ndarray, name: str) -> tuple[np.ndarray, bool]:
    """Read one axis (n_samples,) as floats, times as days; returned with whether it holds times."""
    if column.dtype.kind not in "biuf":
        import_free = np.array([_as_time(cell) for cell in column.tolist()], dtype=object)
        times = np.array([isinstance(cell, np.datetime64) for cell in import_free])
        if times.any():
            stamps = np.array(
                [cell if isinstance(cell, np.datetime64) else "NaT" for cell in import_free],
                dtype="datetime64[us]",
            )
            days = stamps.astype(np.int64) / (1e6 * _SECONDS_A_DAY)
            return np.where(np.isnat(stamps), np.nan, days), True
    try:
        cells = [np.nan if cell is None else cell for cell in column.tolist()]
        values = np.array(cells, dtype=np.float64)
    except (TypeError, ValueError):
        called = f"column {name!r}" if name else "one axis"
        raise ValueError(
            f"positions: {called} holds {column[0]!r}, but positions are numbers or dates."
        ) from None
    if np.isinf(values).any():
        raise ValueError("positions holds inf. Replace it by NaN where a position is not known.")
    return values, False


def _as_time(cell: Any) -> Any:
    """Return a date or time as NumPy has it, and anything else as it is."""
    if isinstance(cell, np.datetime64):
        return cell
    if hasattr(cell, "isoformat") and hasattr(cell, "year"):
        naive = cell.replace(tzinfo=None) - cell.utcoffset() if _has_zone(cell) else cell
        return np.datetime64(naive, "us") if naive == naive else np.nan
    return cell


def _has_zone(cell: Any) -> bool:
    """Return whether a time knows how far it is from UTC."""
    return getattr(cell, "tzinfo", None) is not None


def on_sphere(degrees: np.ndarray) -> np.ndarray:
    """Place latitudes and longitudes (n_samples, 2) on the globe (n_samples, 3), in kilometres.

    Distances are then those of chords, which for all but the far side of the globe are those that
    one travels.
    """
    latitude, longitude = np.radians(degrees).T
    beyond = np.nanmax(np.abs(degrees), axis=0, initial=0.0)
    if beyond[0] > 90 or beyond[1] > 360:
        raise ValueError(
            f"positions are taken as latitude and longitude in degrees, but reach {beyond[0]:g} "
            f"and {beyond[1]:g}. Give coordinates of a map as an array instead."
        )
    axes = np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude)
    return _KILOMETRES * np.column_stack([*axes, np.sin(latitude)])


def _check_positions(positions: np.ndarray) -> None:
    """Raise if positions (n_samples, n_axes) say nothing about rows."""
    known = positions[~np.isnan(positions).any(axis=1)]
    if len(known) == 0:
        raise ValueError("positions holds no position of any row. Give some, or omit it.")
    if (known == known[0]).all():
        raise ValueError(
            "All positions are the same, so that they tell nothing about rows. Give groups= for "
            "rows that belong together, or omit positions."
        )
