"""The app in a real browser: from a dropped file to labels, and everything that may go wrong."""

import csv
import io
import os
import re
import shlex
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
import xlsxwriter
from browser import needs_browser
from helpers import groups
from office_workbooks import write_messy_workbook
from running_app import AppPage, count_workers, wait_until
from sklearn.metrics import adjusted_rand_score

from pckid import load
from pckid.frontends.formats.opening import open_table

pytest.importorskip("uvicorn")
pytestmark = needs_browser
FIND = "Find groups in"
FRAME = "return document.getElementById('report')?.src"


@pytest.fixture
def page(chromium, server):
    chromium.view()
    yield AppPage(chromium, server.url)
    asked = [url for url in chromium.requests() if "://" in url]
    assert {url.split("/")[2] for url in asked} <= {server.root.removeprefix("http://")}
    assert chromium.console() == []


def write_table(path, n_samples=60, names="abcd"):
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


def without_time(report):
    """A report without the minute in which it was made."""
    return re.sub(rb"\d{4}-\d\d-\d\d \d\d:\d\d UTC", b"", report)


def give(page, path, head):
    """Drop a table, and wait until it is drawn."""
    page.drop(path)
    page.see(head)
    page.settle()


def find_groups(page):
    """Press the button, and wait for the report."""
    page.click(FIND)
    see_report(page)


def see_report(page):
    page.browser.wait(lambda: page.browser.find_all("#report"), 300)


@pytest.mark.main_path
def test_a_messy_workbook_takes_one_press(page, tmp_path):
    truth = write_messy_workbook(tmp_path / "messy.xlsx")
    assert page.browser.violations() == []
    give(page, tmp_path / "messy.xlsx", "420 rows")
    assert "names in rows 4–5" in page.text()
    page.see("Find groups in 17 columns")
    place = "return document.getElementById('find').getBoundingClientRect().bottom"
    assert page.browser.run(place) <= 900
    assert page.browser.violations() == []
    find_groups(page)
    content = page.download("clusters.xlsx", "messy-clusters.xlsx")
    (tmp_path / "found.xlsx").write_bytes(content)
    table = open_table(str(tmp_path / "found.xlsx")).data
    assert table.num_rows == 420
    labels = table.column("cluster").to_pylist()
    assert adjusted_rand_score(truth, labels) > 0.95
    assert page.browser.violations() == []
    assert "420 rows were sorted into 3 clusters by 17 columns" in page.report()
    page.unfold("The same as a command")
    assert {"--limits", "--na-values", "--skip-last", "--skip-below"} <= {
        *page.code("command").split()
    }
    # New rows go to the model at hand: no model is asked for.
    page.click("Place new rows")
    page.drop(tmp_path / "found.xlsx", "new")
    page.see("420 rows")
    page.click("Place rows")
    page.see("Cluster 2\t140")
    assert page.browser.violations() == []


def test_from_a_file_to_labels_and_the_same_by_a_command(page, tmp_path):
    truth = write_table(tmp_path / "people.csv")
    give(page, tmp_path / "people.csv", "60 rows, 5 columns")
    page.see("✓ Nothing to settle.")
    page.unfold("Columns")
    page.tick("d")
    page.unfold("More")
    page.browser.find("#k").send_keys("3\t")
    page.see("Find groups in 3 columns")
    page.settle()
    find_groups(page)
    assert "60 rows were sorted into 3 clusters" in page.report()
    content = page.download("clusters.csv", "people-clusters.csv")
    assert len({*zip(clusters(content), truth, strict=True)}) == 3
    page.unfold("The same as a command")
    command = page.code("command")
    assert shlex.split(command)[:5] == ["pckid", "cluster", "people.csv", "-k", "3"]
    assert " --drop d " in command
    assert " --id who " in command
    words = [sys.executable, "-m", *shlex.split(command)]
    subprocess.run(words, cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "people-clusters.csv").read_bytes() == content
    model = page.download("model.pckid", "people-model.pckid")
    assert (tmp_path / "people-model.pckid").read_bytes() == model
    report = page.download("report.html", "people-report.html")
    assert without_time((tmp_path / "people-report.html").read_bytes()) == without_time(report)
    code = page.code("python").replace("people.csv", str(tmp_path / "people.csv"))
    scope = {}
    exec(code.partition("pckid.report")[0], scope)
    assert [str(label) for label in scope["model"].labels_] == clusters(content)


