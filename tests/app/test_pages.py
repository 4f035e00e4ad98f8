"""The app in a real browser: from a dropped file to labels, and everything that may go wrong."""

import csv
import io
import os
import shlex
import subprocess
import sys
import time

import numpy as np
import pytest
from browser import needs_browser
from helpers import groups

pytest.importorskip("streamlit")
pytest.importorskip("selenium")
from selenium.common.exceptions import (
    ElementClickInterceptedException,
    StaleElementReferenceException,
)

pytestmark = needs_browser


class Page:
    """One visit to the app, by what its reader sees."""

    def __init__(self, browser, server):
        self.browser = browser
        browser.open(server.url)
        self.see("1. Your table")

    def text(self):
        return self.browser.run("return document.body.innerText")

    def see(self, text, seconds=40):
        self.browser.wait(lambda: text in self.text(), seconds)

    def drop(self, path, label="A table"):
        """Give a file to the uploader whose label begins so."""
        script = """return [...document.querySelectorAll('[data-testid=stFileUploader]')]
            .find(each => each.innerText.startsWith(arguments[0]))?.querySelector('input')"""
        self.browser.wait(lambda: self.browser.run(script, label)).send_keys(str(path))

    def click(self, text, selector="button"):
        """Click what shows the text and is not disabled."""
        script = """return [...document.querySelectorAll(arguments[0])].find(each =>
            each.innerText.trim().endsWith(arguments[1]) && !each.disabled
            && each.offsetParent !== null)"""

        def clicked():
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

        self.browser.wait(clicked)

    def tick(self, name):
        self.click(name, "[data-testid=stCheckbox] label")

    def download(self, text, name):
        """Click a button and wait for the file; return its bytes."""
        path = self.browser.downloads / name
        path.unlink(missing_ok=True)
        self.click(text)
        self.browser.wait(path.exists)
        return path.read_bytes()

    def ready(self):
        """Wait until Streamlit has drawn what the last click changed."""
        self.browser.wait(lambda: not self.browser.find_all("[data-testid=stStatusWidget]"))
        time.sleep(0.3)


@pytest.fixture
def page(chromium, server):
    page = Page(chromium, server)
    yield page
    hosts = {url.split("/")[2] for url in chromium.requests() if "://" in url}
    assert hosts <= {server.url.removeprefix("http://")}
    # Of these features Streamlit's frames speak to browsers that may not know them.
    quiet = ("Unrecognized feature", "can escape its sandboxing")
    assert [line for line in chromium.console() if not any(each in line for each in quiet)] == []


def write_table(path, n_samples=90, names="abcd"):
    """Write groups with holes and a column of names as CSV; return the groups."""
    X, truth = groups(n_samples=n_samples, n_features=len(names))
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["who", *names])
        for row, values in enumerate(X):
            writer.writerow([f"person {row}", *("" if np.isnan(x) else f"{x:.4f}" for x in values)])
    return truth


def clusters(content):
    return [row["cluster"] for row in csv.DictReader(io.StringIO(content.decode()))]


def test_from_a_file_to_labels_and_new_rows(page, tmp_path):
    truth = write_table(tmp_path / "people.csv")
    page.drop(tmp_path / "people.csv")
    page.see("90 rows, 5 columns")
    page.ready()
    page.tick("d")
    page.ready()
    page.click("I know the number", "[data-testid=stRadio] label")
    page.see("Number of groups")
    page.click("Find groups")
    page.see("4. The groups")
    page.see("Cluster 2\n\n30")
    content = page.download("Table with clusters (CSV)", "people-clusters.csv")
    assert len({*zip(clusters(content), truth, strict=True)}) == 3

    # The command on the page gives the same files.
    page.click("The same as a command", "summary")
    command = page.browser.wait(lambda: page.browser.find("code.language-bash").text)
    assert shlex.split(command)[:5] == ["pckid", "cluster", "people.csv", "-k", "3"]
    assert "--drop=d" in command
    assert "--id=who" in command
    words = [sys.executable, "-m", *shlex.split(command)]
    subprocess.run(words, cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "people-clusters.csv").read_bytes() == content
    model = page.download("Model, for new rows", "people-model.pckid")
    assert (tmp_path / "people-model.pckid").read_bytes() == model
    report = page.download("Report", "people-report.html")
    assert (tmp_path / "people-report.html").read_bytes() == report

    # New rows get the same clusters, by the model of the page and by the one downloaded.
    page.click("Place new rows", "[role=tab]")
    page.drop(tmp_path / "people.csv", "The table with the new rows")
    page.ready()
    page.click("Place rows")
    page.see("Cluster 2\n\n30")
    placed = page.download("Table with clusters (CSV)", "people-clusters.csv")
    assert clusters(placed) == clusters(content)


