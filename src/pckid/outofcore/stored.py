"""Labels kept in a file as they are found, so that a run that was stopped can be continued."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from pckid.exceptions import TableError

_MARK = b"pckid labels of "


class StoredLabels:
    """Labels of the first rows of a table, in the order of the rows. To be used with `with`.

    The file begins with a line that says what the labels are of: `made_by`; labels of other tables
    and settings are dropped. It is removed by `remove`, and otherwise stays for the next run. A
    file that is no such file is refused, and so are a link and a file that another run has open.
    """

    def __init__(
        self, path: str, made_by: Mapping[str, Any], dtype: str, outliers: bool = False
    ) -> None:
        self.path = path
        fields = [("cluster", "<i8"), ("confidence", dtype), ("outlier_score", dtype)]
        self._record = np.dtype(fields[: 2 + outliers])
        made = {**made_by, "record": self._record.descr}
        self._head = _MARK + json.dumps(made, sort_keys=True).encode() + b"\n"

    def __enter__(self) -> StoredLabels:
        # A new file if there is none, unless it is a link.
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        self._file = os.fdopen(os.open(self.path, flags, 0o666), "r+b")
        head = self._file.readline(len(self._head)) if _lock(self._file) else None
        if head is None or (head and not head.startswith(_MARK)):
            self._file.close()
            why = "is there and holds no labels of an earlier run. Move it away"
            if head is None:
                why = "is in use: another run writes the same output. Wait for its end"
            raise TableError(f"{self.path} {why}, or give the output another name.")
        self.is_other = head not in (b"", self._head)
        size = os.fstat(self._file.fileno()).st_size
        self.n_rows = max(0, size - len(self._head)) // self._record.itemsize
        if self.is_other or self.n_rows == 0:
            self.n_rows = 0
            self._file.seek(0)
            self._file.truncate()
            self._file.write(self._head)
            self._file.flush()
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def recall(self, n_rows: int) -> tuple[np.ndarray, ...] | None:
        """Read what was found for the next rows; None if not all was kept."""
        here = self._file.tell()
        content = self._file.read(n_rows * self._record.itemsize)
        if len(content) < n_rows * self._record.itemsize or n_rows == 0:
            # What the last run was about to write when it ended.
            self._file.seek(here)
            self._file.truncate()
            return None
        found = np.frombuffer(content, self._record)
        return tuple(found[name].copy() for name in found.dtype.names or ())

    def keep(self, *arrays: np.ndarray) -> None:
        """Write the labels, the confidence and what else was found for the next rows."""
        found = np.empty(len(arrays[0]), self._record)
        for name, values in zip(found.dtype.names or (), arrays, strict=True):
            found[name] = values
        self._file.write(found.tobytes())
        # From here on they outlive this process.
        self._file.flush()

    def remove(self) -> None:
        """Remove the file: every row has its label where it belongs."""
        if os.path.lexists(self.path):
            os.remove(self.path)


def _lock(file: Any) -> bool:
    """Lock a file until it is closed, where the system can; False if another process has."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except (ImportError, OSError):
        pass
    return True
