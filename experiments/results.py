"""The results file: one CSV, one row for each case, run and method, that survives a crash.

Rows are appended as they are made, each in one write that is on disk before the next begins. A
process that is killed can thus tear at most the last line, which is cut off when the file is opened
again. When a run is complete the file is rewritten once, sorted, by an atomic rename.
"""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path
from typing import IO

from pckid._utils.files import atomic_file

COLUMNS = (
    "dataset",
    "setting",
    "run",
    "method",
    "accuracy",
    "ari",
    "nmi",
    "chosen",
    "p_value",
    "seconds",
    "peak_mib",
    "n_samples",
    "n_features",
    "missing",
    "n_clusters",
    "seed",
    "table_seed",
    "method_seed",
    "data",
    "device",
    "parameters",
    "versions",
    "error",
)
MEASURED = ("seconds", "peak_mib")
"""Columns that differ when the same row is made again."""

Row = dict[str, str]
Key = tuple[str, str, int, str]


def key(row: Row) -> Key:
    """Return what makes a row unique; rows are sorted by it."""
    return row["dataset"], row["setting"], int(row["run"]), row["method"]


def read_results(path: Path) -> list[Row]:
    """Read all whole rows of a results file; a torn last line is left out."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return list(csv.DictReader(io.StringIO(text[: text.rfind("\n") + 1], newline="")))


class ResultsFile:
    """A results file opened to add rows; a context manager.

    Parameters
    ----------
    path : Path
        Made if it does not exist. A torn last line is cut off.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> ResultsFile:
        self._file = open(self.path, "ab+")
        try:
            _lock(self._file, self.path)
            _cut_torn_line(self._file)
            if self._file.seek(0, os.SEEK_END) == 0:
                self._write(",".join(COLUMNS) + "\n")
            self._refuse_other_columns()
        except BaseException:
            self._file.close()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def add(self, row: Row) -> None:
        """Append a row; it is on disk when this returns."""
        self._write(_csv_line(row))

    def sort(self) -> None:
        """Put the rows in order, with one atomic rename, so that none can be lost."""
        rows = sorted(read_results(self.path), key=key)
        with atomic_file(self.path) as file:
            file.write("".join([",".join(COLUMNS) + "\n", *map(_csv_line, rows)]).encode())

    def _write(self, text: str) -> None:
        """Write in one piece and wait for the disk."""
        self._file.write(text.encode())
        self._file.flush()
        os.fsync(self._file.fileno())

    def _refuse_other_columns(self) -> None:
        """Raise if the file was not made here."""
        self._file.seek(0)
        if self._file.readline().decode().rstrip("\n").split(",") != list(COLUMNS):
            raise ValueError(
                f"{self.path} has other columns than this version writes. Choose another folder."
            )


def _csv_line(row: Row) -> str:
    """Write a row as one line of CSV; a line break within a cell becomes a blank."""
    text = io.StringIO()
    cells = [" ".join(row[name].splitlines()) for name in COLUMNS]
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue()


def _cut_torn_line(file: IO[bytes]) -> None:
    """Cut off what follows the last line break."""
    file.seek(0)
    content = file.read()
    file.truncate(content.rfind(b"\n") + 1)


def _lock(file: IO[bytes], path: Path) -> None:
    """Keep a second process from adding to the same file, where the system can."""
    try:
        import fcntl
    except ImportError:  # Windows
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise ValueError(
            f"Another process is writing {path}. Wait for it, or choose another folder."
        ) from None
