"""Clusters of new rows as a column of a polars query, by a saved model."""

import polars as pl

import pckid
from pckid.data import penguins_path

columns = ["Culmen Length (mm)", "Culmen Depth (mm)", "Flipper Length (mm)", "Body Mass (g)"]
old = pl.read_csv(penguins_path()).select(columns)
old = old.filter(~pl.all_horizontal(pl.all().is_null()))
pckid.save(pckid.PCKID(3, random_state=0).fit(old), "penguins.pckid")

model = pckid.load("penguins.pckid")


def add_clusters(rows: pl.DataFrame) -> pl.DataFrame:
    """Place rows; null is a missing value."""
    found = model.assign(rows.select(columns))
    return rows.with_columns(
        pl.Series("cluster", found.labels), pl.Series("confidence", found.confidence)
    )


query = old.lazy().map_batches(
    add_clusters, schema={**old.schema, "cluster": pl.Int64, "confidence": pl.Float64}
)
sizes = query.group_by("cluster").len().sort("cluster").collect()
print(sizes)
