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
from running_app import AppPage, count_workers, wait_until

from pckid import load

pytest.importorskip("streamlit")
pytestmark = needs_browser
OUTDATED = "before your last changes"


@pytest.fixture
def page(chromium, server):
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


@pytest.mark.main_path
def test_from_a_file_to_labels_and_new_rows(page, tmp_path):
    truth = write_table(tmp_path / "people.csv")
    page.drop(tmp_path / "people.csv")
    page.see("60 rows, 5 columns")
    page.wait_for_drawing()
    # What is left are Streamlit's own sign and region for dropping files.
    found = page.browser.violations()
    assert [each for each in found if "stIcon" not in each and "stFileUploader" not in each] == []
    page.tick("d")
    page.wait_for_drawing()
    page.choose("I know the number")
    page.see("Number of groups")
    page.click("Find groups")
    page.see("4. The groups")
    (frame,) = page.browser.wait(lambda: page.browser.find_all("iframe"))
    assert frame.get_attribute("title") == "The report"
    page.browser.driver.switch_to.frame(frame)
    page.see("3 clusters")
    assert page.text().count("20 rows, 33") == 3
    page.browser.driver.switch_to.default_content()
    content = page.download("Table with clusters (CSV)", "people-clusters.csv")
    assert len({*zip(clusters(content), truth, strict=True)}) == 3

    # The command on the page gives the same files.
    page.unfold("The same as a command, and in Python")
    command = page.code("bash")
    assert [each for each in page.browser.violations() if "token" in each] == []
    assert shlex.split(command)[:5] == ["pckid", "cluster", "people.csv", "-k", "3"]
    assert " --drop d " in command
    assert " --id who " in command
    words = [sys.executable, "-m", *shlex.split(command)]
    subprocess.run(words, cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "people-clusters.csv").read_bytes() == content
    model = page.download("Model, for new rows", "people-model.pckid")
    assert (tmp_path / "people-model.pckid").read_bytes() == model
    report = page.download("Report", "people-report.html")
    assert without_time((tmp_path / "people-report.html").read_bytes()) == without_time(report)

    code = page.code("python").replace("people.csv", str(tmp_path / "people.csv"))
    scope = {}
    exec(code.partition("pckid.report")[0], scope)
    assert [str(label) for label in scope["frame"]["cluster"]] == clusters(content)

    # New rows get the same clusters, by the model of the page and by the one downloaded.
    page.turn_to("Place new rows")
    page.drop(tmp_path / "people.csv", "The table with the new rows")
    page.wait_for_drawing()
    page.click("Place rows")
    page.see("Cluster 2\n\n20")
    placed = page.download("Table with clusters (CSV)", "people-clusters.csv")
    assert clusters(placed) == clusters(content)


def test_what_is_typed_last_counts_when_the_button_is_pressed(page, tmp_path):
    write_table(tmp_path / "people.csv")
    page.drop(tmp_path / "people.csv")
    page.see("60 rows, 5 columns")
    page.wait_for_drawing()
    page.choose("I know the number")
    page.see("Number of groups")
    page.wait_for_drawing()
    field = page.browser.find("input[aria-label='Number of groups']")
    field.clear()
    field.send_keys("2")
    page.click("Find groups")
    (frame,) = page.browser.wait(lambda: page.browser.find_all("iframe"), 120)
    page.browser.driver.switch_to.frame(frame)
    page.see("2 clusters")
    page.browser.driver.switch_to.default_content()
    assert OUTDATED not in page.text()


def test_the_page_can_be_read_in_the_dark(page):
    page.browser.view(dark=True)
    try:
        page.click("Try it with the penguins")
        button = "[data-testid=stBaseButton-primary]:enabled"
        page.browser.wait(lambda: page.browser.find_all(button), 120)
        page.wait_for_drawing()
        found = page.browser.violations()
    finally:
        page.browser.view()
    assert [each for each in found if "stIcon" not in each and "stFileUploader" not in each] == []


def test_the_field_is_empty_again_beside_the_built_in_table(page, tmp_path):
    write_table(tmp_path / "people.csv")
    page.drop(tmp_path / "people.csv")
    page.see("60 rows, 5 columns")
    page.wait_for_drawing()
    page.click("Try it with the penguins")
    page.see("344 rows, 7 columns")
    page.wait_for_drawing()
    assert "people.csv" not in page.text()
    page.drop(tmp_path / "people.csv")
    page.see("60 rows, 5 columns")


