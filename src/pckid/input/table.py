"""What the mixtures read: standardised values, what is observed, and patterns of missingness."""

from collections.abc import Mapping, Sequence
from itertools import compress
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from pckid._utils.arrays import (
    Array,
    asarray_like,
    device_of,
    is_host,
    namespace,
    take_along,
    to_numpy,
)
from pckid._utils.parallel import run_in_threads
from pckid.columns import kinds
from pckid.columns.base import Measured
from pckid.columns.log_number import NO_LOG, find_shifts, take_logs
from pckid.columns.model import PLAIN, ColumnModel
from pckid.factors.scores import WideFactors, score_rows, standardised_indicators, unexplained

# Standardised values of new rows are clipped here, so that their squares stay finite in float32.
FARTHEST = 1e9
# Rows are measured and standardised in blocks of about so many numbers.
_BLOCK_NUMBERS = 1 << 18
# On a GPU in larger ones: it waits for the host to launch the same operations for each.
_BLOCK_NUMBERS_DEVICE = 1 << 24
# So many rows are looked at before all are searched for patterns that they share.
_FEW_ROWS = 4096
NONE_ASKED: Mapping[str, Mapping[int, str]] = MappingProxyType({})
# Half of the range of a column that varies: smaller numbers are held with fewer digits.
_MIN_HALF_RANGE = float(np.finfo(np.float64).tiny)


class Scaling(NamedTuple):
    """How the columns of the input are read: where numbers lie, how common categories are."""

    center: Array  # (n_features,)
    scale: Array  # (n_features,)
    kept: np.ndarray  # (n_features,) columns of numbers that vary, on the host
    categorical: np.ndarray = np.arange(0)  # (n_categorical,) those of categories, on the host
    column_model: ColumnModel = PLAIN
    # (n_features,), how the logarithms of columns are taken, see `logarithms`; centre and scale are
    # those of the logarithms. None where none is taken.
    shifts: Array | None = None
    # Of a wide table, what its rows are scored by: the scores take the place of all numbers.
    factors: WideFactors | None = None

    @property
    def n_numbers(self) -> int:
        """How many numbers the rows of a table have: scores, or else columns of numbers."""
        return len(self.kept) if self.factors is None else self.factors.n_factors

    @property
    def used(self) -> np.ndarray:
        """Columns of the input that carry information, numbers before categories."""
        return np.concatenate([self.kept, self.categorical])


class StandardisedRows(NamedTuple):
    """Standardised rows with zeros where nothing was observed, and categories.

    The columns are those of numbers (n_features), then those of categories (n_categorical).
    `pattern` and `patterns` are None where rows share too few patterns of missingness for the
    sharing to pay.
    """

    values: Array  # (n_samples, n_features)
    observed: Array  # (n_samples, n_columns), bool
    pattern: Array | None  # (n_samples,), int
    patterns: Array | None  # (n_patterns, n_columns), same dtype as values
    codes: Array  # (n_samples, n_categorical), int: categories, numbered through; −1 is missing
    column_model: ColumnModel
    # (n_features, n_blocks), 1 where a column of numbers is in a group, which has one variance in
    # each component; None: there are no groups
    column_blocks: Array | None = None
    # Of a wide table, the scores of its rows, which the mixtures see in the place of its numbers.
    scores: "StandardisedRows | None" = None
    # The same by factors of other rows each, as scores of new rows are.
    held_out: "StandardisedRows | None" = None
    # (n_samples, 2), of such a table of scores: what they leave of the rows' numbers, as the sum of
    # the squares of squared deviations in units of their variances, and how many there are
    unexplained: Array | None = None

    @property
    def modelled(self) -> "StandardisedRows":
        """The table that the mixtures see."""
        return self if self.scores is None else self.scores

    @property
    def n_samples(self) -> int:
        return self.values.shape[0]

    @property
    def n_features(self) -> int:
        return self.values.shape[1]

    @property
    def n_values(self) -> float:
        """How many values a whole row counts for: one category in several columns counts once."""
        xp, weights, held = (
            namespace(self.values),
            self.column_model.weights,
            self.column_model.values_held,
        )
        if weights is None:
            return self.observed.shape[1] + (0 if held is None else float(xp.sum(held - 1)))
        more = 0.0 if held is None else xp.sum(weights[: self.n_features] * (held - 1))
        return float(xp.sum(weights) + more)

    @property
    def observed_values(self) -> Array:
        """How many of them are observed in each row (n_samples,)."""
        xp = namespace(self.values)
        # Bytes, as floats of all rows would take as much memory as the table.
        count = xp.sum(xp.astype(self.observed, xp.uint8), axis=1)
        count = xp.astype(count, self.values.dtype)
        held = self.column_model.values_held
        if held is None:
            return count
        seen = xp.astype(self.observed[:, : self.n_features], self.values.dtype)
        return count + seen @ (held - 1)

    @property
    def width(self) -> int:
        """About how many numbers a row's statistics hold."""
        return 3 * self.n_features + self.codes.shape[1] + self.column_model.column.shape[0]


