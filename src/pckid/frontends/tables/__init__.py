"""Tables from files, converted column by column.

`choosing` takes the options: which columns are used, and as what. `kinds` finds out what a column
holds and reads it, with `numbers`, `formats`, `dates`, `ranges`, and with `missing`, the only place
that knows what counts as missing. `prepared` is what comes out. `totals` finds rows that are sums.
"""
