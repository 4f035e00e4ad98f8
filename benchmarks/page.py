"""The page docs/performance.md and its plots, from the figures the benchmarks left beside it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

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


def _table(titles: list[str], rows: list[list[str]]) -> str:
    """Lay out a Markdown table."""
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _time(seconds: float) -> str:
    """Write a time with about three figures."""
    if seconds >= 100:
        return f"{seconds:,.0f} s"
    return f"{1e3 * seconds:.0f} ms" if seconds < 0.1 else f"{seconds:.3g} s"


def _images(found: dict[str, Any], _: Path) -> str:
    rows = [
        [
            f"{each['threads']}",
            f"{each['peak']:.0f} Gop/s",
            _time(each["seconds"]),
            f"{each['share']:.0%} ({each['lowest_share']:.0%} to {each['highest_share']:.0%})",
            f"{each['megabytes']:.0f} MB",
        ]
        for each in found["threads"]
    ]
    titles = [
        "threads",
        "large products",
        "whole `fit`",
        "share of their rate",
        "memory above the input",
    ]
    last = found["threads"][-1]
    text = f"{found['speedup']:.2f} times as fast with {last['threads']} threads as with one."
    if "mixtures" in found:
        ratio = found["mixtures"] / last["seconds"]
        text += (
            f" As many scikit-learn mixtures on complete rows: {_time(found['mixtures'])}, "
            f"{ratio:.1f} times as long."
        )
    return (
        "## The paper's size\n\n1000 images of 784 pixels, a quadrant missing from 90 % of them, "
        "Q = G = 30. The share counts only the products that the algorithm needs, against float32 "
        "products of 2000 × 2000 matrices right before and after each fit: median, lowest and "
        f"highest.\n\n{_table(titles, rows)}\n{text}\n"
    )


def _full(found: dict[str, Any], _: Path) -> str:
    ratio = found["row_by_row"] / found["processor"]
    return (
        "## Full covariances\n\n1000 rows of 20 features, every row a pattern of its own, "
        f"Q = G = 30:\n{_time(found['seconds'])} with {found['threads']} threads, "
        f"{_time(found['processor'])} of processor time, {found['megabytes']:.0f} MB above the "
        "input.\nEM with one inverse for each row, component and iteration would take "
        f"{_time(found['row_by_row'])} of processor time,\nextrapolated from a few components in "
        f"the same run: {ratio:.0f} times as much.\n"
    )


def _memory(found: dict[str, Any], _: Path) -> str:
    rows = [
        [
            f"{each['n']:,} × {each['d']:,}",
            f"{each['file']} file, in batches"
            if "file" in each
            else ", ".join(f"{name}={value}" for name, value in each["parameters"].items())
            or "defaults",
            f"{each['taken']:.0f} MB",
        ]
        for each in found["fits"]
    ]
    line = found["command_line"]
    return (
        "## Memory\n\nOf a fit, above the input.\n\n"
        f"{_table(['table', 'setting', 'memory'], rows)}\n"
        f"`pckid cluster` on {line['n']:,} × {line['d']} numbers of float32 in a Parquet file: "
        f"{line['megabytes']:.0f} MB in all.\n"
    )


def _wide(found: list[dict[str, Any]], _: Path) -> str:
    rows = [
        [
            f"{each['n']} × {each['many']:,}",
            _time(each["seconds"]),
            f"{each['times']:.1f} times {each['n']} × {each['few']}",
            f"{each['columns']:.0f} times",
        ]
        for each in found
    ]
    return f"## Wide tables\n\n{_table(['table', 'time', 'is', 'columns'], rows)}"


def _cores(found: dict[str, Any], _: Path) -> str:
    rows = [
        [
            each["name"],
            _time(each["one"]),
            _time(each["two"]),
            _time(each["all"]),
            f"{each['one'] / each['all']:.1f} times",
        ]
        for each in found["cases"]
    ]
    names = ["table", "one thread", "two", f"{found['threads']}, the default there", "as fast"]
    where = f"{found['machine']['cores']} cores of {found['machine']['processor']}"
    return (
        f"## Many cores\n\nOn {where}, medians of times taken in turns.\n\n"
        f"{_table(names, rows)}\nLabels are the same for every `n_jobs`. Threads take turns at the "
        "interpreter, so that there are as many as the work is worth: one for a few hundred rows.\n"
    )


def _streaming(found: dict[str, Any], _: Path) -> str:
    text = (
        f"## Tables in files\n\n{found['rows']:,} rows × 18 of float32 in a Parquet file, from "
        f"reading to the written labels,\non {found['cores']} cores: {_time(found['seconds'])}, "
        f"{found['rows_per_second']:,.0f} rows a second, {found['megabytes']:.0f} MB in all.\n"
        f"10^8 rows would take {found['extrapolated'] / 60:.0f} min in the same memory.\n"
    )
    if found["workers"]:
        base = found["workers"][0]["seconds"]
        rows = [
            [f"{each['n_workers']}", _time(each["seconds"]), f"{base / each['seconds']:.2f}"]
            for each in found["workers"]
        ]
        heads = ["Dask workers of one thread", "time", "times as fast"]
        text += f"\n{found['worker_rows']:,} such rows:\n\n{_table(heads, rows)}"
    return text


def _scaling(found: dict[str, Any], folder: Path) -> str:
    lines = []
    for axis, points in found.items():
        name = "".join(letter if letter.isalnum() else "-" for letter in axis.lower())
        _draw(axis, points, folder / f"{name}.svg")
        lines.append(f"![time and memory against {axis}](performance/{name}.svg)\n")
    return (
        "## How time and memory grow\n\n4000 rows of 20 features, 30 % missing, Q = G = 15, unless "
        "the axis says otherwise.\n\n" + "\n".join(lines)
    )


def _draw(axis: str, points: list[dict[str, float]], path: Path) -> None:
    """Plot time and memory against one quantity."""
    figure, axes = plt.subplots(1, 2, figsize=(6.4, 2.4), layout="constrained")
    for ax, key, unit in zip(axes, ("seconds", "megabytes"), ("s", "MB"), strict=True):
        ax.plot([p["x"] for p in points], [p[key] for p in points], "o-", color="#1f5a96")
        ax.set(xlabel=axis, ylabel=f"{'time' if unit == 's' else 'memory'} ({unit})")
        if min(p["x"] for p in points) > 0 and axis != "threads":
            ax.set(xscale="log", yscale="log" if unit == "s" else "linear")
        ax.set_ylim(bottom=None if ax.get_yscale() == "log" else 0)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


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
        "otherwise; medians, "
        f"and in brackets how many times PCKID's.\n\n{_table(['rows', *methods], rows)}"
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
        "## float32 and float64\n\nAdjusted Rand index between the labels of both, same seed: "
        f"0.99 or more on {good} of {len(found)} tables,\n"
        f"least on {worst['table']} ({worst['rows']:,} × {worst['columns']}): "
        f"{worst['lowest']:.3f}.\n"
    )


def _gpu(found: dict[str, Any], _: Path) -> str:
    rows = [[title, value] for title, value in found["rows"] if not title.startswith("of it ")]
    return (
        f"## GPU\n\n{found['device']}; figures of\n`python -m benchmarks.gpu --out "
        "docs/performance/gpu.json`, and there also the time of each step.\n\n"
        f"{_table(['what', 'figure'], rows)}"
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
    "mnist_size": _images,
    "full_covariance": _full,
    "scaling": _scaling,
    "precision": _precision,
    "gpu": _gpu,
}
_COLORS = ("#1f5a96", "#7fb2e0", "#c0504d", "#8a8a8a")
# Text as text: half the size, and the page's reader can search it.
plt.rcParams["svg.fonttype"] = "none"
