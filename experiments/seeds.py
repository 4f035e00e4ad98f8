"""Whether the answer changes with the seed: k, groups or none, and which rows.

    python -m experiments seeds FOLDER --half report --jobs -1

Every table is clustered with six seeds: with the number of clusters chosen, and with that of its
classes. Complete tables have lost 30 % of their values at random.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from experiments.compare import find_cases
from experiments.datasets.tables import AS_IS, NOT_FEATURES
from experiments.output import call_all, experiment, markdown, write_both

N_SEEDS = 6
REMOVED = "mcar 30%"

Row = dict[str, Any]


def judge_seed(case: Any, number: int, seed: int) -> Row:
    """Cluster a table by one seed, with k chosen and with k given."""
    from pckid import PCKID, assess
    from pckid.significance.comparison import ALPHA

    drawn, y = case.draw(number)
    X, y = np.asarray(drawn, dtype=np.float64), np.asarray(y)
    begin = time.process_time()
    given = PCKID(len(np.unique(y)), random_state=seed, n_jobs=1).fit(X)
    fitted = time.process_time()
    model = PCKID("auto", random_state=seed, n_jobs=1).fit(X)
    chosen = time.process_time()
    found = assess(model, X, n_resamples=0, n_jobs=1)
    rows = model.labels_ >= 0
    p_value = np.nan if found.p_value is None else found.p_value
    return {
        "name": case.dataset, "how": case.setting, "rows": len(X), "classes": len(np.unique(y)),
        "seed": seed, "k": model.n_clusters_, "answer": str(found.answer), "p_value": p_value,
        "significant": int(p_value <= ALPHA), "n_null": len(found.null_statistics),
        "others": " ".join(map(str, found.other_choices)),
        "ari": adjusted_rand_score(y[rows], model.labels_[rows]),
        "ari_given": adjusted_rand_score(y[given.labels_ >= 0], given.labels_[given.labels_ >= 0]),
        "starts": given._kernel.ensemble.n_inits, "seconds": fitted - begin,
        "seconds_auto": chosen - fitted, "labels": given.labels_,
    }  # fmt: skip


def summarise_table(rows: Sequence[Row]) -> Row:
    """Compare what the seeds found in one table."""
    first = rows[0]
    ks = np.array([row["k"] for row in rows])
    agreements = [adjusted_rand_score(a["labels"], b["labels"]) for a, b in combinations(rows, 2)]
    return {
        **{name: first[name] for name in ("name", "how", "rows", "classes")},
        "k": " ".join(map(str, ks)),
        "answers": " ".join(row["answer"] for row in rows),
        "k differs": len(set(ks)) > 1,
        "answer differs": len({row["answer"] for row in rows}) > 1,
        "p crosses": len({row["significant"] for row in rows}) > 1,
        "agreement": np.mean(agreements),
        "below 0.9": np.mean(agreements) < 0.9,
        "k right": np.mean(ks == first["classes"]),
        "within one": np.mean(np.abs(ks - first["classes"]) <= 1),
        "said": np.mean([bool(row["others"]) for row in rows]),
        **{
            mean: np.mean([row[name] for row in rows])
            for mean, name in {
                "ARI of auto": "ari", "ARI, k given": "ari_given", "starts": "starts",
                "seconds": "seconds", "seconds of auto": "seconds_auto", "null tables": "n_null",
            }.items()
        },
    }  # fmt: skip


def tabulate(found: Sequence[Row]) -> str:
    """Write means over the tables, in Markdown."""
    shares = ("k differs", "answer differs", "p crosses", "below 0.9", "k right", "within one")
    means = ("agreement", "ARI of auto", "ARI, k given", "starts", "seconds", "seconds of auto")
    lines = []
    for name in (*shares, *means, "null tables"):
        values = np.array([float(row[name]) for row in found])
        error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
        lines.append([name, f"{values.mean():.3f}", f"{error:.3f}"])
    seconds = np.median([row["seconds"] for row in found])
    lines.append(["seconds, median", f"{seconds:.3f}", ""])
    return markdown([f"over {len(found)} tables", "mean", "standard error"], lines)


@experiment("seeds", "folders", "half", "jobs", max_rows=1500)
def seeds_command(
    folders: Sequence[str], half: str | None, max_rows: int, jobs: int, out: Path
) -> None:
    """Cluster labelled tables of FOLDERS by six seeds each, and count what changes.

    Writes seeds.csv and seeds.md.
    """
    cases = [
        case
        for case in find_cases(folders, half, NOT_FEATURES, max_rows, print)
        if case.setting in (AS_IS, REMOVED)
    ]
    calls = [
        (judge_seed, (case, i, seed)) for i, case in enumerate(cases) for seed in range(N_SEEDS)
    ]
    rows = call_all(calls, jobs, "Clustering")
    found = [summarise_table(rows[i : i + N_SEEDS]) for i in range(0, len(rows), N_SEEDS)]
    write_both(out, "seeds", found, tabulate(found))
