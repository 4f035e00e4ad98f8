"""Kinds of columns: one file says all that must be known of one."""
