"""
Courses of patients
===================

Patients after an operation are seen on a few of 22 days, and not every test is made each time.
Three courses are hidden in the visits: recovery, an infection in the second week, failing kidneys.
:doc:`/guide/series` builds this example step by step.

**The patients are simulated**, with a fixed seed.
"""

# %%
# Visits
# ------
# One line for each visit. A series is a group of columns: days are put into bins, several values in
# a bin are averaged, and what was not measured stays missing.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from pckid import PCKID
from pckid.metrics import clustering_accuracy
from pckid.plots import SeriesDisplay
from pckid.series import from_long


def draw_visits(n_patients, seed):
    """Draw the visits of patients, and the course of each."""
    rng = np.random.default_rng(seed)
    lines, courses = (
        [],
        rng.choice(["recovery", "infection", "kidney"], n_patients, p=[0.5, 0.3, 0.2]),
    )
    for number, course in enumerate(courses):
        for day in np.sort(rng.choice(22, size=rng.integers(3, 10), replace=False)).tolist():
            late = max(day - 5, 0)
            fever = 14 * late * np.exp(-late / 6) if course == "infection" else 0
            crp = rng.normal(10 + 90 * np.exp(-day / 5) + fever, 12)
            creatinine = rng.normal(80 + (9 * day if course == "kidney" else 0), 12)
            pulse = rng.normal(95 - day + (12 if fever else 0), 12)
            made = rng.random(3) < (0.7, 0.5, 0.9)
            values = np.where(made, [crp, creatinine, pulse], np.nan)
            lines.append([f"patient {number}", day, *values])
    names = ["patient", "day", "crp", "creatinine", "pulse"]
    return pd.DataFrame(lines, columns=names), courses


visits, courses = draw_visits(300, seed=1)
table = from_long(visits, case="patient", time="day")
print(*table.notes, sep="\n")
print(f"{np.isnan(table.values).mean():.0%} of the cells are missing")

# %%
# Groups
# ------
model = PCKID(3, random_state=0).fit(table)
print(f"agreement with the true courses: {clustering_accuracy(courses, model.labels_):.2f}")

# %%
# Their courses: medians and quartiles above, the share of patients with a value below.
SeriesDisplay.from_estimator(model, table).plot()
plt.show()

# %%
# New patients
# ------------
# They are read with the same bins, and placed in the same groups.
new_visits, new_courses = draw_visits(100, seed=2)
new = table.like(new_visits)
print(f"agreement: {clustering_accuracy(new_courses, model.predict(new)):.2f}")
