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
    line = process.stderr.readline()
    found = re.search(r"(http://127\.0\.0\.1:(\d+))(/[\w-]{20,}/) \(Ctrl-C", line)
    assert found is not None, line
    root, port, path = found.groups()
    try:
        told = {"port": int(port), "root": root, "path": path, "url": root + path}
        yield SimpleNamespace(**told, pid=process.pid)
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
        browser.run("sessionStorage.clear()")
        browser.driver.refresh()
        self.see("Find groups in a table")

    def text(self) -> str:
        """Return all that is to be read."""
        return self.browser.run("return document.body.innerText")

    def see(self, text: str, seconds: float = 120) -> None:
        """Wait for a text."""
        self.browser.wait(lambda: text in self.text(), seconds)

    def settle(self) -> None:
        """Wait until the page has its answer."""
        self.browser.wait(lambda: not self.browser.find_all("[aria-busy], progress"))

    def drop(self, path: Path, field: str = "table") -> None:
        """Give a file to a field."""
        self.browser.wait(lambda: self.browser.find_all(f"#{field}"))
        self.browser.find(f"#{field}").send_keys(str(path))

    def click(self, text: str, selector: str = "button") -> None:
        """Click what begins with the text and can be clicked."""
        from selenium.common.exceptions import (
            ElementClickInterceptedException,
            StaleElementReferenceException,
        )

        script = """return [...document.querySelectorAll(arguments[0])].find(each =>
            each.innerText.trim().startsWith(arguments[1]) && !each.disabled
            && each.checkVisibility())"""

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

    def answer(self, text: str) -> None:
        """Choose an answer to a question."""
        self.click(text, "fieldset label")
        self.settle()

    def unfold(self, title: str) -> None:
        """Open what is folded."""
        self.click(title, "summary")

    def tick(self, column: str) -> None:
        """Tick or untick a column."""
        self.browser.run("document.getElementById(arguments[0]).click()", f"use-{column}")
        self.settle()

    def give_role(self, column: str, role: str) -> None:
        """Say what a column holds."""
        script = """const menu = document.getElementById(arguments[0]);
            menu.value = [...menu.options].find(each => each.text === arguments[1]).value;
            menu.dispatchEvent(new Event("change"))"""
        self.browser.run(script, f"role-{column}", role)
        self.settle()

    def columns(self) -> dict[str, list[str]]:
        """Return what the page says of each column."""
        script = """return [...document.querySelectorAll('.columns tbody tr')].map(row => [
            row.querySelector('.name').textContent, row.querySelector('input').checked,
            row.querySelector('select').selectedOptions[0].text,
            ...[...row.cells].slice(3).map(cell => cell.textContent)])"""
        return {name: cells for name, *cells in self.browser.run(script)}

    def report(self) -> str:
        """Return the text of the report."""
        frame = self.browser.wait(lambda: self.browser.find_all("#report"), 300)[0]
        self.browser.driver.switch_to.frame(frame)
        text = self.browser.wait(self.text)
        self.browser.driver.switch_to.default_content()
        return text

    def download(self, file: str, name: str) -> bytes:
        """Click a file and wait for it; return its bytes."""
        path = self.browser.downloads / name
        path.unlink(missing_ok=True)
        self.browser.wait(lambda: self.browser.find_all(f"[id='get-{file}']"))
        self.browser.find(f"[id='get-{file}']").click()
        # The browser makes the file before it has its content.
        return self.browser.wait(lambda: path.exists() and path.read_bytes())

    def code(self, language: str) -> str:
        """Return what a block of code holds."""
        script = f"return document.getElementById('{language}')?.textContent"
        return self.browser.wait(lambda: self.browser.run(script))
