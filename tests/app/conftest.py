"""One server and one browser for the tests of the app; the browser reaches nothing else."""

import sys

import pytest
from browser import open_browser
from running_app import running_app


@pytest.fixture(autouse=True)
def same_main(monkeypatch, components_sought_once):
    """Take back the module that streamlit's tester puts in the place of the main one.

    Processes that are started later would run its script, which is gone or lacks its arguments.
    """
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])


@pytest.fixture(scope="package")
def server():
    """Start the app, and see at the end that it stops."""
    pytest.importorskip("streamlit")
    with running_app() as server:
        yield server


@pytest.fixture(scope="package")
def chromium(tmp_path_factory):
    """Start a browser."""
    with open_browser(tmp_path_factory.mktemp("downloads"), ("127.0.0.1",)) as browser:
        yield browser