def fit_scaling(
    X: Array,
    categorical: np.ndarray | None = None,
    *,
    informative: bool | np.ndarray = False,
    two_values: bool = False,
    column_blocks: np.ndarray | None = None,
    logs: Mapping[int, str] | None = None,
    asked: Mapping[str, Mapping[int, str]] = NONE_ASKED,
    weights: Array | None = None,
    jobs: int = 1,
) -> Scaling:
    """Compute the centre and spread of the columns that vary; the others carry no information.

    Rows (n_samples, n_features_in) have NaN where a value is missing; of the `categorical` columns
    they hold categories as numbers from 0. Columns of numbers that take only `two_values` may count
    like categories. Missingness is `informative` or not, of all columns or of each. Numbers of one
    of the `column_blocks` have one scale, see `with_block_scales`. The logarithms of some columns
    are measured, see `find_shifts`; others are `asked` to be of a kind, by its name. Each row may
    have a weight.
    """
    xp, blocks = namespace(X), [(rows,) for rows in row_slices(X)]
    if categorical is None:
        categorical = np.zeros(X.shape[1], dtype=bool)
    # What is known of columns is computed on the host, whatever passes over the rows.
    parts = run_in_threads(_find_ends, [(X[rows, :],) for (rows,) in blocks], jobs)
    lowest, highest = zip(*to_numpy(xp.stack(parts)), strict=True)
    low, high, shifts = np.min(lowest, axis=0), np.max(highest, axis=0), None
    if logs:
        shifts = find_shifts(low, logs)
        low, high = take_logs(low, shifts), take_logs(high, shifts)
    kept = find_varying(low, high, categorical)
    low, high, shifts = low[kept], high[kept], pick_shifts(shifts, kept)
    # Dividing by the largest magnitude first keeps sums of squares of 1e300 finite.
    magnitude = np.where(-low > high, -low, high)
    low, high = low / magnitude, high / magnitude
    ends = asarray_like(np.stack([magnitude, low, high]), X)
    of_logs = None if shifts is None else asarray_like(shifts, X)
    two_values = two_values and (column_blocks is None or bool((column_blocks[kept] < 0).any()))

    def read(rows: slice) -> tuple[Array, Array]:
        numbers = _take_columns(X[rows, :], kept)
        seen = ~xp.isnan(numbers)
        if of_logs is not None:
            numbers = take_logs(numbers, of_logs)
        return xp.where(seen, numbers / ends[0, :], 0.0), seen

    # A GPU has the memory to keep a single block, which is not computed anew for each pass.
    whole = read(slice(None)) if len(blocks) == 1 and not is_host(X) else None

    def add_up(rows: slice) -> Array:
        Z, seen = whole or read(rows)
        sums = [_sum(xp.astype(seen, X.dtype), weights, rows), _sum(Z, weights, rows)]
        if two_values:
            other = ~((ends[1, :] == Z) | (ends[2, :] == Z) | ~seen)
            sums.append(xp.astype(xp.any(other, axis=0), X.dtype))
        return xp.stack(sums)

    def add_squares(rows: slice) -> Array:
        Z, seen = whole or read(rows)
        return _sum(xp.where(seen, Z - mean, 0.0) ** 2, weights, rows)

    sums: Any = sum(run_in_threads(add_up, blocks, jobs))
    mean = sums[1, :] / sums[0, :]
    measured = [mean, sum(run_in_threads(add_squares, blocks, jobs)) / sums[0, :]]
    if two_values:
        measured.append(xp.astype(sums[2, :] == 0, X.dtype))
    center, variance, *two = to_numpy(xp.stack(measured))
    chosen, counts = _count_categories(X, np.flatnonzero(categorical), weights)
    share = None
    if np.any(informative):
        used = np.concatenate([kept, chosen])
        share = _shares_observed(~xp.isnan(_take_columns(X, used)), X.dtype, weights)
        # A column that is never missing carries no information by that.
        share = np.where(np.broadcast_to(informative, X.shape[1])[used], share, 1.0)
    extreme = two[0] > 0 if two_values else None
    spread = np.sqrt(variance)
    places = place_asked(asked, np.concatenate([kept, chosen]))
    found = Measured(low, high, center, extreme, counts, magnitude, spread, places)
    scaling = make_scaling(found, kept, chosen, share, shifts)
    if column_blocks is not None:
        scaling = with_block_scales(scaling, column_blocks)
    return place_scaling(scaling, X)


