"""The app as it runs on a desk, for tests and screenshots: its server, and what a reader does."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from browser import Browser

GRID = "canvas[data-testid=data-grid-canvas]"


@contextmanager
def running_app() -> Iterator[SimpleNamespace]:
    """Start `pckid app` on a free port; stop it at the end and see that nothing of it is left."""
    process = subprocess.Popen(
        [sys.executable, "-m", "pckid", "app", "--port", "0", "--no-browser"],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert process.stderr is not None
    found = re.search(r"http://127\.0\.0\.1:(\d+) \(Ctrl-C", process.stderr.readline())
    assert found is not None
    port = int(found.group(1))
    try:
        yield SimpleNamespace(port=port, url=f"http://127.0.0.1:{port}", pid=process.pid)
    finally:
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=300)[1]
    assert process.returncode == 0, said
    assert said.endswith("Stopped.\n")
    assert "Traceback" not in said
    wait_until(lambda: not _processes(process.pid))


def count_workers(server: SimpleNamespace) -> int:
    """Count the processes that compute: those that the one with the libraries loaded started."""
    rows = _processes(server.pid)
    children = {row[2] for row in rows if int(row[1]) == server.pid}
    return sum(row[1] in children for row in rows)


def _processes(group: int) -> list[list[str]]:
    """List group, parent, number and state of a group's processes that have not ended."""
    listed = subprocess.run(["ps", "-eo", "pgid=,ppid=,pid=,stat="], capture_output=True, text=True)
    rows = [line.split() for line in listed.stdout.splitlines()]
    return [row for row in rows if int(row[0]) == group and not row[3].startswith("Z")]


def wait_until(condition: Any, seconds: float = 300) -> None:
    """Wait until something holds; fail if it does not in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


class AppPage:
    """One visit to the app, by what its reader sees and does.

    Parameters
    ----------
    browser : Browser
    url : str
    """

    def __init__(self, browser: Browser, url: str) -> None:
        self.browser = browser
        browser.open(url)
        self.see("Find groups in a table")

    def text(self) -> str:
        """Return all that is to be read."""
        return self.browser.run("return document.body.innerText").replace("\N{WORD JOINER}", "")

    def see(self, text: str, seconds: float = 120) -> None:
        """Wait for a text."""
        self.browser.wait(lambda: text in self.text(), seconds)

    def drop(self, path: Path, label: str = "CSV") -> None:
        """Give a file to the uploader whose label begins so."""
        script = """return [...document.querySelectorAll('[data-testid=stFileUploader]')]
            .find(each => each.innerText.startsWith(arguments[0]))?.querySelector('input')"""
        self.browser.wait(lambda: self.browser.run(script, label)).send_keys(str(path))

    def click(self, text: str, selector: str = "button") -> None:
        """Click what ends with the text, or begins so, and can be clicked."""
        from selenium.common.exceptions import (
            ElementClickInterceptedException,
            StaleElementReferenceException,
        )

        script = """return [...document.querySelectorAll(arguments[0])].find(each =>
            (each.innerText.trim().endsWith(arguments[1]) ||
            each.innerText.startsWith(arguments[1])) && !each.disabled
            && each.offsetParent !== null)"""

        def is_clicked() -> bool:
            found = self.browser.run(script, selector, text)
            if found is None:
                return False
            try:
                self.browser.run("arguments[0].scrollIntoView({block: 'center'})", found)
                found.click()
            except (ElementClickInterceptedException, StaleElementReferenceException):
                # The page was being drawn anew.
                return False
            return True

        self.browser.wait(is_clicked)

    def cells(self) -> dict[str, list[str]]:
        """Return the rows of the editor by their columns, as those who cannot see it read them."""
        script = """const [grid] = [...document.querySelectorAll('canvas table')].slice(-1);
            return grid && [...grid.querySelectorAll('tbody tr')].map(row =>
            [...row.querySelectorAll('td')].map(cell => cell.innerText))"""
        return {name: cells for name, *cells in self.browser.run(script) or []}

    def edit(self, row: int, column: int, *keys: str) -> None:
        """Go to a cell of the editor by the keyboard alone, and press keys there."""
        from selenium.webdriver import ActionChains, Keys

        self.browser.run("arguments[0].focus()", self.browser.find_all(GRID)[-1])
        actions = ActionChains(self.browser.driver)
        actions.key_down(Keys.CONTROL).send_keys(Keys.HOME).key_up(Keys.CONTROL)
        for key in [Keys.ARROW_DOWN] * row + [Keys.ARROW_RIGHT] * column + list(keys):
            actions.send_keys(key).pause(0.3 if key in keys else 0.05)
        actions.perform()
        self.wait_for_drawing()

    def tick(self, row: int) -> None:
        """Tick or untick a column, by its place."""
        from selenium.webdriver import Keys

        self.edit(row, 1, Keys.SPACE)

    def give_role(self, row: int, role: str) -> None:
        """Say what a column holds, by its place."""
        from selenium.webdriver import Keys

        self.edit(row, 2, Keys.ENTER, role, Keys.ENTER)

    def unfold(self, title: str) -> None:
        """Open what is folded."""
        self.click(title, "summary")

    def download(self, text: str, name: str) -> bytes:
        """Click a button and wait for the file; return its bytes."""
        path = self.browser.downloads / name
        path.unlink(missing_ok=True)
        self.click(text)
        # The browser makes the file before it has its content.
        return self.browser.wait(lambda: path.exists() and path.read_bytes())

    def code(self, language: str) -> str:
        """Return what a block of code holds, as its button copies it."""
        script = f"return document.querySelector('code.language-{language}')?.textContent"
        return self.browser.wait(lambda: self.browser.run(script))

    def wait_for_drawing(self) -> None:
        """Wait until Streamlit has drawn what the last click changed."""
        pending = (
            "[data-testid=stStatusWidget], [data-testid=stSkeleton], [data-testid=stSpinner], "
            "[data-test-script-state=running], [data-stale=true]"
        )
        quiet = 0
        while quiet < 4:  # A click may be on its way yet.
            quiet = 0 if self.browser.find_all(pending) else quiet + 1
            time.sleep(0.1)
