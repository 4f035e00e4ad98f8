"""Tables in files: read whole, and converted column by column; and written back.

    source ─▶ open_table(ReadOptions) ─▶ FileTable ─▶ read_columns(ReadingRules) ─▶ Columns

Opening: `sources` has the bytes; `scanning` calls the reader that knows the format, `text` (with
`headers`, which finds the names of columns), `workbooks` or `binary`. Readers that a damaged file
can crash run in the process of `isolation`. `table` says where rows come from.

Converting: `choosing` takes the options; `kinds` finds out what columns hold (`numbers`, `formats`,
`dates`, `meanings`) and reads them. `findings` and `prepared` are what comes out, as data.

Besides: `datasets` opens what is too large to be read whole, `writing` and `workbook_writing` write
tables back.
"""
