"""
What is a cluster made of?
==========================

Labels alone convince nobody. For each cluster: which columns set it apart, which rows are typical,
which are doubtful and between which clusters, and whether the cluster is there at all or comes
and goes with the ensemble.
"""

# %%
# Wine of three growers, a fifth of the values missing
# ----------------------------------------------------
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_wine

from pckid import PCKID, assess, explain, profile

wine = load_wine(as_frame=True)
removed = np.random.default_rng(0).random(wine.data.shape) < 0.2
table = wine.data.mask(removed)
model = PCKID(3, n_inits=10, max_components=20, random_state=0).fit(table)

# %%
# Columns
# -------
# ``separation`` goes from −1 (always lower than elsewhere) to 1 (always higher). All figures come
# from observed values.
profiles = model.cluster_profiles_
for cluster in range(3):
    columns = ", ".join(f"{name} {value:+.2f}" for name, value in profiles.ranked(cluster)[:3])
    print(f"cluster {cluster}: {profiles.n_rows[cluster]} rows; {columns}")

# %%
# As the table that the report shows first:
profile(model, table).plot()
plt.show()

# %%
# And one column as a table:
pd.DataFrame(profiles.records()).query("feature == 'proline'").round(2)

# %%
# Rows
# ----
found = explain(model, table, n_examples=3)
for cluster in found.clusters:
    rows = [int(row) for row in cluster.representatives]
    print(f"cluster {cluster.number}: typical rows {rows}")

# %%
# Doubtful rows lie between two clusters. A row with many missing values is often among them.
for row in found.doubtful[:5]:
    print(f"row {row.row}: cluster {row.cluster} or {row.other}, confidence {row.confidence:.2f}")

# %%
# Are there groups at all?
# ------------------------
# The clusters are compared with those of tables without groups, and found anew in random halves of
# the rows.
judged = assess(model, table, random_state=0)
print(judged.sentence)
print("stability of the clusters:", judged.cluster_stability.round(2))
