"""Tables in files: read whole, converted column by column, and what is doubtful is listed.

    source ─▶ open_table(ReadOptions) ─▶ FileTable ─▶ prepare(ColumnOptions) ─▶ Prepared

Opening: `sources` has the bytes; `scanning` calls the reader that knows the format, `text` (with
`headers`, which finds the names of columns), `workbooks` or `binary`. Readers that a damaged file
can crash run in the process of `isolation`. `table` says where rows come from.

Preparing: `choosing` takes the options; `kinds` finds out what columns hold (`numbers`, `formats`,
`dates`, `meanings`) and reads them; `problems` and `shapes` list what is doubtful, as data of
`findings`; `preparing` puts it together in a `prepared.Prepared`, `cases` that of lines of cases.

Besides: `inspection` describes all columns, `datasets` opens what is too large to be read whole,
`writing` and `workbook_writing` write tables back.
"""
