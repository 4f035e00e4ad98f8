"""How a table is read: sheets, letters that are not UTF-8, and what the page says of both."""

import io
import lzma
from types import SimpleNamespace

import pytest

pytest.importorskip("streamlit")
import xlsxwriter
from streamlit.elements.widgets.file_uploader import DeletedFile
from streamlit.testing.v1 import AppTest

from pckid.frontends.app import kept, upload
from pckid.frontends.app.settings import Settings, as_command, as_python
from pckid.frontends.formats.registry import CODECS, FORMATS
from pckid.frontends.options import ColumnOptions

GERMAN = "Größe;Käfer\n1,5;grün\n2,5;rot\n"


def page(name, content, place="table"):
    """Draw the reading of one file."""

    def script(name, content, place):
        import streamlit as st

        from pckid.frontends.app import settings
        from pckid.frontends.app.upload import open_as_asked

        upload = settings.Upload(name, content)
        st.session_state["found"] = open_as_asked(upload, place, lambda: None)

    return AppTest.from_function(script, args=(name, content, place), default_timeout=300).run()


def workbook(**sheets):
    """Write sheets, each a list of rows."""
    content = io.BytesIO()
    with xlsxwriter.Workbook(content) as book:
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for number, row in enumerate(rows):
                sheet.write_row(number, 0, row)
    return content.getvalue()


def names(app):
    return app.session_state["found"].table.names


def test_every_kind_of_file_that_can_be_read_can_be_chosen():
    known = {ending[1:] for form in FORMATS for ending in (*form.endings, *form.written)}
    assert known | {ending[1:] for ending in CODECS} <= set(upload.KINDS)


@pytest.mark.parametrize("name", ["t.tab", "t.csv.xz"])
def test_every_text_file_may_say_how_it_is_written(name):
    content = b"a\tb\n1\t2\n3\t4\n"
    app = page(name, lzma.compress(content) if name.endswith("xz") else content)
    assert names(app) == ["a", "b"]
    assert "Character between the cells" in [menu.label for menu in app.selectbox]


@pytest.mark.parametrize("place", ["table", "new"])
def test_a_sheet_is_chosen_from_a_menu(place):
    content = workbook(About=[["Wounds"], ["of 2024"]], Data=[["a", "b"], [1, 2], [3, 4]])
    app = page("study.xlsx", content, place)
    assert app.selectbox[0].options == ["About", "Data"]
    assert names(app) == ["a", "b"]
    assert app.session_state["found"].upload.reading.sheet == "Data"
    app.selectbox[0].select("About").run()
    assert names(app) == ["Wounds"]


def test_how_one_sheet_is_read_is_not_asked_of_another():
    rows = [["a", "b"], [1, 2], [3, 4], [5, 6]]
    app = page("study.xlsx", workbook(One=[*rows, ["Total", 12]], Two=rows))
    next(each for each in app.number_input if "totals" in each.label).set_value(1).run()
    assert app.session_state["found"].table.n_rows == 3
    app.selectbox[0].select("Two").run()
    found = app.session_state["found"]
    assert (found.table.n_rows, found.upload.reading.skip_last) == (3, 0)


def test_another_sheet_can_be_chosen_where_one_is_no_table():
    app = page("study.xlsx", workbook(About=[["Wounds"]], Data=[["a", "b"], [1, 2], [3, 4]]))
    app.selectbox[0].select("About").run()
    assert "no rows" in app.error[0].value
    app.selectbox[0].select("Data").run()
    assert names(app) == ["a", "b"]
    assert not app.error


def test_a_single_sheet_and_a_damaged_workbook_have_no_menu():
    app = page("study.xlsx", workbook(Data=[["a"], [1], [2]]))
    assert not app.selectbox
    assert names(app) == ["a"]
    app = page("study.xlsx", b"PK\x03\x04 broken")
    assert not app.selectbox
    assert "damaged" in app.error[0].value


def test_text_of_windows_is_read_and_its_letters_can_be_changed():
    app = page("Käfer.csv", GERMAN.encode("cp1252"))
    assert not app.error
    assert app.selectbox[0].value == "cp1252"
    assert names(app) == ["Größe", "Käfer"]
    app.selectbox[0].select("mac-roman").run()
    assert names(app) != ["Größe", "Käfer"]
    upload = app.session_state["found"].upload
    settings = Settings(upload, 2, ColumnOptions())
    assert "--encoding mac-roman" in as_command(settings)
    assert "encoding='mac-roman'" in as_python(settings)


def test_nobody_is_asked_about_the_letters_of_utf_8(golden):
    asked = page("Käfer.csv", GERMAN.encode()).selectbox
    golden([each.label for each in asked])


def test_what_is_no_text_is_not_taken_for_one():
    app = page("photo.csv", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0")
    assert "is a picture" in app.error[0].value
    app = page("letter.xlsx", b"%PDF-1.4\n%\xe2\xe3\n1 0 obj")
    assert "is a PDF document" in app.error[0].value


def test_a_row_of_units_is_left_out():
    app = page("units.csv", b"a,b\nkg,cm\n1,2\n3,4\n5,6\n")
    next(each for each in app.number_input if "units" in each.label).set_value(1).run()
    found = app.session_state["found"]
    assert found.table.n_rows == 3
    assert " --skip-below 1 " in as_command(Settings(found.upload, 2, ColumnOptions()))


def test_the_sign_between_cells_and_the_row_of_the_names_can_be_chosen():
    app = page("odd.csv", b"a note\nwritten 2024\nx|y,z|w\n1|2,5|3\n4|5,5|6\n7|8,5|9\n")
    app.number_input[0].set_value(3)
    app.selectbox[0].select("|").run()
    assert names(app) == ["x", "y,z", "w"]
    upload = app.session_state["found"].upload
    assert (upload.reading.skip_first, upload.reading.delimiter) == (2, "|")
    written = as_command(Settings(upload, 2, ColumnOptions()))
    assert " --skip-first 2 " in written
    assert " --delimiter '|' " in written
    assert "delimiter='|', skip_first=2" in as_python(Settings(upload, 2, ColumnOptions()))


def test_what_was_decided_about_one_table_is_not_asked_of_the_next():
    def script():
        from pckid.frontends.app.kept import chosen
        from pckid.frontends.app.upload import ask_for_table

        chosen().setdefault("groups", "5")
        ask_for_table()

    app = AppTest.from_function(script, default_timeout=300)
    app.run().button[0].click().run()
    assert not app.exception
    (page,) = [page for page in kept._pages.values() if "upload" in page.things]
    assert page.things["upload"].name == "penguins.csv"
    assert page.things["first-edits"]["label"].role == "labels"


def test_a_file_is_taken_once_though_the_page_tells_of_it_twice(monkeypatch):
    state, taken, shown = {}, {}, {}
    show = SimpleNamespace(session_state=state, file_uploader=lambda *_, **how: shown.update(how))
    monkeypatch.setattr(upload, "st", show)
    monkeypatch.setattr(upload, "kept", lambda: taken)
    upload.ask_for_file("A table", ["csv"], "table")
    state[shown["key"]] = SimpleNamespace(name="a.csv", getvalue=lambda: b"a\n1\n")
    shown["on_change"]()
    state[shown["key"]] = DeletedFile("1")
    shown["on_change"]()
    assert taken["table"].name == "a.csv"
    assert state["n-table"] == 1
