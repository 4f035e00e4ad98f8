"""How many operations a fit launches on a GPU, and how often the host waits for it, by steps.

    python -m benchmarks.launches

Small fits on a GPU take as long as the host needs to launch their operations. So they are counted,
which takes no GPU: the code for one runs on tensors of the CPU. A read is a result that the host
waits for; a transfer is an array that it sends. The setting is the paper's with few starts for each
number of components, which changes the size of the arrays, not their number.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import array_api_compat.torch
import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from benchmarks.gpu import STEPS, watch
from benchmarks.mnist_size import images, papers
from benchmarks.timing import write_json
from experiments import missing
from pckid import PCKID

# Make no copy and compute nothing, or wait until there is a result.
_FREE = ("aten::empty", "aten::detach", "aten::_unsafe_view", "aten::lift_fresh")
_WAITS = ("aten::_local_scalar_dense", "aten::nonzero")


class Launches(TorchDispatchMode):
    """Counts operations, reads and transfers of torch while it is open, by the current step."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: dict[str, Counter[str]] = {}
        self.operations: Counter[str] = Counter()
        self._steps = ["all else"]

    def count(self, what: str) -> None:
        for step in self._steps[-2:] if ": " in self._steps[-1] else self._steps[-1:]:
            self.counts.setdefault(step, Counter())[what] += 1

    @contextmanager
    def step(self, title: str) -> Iterator[None]:
        """Count what comes meanwhile under a title."""
        self._steps.append(title)
        try:
            yield
        finally:
            self._steps.pop()

    def counting(self, what: str, function: Callable) -> Callable:
        """Wrap a function that sends an array or waits for one."""

        def call(*args: Any, **kwargs: Any) -> Any:
            self.count(what)
            return function(*args, **kwargs)

        return call

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func._schema.name
        aliases = [found.alias_info for found in func._schema.returns]
        is_view = any(alias is not None and not alias.is_write for alias in aliases)
        if not is_view and not name.startswith(_FREE):
            self.count("operations")
            self.operations[name] += 1
            if name in _WAITS:
                self.count("reads")
        return func(*args, **(kwargs or {}))


def launches_of(fit: Callable[[], Any]) -> Launches:
    """Count the launches of a fit, as if tensors of the CPU lay on a GPU."""
    found = Launches()
    sent = found.counting("transfers", torch.asarray)
    with ExitStack() as changes:
        for name, room in list(sys.modules.items()):
            if name.startswith("pckid.") and hasattr(room, "is_host"):
                changes.enter_context(patch.object(room, "is_host", _is_numpy))
        changes.enter_context(patch.object(array_api_compat.torch, "asarray", sent))
        read = found.counting("reads", torch.Tensor.cpu)
        changes.enter_context(patch.object(torch.Tensor, "cpu", read))
        changes.enter_context(watch(found.step))
        changes.enter_context(found)
        fit()
    return found


def _is_numpy(X: Any) -> bool:
    return isinstance(X, np.ndarray)


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--images", type=int, default=200, help="how many are clustered")
    parser.add_argument("--starts", type=int, default=3, help="for each number of components")
    parser.add_argument("--default", action="store_true", help="in the default setting")
    parser.add_argument("--operations", type=int, default=0, help="list so many, the commonest")
    parser.add_argument("--quick", action="store_true", help="tiny, to see that it runs")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(argv)
    X = images(n_images=60 if options.quick else options.images)
    X = missing.apply(X, missing.drop_quadrants(X, 0.9, random_state=0))
    q = 3 if options.quick else 30
    setting = {} if options.default else papers(q) | {"n_inits": options.starts}
    model, rows = PCKID(2, **setting, random_state=0), torch.asarray(X)
    found = launches_of(lambda: model.fit(rows))
    kinds = ("operations", "reads", "transfers")
    titles = [title for title, *_ in STEPS if title in found.counts] + ["all else"]
    table = [{"step": title, **{k: found.counts[title][k] for k in kinds}} for title in titles]
    whole = {k: sum(row[k] for row in table if ": " not in row["step"]) for k in kinds}
    table.append({"step": "the whole fit", **whole})
    for row in table:
        print(f"{row['step']:45}", *(f"{row[k]:6,} {k}" for k in kinds))
    for name, count in found.operations.most_common(options.operations):
        print(f"{count:6,} {name}")
    write_json(options.json, table)


if __name__ == "__main__":
    main()
