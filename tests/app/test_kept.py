"""What a page works with is found again by its address, and dropped when nobody has it open."""

from types import SimpleNamespace

import pytest

pytest.importorskip("streamlit")
from streamlit.testing.v1 import AppTest

from pckid.frontends.app import kept as room


def script():
    import streamlit as st

    from pckid.frontends.app.kept import kept, ours

    st.checkbox("tick", **ours("tick", False))
    kept().setdefault("table", object())


@pytest.fixture(autouse=True)
def no_pages(monkeypatch):
    monkeypatch.setattr(room, "_pages", {})


def things():
    return [page.things for page in room._pages.values()]


def test_a_reload_finds_table_and_ticks_again():
    first = AppTest.from_function(script).run()
    first.checkbox[0].check().run()
    (before,) = things()
    again = AppTest.from_function(script)
    again.query_params["page"] = first.query_params["page"]
    again.run()
    assert again.checkbox[0].value
    (after,) = things()
    assert after["table"] is before["table"]


def test_what_is_not_drawn_for_a_while_keeps_its_value():
    def script():
        import streamlit as st

        from pckid.frontends.app.kept import ours

        if not st.toggle("hide", key="hide"):
            st.checkbox("tick", **ours("tick", False))

    app = AppTest.from_function(script).run()
    app.checkbox[0].check().run()
    app.toggle[0].set_value(True).run()
    assert not app.checkbox
    app.run()
    app.toggle[0].set_value(False).run()
    assert app.checkbox[0].value


def test_the_switch_for_columns_that_new_rows_lack_outlives_a_reload():
    def script():
        from pckid.frontends.app.kept import kept
        from pckid.frontends.app.new_rows import ask_for_new_rows
        from pckid.frontends.app.settings import Upload

        kept().setdefault("new", Upload("t.csv", b"a,b\n1,2\n3,4\n"))
        ask_for_new_rows()

    first = AppTest.from_function(script).run()
    first.toggle[0].set_value(True).run()
    again = AppTest.from_function(script)
    again.query_params["page"] = first.query_params["page"]
    assert again.run().toggle[0].value


@pytest.mark.parametrize("key", ["", "guessed"])
def test_without_its_key_a_page_begins_anew(key):
    AppTest.from_function(script).run()
    other = AppTest.from_function(script)
    other.query_params["page"] = key
    other.run()
    assert len({id(each["table"]) for each in things()}) == 2


def test_the_address_of_an_open_page_gives_a_second_window_nothing(monkeypatch):
    first = AppTest.from_function(script).run()
    monkeypatch.setattr(room, "_is_open", lambda session: True)
    next(iter(room._pages.values())).session = "of the first window"
    other = AppTest.from_function(script)
    other.query_params["page"] = first.query_params["page"]
    other.run()
    assert len({id(each["table"]) for each in things()}) == 2


def test_closed_pages_are_forgotten_and_open_ones_are_not(monkeypatch):
    pool = SimpleNamespace(release_unused=lambda: released.append(things()))
    released = []
    monkeypatch.setattr(room.pa, "default_memory_pool", lambda: pool)
    AppTest.from_function(script).run()
    (page,) = room._pages.values()
    monkeypatch.setattr(room, "_is_open", lambda session: True)
    room.forget_closed_pages(page.seen + 10 * room.SECONDS_KEPT)
    assert things()
    monkeypatch.setattr(room, "_is_open", lambda session: False)
    room.forget_closed_pages(page.seen + room.SECONDS_KEPT - 1)
    assert things()
    assert released == []
    room.forget_closed_pages(page.seen + room.SECONDS_KEPT + 1)
    # Their memory goes back to the system after they are gone.
    assert released == [things()] == [[]]
