"""Make the golden files of the present format: `python tests/golden/make.py`.

Run once when `pckid.modelfile.FORMAT` rises. Files of earlier formats are never made again.
"""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd

import pckid
from pckid.modelfile import FORMAT

HERE = Path(__file__).parent


def main() -> None:
    """Write a file for each class, and what it must compute of twelve rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4)) + 4 * (np.arange(60) % 3)[:, None]
    X[rng.random(X.shape) < 0.2] = np.nan
    X[:, 3] = 1.0
    frame = pd.DataFrame(X, columns=["höhe", "weight", "age", "same"])
    small = {"n_inits": 2, "max_components": 3, "random_state": 0}
    mixture = pckid.IncompleteGaussianMixture(2, max_iter=5, tol=0.0, random_state=0)
    models = {
        "PCKID": (pckid.PCKID(3, **small).fit(frame), frame, "transform"),
        "ProbabilisticClusterKernel": (
            pckid.ProbabilisticClusterKernel(**small).fit(X), X, "transform",
        ),
        "IncompleteGaussianMixture": (mixture.fit(frame), frame, "impute"),
    }  # fmt: skip
    path = HERE / "expected.json"
    expected = json.loads(path.read_text()) if path.exists() else {}
    for name, (model, table, method) in models.items():
        pckid.save(model, HERE / f"{name}-{FORMAT}.pckid")
        expected[f"{name}-{FORMAT}"] = {
            "rows": [[None if np.isnan(v) else v for v in row] for row in X[:12].tolist()],
            "method": method,
            "result": np.asarray(getattr(model, method)(table[:12])).tolist(),
        }
    # One row of numbers in a line.
    text = re.sub(
        r"\[[^][]+\]", lambda row: " ".join(row[0].split()), json.dumps(expected, indent=1)
    )
    path.write_text(text + "\n")


if __name__ == "__main__":
    main()
