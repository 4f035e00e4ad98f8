"""Small tables as people write them, for tests that send one table through every entrance."""

import numpy as np

N_ROWS = 40


def _numbers(shift=0, form="{:.2f}"):
    rng = np.random.default_rng(shift)
    return [form.format(x) for x in rng.normal(size=N_ROWS) + 6 * (np.arange(N_ROWS) % 2) + 20]


def _cycle(*cells):
    return [cells[i % len(cells)] for i in range(N_ROWS)]


def _replace(cells, places, text):
    return [text if i in places else cell for i, cell in enumerate(cells)]


COLUMNS = {
    "thousands": [f"{1000 + 37 * i:,}.50" for i in range(N_ROWS)],
    "ambiguous": [f"{1 + i % 9},{100 + 7 * i}" for i in range(N_ROWS)],
    "decimal comma": [cell.replace(".", ",") for cell in _numbers(1)],
    "currency": [f"{i % 7 + 1} €" for i in range(N_ROWS)],
    "mixed currency": [f"{i % 7 + 1} {'EUR' if i % 2 else 'USD'}" for i in range(N_ROWS)],
    "unit sometimes": [f"{i % 7 + 1}{' kg' * (i % 3 > 0)}" for i in range(N_ROWS)],
    "percent": [f"{i % 90}%" for i in range(N_ROWS)],
    "limits": _replace(_numbers(2), (3, 9, 21), "<0.5"),
    "text among numbers": _replace(_numbers(3), (5, 6), "low"),
    "codes for missing": _replace(_numbers(4), (1, 8, 15), "-999"),
    "infinite": _replace(_numbers(5), (7,), "inf"),
    "outlier": _replace(_numbers(6), (7,), "9e12"),
    "yes and no": _cycle("Yes", "no", "y", "N"),
    "three answers": _cycle("J", "N", "V"),
    "none is a value": _cycle("none", "some", "much"),
    "capitals": _cycle("F", "f", "M"),
    "free text": [f"remark {i * 7 % 31}" for i in range(N_ROWS)],
    "several answers": _cycle("a|b", "b|c", "a", "c|a|b", "b"),
    "names": [f"P{i:03}" for i in range(N_ROWS)],
    "numbers of rows": [str(1000 + 3 * i) for i in range(N_ROWS)],
    "dates": [f"2024-01-{1 + i % 28:02}" for i in range(N_ROWS)],
    "ambiguous dates": [f"{1 + i % 12}/{1 + i % 11}/2024" for i in range(N_ROWS)],
    "dates in both orders": _cycle("25/01/2024", "01/25/2024", "03/04/2024"),
    "durations": [f"{i % 5}:30" for i in range(N_ROWS)],
    "zip": _cycle("94110", "10115", "80331"),
    "zeros in front": _cycle("0123", "0456", "0789"),
    "cluster": _cycle("0", "1"),
    "constant": ["7"] * N_ROWS,
    "empty": [""] * N_ROWS,
    "addresses": [f"192.168.1.{i % 5}" for i in range(N_ROWS)],
    "fate": _cycle("LIVE", "LIVE", "DIE"),
    "dashes": _replace(_numbers(7), (2, 3), "-"),
}


def write_messy_table(folder, name):
    """Write one such column beside two of numbers; return the path."""
    path = folder / f"{name.replace(' ', '-')}.csv"
    rows = zip(COLUMNS[name], _numbers(8), _numbers(9), strict=True)
    lines = [f"{name};x;y", *(";".join(row) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)
