"""Tables that the reports on the screenshots are about, drawn by chance: nothing is real.

A clinic's table of 40 columns, a survey of categories, and a table of twelve clusters.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

# Of each column its mean, its spread, and how many of its spreads it is higher in cases of sepsis
# and in cases of heart failure than in others.
_MEASURED = {
    "age (years)": (64, 14, 0, 0.9), "heart rate (1/min)": (84, 13, 1.6, 0.4),
    "systolic pressure (mmHg)": (124, 17, -1.3, -0.5), "mean pressure (mmHg)": (84, 11, -1.5, -0.5),
    "respiratory rate (1/min)": (18, 3.5, 1.4, 0.9), "temperature (°C)": (36.9, 0.5, 1.7, -0.2),
    "oxygen saturation (%)": (96.2, 1.8, -0.9, -1.3), "lactate (mmol/l)": (1.5, 0.5, 2.4, 0.5),
    "pH": (7.4, 0.04, -1.6, -0.2), "bicarbonate (mmol/l)": (24.5, 2.6, -1.5, 0),
    "creatinine (mg/dl)": (0.95, 0.25, 1.6, 1.3), "urea (mg/dl)": (36, 11, 1.4, 1.3),
    "potassium (mmol/l)": (4.1, 0.4, 0.5, 0.6), "sodium (mmol/l)": (139, 3.2, -0.3, -1.2),
    "glucose (mg/dl)": (112, 24, 1, 0.3), "albumin (g/dl)": (3.8, 0.4, -1.8, -0.5),
    "bilirubin (mg/dl)": (0.7, 0.25, 1.2, 0.5), "haemoglobin (g/dl)": (13, 1.6, -0.6, -0.7),
    "leucocytes (10^9/l)": (8.2, 2.1, 2.2, 0.1), "platelets (10^9/l)": (245, 60, -1.2, -0.2),
    "C-reactive protein (mg/l)": (18, 12, 3.2, 0.3), "procalcitonin (ng/ml)": (0.3, 0.15, 3.5, 0.2),
    "NT-proBNP (pg/ml)": (310, 140, 0.9, 3.4), "troponin (ng/l)": (11, 5, 0.8, 1.9),
    "ejection fraction (%)": (59, 6, -0.3, -2.8), "weight (kg)": (78, 13, 0, 0.6),
}  # fmt: skip
_SURVEY = {
    "How do you travel to work?": "car bus bicycle walking",
    "Do you own your home?": "no yes",
    "How often do you cook?": "never sometimes often daily",
    "Where do you read news?": "nowhere online paper both",
    "Satisfied with your work?": "no partly mostly fully",
    "Pets": "none cat dog other",
    "Last holidays": "home abroad",
    "Went to vote": "no yes refused",
}


def write_clinic(path: Path) -> None:
    """Write 600 cases of three kinds by 40 columns, a quarter of the cells missing."""
    rng = np.random.default_rng(3)
    kind = rng.choice(3, 600, p=[0.5, 0.3, 0.2])
    columns: dict[str, Any] = {}
    for name, (mean, spread, *shifts) in _MEASURED.items():
        shift = np.array([0, *shifts])[kind]
        columns[name] = (mean + spread * (shift + rng.normal(size=600))).round(2)
    for number in range(8):
        columns[f"further marker {number + 1}"] = rng.normal(50, 9, 600).round(1)
    for name, chances in {
        "ventilated": (0.05, 0.5, 0.3), "vasopressors": (0.03, 0.7, 0.25),
        "diabetes": (0.2, 0.25, 0.45), "oedema": (0.1, 0.15, 0.85), "cough": (0.3, 0.5, 0.35),
        "sex": (0.5, 0.5, 0.5),
    }.items():  # fmt: skip
        words = ("f", "m") if name == "sex" else ("no", "yes")
        columns[name] = [words[int(rng.random() < chances[k])] for k in kind]
    _write(path, columns, rng, 0.25)


def write_survey(path: Path) -> None:
    """Write the answers of 600 persons of three kinds to eight questions."""
    rng = np.random.default_rng(0)
    kind, columns = rng.integers(0, 3, 600), {}
    for question, words in _SURVEY.items():
        answers = words.split()
        chances = rng.dirichlet(np.full(len(answers), 0.4), size=3)
        columns[question] = [answers[rng.choice(len(answers), p=chances[k])] for k in kind]
    _write(path, columns, rng, 0.12)


def write_twelve(path: Path) -> None:
    """Write 900 rows of twelve clusters by eight columns."""
    rng = np.random.default_rng(0)
    cells = (6 * rng.normal(size=(12, 8)))[rng.integers(0, 12, 900)] + rng.normal(size=(900, 8))
    names = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"]
    _write(path, dict(zip(names, cells.round(1).T, strict=True)), rng, 0.15)


def _write(
    path: Path, columns: dict[str, Iterable[Any]], rng: np.random.Generator, missing: float
) -> None:
    """Write columns, some of their cells left empty."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        rows: Iterable[Sequence[Any]] = zip(*columns.values(), strict=True)
        writer.writerows(["" if rng.random() < missing else cell for cell in row] for row in rows)


MADE = {"clinic": write_clinic, "survey": write_survey, "twelve": write_twelve}
