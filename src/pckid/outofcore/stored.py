"""Labels kept in a file as they are found, so that a run that was stopped can be continued."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

import numpy as np


class StoredLabels:
    """Labels of the first rows of a table, in the order of the rows. To be used with `with`.

    The file begins with a line that says what the labels are of. It is removed by `remove`, and
    otherwise stays for the next run.

    Parameters
    ----------
    path : str
    made_by : mapping
        Says which table and which setting the labels belong to. Labels of others are dropped.
    dtype : str
        Of the confidence.
    """

    def __init__(self, path: str, made_by: Mapping[str, Any], dtype: str) -> None:
        self.path = path
        self._record = np.dtype([("cluster", "<i8"), ("confidence", dtype)])
        self._head = json.dumps(made_by, sort_keys=True).encode() + b"\n"

    def __enter__(self) -> StoredLabels:
        self._file = open(self.path, "r+b" if os.path.exists(self.path) else "w+b")
        self.is_other = self._file.readline() not in (b"", self._head)
        size = os.fstat(self._file.fileno()).st_size
        self.n_rows = max(0, size - len(self._head)) // self._record.itemsize
        if self.is_other or self.n_rows == 0:
            self._begin()
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def _begin(self) -> None:
        """Begin the file anew."""
        self.n_rows = 0
        self._file.seek(0)
        self._file.truncate()
        self._file.write(self._head)
        self._file.flush()

    def recall(self, n_rows: int) -> tuple[np.ndarray, ...] | None:
        """Read the labels and the confidence of the next rows; None if not all were kept."""
        here = self._file.tell()
        content = self._file.read(n_rows * self._record.itemsize)
        if len(content) < n_rows * self._record.itemsize or n_rows == 0:
            # What the last run was about to write when it ended.
            self._file.seek(here)
            self._file.truncate()
            return None
        found = np.frombuffer(content, self._record)
        return found["cluster"].astype(np.int64), found["confidence"].copy()

    def keep(self, labels: np.ndarray, confidence: np.ndarray) -> None:
        """Write the labels and the confidence of the next rows."""
        found = np.empty(len(labels), self._record)
        found["cluster"], found["confidence"] = labels, confidence
        self._file.write(found.tobytes())
        # From here on they outlive this process.
        self._file.flush()

    def remove(self) -> None:
        """Remove the file: every row has its label where it belongs."""
        os.remove(self.path)
