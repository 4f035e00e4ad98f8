"""Tables to choose on and tables to report on, split by name before anything was tried on them.

The rule: the names of each group (tables with missing values of their own; complete tables), in
alphabetical order and without `uci_`, `lc_` and `_num`, alternate, the first to choose on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from experiments._registry import check_registered
from experiments.datasets import Case, cases
from experiments.datasets.complete import BUNDLED
from experiments.datasets.tables import AS_IS, MAX_ROWS, NOT_FEATURES, file_cases, files

INCOMPLETE = {
    "choose": (
        "ckd", "cylinder_bands", "hcc", "hepatitis", "maipo_cloud", "penguins", "sick",
    ),
    "report": (
        "credit_a", "dermatology", "heart_h", "horse_colic", "mammographic", "physionet2012",
    ),
}  # fmt: skip
"""Names of the tables with missing values of their own, by half."""
COMPLETE = {
    "choose": (
        "appendicitis", "automobile", "banana", "bupa", "contraceptive", "ecoli", "german",
        "heart", "led7digit", "magic", "movement_libras", "page-blocks", "phoneme", "saheart",
        "spectfheart", "texture", "wine", "zoo",
    ),
    "report": (
        "australian", "balance", "breast cancer", "cleveland", "digits", "forest_types",
        "haberman", "iris", "letter", "marketing", "optdigits", "penbased", "ring", "segment",
        "tae", "twonorm", "yeast",
    ),
}  # fmt: skip
"""Names of the complete tables, from which values are removed, by half."""
HALVES = tuple(COMPLETE)


def cases_of(
    half: str | None,
    folders: Sequence[str | Path],
    drop: Sequence[str] = NOT_FEATURES,
    max_rows: int = MAX_ROWS,
) -> list[Case]:
    """List the cases of one half of the benchmark, or of all tables in the folders.

    Parameters
    ----------
    half : "choose", "report" or None
        A half takes those tables of the folders that it names, and its share of the data sets that
        scikit-learn carries. None takes every table of the folders, whatever its name, or
        scikit-learn's data sets if there is no folder.
    folders : sequence of path
        Labelled tables, see `datasets.tables`.
    drop : sequence of str
        Columns that are not features.
    max_rows : int
        Larger tables are drawn from anew in every run.

    Returns
    -------
    list of Case
        First the tables with missing values of their own, in the setting "as is", then those from
        which values are removed; each by name.
    """
    found = [(name, path) for folder in folders for name, path in files(folder).items()]
    bundled = BUNDLED if half or not folders else ()
    _refuse_same_name([*(name for name, _ in found), *bundled])
    if half is not None:
        check_registered(half, HALVES, "half")
        chosen = names_of(half)
        found = [(name, path) for name, path in found if plain_name(name) in chosen]
        bundled = tuple(name for name in bundled if name in chosen)
    listed = [case for name, path in found for case in file_cases(name, path, drop, max_rows)]
    listed += [case for name in bundled for case in cases(name)]
    return sorted(listed, key=lambda case: (case.setting != AS_IS, plain_name(case.dataset)))


def names_of(half: str) -> tuple[str, ...]:
    """Return the plain names of the tables of a half."""
    return INCOMPLETE[half] + COMPLETE[half]


def not_found(half: str, listed: Iterable[Case]) -> list[str]:
    """Name the tables of a half that are not among the cases."""
    there = {plain_name(case.dataset) for case in listed}
    return [name for name in names_of(half) if name not in there]


def plain_name(name: str) -> str:
    """Return a table's name as the lists have it.

    Examples
    --------
    >>> from experiments.datasets.benchmark import plain_name
    >>> plain_name("uci_heart_h_num")
    'heart_h'
    """
    return name.removeprefix("uci_").removeprefix("lc_").removesuffix("_num")


def _refuse_same_name(names: Sequence[str]) -> None:
    """Raise if two tables would share their results."""
    plain = [plain_name(name) for name in names]
    twice = [name for name in plain if plain.count(name) > 1]
    if twice:
        raise ValueError(f"Two tables are named {twice[0]!r}. Rename one, or give fewer folders.")
