"""Scores of rows in wide tables: few factors of few columns, by EM over what is observed."""
