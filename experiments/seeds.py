"""Whether the answer changes with the seed: k, groups or none, and which rows.

    python -m experiments seeds FOLDER --half report --jobs -1

Every table is clustered with six seeds: with the number of clusters chosen, and with that of its
classes. Complete tables have lost 30 % of their values at random. Answers contradict each other
where both are decided, and differ.
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


def judge_seed(case: Any, number: int, seed: int, n_runs: int) -> Row:
    """Cluster a table by one seed, with k chosen and with k given."""
    from pckid import PCKID, assess

    drawn, y = case.draw(number)
    X, y = np.asarray(drawn, dtype=np.float64), np.asarray(y)
    begin = time.process_time()
    given = PCKID(len(np.unique(y)), random_state=seed, n_jobs=1).fit(X)
    fitted = time.process_time()
    model = PCKID("auto", random_state=seed, n_jobs=1, n_runs=n_runs).fit(X)
    found = assess(model, X, n_resamples=0, n_jobs=1)
    answered = time.process_time()
    rows = model.labels_ >= 0
    p_value = np.nan if found.p_value is None else found.p_value
    return {
        "name": case.dataset, "how": case.setting, "rows": len(X), "classes": len(np.unique(y)),
        "seed": seed, "k": model.n_clusters_, "answer": str(found.answer), "p_value": p_value,
        "n_null": len(found.null_statistics), "runs": len(found.runs),
        "ks": len({run.n_clusters for run in found.runs}),
        "ari": adjusted_rand_score(y[rows], model.labels_[rows]),
        "ari_given": adjusted_rand_score(y[given.labels_ >= 0], given.labels_[given.labels_ >= 0]),
        "starts": given._kernel.ensemble.n_inits, "seconds": fitted - begin,
        "seconds_auto": answered - fitted, "labels": given.labels_,
    }  # fmt: skip


def count_pairs(answers: Sequence[str]) -> Row:
    """Count the pairs of seeds that are both decided, and those of them that contradict."""
    decided = [answer for answer in answers if answer not in ("undecided", "unknown")]
    pairs = list(combinations(decided, 2))
    return {
        "pairs": len(answers) * (len(answers) - 1) // 2,
        "decided pairs": len(pairs),
        "contradict": sum(a != b for a, b in pairs),
        "none or not": sum((a == "none") != (b == "none") for a, b in pairs),
        "undecided": answers.count("undecided"),
    }


def summarise_table(rows: Sequence[Row]) -> Row:
    """Compare what the seeds found in one table."""
    first, ks = rows[0], [row["k"] for row in rows]
    answers = [row["answer"] for row in rows]
    agreements = [adjusted_rand_score(a["labels"], b["labels"]) for a, b in combinations(rows, 2)]
    means = {
        "ARI of auto": "ari", "ARI, k given": "ari_given", "starts": "starts", "seconds": "seconds",
        "seconds of the answer": "seconds_auto", "null tables": "n_null", "runs": "runs",
    }  # fmt: skip
    return {
        **{name: first[name] for name in ("name", "how", "rows", "classes")},
        "k": " ".join(map(str, ks)),
        "answers": " ".join(answers),
        "seeds": len(rows),
        **count_pairs(answers),
        "k differs": sum(a != b for a, b in combinations(ks, 2)),
        "agreement": np.mean(agreements),
        "below 0.9": np.mean(agreements) < 0.9,
        "k right": np.mean(np.array(ks) == first["classes"]),
        "within one": np.mean(np.abs(np.array(ks) - first["classes"]) <= 1),
        "said": np.mean([row["ks"] > 1 for row in rows]),
        **{mean: np.mean([row[name] for row in rows]) for mean, name in means.items()},
    }


def tabulate(found: Sequence[Row]) -> str:
    """Write shares of pairs of seeds, and means over the tables, in Markdown."""
    total = {
        name: sum(row[name] for row in found)
        for name in ("seeds", "pairs", "decided pairs", "undecided", "contradict", "none or not")
    }
    k_differs = sum(row["k differs"] for row in found) / max(total["pairs"], 1)
    decided = max(total["decided pairs"], 1)
    lines = [
        ["undecided", f"{total['undecided'] / max(total['seeds'], 1):.4f}", ""],
        ["of decided pairs: contradict", f"{total['contradict'] / decided:.4f}", ""],
        ["of decided pairs: none or not", f"{total['none or not'] / decided:.4f}", ""],
        ["of all pairs: another k", f"{k_differs:.4f}", ""],
    ]
    means = (
        "below 0.9", "k right", "within one", "agreement", "ARI of auto", "ARI, k given", "starts",
        "seconds", "seconds of the answer", "null tables", "runs", "said",
    )  # fmt: skip
    for name in means:
        values = np.array([float(row[name]) for row in found])
        error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
        lines.append([name, f"{values.mean():.3f}", f"{error:.3f}"])
    return markdown([f"over {len(found)} tables", "share or mean", "standard error"], lines)


@experiment("seeds", "folders", "half", "jobs", runs=3, max_rows=1500)
def seeds_command(
    folders: Sequence[str], half: str | None, runs: int, max_rows: int, jobs: int, out: Path
) -> None:
    """Cluster labelled tables of FOLDERS by six seeds each, and count what changes.

    Each answer is that of so many runs, as `n_runs` of PCKID. Writes seeds.csv and seeds.md.
    """
    cases = [
        case
        for case in find_cases(folders, half, NOT_FEATURES, max_rows, print)
        if case.setting in (AS_IS, REMOVED)
    ]
    calls = [
        (judge_seed, (case, i, seed, runs))
        for i, case in enumerate(cases)
        for seed in range(N_SEEDS)
    ]
    rows = call_all(calls, jobs, "Clustering")
    found = [summarise_table(rows[i : i + N_SEEDS]) for i in range(0, len(rows), N_SEEDS)]
    write_both(out, "seeds", found, tabulate(found))