def test_the_demo_is_one_click_away(page):
    page.click("Try it with the penguins")
    page.see("344 rows, 7 columns")
    page.ready()
    page.click("Find groups")
    page.see("4. The groups")
    page.see("2 of 344 rows have no observed value")
    content = page.download("Table with clusters (CSV)", "penguins-clusters.csv")
    found = list(csv.DictReader(io.StringIO(content.decode())))
    species = {(row["label"], row["cluster"]) for row in found if float(row["confidence"]) > 0.5}
    assert len(species) == len({each[0] for each in species}) == 3


def test_a_bad_file_gets_its_sentence_and_the_app_goes_on(page, tmp_path):
    (tmp_path / "broken.csv").write_text('a,b\n1,2\n"3,4\n')
    page.drop(tmp_path / "broken.csv")
    page.see("broken.csv")
    page.see("quote")
    assert "2. What the columns hold" not in page.text()
    (tmp_path / "no-model.pckid").write_text("a,b\n1,2\n")
    write_table(tmp_path / "people.csv")
    page.click("Place new rows", "[role=tab]")
    page.drop(tmp_path / "no-model.pckid", "A model")
    page.drop(tmp_path / "people.csv", "The table with the new rows")
    page.ready()
    page.click("Place rows")
    page.see("no-model.pckid is not a pckid model. Give a file written by pckid.")
    page.click("Find groups", "[role=tab]")
    page.click("Try it with the penguins")
    page.see("344 rows, 7 columns")


def test_a_cancelled_run_ends_and_another_can_follow(page, tmp_path, server):
    write_table(tmp_path / "long.csv", n_samples=30_000, names="abcdefgh")
    page.drop(tmp_path / "long.csv")
    page.see("30,000 rows")
    page.ready()
    page.click("Find groups")
    page.click("Cancel")
    page.see("Cancelled.")
    assert "4. The groups" not in page.text()
    deadline = time.monotonic() + 5
    while workers(server.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert workers(server.pid) == 0
    page.click("Try it with the penguins")
    page.see("344 rows, 7 columns")
    page.ready()
    page.click("Find groups")
    page.see("4. The groups")


def workers(group):
    """Count the processes that the process with the libraries loaded has started."""
    listed = subprocess.run(["ps", "-eo", "pgid=,ppid=,pid=,stat="], capture_output=True, text=True)
    rows = [line.split() for line in listed.stdout.splitlines()]
    mine = [row for row in rows if int(row[0]) == group and not row[3].startswith("Z")]
    children = {row[2] for row in mine if int(row[1]) == group}
    return sum(row[1] in children for row in mine)


def test_two_people_do_not_see_each_others_tables(page, chromium, server, tmp_path):
    write_table(tmp_path / "mine.csv")
    page.drop(tmp_path / "mine.csv")
    page.see("mine.csv")
    first = chromium.driver.current_window_handle
    chromium.driver.switch_to.new_window("window")
    try:
        other = Page(chromium, server)
        assert "mine.csv" not in other.text()
        other.click("Try it with the penguins")
        other.see("344 rows, 7 columns")
    finally:
        chromium.driver.close()
        chromium.driver.switch_to.window(first)
    page.tick("d")
    page.ready()
    assert "90 rows, 5 columns" in page.text()
    assert "penguins.csv" not in page.text()


HOSTILE = [
    "<script>window.hit=1</script>",
    "<img src=x onerror=window.hit=1>",
    "![x](http://evil.example/x.png)",
    "[x](javascript:window.hit=1)",
    ":red[x] :smile: :material/home: $x$ **b**",
]


@pytest.mark.skipif(os.name == "nt", reason="no such names there")
def test_names_and_cells_are_shown_and_not_run(page, tmp_path, chromium):
    X, _ = groups(n_features=len(HOSTILE) - 1)
    path = tmp_path / "<img src=x onerror=window.hit=1>![x](http:evil).csv"
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(HOSTILE)
        for row, values in enumerate(X):
            cells = ["" if np.isnan(x) else f"{x:.4f}" for x in values]
            writer.writerow([HOSTILE[row % 5], *cells])
    page.drop(path)
    page.see("90 rows, 5 columns")
    page.ready()
    ticks = chromium.find_all("[data-testid=stCheckbox] label")
    shown = [each.text.replace("\N{WORD JOINER}", "") for each in ticks]
    assert set(HOSTILE) <= set(shown)
    page.click("Find groups")
    page.see("4. The groups")
    page.click("The same as a command", "summary")
    page.ready()
    assert "window.hit" in page.text()
    assert page.browser.run("return window.hit") is None
    (frame,) = chromium.wait(lambda: chromium.find_all("iframe"))
    assert page.browser.run("return arguments[0].contentWindow.hit", frame) is None
    assert not chromium.find_all("img[src*=evil], img[src=x], a[href*=javascript]")