def find_varying(low: np.ndarray, high: np.ndarray, categorical: np.ndarray) -> np.ndarray:
    """List the columns of numbers that vary, by the ends of all columns (n_features,)."""
    return np.flatnonzero((high / 2 - low / 2 > _MIN_HALF_RANGE) & ~categorical)


def make_scaling(
    found: Measured,
    kept: np.ndarray,
    chosen: np.ndarray,
    observed: np.ndarray | None = None,
    shifts: np.ndarray | None = None,
) -> Scaling:
    """Turn what passes over the rows found into a scaling, on the host.

    The columns are those of numbers that are `kept`, and those of categories that are `chosen`.
    """
    center, spread = found.mean * found.magnitude, found.spread * found.magnitude
    return Scaling(center, spread, kept, chosen, kinds.measure(found, observed), shifts)


def place_scaling(scaling: Scaling, home: Array) -> Scaling:
    """Put what was measured on the host where `home` lies."""
    measured = scaling.center, scaling.scale, scaling.shifts, *scaling.column_model
    parts: list[Any] = [None if part is None else asarray_like(part, home) for part in measured]
    center, scale, shifts, *rest = parts
    model = ColumnModel(*rest)
    if scaling.factors is not None:
        parts = [asarray_like(part, home) for part in scaling.factors]
        scaling = scaling._replace(factors=WideFactors(*parts))
    return scaling._replace(center=center, scale=scale, shifts=shifts, column_model=model)


def place_asked(
    asked: Mapping[str, Mapping[int, str]], used: np.ndarray
) -> dict[str, dict[int, str]]:
    """Find the places of columns that were asked to be of a kind among those `used`."""
    place = {column: j for j, column in enumerate(used.tolist())}
    return {
        kind: {place[column]: name for column, name in columns.items() if column in place}
        for kind, columns in asked.items()
    }


def pick_shifts(shifts: np.ndarray | None, kept: np.ndarray) -> np.ndarray | None:
    """Take the shifts of the columns `kept` out of those of all; None if no logarithm is taken."""
    if shifts is None or (shifts[kept] == NO_LOG).all():
        return None
    return shifts[kept]


def logs_as_scaled(X: np.ndarray, scaling: Scaling) -> np.ndarray:
    """Take the logarithms of rows (n_samples, n_features_in) as a fit did; others stay as they are.

    Columns that the fit left out stay as they are, too.
    """
    if scaling.shifts is None:
        return X
    found = X.copy()
    found[:, scaling.kept] = take_logs(X[:, scaling.kept], to_numpy(scaling.shifts))
    return found


