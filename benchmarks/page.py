"""The page docs/performance.md and its plots, from the figures the benchmarks left beside it."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

from experiments.output import markdown as lay_out

markdown = partial(lay_out, rule="---")

_HEAD = """# Performance

Written by `make bench` from the figures in `performance/`. Machines differ and are shared, so what
counts are ratios taken in one run.
"""


def write(out: Path) -> None:
    """Write `out`/performance.md and the plots in `out`/performance/ from the figures there."""
    folder = out / "performance"
    sections = [_HEAD]
    for name, section in SECTIONS.items():
        path = folder / f"{name}.json"
        if path.exists():
            sections.append(section(json.loads(path.read_text()), folder))
    (out / "performance.md").write_text("\n".join(sections))


def _time(seconds: float) -> str:
    """Write a time with about three figures."""
    if seconds >= 100:
        return f"{seconds:,.0f} s"
    return f"{1e3 * seconds:.0f} ms" if seconds < 0.1 else f"{seconds:.3g} s"


def _memory(found: dict[str, Any], _: Path) -> str:
    rows = [
        [
            f"{each['n']:,} × {each['d']:,}",
            f"{each['file']} file, in batches" if "file" in each else "in memory",
            f"{each['taken']:.0f} MB",
        ]
        for each in found["fits"]
        if not each.get("parameters")
    ]
    line = found["command_line"]
    return (
        "## Memory\n\nOf a fit with defaults, above the input (`python -m benchmarks.memory`).\n\n"
        f"{markdown(['table', 'from', 'memory'], rows)}\n"
        f"`pckid cluster` on {line['n']:,} × {line['d']} numbers of float32 in a Parquet file: "
        f"{line['megabytes']:.0f} MB in all.\n"
    )


def _wide(found: list[dict[str, Any]], _: Path) -> str:
    told = ", and ".join(
        f"{each['n']} × {each['many']:,} takes {each['times']:.1f} times as long as {each['n']} × "
        f"{each['few']} ({each['columns']:.0f} times "
        f"the columns, {_time(each['seconds'])})"
        for each in found
    )
    return f"## Wide tables\n\nA fit of {told}: `python -m benchmarks.wide`.\n"


def _cores(found: dict[str, Any], _: Path) -> str:
    cases = found["cores"]
    rows = []
    for name in dict.fromkeys(name for mine in cases.values() for name in mine):
        each = {count: mine[name] for count, mine in cases.items() if name in mine}
        ratios = [
            f"{each[count]['all'] / each[count]['one']:.2f}" if count in each else ""
            for count in cases
        ]
        n_rows, task = name.split()
        one = _time(min(case["one"] for case in each.values()))
        rows.append([f"{int(n_rows):,}", task, one, *ratios])
    names = ["rows", "task", "one thread", *(f"{count} cores" for count in cases)]
    where = f"{found['machine']['cores']} cores of {found['machine']['processor']}"
    return (
        "## Many cores\n\nWhat `n_jobs=None`, the default, takes in units of what one thread "
        f"takes, on some of {where}:\ntables of 20 columns, five groups, a fifth of the cells "
        "missing; the least of a few repeats in turns, which differ by a tenth or\nmore on a "
        "shared machine (`python -m benchmarks.cores`). Results are the same for every "
        f"`n_jobs`.\n\n{markdown(names, rows)}"
    )


def _streaming(found: dict[str, Any], _: Path) -> str:
    text = (
        f"## Tables in files\n\n{found['rows']:,} rows × 18 of float32 in a Parquet file, from "
        f"reading to the written labels,\non {found['cores']} cores: {_time(found['seconds'])}, "
        f"{found['rows_per_second']:,.0f} rows a second, {found['megabytes']:.0f} MB in all\n"
        "(`python -m benchmarks.streaming`). "
        f"10^8 rows would take {found['extrapolated'] / 60:.0f} min in the same memory.\n"
    )
    if found["workers"]:
        base = found["workers"][0]["seconds"]
        told = ", ".join(
            f"{_time(each['seconds'])} with {each['n_workers']}"
            + ("" if each["seconds"] == base else f" ({base / each['seconds']:.2f} times as fast)")
            for each in found["workers"]
        )
        text += f"{found['worker_rows']:,} such rows by Dask workers of one thread: {told}.\n"
    return text


def _peers(found: list[dict[str, Any]], folder: Path) -> str:
    _draw_peers(found, folder / "rows.svg")
    methods = list(dict.fromkeys(each["method"] for each in found))
    times: dict[int, dict[str, str]] = {}
    for each in found:
        ratio = "" if each["method"] == methods[0] else f" ({each['ratio']:.2f})"
        times.setdefault(each["n"], {})[each["method"]] = _time(each["seconds"]) + ratio
    rows = [[f"{n:,}", *(mine.get(method, "") for method in methods)] for n, mine in times.items()]
    return (
        "![time against rows of PCKID and other methods](performance/rows.svg)\n\n"
        "## Compared with other methods\n\n20 features, 30 % missing, five clusters, defaults "
        "otherwise; in brackets how many times\nPCKID's (`python -m benchmarks.peers`).\n\n"
        f"{markdown(['rows', *methods], rows)}"
    )


def _draw_peers(found: list[dict[str, Any]], path: Path) -> None:
    """Plot the time of each method against the rows."""
    figure, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
    for method, color in zip(dict.fromkeys(e["method"] for e in found), _COLORS, strict=False):
        mine = [each for each in found if each["method"] == method]
        n, seconds = [each["n"] for each in mine], [each["seconds"] for each in mine]
        ax.plot(n, seconds, "o-", color=color, label=method)
    ax.set(xscale="log", yscale="log", xlabel="rows, 20 columns", ylabel="time (s)")
    ax.grid(alpha=0.3)
    ax.legend(frameon=False)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def _precision(found: list[dict[str, Any]], _: Path) -> str:
    good = sum(each["lowest"] >= 0.99 for each in found)
    worst = min(found, key=lambda each: each["lowest"])
    return (
        "## float32 and float64\n\nAdjusted Rand index between the labels of both, same seed "
        "(`python -m benchmarks.precision`):\n"
        f"0.99 or more on {good} of {len(found)} tables,\n"
        f"least on {worst['table']} ({worst['rows']:,} × {worst['columns']}): "
        f"{worst['lowest']:.3f}.\n"
    )


def _gpu(found: dict[str, Any], _: Path) -> str:
    rows = [[title, value] for title, value in found["rows"] if not title.startswith("of it ")]
    return (
        f"## GPU\n\n{found['device']}; figures of\n`python -m benchmarks.gpu --out "
        "docs/performance/gpu.json`, and there also the time of each step.\n\n"
        f"{markdown(['what', 'figure'], rows)}"
    )


def _machine(found: dict[str, Any], _: Path) -> str:
    blas = f"NumPy {found['numpy']}, {found['blas']}"
    text = f"Machine: {found['cores']} cores of {found['processor']}, {blas}.\n"
    if found["busy"] > 1.5:
        text += (
            f"\nOther programs ran at the same time, {found['busy']:.1f} that wanted to run for "
            "each core when this page was written: times are longer than on a quiet machine, and "
            "so, by less, are processor times. Take the ratios with care.\n"
        )
    return text


SECTIONS: dict[str, Callable[[Any, Path], str]] = {
    "peers": _peers,
    "machine": _machine,
    "memory": _memory,
    "wide": _wide,
    "cores": _cores,
    "streaming": _streaming,
    "precision": _precision,
    "gpu": _gpu,
}
_COLORS = ("#1f5a96", "#7fb2e0", "#c0504d", "#8a8a8a")
# Text as text: half the size, and the page's reader can search it.
plt.rcParams["svg.fonttype"] = "none"
