"""One server and one browser for the tests of the app; the browser reaches nothing else."""

import pytest
from browser import open_browser
from running_app import running_app


@pytest.fixture(scope="package")
def server():
    """Start the app, and see at the end that it stops."""
    pytest.importorskip("uvicorn")
    with running_app() as server:
        yield server


@pytest.fixture(scope="package")
def chromium(tmp_path_factory):
    """Start a browser."""
    with open_browser(tmp_path_factory.mktemp("downloads"), ("127.0.0.1",)) as browser:
        yield browser
