"""Plain figures about a table with holes, and about the clusters found in it."""
