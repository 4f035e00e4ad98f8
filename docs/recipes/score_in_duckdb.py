"""Clusters of new rows inside a DuckDB query, by a saved model."""

import duckdb
import pyarrow as pa

import pckid
from pckid.data import penguins_path

columns = ["Culmen Length (mm)", "Culmen Depth (mm)", "Flipper Length (mm)", "Body Mass (g)"]
old = pckid.read_table(str(penguins_path()), columns=columns).frame.dropna(how="all")
pckid.save(pckid.PCKID(3, random_state=0).fit(old), "penguins.pckid")

model = pckid.load("penguins.pckid")


def find_cluster(length, depth, flipper, mass):
    """Place a block of rows; NULL is a missing value."""
    rows = pa.table([length, depth, flipper, mass], names=columns)
    return pa.array(model.predict(rows))


database = duckdb.connect()
database.create_function(
    "find_cluster",
    find_cluster,
    ["DOUBLE"] * len(columns),
    "BIGINT",
    type="arrow",
    null_handling="special",  # rows with NULL are placed, too
)
database.register("visits", pa.Table.from_pandas(old))
listed = ", ".join(f'"{name}"' for name in columns)
sizes = database.sql(
    f"SELECT find_cluster({listed}) AS cluster, count(*) AS n FROM visits GROUP BY 1 ORDER BY 1"
).fetchall()
print(sizes)
database.close()