def standardise(
    X: Array, scaling: Scaling, dtype: str, *, patterns: bool = True, jobs: int = 1
) -> StandardisedRows:
    """Centre and scale `X` (n_samples, n_features_in) and find its patterns of missingness.

    Without `patterns` these are not looked for.
    """
    xp, device = namespace(X), device_of(X)
    shape = (X.shape[0], len(scaling.kept))
    values = xp.empty(shape, dtype=getattr(xp, dtype), device=device)
    observed = xp.empty(shape, dtype=xp.bool, device=device)

    def fill(rows: slice) -> None:
        numbers = _take_columns(X[rows, :], scaling.kept)
        seen = ~xp.isnan(numbers)
        # A new row may lie farther out than floats reach; it is brought back to the farthest
        # allowed.
        with np.errstate(over="ignore"):
            if scaling.shifts is not None:
                numbers = take_logs(numbers, scaling.shifts)
            # Halves, because the difference of two huge numbers of opposite sign would overflow.
            Z = (numbers / 2 - scaling.center / 2) / (scaling.scale / 2)
        Z = xp.where(seen, xp.clip(Z, -FARTHEST, FARTHEST), 0.0)
        values[rows, :], observed[rows, :] = xp.astype(Z, values.dtype, copy=False), seen

    run_in_threads(fill, zip(row_slices(X), strict=True), jobs)
    codes = _category_codes(X, scaling)
    if codes.shape[1]:
        observed = xp.concat([observed, codes >= 0], axis=1)
    model = scaling.column_model.astype(values.dtype)
    table = StandardisedRows(values, observed, None, None, codes, model)
    if scaling.factors is not None:
        table = with_scores(table, scaling.factors)
    return with_patterns(table) if patterns else table


def with_patterns(table: StandardisedRows) -> StandardisedRows:
    """Find which patterns of missingness rows share, where that saves arithmetic."""
    if table.scores is not None:
        return table._replace(scores=with_patterns(table.scores))
    pattern, shared = _shared_patterns(table.values, table.observed)
    return table._replace(pattern=pattern, patterns=shared)


def with_scores(table: StandardisedRows, factors: WideFactors) -> StandardisedRows:
    """Score rows by factors: the mixtures see these scores, and the categories.

    A row without a value in a column that tells has no scores.
    """
    xp, d, columns = namespace(table.values), table.n_features, factors.columns
    parts = []
    for rows in row_slices(table.values):
        values, seen = cells_of_factors(take(table, rows))
        scored = score_rows(values, seen, factors)
        left = unexplained(values[:, :d], seen[:, :d], scored, factors)
        some = xp.any(take_along(seen, columns[columns < d], axis=1), axis=1)
        known = xp.broadcast_to(some[:, None], scored.means.shape)
        found = scored.means * xp.astype(factors.scale, values.dtype)
        parts.append((xp.where(known, found, 0.0), known, left))
    scores, known, left = (xp.concat(part, axis=0) for part in zip(*parts, strict=True))
    observed = xp.concat([known, table.observed[:, d:]], axis=1)
    model = model_of_scores(table.column_model, d, factors.n_factors)
    found = StandardisedRows(scores, observed, None, None, table.codes, model, unexplained=left)
    return table._replace(scores=found)


def cells_of_factors(table: StandardisedRows) -> tuple[Array, Array]:
    """Lay out what factors are of (n, .): numbers, and where those missing for a reason are."""
    d, shares = table.n_features, table.column_model.observed
    values, seen = table.values, table.observed[:, :d]
    if shares is None:
        return values, seen
    xp = namespace(values)
    indicators = standardised_indicators(seen, shares[:d])
    known = xp.ones(indicators.shape, dtype=seen.dtype, device=device_of(seen))
    return xp.concat([values, indicators], axis=1), xp.concat([seen, known], axis=1)


def model_of_scores(model: ColumnModel, n_numbers: int, n_factors: int) -> ColumnModel:
    """Replace what is known of numbers, which are scores now: these are all observed."""
    xp = namespace(model.frequencies)
    found: list[Array | None] = []
    for part in (model.observed, model.weights):
        if part is None or part.shape[0] == n_numbers:
            found.append(None)
            continue
        ones = xp.ones(n_factors, dtype=part.dtype, device=device_of(part))
        found.append(xp.concat([ones, part[n_numbers:]]))
    observed, weights = found
    return ColumnModel(
        model.column, model.frequencies, observed, weights=weights, levels=model.levels
    )


