"""Whether clusters are more than a table without groups shows, and found again in other rows."""
