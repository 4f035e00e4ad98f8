"""Sentences on a verdict. They take an `Assessment`, and compute nothing."""