def steps(page):
    """The steps that are folded to a line."""
    script = "return [...document.querySelectorAll('summary')].map(each => each.innerText.trim())"
    lines = [text.splitlines()[-1] for text in page.browser.run(script)]
    return [line for line in lines if re.match(r"\d\. ", line)]


def test_the_result_is_on_the_first_screen_and_outlives_a_reload(page, tmp_path, server):
    write_table(tmp_path / "people.csv")
    page.drop(tmp_path / "people.csv")
    page.see("60 rows, 5 columns")
    page.wait_for_drawing()
    page.tick("d")
    page.wait_for_drawing()
    assert steps(page) == []
    page.click("Find groups")
    page.see("4. The groups")
    page.wait_for_drawing()
    folded = [
        "1. Your table: people.csv, 60 rows",
        "2. What the columns hold: 3 columns used",
        "3. Find the groups: number found out",
    ]
    assert steps(page) == folded

    def frame():
        return page.browser.wait(lambda: page.browser.find_all("iframe"))[0]

    # The frame is as high as the report: only the page scrolls.
    place = "return document.querySelector('iframe')?.getBoundingClientRect() ?? {height: 0}"
    page.browser.wait(lambda: page.browser.run(place)["height"] > 2000)
    assert page.browser.run(place)["top"] < 650
    page.browser.driver.switch_to.frame(frame())
    high = "return document.documentElement.scrollHeight - window.innerHeight"
    page.browser.wait(lambda: page.browser.run(high) <= 1)
    assert not [each for each in page.browser.find_all(".rename") if each.is_displayed()]
    page.browser.driver.switch_to.default_content()

    page.browser.driver.refresh()
    page.see("4. The groups")
    page.wait_for_drawing()
    assert steps(page) == folded
    assert OUTDATED not in page.text()

    # Names given on the page are in every file.
    page.unfold("Name the groups")
    page.wait_for_drawing()
    page.browser.find("input[aria-label='Cluster 1']").send_keys("Old <b>")
    page.click("Use these names")
    named = "return document.querySelector('iframe')?.srcdoc.includes('Old &lt;b&gt;')"
    page.browser.wait(lambda: page.browser.run(named))
    page.wait_for_drawing()
    content = page.download("Table with clusters (CSV)", "people-clusters.csv")
    rows = csv.DictReader(io.StringIO(content.decode()))
    assert {row["cluster_name"] for row in rows if row["cluster"] == "1"} == {"Old <b>"}
    assert b"Old &lt;b&gt;" in page.download("Report", "people-report.html")
    (tmp_path / "m.pckid").write_bytes(page.download("Model, for new rows", "people-model.pckid"))
    assert load(tmp_path / "m.pckid").cluster_names_[1] == "Old <b>"

    # Another number of groups is one press away.
    page.click("Try 2 groups")
    page.browser.wait(lambda: steps(page)[2:] == ["3. Find the groups: 2 groups"])
    page.see("4. The groups")


def test_an_answer_after_a_run_runs_again(page, tmp_path):
    X, _ = groups(n_samples=60, n_features=4)
    lines = [",".join(f"{x:.3f}" for x in row).replace("nan", "") for row in X]
    lines += ["999,999,1,1", "999,1,1,999", "999,999,999,1"]
    (tmp_path / "codes.csv").write_text("\n".join(["a,b,c,d", *lines]))
    page.drop(tmp_path / "codes.csv")
    page.see("63 rows, 4 columns")
    page.wait_for_drawing()
    # The codes are taken as missing unless somebody says otherwise.
    while page.browser.find_all("[data-testid=stMultiSelect] [aria-label^='Remove']"):
        page.browser.find("[data-testid=stMultiSelect] [aria-label^='Remove']").click()
        page.wait_for_drawing()
    page.click("Find groups")
    page.see("4. The groups")
    page.wait_for_drawing()
    find = "return [...document.querySelectorAll('button')].find(b => /^Treat/.test(b.innerText))"
    page.browser.wait(lambda: page.browser.run(find)).click()
    page.browser.wait(lambda: not page.browser.run(find))
    page.see("4. The groups")
    page.wait_for_drawing()
    assert OUTDATED not in page.text()
    page.unfold("The same as a command, and in Python")
    assert "999" in page.code("bash")


