"""Make the spreadsheets and files of statistics programs in `files/`, as offices write them.

`python tests/tables/make_workbooks.py` writes them again. It needs openpyxl, xlwt, odfpy, pandas
and pyreadstat; the tests need only the files.
"""

import datetime
from pathlib import Path
from typing import Any

FILES = Path(__file__).parent / "files"
REGIONS = [["North", 12.5, 30], ["South", 7.25, None], ["West", None, 41], ["East", 9.0, 18]]
HEADER = ["region", "income", "age"]


def workbook(name: str, *sheets: tuple[str, list[list]]) -> Any:
    """Fill the sheets of a workbook and save it."""
    import openpyxl

    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets:
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    book.properties.created = book.properties.modified = datetime.datetime(2024, 1, 31)
    book.save(FILES / name)
    return book


def make_xlsx() -> None:
    workbook("plain.xlsx", ("Sheet1", [HEADER, *REGIONS]))
    title = [["Income by region"], ["as of", datetime.date(2024, 1, 31)], [], HEADER, *REGIONS]
    book = workbook("title-rows.xlsx", ("Report", title))
    book["Report"].merge_cells("A1:C1")
    book.save(FILES / "title-rows.xlsx")
    groups = [
        ["region", 2023, None, 2024, None],
        [None, "spring", "autumn", "spring", "autumn"],
        ["North", 1.5, 2.5, 3.5, 4.5],
        ["South", 5.5, None, 6.5, 7.5],
    ]
    book = workbook("group-headings.xlsx", ("Data", groups))
    for merged in ("A1:A2", "B1:C1", "D1:E1"):
        book["Data"].merge_cells(merged)
    book.save(FILES / "group-headings.xlsx")
    book = workbook(
        "several-sheets.xlsx",
        ("Cover", [["Confidential"]]),
        ("Empty", []),
        ("Data", [HEADER, *REGIONS]),
        ("Codes", [["code", "meaning"], [1, "yes"], [2, "no"]]),
    )
    book["Cover"].sheet_state = "hidden"
    book.active = 2
    book.save(FILES / "several-sheets.xlsx")
    rows = [
        [datetime.date(2024, 1, 31), datetime.datetime(2024, 1, 31, 12, 30), 1.5],
        [datetime.date(2023, 12, 1), None, 2.5],
    ]
    workbook("dates.xlsx", ("Visits", [["day", "seen at", "value"], *rows]))
    book = workbook("formats.xlsx", ("Money", [["rate", "price"], [0.087, 5345.73], [0.5, -20]]))
    for row in (2, 3):
        book["Money"].cell(row, 1).number_format = "0.0%"
        book["Money"].cell(row, 2).number_format = '#,##0.00 "€";(#,##0.00 "€")'
    book.save(FILES / "formats.xlsx")
    merged = [
        ["region", "year", "value"],
        ["North", 2023, 1.5],
        [None, 2024, 2.5],
        ["South", 2023, 3],
    ]
    book = workbook("merged-rows.xlsx", ("Data", merged))
    book["Data"].merge_cells("A2:A3")
    book.save(FILES / "merged-rows.xlsx")
    notes = [HEADER, *REGIONS, [], ["Source: ministry of figures"], ["* provisional"]]
    workbook("notes-below.xlsx", ("Data", notes))
    texts = [["revenue", "share"], ["5.345,73", "8,7 %"], ["12,50", "n/a"], ["1.000,00", "4,0 %"]]
    workbook("numbers-as-text.xlsx", ("Export", texts))
    book = workbook("offset.xlsx", ("Data", [[]]))
    for i, row in enumerate([HEADER, *REGIONS]):
        for j, cell in enumerate(row):
            book["Data"].cell(i + 5, j + 3, cell)
    book.save(FILES / "offset.xlsx")
    book = workbook("hidden.xlsx", ("Data", [HEADER, *REGIONS]))
    book["Data"].row_dimensions[3].hidden = True
    book["Data"].column_dimensions["C"].hidden = True
    book.save(FILES / "hidden.xlsx")
    mixed = [["code", "value"], [101, 1], ["A7", "n/a"], [103, 2.5]]
    workbook("mixed.xlsx", ("Data", mixed))


def make_xls() -> None:
    import xlwt

    book = xlwt.Workbook()
    sheet = book.add_sheet("Tabelle1")
    sheet.write_merge(0, 0, 0, 3, "Einkommen nach Region")
    day = xlwt.easyxf(num_format_str="DD.MM.YYYY")
    for i, row in enumerate([[*HEADER, "day"], *REGIONS]):
        for j, cell in enumerate(row):
            if cell is not None:
                sheet.write(i + 2, j, cell)
        if i:
            sheet.write(i + 2, 3, datetime.date(2024, 1, i), day)
    book.save(str(FILES / "title-rows.xls"))


def make_ods() -> None:
    import odf.opendocument
    import odf.table

    document = odf.opendocument.OpenDocumentSpreadsheet()
    table = odf.table.Table(name="Feuille1")
    for cells in (["Revenus par région"], [], HEADER, *REGIONS):
        row = odf.table.TableRow()
        for cell in cells or [None]:
            row.addElement(_ods_cell(cell))
        table.addElement(row)
    # As LibreOffice does, up to the last row of a sheet.
    row = odf.table.TableRow(numberrowsrepeated=1_048_569)
    row.addElement(odf.table.TableCell(numbercolumnsrepeated=16_384))
    table.addElement(row)
    document.spreadsheet.addElement(table)
    document.save(FILES / "title-rows.ods")


def _ods_cell(value: object) -> Any:
    import odf.table
    import odf.text

    if value is None:
        return odf.table.TableCell()
    if isinstance(value, str):
        cell = odf.table.TableCell(valuetype="string")
        cell.addElement(odf.text.P(text=value))
        return cell
    return odf.table.TableCell(valuetype="float", value=value)


def make_statistics() -> None:
    import pandas as pd
    import pyreadstat

    frame = pd.DataFrame(
        {
            "sex": [1.0, 2, 1, 9],
            "age": [30.5, None, 40, 50],
            "agree": [1.0, 2, 3, 5],
            "day": [datetime.date(2024, 1, 31)] * 4,
            "town": ["Bergen", "Oslo", "", "Oslo"],
        }
    )
    labels = {"sex": {1: "male", 2: "female", 9: "refused"}, "agree": {1: "never", 5: "always"}}
    told = {"variable_value_labels": labels}
    pyreadstat.write_sav(frame, FILES / "survey.sav", missing_ranges={"sex": [9]}, **told)
    frame["sex"] = [1, 2, 1, "a"]  # what Stata writes as .a
    pyreadstat.write_dta(frame, FILES / "survey.dta", missing_user_values={"sex": ["a"]}, **told)
    frame["sex"] = [1.0, 2, 1, 9]
    pyreadstat.write_xport(frame.drop(columns="day"), FILES / "survey.xpt")


if __name__ == "__main__":
    FILES.mkdir(exist_ok=True)
    make_xlsx()
    make_xls()
    make_ods()
    make_statistics()
