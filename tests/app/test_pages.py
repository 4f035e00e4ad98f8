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
from browser import needs_browser
from helpers import groups
from office_workbooks import write_messy_workbook
from running_app import AppPage, count_workers, wait_until
from sklearn.metrics import adjusted_rand_score

from pckid import load
from pckid.frontends.formats.opening import open_table

pytest.importorskip("streamlit")
pytestmark = needs_browser
OUTDATED = "The table was changed since."
FIND = "Find groups in"


@pytest.fixture
def page(chromium, server):
    chromium.view()
    yield AppPage(chromium, server.url)
    hosts = {url.split("/")[2] for url in chromium.requests() if "://" in url}
    assert hosts <= {server.url.removeprefix("http://")}
    # Of these features Streamlit's frames speak to browsers that may not know them; and its script
    # that measures a frame is none that the report's policy allows.
    measuring = "DDFiVuFZGZu7dauH2HVkuyGeSeHw5ZgKt70bMpVHIwk="
    # Files of an earlier run are gone when a later one replaces them.
    quiet = ("Unrecognized feature", "can escape its sandboxing", measuring, "/media/")
    assert [line for line in chromium.console() if not any(each in line for each in quiet)] == []


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
    page.wait_for_drawing()


def find_groups(page):
    """Press the button, and wait for the report."""
    page.click(FIND)
    see_report(page)


def see_report(page):
    page.browser.wait(lambda: page.browser.find_all("iframe"), 300)
    page.wait_for_drawing()


def read_report(page):
    """The text of the report."""
    (frame,) = page.browser.find_all("iframe")
    page.browser.driver.switch_to.frame(frame)
    text = page.browser.wait(page.text)
    page.browser.driver.switch_to.default_content()
    return text


def own_violations(page):
    """What is objected to, but for Streamlit's own icons, uploader and grids."""
    streamlit = ("stIcon", "stFileUploader", "glide-cell")
    return [each for each in page.browser.violations() if not any(s in each for s in streamlit)]


def bottom(page, script):
    return page.browser.run(f"return {script}.getBoundingClientRect().bottom")


BUTTON = "[...document.querySelectorAll('button')].find(b => b.innerText.startsWith('Find groups'))"


@pytest.mark.main_path
def test_a_messy_workbook_takes_three_clicks(page, tmp_path):
    truth = write_messy_workbook(tmp_path / "messy.xlsx")
    assert own_violations(page) == []
    give(page, tmp_path / "messy.xlsx", "422 rows, 18 columns · sheet Data 2024")
    assert "names in rows 4–5" in page.text()
    # The table and the button are on one screen.
    assert bottom(page, "document.querySelector('canvas')") < 300
    assert bottom(page, BUTTON) < 900
    assert own_violations(page) == []
    page.click("Take all advice")
    page.see("Find groups in 17 columns")
    page.wait_for_drawing()
    assert bottom(page, BUTTON) < 900
    assert page.cells()["blood bili"][:2] == ["true", "number"]
    find_groups(page)
    content = page.download("Excel", "messy-clusters.xlsx")
    (tmp_path / "found.xlsx").write_bytes(content)
    table = open_table(str(tmp_path / "found.xlsx")).data
    assert table.num_rows == 420
    labels = table.column("cluster").to_pylist()
    assert adjusted_rand_score(truth, labels) > 0.95
    assert own_violations(page) == []
    assert "420 rows were sorted into 3 clusters by 17 columns" in read_report(page)
    page.unfold("The same as a command, and in Python")
    assert {"--limits", "--na-values", "--skip-last", "--skip-below"} <= {
        *page.code("bash").split()
    }
    # New rows go to the model at hand: no model is asked for.
    page.click("Place new rows")
    page.drop(tmp_path / "found.xlsx", "The table with the new rows")
    page.wait_for_drawing()
    page.click("Place rows")
    page.see("Cluster 2\n\n140")