def test_answers_and_changes_outlive_a_reload(page, tmp_path):
    write_messy_workbook(tmp_path / "messy.xlsx", n_rows=90)
    give(page, tmp_path / "messy.xlsx", "90 rows")
    page.unfold("Other columns")
    page.give_role("blood albumin", "category")
    page.tick("body pulse")
    page.answer("Half")
    assert page.columns()["blood bili"][3].startswith("0.25")

    def edited():
        cells = page.columns()
        return cells["body pulse"][0], cells["blood albumin"][1], cells["blood bili"][3][:4]

    assert edited() == (False, "category", "0.25")
    page.browser.driver.refresh()
    page.see("Find groups in 16 columns")
    assert edited() == (False, "category", "0.25")


def test_lines_of_cases_and_known_groups_come_to_a_result(page, tmp_path):
    X, truth = groups(n_samples=60)
    lines = ["patient,day,pulse,kind"]
    lines += [
        f"p{i:02},{day},{'' if x != x else round(x, 3)},{'ABC'[truth[i]] if i < 6 else ''}"
        for i, row in enumerate(X.tolist())
        for day, x in enumerate(row)
    ]
    (tmp_path / "visits.csv").write_text("\n".join(lines))
    give(page, tmp_path / "visits.csv", "240 rows, 4 columns")
    page.give_role("kind", "known group, kept")
    page.answer("Group by patient over day")
    page.unfold("More")
    page.see("Column that names the case")
    find_groups(page)
    text = page.report()
    assert "60 cases" in text or "60 rows" in text
    content = page.download("clusters.csv", "visits-clusters.csv")
    rows = list(csv.DictReader(io.StringIO(content.decode())))
    assert {row["cluster_name"] for row in rows} == {"A", "B", "C"}


def test_the_keyboard_alone_leads_to_a_result_on_a_phone_in_the_dark(page):
    from selenium.webdriver import ActionChains, Keys

    def press_until(text):
        script = "const e = document.activeElement; return e.tagName === 'BUTTON' && e.innerText"
        for _ in range(60):
            ActionChains(page.browser.driver).send_keys(Keys.TAB).perform()
            if text in (page.browser.run(script) or ""):
                ActionChains(page.browser.driver).send_keys(Keys.ENTER).perform()
                return
        raise AssertionError(text)

    page.browser.view(390, 844, dark=True)
    try:
        assert page.browser.violations() == []
        press_until("Try it with the penguins")
        page.see("344 rows, 7 columns")
        page.settle()
        # Little to read before the button.
        assert len(page.text().split()) <= 80
        assert page.browser.violations() == []
        width = "return document.documentElement.scrollWidth"
        assert page.browser.run(width) <= 390
        press_until(FIND)
        see_report(page)
        assert page.browser.run(width) <= 390
        assert page.browser.violations() == []
    finally:
        page.browser.view()


def test_the_result_outlives_a_reload_is_named_and_changed(page, tmp_path):
    write_table(tmp_path / "people.csv")
    give(page, tmp_path / "people.csv", "60 rows, 5 columns")
    find_groups(page)
    # The frame is as high as the report: only the page scrolls.
    place = "return document.querySelector('iframe')?.getBoundingClientRect() ?? {height: 0}"
    page.browser.wait(lambda: page.browser.run(place)["height"] > 2000)
    page.browser.driver.refresh()
    see_report(page)

    # Names given on the page are in every file.
    page.unfold("Name groups")
    page.browser.find("#name-1").send_keys("Old <b>")
    before = page.browser.run(FRAME)
    page.click("Use these names")
    page.browser.wait(lambda: page.browser.run(FRAME) not in (None, before))
    assert "Old <b>" in page.report()
    content = page.download("clusters.csv", "people-clusters.csv")
    rows = csv.DictReader(io.StringIO(content.decode()))
    assert {row["cluster_name"] for row in rows if row["cluster"] == "1"} == {"Old <b>"}
    (tmp_path / "m.pckid").write_bytes(page.download("model.pckid", "people-model.pckid"))
    assert load(tmp_path / "m.pckid").cluster_names_[1] == "Old <b>"

    # Another number of groups, and another column: found again.
    page.unfold("Number of groups")
    page.click("2")
    page.browser.wait(lambda: page.browser.find_all("#number-2[disabled]"), 300)
    page.click("Change")
    page.see(FIND)
    page.unfold("Columns")
    page.tick("d")
    page.see("Find groups in 3 columns")
    find_groups(page)
    page.see("people.csv 3 columns")