def standardise_on_model_device(X: Array, scaling: Scaling, dtype: str) -> StandardisedRows:
    """Standardise rows as from `validate_table`, moved to where the scaling lies."""
    home = scaling.center
    if namespace(X) is not namespace(home) or device_of(X) != device_of(home):
        X = asarray_like(to_numpy(X), home)
    return standardise(namespace(X).astype(X, home.dtype, copy=False), scaling, dtype)


def usable_rows(X: Array, scaling: Scaling) -> Array:
    """Find which rows have a value in a column that is used, of shape (n_samples,)."""
    xp = namespace(X)
    return xp.any(take_along(~xp.isnan(X), scaling.used, axis=1), axis=1)


def with_block_scales(scaling: Scaling, blocks: np.ndarray) -> Scaling:
    """Give the columns of numbers of each group one scale: the root mean square of their own.

    Columns of a group that take two values count as numbers, not as categories. The scaling lies
    on the host; `groups` (n_features_in,) number the group of each column, −1 is none.
    """
    mine, scale, model = blocks[scaling.kept], np.array(scaling.scale), scaling.column_model
    for block in np.unique(mine[mine >= 0]):
        own = mine == block
        largest = scale[own].max()
        scale[own] = np.sqrt(np.mean((scale[own] / largest) ** 2)) * largest
    return scaling._replace(scale=scale, column_model=model.in_groups(mine >= 0, scale))


def variance_floor(reg_covar: float, dtype: str) -> float:
    """Return the floor of the variances: what was asked for, or what the arithmetic can bear."""
    return max(float(reg_covar), 10 * float(np.finfo(dtype).eps))


def take(table: StandardisedRows, rows: Array | slice) -> StandardisedRows:
    """Gather rows by their integer indices (n_rows,), or a slice of them, as a view if possible."""
    if isinstance(rows, np.ndarray):
        rows = asarray_like(rows, table.values)
    found: list[Any] = [
        table.values, table.observed, table.codes, table.pattern, table.unexplained,
    ]  # fmt: skip
    for place, part in enumerate(found):
        if part is not None:
            found[place] = part[rows, ...] if isinstance(rows, slice) else take_along(part, rows)
    values, observed, codes, pattern, rest = found
    scores, held_out = (
        None if part is None else take(part, rows) for part in (table.scores, table.held_out)
    )
    return table._replace(
        values=values, observed=observed, codes=codes, pattern=pattern, scores=scores,
        held_out=held_out, unexplained=rest,
    )  # fmt: skip


def join_scores(tables: Sequence[StandardisedRows]) -> StandardisedRows:
    """Join the rows of tables of scores, whose patterns were not looked for."""
    xp, first = namespace(tables[0].values), tables[0]
    joined = {
        name: xp.concat([getattr(each, name) for each in tables], axis=0)
        for name in ("values", "observed", "codes", "unexplained")
    }
    return first._replace(**joined)


def block(table: StandardisedRows, start: int, stop: int) -> StandardisedRows:
    """Return rows `start` to `stop`, as a view where the arrays allow it."""
    return take(table, slice(start, stop))


