"""Whole tables of shapes that mislead: a cohort with its outcomes, a panel that is none, codes.

Each is drawn anew from its own seed; the numbers of each have two groups that lie apart.
"""

import numpy as np


def _numbers(rng, group, n_columns=3):
    X = rng.normal(size=(len(group), n_columns)) + 4 * group[:, None]
    return {f"m{j + 1}": X[:, j].round(2) for j in range(n_columns)}


def _cohort(rng, group):
    """Draw patients with what became of them."""
    time = rng.exponential(900, len(group)).round()
    died = rng.random(len(group)) < 0.3 + 0.4 * group
    return _numbers(rng, group) | {"futime": time, "died": died.astype(int)}


def _cover_of_species(rng, group):
    """Draw how much ground each of nine species covers at each of forty sites."""
    species, site = np.divmod(np.arange(360), 40)
    cover = (rng.gamma(2, 3, 360) + 3 * (species % 2)).round(1)
    return {"species": species + 1, "site": site + 1, "cover": cover, "height": cover[::-1]}


def _codes(rng, group):
    """Draw laboratory values, missing as -9999 in four columns."""
    columns = _numbers(rng, group, 5)
    for name in [*columns][:4]:
        columns[name][rng.random(len(group)) < 0.17] = -9999
    return columns


def _flags(rng, group):
    """Draw laboratory values with columns that say which were measured."""
    columns = {name: x.astype(str) for name, x in _numbers(rng, group, 4).items()}
    flags = {}
    for name in ("m1", "m2", "m3"):
        measured = rng.random(len(group)) < 0.8
        columns[name][~measured] = ""
        flags[f"{name} measured"] = np.where(measured, "t", "f")
    return columns | flags


def _not_applicable(rng, group):
    """Draw answers whose third, as frequent as the others, is usually a word for missing."""
    answers = np.array(["yes", "no", "not applicable"])
    return _numbers(rng, group) | {"smokes": rng.choice(answers, len(group))}


def _lone_unit(rng, group):
    """Draw pressures, one of them with its unit."""
    pressure = (120 + 10 * rng.normal(size=len(group))).round().astype(int).astype(str)
    return {"pressure": np.where(np.arange(len(group)) == 7, "140 mmHg", pressure)} | _numbers(
        rng, group
    )


def _and(rng, group):
    """Draw symptoms, with a column that says whether two of them are both there."""
    symptoms = {name: rng.random(len(group)) < 0.5 for name in ("fever", "cough", "rash")}
    both = symptoms["fever"] & symptoms["cough"]
    yes_no = {name: np.where(x, "yes", "no") for name, x in (symptoms | {"both": both}).items()}
    return _numbers(rng, group) | yes_no


def _hospitals(rng, group):
    """Draw patients of twelve hospitals that are numbered, each with means of its own."""
    hospital = rng.permutation(np.arange(len(group)) % 12)
    shift = rng.normal(scale=2, size=(12, 2))[hospital]
    X = rng.normal(size=(len(group), 2)) + shift
    columns = {"hospital": hospital + 1, "wait": X[:, 0].round(2), "stay": X[:, 1].round(2)}
    return columns | _numbers(rng, group)


def _survey(rng, group):
    """Draw answers: ranges of tumour sizes and of ages, how often, and refusals."""
    n = len(group)
    answers = ["never", "rarely", "often", "always", "Don't know", "Refused"]
    return _numbers(rng, group) | {
        "size": rng.choice(["<=20", "20-50", ">50"], n),
        "age": rng.choice(["18-29", "30-49", "50-64", "65+"], n),
        "drinks": rng.choice(answers, n, p=[0.25, 0.25, 0.2, 0.2, 0.05, 0.05]),
    }


def _samples_in_columns(rng, group):
    """Draw amounts of proteins: each column is a sample."""
    amounts = np.exp(6 + 2 * rng.normal(size=len(group)))
    columns = {"protein": np.array([f"PROT{j}" for j in range(len(group))])}
    for sample in "abcdefgh":
        found = amounts * np.exp(0.4 * rng.normal(size=len(group)))
        columns[f"sample {sample}"] = found.round(3)
    return columns


SHAPES = {
    "a cohort with outcomes": (_cohort, 120),
    "species by sites": (_cover_of_species, 360),
    "codes in four columns": (_codes, 120),
    "flags of what was measured": (_flags, 200),
    "not applicable": (_not_applicable, 120),
    "a unit in one cell": (_lone_unit, 60),
    "both of two": (_and, 200),
    "numbered hospitals": (_hospitals, 240),
    "ranges and refusals": (_survey, 200),
    "samples in columns": (_samples_in_columns, 120),
}


def draw_shape(name):
    """Draw the columns of a table."""
    draw, n_rows = SHAPES[name]
    return draw(np.random.default_rng(0), np.arange(n_rows) % 2)


def write_shape(folder, name):
    """Write a table; return the path."""
    columns = draw_shape(name)
    rows = zip(*columns.values(), strict=True)
    path = folder / f"{name.replace(' ', '-')}.csv"
    path.write_text("\n".join([",".join(columns), *(",".join(map(str, r)) for r in rows)]) + "\n")
    return str(path)
