"""What the page suggests for each column, and what becomes of ticks and menus."""

import pytest

pytest.importorskip("streamlit")
from streamlit.testing.v1 import AppTest

from pckid.frontends.app import columns
from pckid.frontends.options import CaseOptions, ColumnOptions


def page(content, known=None):
    """Draw the second and the third step for a table."""

    def script(content, known):
        import streamlit as st

        from pckid.frontends.app import columns
        from pckid.frontends.app.kept import keep_widgets, restore_widgets
        from pckid.frontends.app.run import ask_for_run
        from pckid.frontends.app.upload import Opened
        from pckid.frontends.app.work import Upload

        restore_widgets()
        upload = Upload("table.csv", content, known=known)
        opened = Opened(upload, upload.open())
        st.session_state["options"] = columns.ask_for_columns(opened, st.container())
        st.session_state["settings"] = ask_for_run(opened, st.session_state["options"])
        keep_widgets()

    return AppTest.from_function(script, args=(content, known), default_timeout=300).run()


def rows(*names, n_rows=12):
    cells = [",".join(str((3 * i + 5 * j) % 7) for j in range(len(names))) for i in range(n_rows)]
    return "\n".join([",".join(names), *cells]).encode()


def test_columns_are_recognised():
    lines = ["name,sex,size,same,mixed,known"]
    lines += [
        f"n{i},{'fm'[i % 2]},{i * 7 % 5},1,{'x' if i == 3 else i % 9},{i % 3}" for i in range(30)
    ]
    options = page("\n".join(lines).encode(), known="known").session_state["options"]
    assert options == ColumnOptions(
        drop=("same",),
        categorical=("sex",),
        na_values=("x",),
        row_names="name",
        labels="known",
    )


def test_ticks_and_menus_change_the_options():
    app = page(rows("a", "b", "c"))
    app.checkbox[0].uncheck()
    app.selectbox[1].select("category")
    options = app.run().session_state["options"]
    assert options.drop == ("a",)
    assert options.categorical == ("b",)
    app.selectbox[2].select("row_names")
    assert app.run().session_state["options"].row_names == "c"


def test_dates_ambiguous_numbers_and_names_are_used_as_asked():
    lines = ["code,day,sum"]
    lines += [f'c{i},2024-01-{i % 28 + 1:02},"1,{100 + 7 * i}"' for i in range(40)]
    app = page("\n".join(lines).encode())
    options = app.session_state["options"]
    assert (options.row_names, options.drop) == ("code", ("day",))
    assert options.numbers == ()
    app.checkbox[1].check()
    app.selectbox[2].select("1234,56")
    options = app.run().session_state["options"]
    assert (options.dates, options.numbers) == (("day=use",), ("sum=1234,56",))
    app.checkbox[0].check()
    app.selectbox[0].select("category")
    options = app.run().session_state["options"]
    assert (options.columns, options.drop) == (("code", "day", "sum"), ())


def test_choices_on_another_page_are_kept():
    app = page(rows(*(f"c{j}" for j in range(columns.PER_PAGE + 5))))
    assert len(app.checkbox) == columns.PER_PAGE
    app.checkbox[3].uncheck()
    app.run()
    for number, n_shown in ((2, 5), (1, columns.PER_PAGE)):
        app.number_input[0].set_value(number)
        app.run()
        assert len(app.checkbox) == n_shown
        assert app.session_state["options"].drop == ("c3",)
    assert not app.checkbox[3].value
    assert not app.exception
    assert not app.warning


def test_many_columns_are_ticked_and_unticked_at_once():
    names = [f"c{j}" for j in range(columns.PER_PAGE + 5)]
    app = page(rows(*names))
    app.button[0].click().run()
    assert app.session_state["options"].drop == tuple(names)
    app.checkbox[2].check().run()
    assert app.session_state["options"].drop == tuple(n for n in names if n != "c2")
    app.number_input[0].set_value(2).run()
    app.button[1].click().run()
    assert app.session_state["options"].drop == ()
    assert not app.exception


