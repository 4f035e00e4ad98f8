"""Plain figures about clusters: profiles, what sets them apart, missing values, a map."""
