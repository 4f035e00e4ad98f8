"""The results file: one CSV, one row for each case, run and method, that survives an interruption.

Rows are appended as they are made. A process that is killed can tear at most the last line, which
is left out when the file is read again.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import Path

COLUMNS = (
    "dataset", "setting", "run", "method", "accuracy", "ari", "nmi", "chosen", "seconds",
    "n_samples", "n_features", "missing", "n_clusters", "seed", "table_seed", "method_seed", "data",
    "device", "parameters", "versions", "error",
)  # fmt: skip
Row = dict[str, str]
Key = tuple[str, str, int, str]


def key(row: Row) -> Key:
    """Return what makes a row unique; rows are sorted by it."""
    return row["dataset"], row["setting"], int(row["run"]), row["method"]


def read_results(path: Path) -> list[Row]:
    """Read all whole rows of a results file; a torn last line is left out."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    reader = csv.DictReader(io.StringIO(text[: text.rfind("\n") + 1], newline=""))
    if reader.fieldnames and tuple(reader.fieldnames) != COLUMNS:
        raise ValueError(
            f"{path} has other columns than this version writes. Choose another folder."
        )
    return list(reader)


def write_results(path: Path, rows: Iterable[Row]) -> None:
    """Replace a results file by these rows, sorted, at once, so that none can be lost."""
    part = path.with_suffix(".part")
    header = ",".join(COLUMNS) + "\n"
    part.write_text("".join([header, *map(csv_line, sorted(rows, key=key))]), encoding="utf-8")
    part.replace(path)


def csv_line(row: Row) -> str:
    """Write a row as one line of CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow([row[name] for name in COLUMNS])
    return text.getvalue()
