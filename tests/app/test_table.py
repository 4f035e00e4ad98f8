"""The table on the page: what is chosen there comes to the run, and outlives a reload."""

import pytest

pytest.importorskip("streamlit")
from streamlit.testing.v1 import AppTest

from pckid.frontends.app import kept as room
from pckid.frontends.app.decisions import ROLES, ColumnChoice
from pckid.frontends.options import CaseOptions, ColumnOptions


@pytest.fixture(autouse=True)
def no_pages(monkeypatch):
    monkeypatch.setattr(room, "_pages", {})


def script(name, content):
    import streamlit as st

    from pckid.frontends.app.kept import kept
    from pckid.frontends.app.page import draw_page
    from pckid.frontends.app.settings import Upload

    kept().setdefault("upload", Upload(name, content))
    draw_page()
    st.session_state["settings"] = kept().get("settings")


def page(*lines, name="t.csv"):
    content = "\n".join(lines).encode()
    return AppTest.from_function(script, args=(name, content), default_timeout=300).run()


def rows(*names, n_rows=12):
    cells = [",".join(str((3 * i + 5 * j) % 7) for j in range(len(names))) for i in range(n_rows)]
    return [",".join(names), *cells]


def options(app):
    return app.session_state["settings"].options


def press(app, label):
    (button,) = [each for each in app.button if each.label == label]
    return button.click().run()


def main_button(app):
    (button,) = [each for each in app.button if each.label.startswith("Find groups in")]
    return button


LIMITS = [
    "bili,x",
    *(f"{i % 7 + 0.25},{i * 5 % 11}" for i in range(30)),
    "<0.5,3",
    "<0.5,4",
]


def test_a_question_answered_changes_its_row_and_can_be_taken_back():
    app = page(*LIMITS)
    assert main_button(app).label == "Find groups in 1 column"
    app = press(app, "Read as 0.5")
    assert (options(app).limits, options(app).drop) == ("value", ())
    shown = app.dataframe[1].value
    assert list(shown["use"]) == [True, True]
    assert shown["role"][0] == "number"
    assert main_button(app).label == "Find groups in 2 columns"
    assert "✓ Nothing to settle." in [each.value for each in app.markdown]
    app = press(app, "Undo")
    assert (options(app).limits, options(app).drop) == ("", ("bili",))


@pytest.mark.parametrize(
    ("answer", "role", "told"),
    [
        ("Keep them", "known", {"known": "seg"}),
        ("Compare only", "labels", {"labels": "seg"}),
        ("Use as category", "category", {"categorical": ("seg",)}),
        ("It is a number", "number", {}),
    ],
)
def test_known_groups_are_kept_compared_or_used_as_answered(answer, role, told):
    lines = [f"{i * i % 97}.5,{i * 7 % 83}.5,{i % 2 + 1 if i < 9 else ''}" for i in range(100)]
    app = page("a,b,seg", *lines)
    assert not main_button(app).disabled
    assert list(app.dataframe[1].value["question"]) == ["", "", "known groups"]
    app = press(app, answer)
    assert options(app) == ColumnOptions(**told)
    shown = app.dataframe[1].value
    assert shown["role"][2] == ROLES[role]
    assert shown["use"][2] == (role in ("category", "number"))
    assert list(shown["question"]) == ["", "", ""]
    assert "✓ Nothing to settle." in [each.value for each in app.markdown]


def test_rows_are_left_out_by_an_answer_and_the_field_says_so():
    cells = [f"r{i},{i * 7 % 11},{i * 5 % 13}" for i in range(20)]
    sums = [sum(int(cell.split(",")[j]) for cell in cells) for j in (1, 2)]
    app = page("name,a,b", *cells, f"Total,{sums[0]},{sums[1]}")
    app = press(app, "Leave it out")
    assert app.session_state["settings"].upload.reading.skip_last == 1
    (field,) = [each for each in app.number_input if "at the end" in each.label]
    assert field.value == 1
    assert "20 rows" in app.title[0].value
    app = press(app, "Undo")
    assert app.session_state["settings"].upload.reading.skip_last == 0


