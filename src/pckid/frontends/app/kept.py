"""What a page in a browser works with, kept by a key in its address: a reload finds it again.

Streamlit's own state ends with a reload, and outlives a closed page by minutes. This state passes
from a page to the one that is loaded in its place, and is dropped half a minute after nobody has
the page open any more.
"""

import gc
import secrets
import threading
import time
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

SECONDS_KEPT = 30
"""So long the tables and results of a closed page stay in memory."""

_KEY = "page"
_WIDGETS = (
    "header-", "units-", "sheet-", "skip-", "delimiter-", "encoding-", "encoded-", "na-", "kept-",
    "limits-", "ignore_case-", "use-", "role-", "how-", "n-groups-", "visible-", "lines-", "case-",
    "time-", "variable-", "value-", "from-first-", "lacking",
)  # fmt: skip


@dataclass
class _Page:
    """What one page works with, the session that has it open, and when that was last so."""

    session: str
    seen: float
    things: dict[str, Any] = field(default_factory=dict)


_pages: dict[str, _Page] = {}
_lock = threading.Lock()


def kept() -> dict[str, Any]:
    """Give what this page works with."""
    context = get_script_run_ctx()
    session = "" if context is None else context.session_id
    key = st.session_state.get(_KEY) or st.query_params.get(_KEY, "")
    with _lock:
        page = _pages.get(key)
        # The address of a page that is open, in a second window: that one begins anew.
        if page is None or (page.session != session and _is_open(page.session)):
            key, page = secrets.token_urlsafe(16), _Page(session, time.monotonic())
            _start_forgetting()
            _pages[key] = page
            st.query_params[_KEY] = key
        page.session, page.seen = session, time.monotonic()
    st.session_state[_KEY] = key
    return page.things


def restore_widgets() -> None:
    """Give widgets that Streamlit has forgotten the values they had: it keeps what is drawn."""
    for name, value in kept().get("widgets", {}).items():
        st.session_state.setdefault(name, value)


def keep_widgets() -> None:
    """Remember what was chosen."""
    chosen = {key: v for key, v in st.session_state.items() if str(key).startswith(_WIDGETS)}
    kept().setdefault("widgets", {}).update(chosen)


def forget_closed_pages(now: float) -> None:
    """Drop what belongs to pages that nobody has open any more, and give the memory back."""
    with _lock:
        for open_one in (page for page in _pages.values() if _is_open(page.session)):
            open_one.seen = now
        closed = [key for key, page in _pages.items() if now - page.seen > SECONDS_KEPT]
        for key in closed:
            del _pages[key]
    if closed:
        gc.collect()
        pa.default_memory_pool().release_unused()


def _is_open(session: str) -> bool:
    return runtime.exists() and runtime.get_instance().is_active_session(session)


def _start_forgetting() -> None:
    if _pages or not runtime.exists():
        return

    def look() -> None:
        while True:
            time.sleep(SECONDS_KEPT / 6)
            forget_closed_pages(time.monotonic())
            with _lock:
                if not _pages:
                    return

    threading.Thread(target=look, daemon=True).start()