def find_patterns(observed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct rows of `observed` (n, d) and for each row which of them it is."""
    packed = np.packbits(observed, axis=1)
    width = packed.shape[1]
    # Eight bytes make one integer, and integers sort faster than byte strings.
    padded = np.zeros((len(packed), max(width, 8)), dtype=np.uint8)
    padded[:, :width] = packed
    kind = np.dtype(np.uint64) if width <= 8 else np.dtype((np.void, width))
    keys = padded.view(kind)[:, 0]
    _, first, index = np.unique(keys, return_index=True, return_inverse=True)
    return observed[first], index.reshape(-1)


def _shared_patterns(values: Array, observed: Array) -> tuple[Array | None, Array | None]:
    """Find each row's pattern and the patterns if sharing them saves arithmetic."""
    n_samples, n_columns = observed.shape
    # Where patterns are many, few rows have too many already, and all need not be compared.
    for rows in sorted({min(_FEW_ROWS, n_samples), n_samples}):
        patterns, index = find_patterns(to_numpy(observed[:rows, :]))
        # One indicator column per pattern replaces one mask column per feature in both products.
        if len(patterns) * (n_samples + n_columns) >= n_samples * n_columns:
            return None, None
    return asarray_like(index, values), asarray_like(patterns.astype(np.float64), values)


def row_slices(rows: Array) -> list[slice]:
    """Divide rows (n, d) into slices of few numbers, so that what is computed stays small."""
    n_samples, n_columns = rows.shape
    numbers = _BLOCK_NUMBERS if is_host(rows) else _BLOCK_NUMBERS_DEVICE
    size = max(1, numbers // max(n_columns, 1))
    starts = range(0, max(n_samples, 1), size)
    return [slice(start, min(start + size, n_samples)) for start in starts]


def column_slices(X: Array) -> list[slice]:
    """Divide the columns of rows (n, d) into slices of few numbers, as `row_slices` does rows."""
    return row_slices(namespace(X).matrix_transpose(X))


def _find_ends(X: Array) -> Array:
    """Find the lowest and highest number observed in each column (2, d), inf and -inf if none."""
    xp, missing = namespace(X), namespace(X).isnan(X)
    low = xp.min(xp.where(missing, xp.inf, X), axis=0)
    return xp.stack([low, xp.max(xp.where(missing, -xp.inf, X), axis=0)])


def _sum(values: Array, weights: Array | None, rows: slice) -> Array:
    """Sum some rows (n, d) of a table, each times its weight."""
    weighted = values if weights is None else values * weights[rows][:, None]
    return namespace(values).sum(weighted, axis=0)


def _shares_observed(observed: Array, dtype: Any, weights: Array | None) -> np.ndarray:
    """Compute the share of the rows in which each column is observed, on the host (d,)."""
    xp = namespace(observed)
    seen = xp.astype(observed, dtype)
    if weights is None:
        return to_numpy(xp.mean(seen, axis=0))
    # From what is missing: a complete column has a share of exactly 1, whatever the weights.
    return np.maximum(to_numpy(1 - weights @ (1 - seen) / xp.sum(weights)), 0.0)


def _count_categories(
    X: Array, columns: np.ndarray, weights: Array | None
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Find the columns of categories that tell rows apart, and how often each category occurs."""
    if len(columns) == 0:
        return columns, []
    codes = to_numpy(_take_columns(X, columns))
    each = np.ones(len(codes)) if weights is None else to_numpy(weights)
    counts = [
        np.bincount(c[seen].astype(np.int64), weights=each[seen], minlength=1)
        for c, seen in zip(codes.T, ~np.isnan(codes.T), strict=True)
    ]
    # Where no two rows agree, the column names the rows.
    often = (np.unique(c[~np.isnan(c)], return_counts=True)[1] for c in codes.T)
    useful = [len(found) > 1 and found.max() > 1 for found in often]
    return columns[np.asarray(useful, dtype=bool)], list(compress(counts, useful))


def _category_codes(X: Array, scaling: Scaling) -> Array:
    """Number the categories of all columns through; −1 where one is missing."""
    xp = namespace(X)
    if len(scaling.categorical) == 0:
        return xp.zeros((X.shape[0], 0), dtype=xp.int64, device=device_of(X))
    sizes = np.bincount(to_numpy(scaling.column_model.column))
    local = _take_columns(X, scaling.categorical)
    offset = asarray_like(np.cumsum(sizes) - sizes, X, dtype=local.dtype)
    return xp.astype(xp.where(xp.isnan(local), -1.0, local + offset), xp.int64)


def _take_columns(X: Array, kept: np.ndarray) -> Array:
    """Select the columns `kept`; all of them come back without a copy."""
    if len(kept) == X.shape[1]:
        return X
    return take_along(X, kept, axis=1)
