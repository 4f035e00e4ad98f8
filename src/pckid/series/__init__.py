"""Series as tables: visits line by line, 3-D arrays and lists of arrays.

A series is a group of columns. `from_long` and `from_array` turn series into a table with one row
for each case and one column for each variable at each time, which `PCKID` takes as it takes a
dataframe: the columns of a variable share one scale. `find_series` finds such groups of columns in
a table that has them.
"""

from pckid.series.arrays import from_array
from pckid.series.long import from_long
from pckid.series.table import SeriesFormat, SeriesTable
from pckid.series.wide import find_series

__all__ = ["SeriesFormat", "SeriesTable", "find_series", "from_array", "from_long"]