def test_a_cancelled_run_ends_and_the_demo_is_one_click_away(page, tmp_path, server):
    write_table(tmp_path / "long.csv", n_samples=30_000, names="abcdefgh")
    give(page, tmp_path / "long.csv", "30,000 rows")
    page.click(FIND)
    page.browser.wait(lambda: page.browser.find_all("#cancel"))
    # Work goes on over a reload.
    page.browser.driver.refresh()
    page.browser.wait(lambda: page.browser.find_all("#cancel"))
    assert count_workers(server) == 1
    page.click("Cancel")
    page.see("Cancelled.")
    assert not page.browser.find_all("iframe")
    wait_until(lambda: count_workers(server) == 0)
    page.click("Another table")
    page.click("Try it with the penguins")
    page.see("344 rows, 7 columns")
    page.settle()
    find_groups(page)
    page.unfold("Notes (")
    page.see("2 of 344 rows hold no value")
    content = page.download("clusters.csv", "penguins-clusters.csv")
    found = list(csv.DictReader(io.StringIO(content.decode())))
    species = Counter((row["label"], row["cluster"]) for row in found)
    assert len({label for (label, _), _ in species.most_common(3)}) == 3
    assert sum(count for _, count in species.most_common(3)) > 330


def test_two_tabs_do_not_see_each_others_tables(page, chromium, server, tmp_path):
    write_table(tmp_path / "mine.csv")
    give(page, tmp_path / "mine.csv", "mine.csv")
    first = chromium.driver.current_window_handle
    chromium.driver.switch_to.new_window("window")
    try:
        other = AppPage(chromium, server.url)
        assert "mine.csv" not in other.text()
        other.click("Try it with the penguins")
        other.see("344 rows, 7 columns")
    finally:
        chromium.driver.close()
        chromium.driver.switch_to.window(first)
    page.unfold("Columns")
    page.tick("d")
    assert "60 rows, 5 columns" in page.text()
    assert "penguins.csv" not in page.text()


HOSTILE = [
    "<script>window.hit=1</script>",
    "<img src=x onerror=window.hit=1>",
    "![x](http://evil.example/x.png)",
    "javascript:window.hit=1",
    "</td></table><iframe srcdoc='<script>parent.hit=1</script>'>",
]


@pytest.mark.skipif(os.name == "nt", reason="no such names there")
def test_names_and_cells_are_shown_and_not_run(page, tmp_path, chromium):
    X, _ = groups(n_samples=60, n_features=len(HOSTILE) - 1)
    path = tmp_path / "<img src=x onerror=window.hit=1>![x](http:evil).csv"
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(HOSTILE)
        for row, values in enumerate(X):
            cells = ["" if np.isnan(x) else f"{x:.4f}" for x in values]
            writer.writerow([HOSTILE[row % 5], *cells])
    give(page, path, "60 rows, 5 columns")
    chromium.run("document.querySelectorAll('details').forEach(each => (each.open = true))")
    assert set(HOSTILE) <= page.columns().keys()
    find_groups(page)
    page.unfold("The same as a command")
    assert "window.hit" in page.text()
    assert "window.hit" in page.report()
    assert page.browser.run("return window.hit") is None
    (frame,) = chromium.find_all("#report")
    chromium.driver.switch_to.frame(frame)
    assert chromium.run("return window.hit") is None
    chromium.driver.switch_to.default_content()
    assert not chromium.find_all("img, a:not([href^='made/'])")
    # The report's frame reaches neither the page nor what the desk keeps.
    reached = """try { return document.getElementById("report").contentDocument !== null }
        catch { return true }"""
    assert chromium.run(reached) is False


def test_names_of_sheets_are_shown_and_not_run(page, tmp_path, chromium):
    X, _ = groups(n_samples=60)
    hostile = "<svg onload=window.hit=1>"
    with xlsxwriter.Workbook(str(tmp_path / "book.xlsx")) as book:
        for name in (hostile, "<img src=q onerror=hit=1>"):
            sheet = book.add_worksheet(name)
            sheet.write_row(0, 0, list("abcd"))
            for number, row in enumerate(np.nan_to_num(X).round(3).tolist(), 1):
                sheet.write_row(number, 0, row)
    give(page, tmp_path / "book.xlsx", "60 rows, 4 columns")
    chromium.run("document.querySelectorAll('details').forEach(each => (each.open = true))")
    options = chromium.run("return Array.from(document.querySelectorAll('option'), o => o.text)")
    assert hostile in options
    find_groups(page)
    assert hostile in page.report()
    assert chromium.run("return window.hit") is None
    (frame,) = chromium.find_all("#report")
    chromium.driver.switch_to.frame(frame)
    assert chromium.run("return window.hit") is None
    chromium.driver.switch_to.default_content()
    assert not chromium.find_all("img")
