"""Tables from files: open them, prepare their columns, write them back with new columns."""
