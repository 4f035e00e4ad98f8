"""
A DataFrame in a pipeline
=========================

Columns with names, a transformation of some of them, and clusters, in one scikit-learn pipeline.
Nothing is imputed on the way: the steps before the clusterer have to let NaN pass, as
scikit-learn's scalers and function transformers do.
"""

# %%
# A DataFrame
# -----------
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from pckid import PCKID
from pckid.data import penguins_path
from pckid.plots import EmbeddingDisplay

birds = pd.read_csv(penguins_path())
species = birds.pop("label")
birds = birds.dropna(how="all")
birds.head()

# %%
# A pipeline
# ----------
# Body mass has a long tail, so we take its logarithm. The other columns pass as they are; scaling
# is not needed.
logarithm = FunctionTransformer(np.log, feature_names_out="one-to-one")
columns = make_column_transformer(
    (logarithm, ["Body Mass (g)"]), remainder="passthrough", verbose_feature_names_out=False
)
pipeline = make_pipeline(columns, PCKID(3, n_inits=8, max_components=20, random_state=0))
pipeline.set_output(transform="pandas")
labels = pipeline.fit_predict(birds)
pd.crosstab(species[birds.index].str.split().str[0], labels, colnames=["cluster"])

# %%
# The clusterer knows the names of its columns:
clusterer = pipeline[-1]
print(list(clusterer.feature_names_in_))

# %%
# As a transformer it gives the embedding, with the index of the rows:
pipeline.transform(birds).head()

# %%
# A map of the rows, drawn from its coordinates:
EmbeddingDisplay.from_estimator(clusterer).plot()
plt.show()

# %%
# New rows
# --------
# A new bird of which only the flipper and the mass are known:
new = pd.DataFrame([dict.fromkeys(birds.columns, np.nan)])
new["Flipper Length (mm)"], new["Body Mass (g)"] = 221.0, 5400.0
label = pipeline.predict(new)[0]
print("cluster", label, "- its other members:", species[birds.index][labels == label].mode()[0])