def test_from_a_file_to_labels_and_the_same_by_a_command(page, tmp_path):
    truth = write_table(tmp_path / "people.csv")
    give(page, tmp_path / "people.csv", "60 rows, 5 columns")
    page.see("✓ Nothing to settle.")
    page.tick(4)
    page.click("3", "[data-testid=stButtonGroup] button")
    page.see("Find groups in 3 columns")
    page.wait_for_drawing()
    find_groups(page)
    assert read_report(page).count("20 rows, 33") == 3
    content = page.download("CSV", "people-clusters.csv")
    assert len({*zip(clusters(content), truth, strict=True)}) == 3
    page.unfold("The same as a command, and in Python")
    command = page.code("bash")
    assert [each for each in page.browser.violations() if "token" in each] == []
    assert shlex.split(command)[:5] == ["pckid", "cluster", "people.csv", "-k", "3"]
    assert " --drop d " in command
    assert " --id who " in command
    words = [sys.executable, "-m", *shlex.split(command)]
    subprocess.run(words, cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "people-clusters.csv").read_bytes() == content
    model = page.download("Model", "people-model.pckid")
    assert (tmp_path / "people-model.pckid").read_bytes() == model
    report = page.download("Report", "people-report.html")
    assert without_time((tmp_path / "people-report.html").read_bytes()) == without_time(report)
    code = page.code("python").replace("people.csv", str(tmp_path / "people.csv"))
    scope = {}
    exec(code.partition("pckid.report")[0], scope)
    assert [str(label) for label in scope["model"].labels_] == clusters(content)


def test_each_question_changes_its_row_and_edits_outlive_answers_and_a_reload(page, tmp_path):
    write_messy_workbook(tmp_path / "messy.xlsx", n_rows=90)
    give(page, tmp_path / "messy.xlsx", "92 rows, 18 columns")
    page.see("5 questions")
    page.tick(17)
    page.give_role(5, "category")
    assert page.cells()["blood albumin"][1] == "category"
    assert page.cells()["blood bili"] == ["false", "category", "0", "", "limits"]
    page.click("Leave it out")
    page.see("91 rows")
    page.wait_for_drawing()
    page.click("Leave it out")
    page.see("90 rows")
    page.wait_for_drawing()
    page.click("Half")
    page.see("blood bili: half")
    page.wait_for_drawing()
    assert page.cells()["blood bili"][:2] == ["true", "number"]
    assert page.cells()["blood bili"][3].startswith("0.25")
    assert page.cells()["blood copper"][4] == "code for missing"
    page.click("Treat as missing")
    page.see("blood copper: treat as missing")
    page.wait_for_drawing()
    assert page.cells()["blood copper"][4] == ""
    page.click("Leave as it is")
    page.see("✓ Nothing to settle.")
    page.wait_for_drawing()

    def edited():
        cells = page.cells()
        return cells["body pulse"][0], cells["blood albumin"][1], cells["blood bili"][1]

    assert edited() == ("false", "category", "number")
    page.browser.driver.refresh()
    page.see("✓ Nothing to settle.")
    page.wait_for_drawing()
    assert edited() == ("false", "category", "number")
    page.see("Find groups in 16 columns")
    page.give_role(2, "date")
    assert page.cells()["person sex"][1] == "category"


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
    page.give_role(3, "known group, kept")
    page.click("Group by patient over day")
    page.see("Column that names the case")
    page.wait_for_drawing()
    find_groups(page)
    text = read_report(page)
    assert "60 cases" in text or "60 rows" in text
    content = page.download("CSV", "visits-clusters.csv")
    rows = list(csv.DictReader(io.StringIO(content.decode())))
    assert {row["cluster_name"] for row in rows} == {"A", "B", "C"}


def test_the_keyboard_alone_leads_to_a_result(page):
    from selenium.webdriver import ActionChains, Keys

    def press_until(text):
        script = "const e = document.activeElement; return e.tagName === 'BUTTON' && e.innerText"
        for _ in range(60):
            ActionChains(page.browser.driver).send_keys(Keys.TAB).perform()
            if text in (page.browser.run(script) or ""):
                ActionChains(page.browser.driver).send_keys(Keys.ENTER).perform()
                return
        raise AssertionError(text)

    page.wait_for_drawing()
    press_until("Try it with the penguins")
    page.see("344 rows, 7 columns")
    page.wait_for_drawing()
    page.tick(0)
    page.see("Find groups in 5 columns")
    page.browser.run("document.activeElement.blur()")
    press_until(FIND)
    see_report(page)