def test_what_holds_nothing_to_compare_cannot_be_ticked():
    lines = ["a,empty,same", *(f"{i * 7 % 5},,x" for i in range(12))]
    app = page("\n".join(lines).encode())
    assert [tick.disabled for tick in app.checkbox] == [False, True, True]
    assert app.session_state["options"].drop == ("empty", "same")


def test_a_column_that_a_code_empties_is_no_longer_used():
    lines = ["a,b", *(f"{i * 7 % 5},{'x' if i % 2 else ''}" for i in range(12))]
    lines[3] = lines[3].replace(",", ",y")
    app = page("\n".join(lines).encode())
    used = app.session_state["options"].categorical
    app.multiselect[0].set_value(["x", "y"]).run()
    assert used == ("b",)
    assert app.session_state["options"].drop == ("b",)


def test_how_numbers_are_written_is_said_by_an_example():
    lines = ["a;b", *(f"{i * 7 % 5},5 EUR;{i % 3}" for i in range(12))]
    app = page("\n".join(lines).encode())
    said = [caption.value.replace("\\", "") for caption in app.caption]
    assert any("written like 1234,56" in text for text in said)
    assert not any("thousands separator" in text for text in said)


def captions(app):
    return [caption.value.replace("\\", "") for caption in app.caption]


def test_columns_are_described_without_options_and_exponents():
    lines = ["note,sum"]
    lines += [f"remark {i % 30 * 7919} of visit {i % 30},{1_500_000 + i * i}" for i in range(40)]
    said = captions(page("\n".join(lines).encode()))
    assert not any("--" in text for text in said)
    assert said[1].startswith("1,500,000 to 1,501,521")


def test_what_cannot_be_read_is_not_called_missing():
    lines = ["sum,a", *(f"{i * 7 % 5},{i % 3}" for i in range(12)), "1_000,9"]
    said = captions(page("\n".join(lines).encode()))
    assert not any("% missing" in text for text in said)


def test_lines_of_cases_are_told_by_two_menus(golden):
    app = page(rows("patient", "day", "pulse"))
    assert app.session_state["options"].lines is None
    assert not app.button[-1].disabled
    app.toggle[0].set_value(True).run()
    assert app.session_state["options"].lines is None
    assert app.button[-1].disabled
    golden(app.info[0].value)
    app.selectbox[-4].select("patient")
    app.selectbox[-3].select("day").run()
    assert app.session_state["options"].lines == CaseOptions("patient", "day")
    assert not app.button[-1].disabled
    assert app.session_state["settings"].n_columns == 1


def test_a_second_column_of_known_groups_is_not_ignored_silently(golden):
    app = page(rows("a", "b", "c", "d"))
    for menu in app.selectbox[1:3]:
        menu.select("labels")
    app.run()
    options = app.session_state["options"]
    assert (options.labels, options.drop) == ("b", ("c",))
    golden(app.warning[0].value)


def test_lines_of_single_values_and_times_from_the_first_are_told_too():
    app = page(rows("patient", "day", "test", "result"))
    app.toggle[0].set_value(True).run()
    for menu, name in zip(app.selectbox[-4:], ("patient", "day", "test"), strict=False):
        menu.select(name)
    app.toggle[1].set_value(True).run()
    assert app.session_state["options"].lines is None
    assert "both" in app.info[0].value
    app.selectbox[-1].select("result").run()
    assert app.session_state["options"].lines == CaseOptions(
        "patient", "day", "test", "result", from_first=True
    )
    # The column of values is used, ticked or not.
    next(box for box in app.checkbox if box.label == "result").uncheck().run()
    assert "result" not in app.session_state["options"].drop


def test_a_column_that_an_answer_makes_readable_is_ticked_again():
    lines = ["bili,x", *(f"{i % 7 + 0.25},{i * 5 % 11}" for i in range(30)), "<0.5,3", "<0.5,4"]
    app = page("\n".join(lines).encode())
    assert app.session_state["options"].drop == ("bili",)
    (button,) = [each for each in app.button if "limits" in each.label]
    app = button.click().run()
    options = app.session_state["options"]
    assert (options.limits, options.drop, options.categorical) == ("value", (), ())
    assert app.checkbox[0].value
    assert not app.exception
