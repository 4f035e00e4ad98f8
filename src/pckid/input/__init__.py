"""What comes in: checked, read as numbers and categories, standardised, and weighted."""
