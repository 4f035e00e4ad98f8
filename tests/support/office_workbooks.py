"""Ten workbooks of three groups, each written in a way that offices write tables."""

import numpy as np
import xlsxwriter

N_ROWS = 120
NAMES = ["age", "sbp", "creatinine", "score"]
CENTRES = np.array([[30, 115, 0.9, 20], [50, 150, 2.0, 50], [70, 130, 3.5, 80]])
SPREADS = np.array([3, 5, 0.15, 4])


def _measure(seed):
    """Draw the measurements of three groups, with holes; and the groups."""
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.arange(N_ROWS) % 3)
    values = CENTRES[truth] + SPREADS * rng.normal(size=(N_ROWS, 4))
    cells = [[round(float(x), 2) for x in row] for row in values]
    for row, column in zip(*np.nonzero(rng.random(values.shape) < 0.08), strict=True):
        cells[row][column] = None
    return cells, truth, rng


def _with_codes(cells, rng):
    """Write -9 or 999 where a value is missing, as those who fill in forms do."""
    for row in cells:
        row[:] = [int(rng.choice([-9, 999])) if cell is None else cell for cell in row]


def make_sheets(kind):
    """Make the sheets of a workbook: rows of cells by name, and the groups of its cases."""
    cells, truth, rng = _measure(KINDS.index(kind))
    names, above, below, others = ["id", *NAMES], [], [], {}
    if kind in ("codes", "units and codes"):
        _with_codes(cells, rng)
    if kind in ("units", "units and codes"):
        above = [["", "years", "mmHg", "mg/dl", "points"]]
    rows = [[f"P{i:04}", *row] for i, row in enumerate(cells)]
    if kind == "title":
        return {"Data": [["Ward 7, 2024"], [], names, *rows]}, truth
    if kind == "blank names":
        names = ["id", "age", "", "creatinine", ""]
    if kind == "decimal commas and limits":
        for row in rows:
            row[3] = None if row[3] is None else f"{row[3]:.2f}".replace(".", ",")
        for row in rng.choice(np.flatnonzero(truth == 0), 6, replace=False):
            rows[row][3] = "<0,6"
    if kind == "totals":
        sums = [round(sum(row[j] or 0 for row in cells), 1) for j in range(4)]
        below = [["Total", *sums]]
    if kind == "cover sheet":
        others = {"Read me": [["Data of ward 7"], ["Ask Ann"]]}
    if kind == "signs":
        for row in rows:
            row[4] = None if row[4] is None else f"{row[4]:.1f}%"
            row[2] = None if row[2] is None else f"${1000 * row[2]:,.2f}"
    if kind == "answers":
        words = np.array(["never", "sometimes", "often"])[truth]
        names = [*names, "pain", "fever", "zip"]
        for row, word in zip(rows, words, strict=True):
            other = str(rng.choice(["never", "sometimes", "often"])) if rng.random() < 0.1 else word
            row += [str(word), other, int(rng.choice([94110, 10115, 80331]))]
    return {**others, "Data": [names, *above, *rows, *below]}, truth


KINDS = [
    "title", "units", "blank names", "codes", "units and codes",
    "decimal commas and limits", "totals", "cover sheet", "signs", "answers",
]  # fmt: skip


def write_workbook(path, kind):
    """Write a workbook; return the groups of its cases."""
    sheets, truth = make_sheets(kind)
    with xlsxwriter.Workbook(path) as book:
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for number, row in enumerate(rows):
                sheet.write_row(number, 0, row)
    return truth


def write_messy_workbook(path, n_rows=420):
    """Write a workbook with all that offices do at once: 18 columns, and five questions about them.

    A cover sheet, a title, names over two rows, a row of units, limits, codes for missing values,
    two spellings of one answer, and a row of totals.
    """
    rng = np.random.default_rng(0)
    truth = rng.permutation(np.arange(n_rows) % 3)
    words = {
        "sex": np.where(rng.random(n_rows) < np.array([0.9, 0.5, 0.1])[truth], "f", "m"),
        "stage": np.array(["early", "middle", "late"])[truth],
        "edema": np.where(rng.random(n_rows) < np.array([0.1, 0.5, 0.9])[truth], "yes", "no"),
        "ascites": np.where(rng.random(n_rows) < np.array([0.9, 0.5, 0.1])[truth], "yes", "no"),
    }
    words["sex"] = np.where((words["sex"] == "f") & (rng.random(n_rows) < 0.1), "F", words["sex"])
    measured = 20 + 8 * truth[:, None] + rng.normal(size=(n_rows, 18))
    cells = {name: words.get(name, measured[:, j].round(2)) for j, name in enumerate(_MESSY)}
    cells["id"] = [f"P{i:04}" for i in range(n_rows)]
    rows = [list(row) for row in zip(*cells.values(), strict=True)]
    for row, column in zip(*np.nonzero(rng.random((n_rows, 17)) < 0.08), strict=True):
        rows[row][column + 1] = -9 if column == 5 else None
    for row in np.flatnonzero(truth == 0)[:13]:
        rows[row][3] = "<0.5"
    numbers = [[x for x in column if isinstance(x, float)] for column in zip(*rows, strict=True)]
    total = ["Total", *(round(sum(each), 2) if each else None for each in numbers[1:])]
    total[6] -= 9 * sum(row[6] == -9 for row in rows)
    with xlsxwriter.Workbook(path) as book:
        book.add_worksheet("About").write(0, 0, "Liver study")
        sheet = book.add_worksheet("Data 2024")
        sheet.write(0, 0, "Liver study")
        for name, first, last in (("person", 1, 2), ("blood", 3, 11), ("signs", 12, 14)):
            sheet.merge_range(3, first, 3, last, name)
        sheet.merge_range(3, 15, 3, 17, "body")
        for number, row in enumerate([list(_MESSY), list(_MESSY.values()), *rows, total]):
            for place, cell in enumerate(row):
                if cell not in (None, ""):
                    sheet.write(4 + number, place, cell)
    return truth


_MESSY = {
    "id": "", "age": "years", "sex": "", "bili": "mg/dl", "chol": "mg/dl", "albumin": "g/dl",
    "copper": "ug/day", "alk": "U/l", "ast": "U/ml", "trig": "mg/dl", "platelet": "10^9/l",
    "protime": "s", "stage": "", "edema": "", "ascites": "", "height": "cm", "weight": "kg",
    "pulse": "1/min",
}  # fmt: skip
