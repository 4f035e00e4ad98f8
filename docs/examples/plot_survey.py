"""
A survey with categories and unanswered questions
=================================================

Surveys mix numbers and categories, and people skip questions.

**This survey is simulated.** No survey with categories and known groups comes with the packages
that these pages are built from, and nothing is downloaded for them.

The story: 400 people of three kinds answer how they get to work. Commuters by train live far out,
own season tickets and read; drivers live far out and own cars; cyclists live near. Age and
distance are numbers. Transport, ticket and home are categories, and people answer them by
their kind's habits, not always. Each question is skipped by a quarter of the people.
"""

# %%
# The survey
# ----------
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from pckid import PCKID
from pckid.metrics import clustering_accuracy
from pckid.plots import EmbeddingDisplay

rng = np.random.default_rng(0)
kind = rng.choice(["train", "car", "bicycle"], size=400, p=[0.35, 0.45, 0.2])


def answers(habits):
    """Draw one answer for each person from the habits of their kind."""
    return np.array([rng.choice(list(habits[k]), p=list(habits[k].values())) for k in kind])


distance = {"train": (30, 8), "car": (24, 9), "bicycle": (5, 2)}
age = {"train": (41, 10), "car": (46, 10), "bicycle": (35, 9)}
survey = pd.DataFrame(
    {
        "distance": [max(1.0, rng.normal(*distance[k])) for k in kind],
        "age": [rng.normal(*age[k]) for k in kind],
        "yesterday": answers(
            {
                "train": {"train": 0.8, "car": 0.15, "bicycle": 0.05},
                "car": {"train": 0.1, "car": 0.85, "bicycle": 0.05},
                "bicycle": {"train": 0.1, "car": 0.1, "bicycle": 0.8},
            }
        ),
        "ticket": answers(
            {
                "train": {"season": 0.8, "single": 0.15, "none": 0.05},
                "car": {"season": 0.05, "single": 0.25, "none": 0.7},
                "bicycle": {"season": 0.2, "single": 0.5, "none": 0.3},
            }
        ),
        "home": answers(
            {
                "train": {"town": 0.3, "suburb": 0.6, "village": 0.1},
                "car": {"town": 0.1, "suburb": 0.4, "village": 0.5},
                "bicycle": {"town": 0.8, "suburb": 0.15, "village": 0.05},
            }
        ),
    }
)
survey = survey.mask(rng.random(survey.shape) < 0.25)
survey = survey.dropna(how="all")
kind = kind[survey.index]
survey.head()

# %%
# Categories as they are
# ----------------------
# ``categorical_features="from_dtype"`` takes the columns of text as categories. A skipped answer
# stays missing.
shared = {"n_inits": 8, "max_components": 15, "random_state": 0}
model = PCKID(3, categorical_features="from_dtype", **shared).fit(survey)
print({name: list(found) for name, found in model.categories_.items()})
print(f"with categories:  {clustering_accuracy(kind, model.labels_):.3f}")

# %%
# The same without declaring them: categories coded as numbers in alphabetical order, which puts an
# order and distances between them that do not exist.
codes = survey.copy()
for name in ("yesterday", "ticket", "home"):
    codes[name] = survey[name].astype("category").cat.codes.replace(-1, np.nan)
as_numbers = PCKID(3, **shared).fit_predict(codes)
print(f"coded as numbers: {clustering_accuracy(kind, as_numbers):.3f}")

# %%
EmbeddingDisplay.from_estimator(model).plot()
plt.show()

# %%
# Answers by cluster, among those who answered:
pd.crosstab(model.labels_, survey["ticket"], normalize="index", rownames=["cluster"]).round(2)