def test_what_was_said_of_one_table_is_not_said_of_the_next(page, tmp_path):
    write_table(tmp_path / "people.csv")
    (tmp_path / "others.csv").write_text("x,y\n1,2\n3,4\n")
    page.drop(tmp_path / "people.csv")
    page.see("60 rows, 5 columns")
    page.wait_for_drawing()
    page.click("Find groups")
    page.see("4. The groups")
    page.turn_to("Place new rows")
    page.drop(tmp_path / "others.csv", "The table with the new rows")
    page.see("2 rows, 2 columns")
    page.wait_for_drawing()
    page.click("Place rows")
    page.see("others.csv has none of the model's 4 columns")
    page.drop(tmp_path / "people.csv", "The table with the new rows")
    page.see("60 rows, 5 columns")
    page.wait_for_drawing()
    assert "others.csv" not in page.text()
    page.click("Place rows")
    page.see("Cluster 0")
    page.drop(tmp_path / "others.csv", "The table with the new rows")
    page.see(OUTDATED)


def test_a_bad_file_gets_its_sentence_and_the_app_goes_on(page, tmp_path):
    (tmp_path / "broken.csv").write_text('a,b\n1,2\n"3,4\n')
    page.drop(tmp_path / "broken.csv")
    page.see("broken.csv")
    page.see("quote")
    assert "What the columns" not in page.text()
    (tmp_path / "no-model.pckid").write_text("a,b\n1,2\n")
    write_table(tmp_path / "people.csv")
    page.turn_to("Place new rows")
    page.drop(tmp_path / "no-model.pckid", "A model")
    page.drop(tmp_path / "people.csv", "The table with the new rows")
    page.wait_for_drawing()
    page.click("Place rows")
    page.see("no-model.pckid is not a pckid model. Give a file written by pckid.")
    page.turn_to("Find groups")
    page.click("Try it with the penguins")
    page.see("344 rows, 7 columns")


def test_a_cancelled_run_ends_and_the_demo_is_one_click_away(page, tmp_path, server):
    write_table(tmp_path / "long.csv", n_samples=30_000, names="abcdefgh")
    page.drop(tmp_path / "long.csv")
    page.see("30,000 rows")
    page.wait_for_drawing()
    page.click("Find groups")
    wait_until(lambda: count_workers(server) == 1)
    page.see("Keep this page open")
    page.click("Cancel")
    page.see("Cancelled.")
    assert "4. The groups" not in page.text()
    wait_until(lambda: count_workers(server) == 0)
    page.click("Try it with the penguins")
    page.see("344 rows, 7 columns")
    page.wait_for_drawing()
    page.click("Find groups")
    page.see("4. The groups")
    page.unfold("Notes (1)")
    page.see("2 of 344 rows hold no value")
    content = page.download("Table with clusters (CSV)", "penguins-clusters.csv")
    found = list(csv.DictReader(io.StringIO(content.decode())))
    species = Counter((row["label"], row["cluster"]) for row in found)
    assert len({label for (label, _), _ in species.most_common(3)}) == 3
    assert sum(count for _, count in species.most_common(3)) > 330


def test_two_people_do_not_see_each_others_tables(page, chromium, server, tmp_path):
    write_table(tmp_path / "mine.csv")
    page.drop(tmp_path / "mine.csv")
    page.see("mine.csv")
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
    page.tick("d")
    page.wait_for_drawing()
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
    page.drop(path)
    page.see("60 rows, 5 columns")
    page.wait_for_drawing()
    selector = "[data-testid=stCheckbox] label"
    chromium.wait(lambda: len(chromium.find_all(selector)) > len(HOSTILE))
    ticks = chromium.find_all(selector)
    shown = [each.text.replace("\N{WORD JOINER}", "") for each in ticks]
    assert set(HOSTILE) <= set(shown)
    page.click("Find groups")
    page.see("4. The groups")
    page.unfold("The same as a command, and in Python")
    page.wait_for_drawing()
    assert "window.hit" in page.text()
    assert page.browser.run("return window.hit") is None
    (frame,) = chromium.wait(lambda: chromium.find_all("iframe"))
    assert page.browser.run("return arguments[0].contentWindow.hit", frame) is None
    assert not chromium.find_all("img[src*=evil], img[src=x], a[href*=javascript], a[href*=evil]")