def test_single_rows_are_left_out_by_an_answer():
    cells = [f"{i * 7 % 11 + 0.5},{i * 5 % 13}" for i in range(20)]
    app = page("a,b", *cells, "all,7", *cells)
    app = press(app, "Leave the row out")
    assert app.session_state["settings"].upload.reading.drop_rows == ("22",)
    assert options(app).drop == ()
    assert "40 rows" in app.title[0].value
    assert "✓ Nothing to settle." in [each.value for each in app.markdown]
    app = press(app, "Undo")
    assert app.session_state["settings"].upload.reading.drop_rows == ()


def test_all_advice_is_one_press():
    lines = [*LIMITS, "-9,-9", "-9,2"]
    app = press(page(*lines), "Take all advice")
    assert options(app).limits == "value"
    assert not [each for each in app.button if each.label == "Take all advice"]
    assert not main_button(app).disabled


def test_answers_and_edits_outlive_a_reload():
    first = press(page(*LIMITS), "Half")
    (kept,) = [each.things for each in room._pages.values()]
    (state,) = kept["states"].values()
    state.edits["x"] = ColumnChoice(True, "category")
    again = AppTest.from_function(script, args=("t.csv", b""), default_timeout=300)
    again.query_params["page"] = first.query_params["page"]
    again.run()
    assert (options(again).limits, options(again).categorical) == ("half", ("x",))
    # An answer about another column leaves them alone.
    again = press(again, "Undo")
    assert options(again).categorical == ("x",)


def test_what_stops_a_run_must_be_answered():
    app = page("a,a2,cluster", *(f"{i * 7 % 5},{i % 3},{i % 2}" for i in range(12)))
    if main_button(app).disabled:
        app = press(app, "Leave it out")
    assert not main_button(app).disabled


def test_nothing_to_use_is_said():
    app = page("a,b", *("1,x" for _ in range(12)))
    assert main_button(app).disabled
    assert any("column" in each.value for each in app.caption)


def test_lines_of_cases_are_told_by_menus(golden):
    app = page(*rows("patient", "day", "pulse"))
    assert options(app).lines is None
    app.toggle[0].set_value(True).run()
    assert main_button(app).disabled
    golden(app.caption[-1].value)
    menus = {each.label: each for each in app.selectbox}
    menus["Column that names the case"].select("patient")
    menus["Column of times"].select("day")
    app.run()
    assert options(app).lines == CaseOptions("patient", "day")
    assert app.session_state["settings"].n_columns == 1


def test_lines_of_single_values_and_times_from_the_first_are_told_too():
    app = page(*rows("patient", "day", "test", "result"))
    app.toggle[0].set_value(True).run()
    for menu, name in zip(app.selectbox[-4:], ("patient", "day", "test"), strict=False):
        menu.select(name)
    app.toggle[1].set_value(True).run()
    assert options(app).lines is None
    assert "both" in app.caption[-1].value
    app.selectbox[-1].select("result").run()
    assert options(app).lines == CaseOptions("patient", "day", "test", "result", from_first=True)


def test_the_number_of_groups_is_one_press_or_a_field():
    app = page(*rows("a", "b"))
    assert app.session_state["settings"].n_clusters == "auto"
    app.button_group[0].set_value("3").run()
    assert app.session_state["settings"].n_clusters == 3
    app.button_group[0].set_value("More").run()
    (field,) = [each for each in app.number_input if each.label == "How many groups"]
    field.set_value(9).run()
    assert app.session_state["settings"].n_clusters == 9


def test_the_menu_of_sheets_and_the_head(tmp_path):
    from office_workbooks import write_messy_workbook

    write_messy_workbook(tmp_path / "messy.xlsx", n_rows=60)
    content = (tmp_path / "messy.xlsx").read_bytes()
    app = AppTest.from_function(script, args=("messy.xlsx", content), default_timeout=300).run()
    head = "**messy.xlsx** 62 rows, 18 columns · sheet Data 2024 · names in rows 4–5"
    assert app.title[0].value == head
    app = press(app, "Take all advice")
    assert "60 rows" in app.title[0].value
    assert main_button(app).label == "Find groups in 17 columns"
    assert not main_button(app).disabled
    shown = app.dataframe[1].value.set_index("column")
    assert shown.loc["blood bili", "role"] == "number"
