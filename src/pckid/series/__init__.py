"""Series as tables: visits line by line, 3-D arrays, lists of arrays and wide tables.

A series is a group of columns. `from_long`, `from_array` and `from_wide` turn series into a table
with one row for each case and one column for each variable at each time, which `PCKID` takes as it
takes a dataframe: the columns of a variable share one scale.
"""

from pckid.series.long import from_long
from pckid.series.table import SeriesFormat, SeriesTable
from pckid.series.wide import find_series, from_array, from_wide

__all__ = ["SeriesFormat", "SeriesTable", "find_series", "from_array", "from_long", "from_wide"]
