"""Plain figures about a table with missing values, and about the clusters found in it."""