def test_the_page_can_be_read_in_the_dark(page):
    page.browser.view(dark=True)
    try:
        page.click("Try it with the penguins")
        page.see(FIND)
        page.wait_for_drawing()
        found = own_violations(page)
    finally:
        page.browser.view()
    assert found == []


def test_the_result_outlives_a_reload_is_named_and_changed(page, tmp_path):
    write_table(tmp_path / "people.csv")
    give(page, tmp_path / "people.csv", "60 rows, 5 columns")
    find_groups(page)
    # The frame is as high as the report: only the page scrolls.
    place = "return document.querySelector('iframe')?.getBoundingClientRect() ?? {height: 0}"
    page.browser.wait(lambda: page.browser.run(place)["height"] > 2000)
    assert page.browser.run(place)["top"] < 200
    page.browser.driver.refresh()
    see_report(page)
    assert OUTDATED not in page.text()

    # Names given on the page are in every file.
    page.click("Name groups", "[data-testid=stPopover] button")
    page.browser.wait(lambda: page.browser.find_all("input[aria-label='Cluster 1']"))
    page.browser.find("input[aria-label='Cluster 1']").send_keys("Old <b>")
    page.click("Use these names")
    named = "return document.querySelector('iframe')?.srcdoc.includes('Old &lt;b&gt;')"
    page.browser.wait(lambda: page.browser.run(named))
    page.wait_for_drawing()
    content = page.download("CSV", "people-clusters.csv")
    rows = csv.DictReader(io.StringIO(content.decode()))
    assert {row["cluster_name"] for row in rows if row["cluster"] == "1"} == {"Old <b>"}
    (tmp_path / "m.pckid").write_bytes(page.download("Model", "people-model.pckid"))
    assert load(tmp_path / "m.pckid").cluster_names_[1] == "Old <b>"

    # A change opens the table above the report, which stays until groups are found again.
    page.click("Change")
    page.see(FIND)
    page.wait_for_drawing()
    page.tick(4)
    page.see("Find groups in 3 columns")
    page.click("Change")
    page.see(OUTDATED)
    page.click("Find again")
    page.browser.wait(lambda: "people.csv · 3 columns" in page.text(), 300)
    see_report(page)
    assert OUTDATED not in page.text()


def test_a_cancelled_run_ends_and_the_demo_is_one_click_away(page, tmp_path, server):
    write_table(tmp_path / "long.csv", n_samples=30_000, names="abcdefgh")
    give(page, tmp_path / "long.csv", "30,000 rows")
    page.click(FIND)
    wait_until(lambda: count_workers(server) == 1)
    page.see("Keep this page open")
    page.click("Cancel")
    page.see("Cancelled.")
    assert not page.browser.find_all("iframe")
    wait_until(lambda: count_workers(server) == 0)
    page.click("Another table")
    page.click("Try it with the penguins")
    page.see("344 rows, 7 columns")
    page.wait_for_drawing()
    find_groups(page)
    page.unfold("Notes (1)")
    page.see("2 of 344 rows hold no value")
    content = page.download("CSV", "penguins-clusters.csv")
    found = list(csv.DictReader(io.StringIO(content.decode())))
    species = Counter((row["label"], row["cluster"]) for row in found)
    assert len({label for (label, _), _ in species.most_common(3)}) == 3
    assert sum(count for _, count in species.most_common(3)) > 330


def test_two_people_do_not_see_each_others_tables(page, chromium, server, tmp_path):
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
    page.tick(4)
    assert "60 rows, 5 columns" in page.text()
    assert "penguins.csv" not in page.text()


HOSTILE = [
    "<script>window.hit=1</script>",
    "<img src=x onerror=window.hit=1>",
    "![x](http://evil.example/x.png)",
    "[x](javascript:window.hit=1)",
    ":red[x] :smile: :material/home: $x$ **b** www.evil.example",
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
    assert set(HOSTILE) <= page.cells().keys()
    find_groups(page)
    page.unfold("The same as a command, and in Python")
    page.wait_for_drawing()
    assert "window.hit" in page.text()
    assert page.browser.run("return window.hit") is None
    (frame,) = chromium.wait(lambda: chromium.find_all("iframe"))
    assert page.browser.run("return arguments[0].contentWindow.hit", frame) is None
    assert not chromium.find_all("img[src*=evil], img[src=x], a[href*=javascript], a[href*=evil]")
