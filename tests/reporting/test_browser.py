"""The report in a real browser, from disk and without a network: all answers, nothing leaves."""

import csv
import re
from collections import Counter
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from browser import needs_browser, open_browser

import pckid
from pckid import PCKID, explain_rows
from pckid._utils.quantities import write_quantity
from pckid.estimator import cluster_into_others
from pckid.reporting import Background

pytestmark = needs_browser


@pytest.fixture(scope="module")
def page(fitted, table, background, assessed, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    pckid.report(fitted, table, path, background, assessment=assessed)
    return path


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with open_browser(tmp_path_factory.mktemp("downloads")) as opened:
        yield opened


@pytest.fixture
def report(browser, page):
    """The report, opened; after a test it has neither complained nor asked for anything."""
    browser.view(height=1600)
    open_report(browser, page)
    yield browser
    assert browser.console() == []
    # A picture that the page makes of itself comes from nowhere else.
    assert [each for each in browser.requests() if each[:5] != "blob:"] == [page.as_uri()]


def open_report(browser, path):
    browser.open(path)
    browser.wait(lambda: browser.find("html.ready"))
    browser.wait(lambda: browser.find("#map svg"))


def shown_rows(browser):
    return int(re.search(r"of ([\d,]+) rows?", browser.find("#rows-status").text).group(1))


def dots(browser):
    """Count the dots on the map that stand out, and all."""
    return len(browser.find_all("#map .dots > :not(.off)")), len(browser.find_all("#map .dots > *"))


def test_the_groups_come_first(report, assessed):
    assert report.find("h1").text.startswith("3 groups")
    assert report.find(".verdict").text.startswith("✓ Chance alone ")
    assert [head.text.split("\n")[0] for head in heads_of(report)] == [
        f"Cluster {number}" for number in range(3)
    ]
    top = report.run("return document.querySelector('#profile').getBoundingClientRect().top")
    assert top < 260


def heads_of(browser):
    """The heads of the clusters that a reader sees."""
    heads = browser.find_all(".pckid-profile th[data-cluster]")
    return [head for head in heads if head.is_displayed()]


def test_with_one_cluster_nothing_looks_like_structure(browser, table, tmp_path):
    X = table.drop(7)
    model = PCKID(1, n_inits=2, max_components=3, random_state=0).fit(X)
    pckid.report(model, X, tmp_path / "one.html", assessment=False)
    browser.open(tmp_path / "one.html")
    browser.wait(lambda: browser.find("html.ready"))
    assert browser.find_all(".dots, .choose, .rename, #row-detail, .numbers") == []
    browser.run("document.querySelector('#rows-body tr').focus()")
    assert browser.console() == []


def test_clusters_of_a_group_stand_below_one_brace(browser, fitted, table, assessed, tmp_path):
    gaps = assessed.gaps._replace(groups=np.array([0, 1, 0]))
    found = replace(assessed, gaps=gaps, cluster_recovery=np.array([1.0, 1.0, 0.25]))
    pckid.report(fitted, table, tmp_path / "framed.html", assessment=found)
    browser.view(height=1600)
    open_report(browser, tmp_path / "framed.html")
    assert browser.find("h1").text.startswith("2 groups, 3 clusters")
    assert browser.find(".verdict").text.startswith("? Doubtful: cluster 2 ")
    braces = [brace.text for brace in browser.find_all("#profile .brace")]
    assert braces == ["Group A · no gap inside", "Group B"]
    heads = heads_of(browser)
    assert [len(head.find_elements("css selector", ".doubtful")) for head in heads] == [0, 1, 0]
    # Clusters stand in the order of their groups, and each button selects its own.
    heads[1].find_element("css selector", ".choose").click()
    assert browser.find("#status").text.startswith("Cluster 2: ")
    pressed = [button.get_attribute("aria-pressed") for button in browser.find_all(".choose")]
    assert pressed == ["false", "true", "false"]
    assert browser.console() == []


def test_clusters_that_are_no_groups_have_no_confidence(browser, fitted, table, assessed, tmp_path):
    found = replace(assessed, p_value=0.5)
    pckid.report(fitted, table, tmp_path / "none.html", assessment=found)
    open_report(browser, tmp_path / "none.html")
    browser.run("document.querySelectorAll('details').forEach((part) => (part.open = true))")
    browser.run("document.querySelector('#rows-body tr').focus()")
    assert "onfidence" not in browser.find("body").text
    assert browser.find("h1").text.startswith("3 clusters, no clear groups")


def test_every_cloud_has_its_number(report):
    from selenium.webdriver.common.keys import Keys

    def names():
        shown = report.find_all("#map text:not(.gone)")
        return sorted(each.text for each in shown)

    assert names() == ["0", "1", "2"]
    report.find_all(".rename")[2].click()
    report.find("#profile .heads input").send_keys(Keys.CONTROL, "a")
    report.find("#profile .heads input").send_keys("third", Keys.ENTER)
    assert names() == ["0", "1", "third"]
    report.find_all(".numbers label")[2].click()
    assert names() == ["0", "1", "2", "3"]


def test_a_phone_has_no_boxes_that_scroll_and_large_targets(browser, page):
    browser.view(390, 844)
    open_report(browser, page)
    # Long sections are folded: the page is as long as a few screens, and a press unfolds one.
    assert browser.run("return document.documentElement.scrollHeight") < 6 * 844
    assert not browser.find("#rows-body").is_displayed()
    browser.run("document.querySelectorAll('.fold').forEach((part) => part.click())")
    assert browser.find("#rows-body").is_displayed()
    browser.run("document.querySelectorAll('details').forEach((part) => (part.open = true))")
    boxes = browser.run(
        "return Array.from(document.querySelectorAll('body *')).filter((part) => {"
        "  const style = getComputedStyle(part);"
        "  const scrolls = (way) => ['auto', 'scroll'].includes(style[way]);"
        "  return (part.scrollHeight > part.clientHeight + 2 && scrolls('overflowY'))"
        "    || (part.scrollWidth > part.clientWidth + 2 && scrolls('overflowX'));"
        "}).map((part) => part.id || part.className)"
    )
    assert boxes == []
    small = browser.run(
        "const kinds = 'button, input, summary, nav a, .numbers label > span';"
        "return Array.from(document.querySelectorAll(kinds))"
        ".filter((part) => part.offsetParent && getComputedStyle(part).opacity > 0)"
        ".map((part) => [part.textContent, part.getBoundingClientRect()])"
        ".filter(([, box]) => box.width > 2 && Math.min(box.width, box.height) < 43.5)"
        ".map(([text]) => text)"
    )
    assert small == []
    assert browser.run("return document.documentElement.scrollWidth") <= 390
    # Several names in a cell are one text, whose commas follow the names.
    gaps = browser.run(
        "return Array.from(document.querySelectorAll('#trust td.text bdi'))"
        ".filter((name) => name.nextSibling?.textContent.startsWith(','))"
        ".map((name) => {"
        "  const comma = document.createRange();"
        "  comma.selectNodeContents(name.nextSibling);"
        "  const [after] = comma.getClientRects();"
        "  return after.left - Array.from(name.getClientRects()).at(-1).right;"
        "})"
    )
    assert gaps
    assert max(map(abs, gaps)) < 1


def test_units_are_written_as_they_are_in_the_table(report):
    pairs = [("%", 96.5), ("$", -1234.2), ("kg", 3)]
    script = "return arguments[0].map(([form, value]) => formatValue({form}, value))"
    assert report.run(script, pairs) == ["96.5 %", "-$1234", "3 kg"]
    assert [write_quantity(value, form) for form, value in pairs] == report.run(script, pairs)


def test_dates_are_written_as_in_tables(report):
    pairs = [("date", 19040.0), ("datetime", 19040.52), ("time", -1.25), ("date", -300000.0)]
    script = "return arguments[0].map(([kind, value]) => formatDate(value, kind))"
    assert report.run(script, pairs) == [write_quantity(value, kind) for kind, value in pairs]


@pytest.mark.main_path
def test_a_cluster_is_shown_everywhere(report, fitted):
    size = int((fitted.labels_ == 1).sum())
    assert dots(report) == (149, 149)
    report.find_all(".choose")[1].click()
    assert report.find_all(".choose")[1].get_attribute("aria-pressed") == "true"
    assert report.find("#status").text.startswith(f"Cluster 1: {size} rows")
    assert dots(report) == (size, 149)
    assert shown_rows(report) == size
    off = {cell.get_attribute("data-cluster") for cell in report.find_all("#profile .off")}
    assert off == {"0", "2"}
    report.find("#clear").click()
    assert dots(report) == (149, 149)
    assert shown_rows(report) == 150


def shown_heads(browser):
    """The texts above the clusters that a reader sees."""
    return [head.text for head in heads_of(browser)]


def colours_on_the_map(browser):
    """How many dots have each colour and form."""
    found = browser.run(
        "return Array.from(document.querySelectorAll('#map .dots > *'), (dot) =>"
        " [getComputedStyle(dot).fill, dot.getAttribute('d').replace(/[\\d.]+/g, '')].join(' '))"
    )
    return sorted(Counter(found).values())


def test_a_switch_shows_one_cluster_less_and_one_more(report, fitted, table):
    from selenium.webdriver.common.keys import Keys

    own, colours = shown_heads(report), colours_on_the_map(report)
    assert (len(own), sum(colours)) == (3, 149)
    for number in (2, 4):
        report.find(".numbers :checked").send_keys(Keys.LEFT)  # from the first to the last
        assert report.find(".numbers :checked").get_attribute("value") == str(number)
        labels = cluster_into_others(fitted, table.drop(7).to_numpy(), [number])[0]
        sizes = np.bincount(labels).tolist()
        heads = shown_heads(report)
        assert [int(re.search(r"\n(\d+) rows", head)[1]) for head in heads] == sizes
        assert all(f"Cluster {i} of {number}" in head for i, head in enumerate(heads))
        assert colours_on_the_map(report) == sorted(sizes)
        line = report.find(f".others[data-number='{number}'] > p").text
        assert line.endswith(f"describes 3. For {number}: PCKID({number})")
    report.find(".numbers :checked").send_keys(Keys.LEFT)
    assert (shown_heads(report), colours_on_the_map(report)) == (own, colours)
    assert not report.find(".others").is_displayed()


def test_a_click_selects_a_cluster_of_the_number_that_is_shown(report, fitted, table):
    from selenium.webdriver import ActionChains

    report.find_all(".numbers label")[2].click()
    dot = report.find("#map .dots > *:last-child")
    labels = cluster_into_others(fitted, table.drop(7).to_numpy(), [4])[0]
    ActionChains(report.driver).move_to_element(dot).click().perform()
    expected = int((labels == labels[-1]).sum())  # the last row is drawn last
    assert shown_rows(report) == dots(report)[0] == expected
    assert report.find("#status").text.startswith(f"{expected} rows selected: ")


def test_what_is_printed_are_the_clusters_of_the_report(report, tmp_path):
    own, colours = shown_heads(report), colours_on_the_map(report)
    report.run(
        "document.querySelectorAll('.numbers input')[2].click();"
        "window.addEventListener('beforeprint', () => {"
        "  window.hiddenInPrint = Array.from("
        "    document.querySelectorAll('.others'), (part) => part.hidden); })"
    )
    assert len(shown_heads(report)) == 4
    report.pdf(tmp_path / "report.pdf")
    assert (tmp_path / "report.pdf").stat().st_size > 20_000
    assert report.run("return window.hiddenInPrint") == [True, True]
    assert len(shown_heads(report)) == 4
    report.run("document.querySelectorAll('.numbers input')[1].click()")
    assert (shown_heads(report), colours_on_the_map(report)) == (own, colours)


def test_a_box_on_the_map_and_a_click_select_rows(report, fitted):
    from selenium.webdriver import ActionChains

    chart = report.find("#map svg")
    width, height = chart.size["width"], chart.size["height"]
    drag = ActionChains(report.driver)
    drag.move_to_element_with_offset(chart, -width // 2 + 3, -height // 2 + 3).click_and_hold()
    drag.move_by_offset(int(0.95 * width), height // 2).release().perform()
    found = shown_rows(report)
    assert 0 < found < 149
    assert report.find("#status").text.startswith(f"{found} row")
    assert dots(report) == (found, 149)
    dot = report.find("#map .dots > *:last-child")
    ActionChains(report.driver).move_to_element(dot).click().perform()
    cluster = int(re.match(r"Cluster (\d)", report.find("#status").text).group(1))
    assert shown_rows(report) == (fitted.labels_ == cluster).sum()


def test_a_row_is_found_and_read(report, table, fitted):
    report.find("#search").send_keys("NAME 42")
    assert shown_rows(report) == 1
    report.run("document.querySelector('#rows-body tr').focus()")
    detail = report.find("#row-detail").text
    assert "name 42" in detail
    cells = explain_rows(fitted, table, 42).rows[0].cells
    told = [line.text.split("\n") for line in report.find_all("#row-detail .effects > div")]
    effects = sorted(cells, key=lambda cell: -cell.effect)
    assert told == [[cell.column, f"{cell.effect:.2f}"] for cell in effects]
    shown = re.search(rf"Cluster {fitted.labels_[42]}, confidence (\d\.\d\d)", detail)
    # The page has fewer digits, which are rounded once more.
    assert float(shown[1]) == pytest.approx(fitted.confidence_[42], abs=0.0101)
    for name in ("one", "two", "three", "holes"):
        value = table.loc[42, name]
        assert f"{name}\n{'–' if pd.isna(value) else format(value, '.3f')}" in detail
    assert len(report.find_all(".hovered")) == 1
    assert "No row matches." not in report.find("#rows-status").text
    report.find("#search").send_keys("x")
    assert report.find("#rows-status").text == "No row matches."


@pytest.mark.parametrize("column", ["one", "Confidence"])
def test_rows_are_sorted_with_missing_values_last(report, column, table, fitted):
    heads = [button.text.strip(" ↕↑↓") for button in report.find_all("#rows-head button")]
    place = heads.index(column)
    values = (
        table["one"]
        if column == "one"
        else pd.Series(fitted.confidence_).where(fitted.labels_ >= 0)
    )
    for order, ascending in (("ascending", True), ("descending", False)):
        report.find_all("#rows-head button")[place].click()
        assert report.find_all("#rows-head th")[place].get_attribute("aria-sort") == order
        first = [
            float(cell.text) for cell in report.find_all(f"#rows-body tr > :nth-child({place + 1})")
        ]
        expected = values.sort_values(ascending=ascending).head(15)
        assert first == pytest.approx(expected.tolist(), rel=1e-3, abs=0.006)


def test_numbers_are_written_in_rows_as_in_tables(report):
    values = [0.012345, 1234.56, 123456.7, -2.50456e200, 1e15, 6.02214e23, 999_999_999_999_999]
    written = report.run("return arguments[0].map(formatNumber)", values)
    assert written == [write_quantity(value) for value in values]


def test_clusters_are_renamed_and_the_labels_downloaded(report, fitted):
    from selenium.webdriver.common.keys import Keys

    report.find_all(".rename")[2].click()
    report.find("#profile .heads input").send_keys(Keys.CONTROL, "a")
    report.find("#profile .heads input").send_keys('=Third, the "best"', Keys.ENTER)
    assert not report.find_all("#profile .heads input")
    assert 'the "best"' in report.find("#profile").text
    report.find_all(".rename")[0].click()
    report.find("#profile .heads input").send_keys("lost", Keys.ESCAPE)
    report.find("#download").click()
    path = report.downloads / "cluster-labels.csv"
    report.wait(path.exists)
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["cluster"]) for row in rows] == fitted.labels_.tolist()
    assert [row["name"] for row in rows] == [f"name {index}" for index in range(150)]
    assert [int(row["row"]) for row in rows] == list(range(1, 151))
    names = ["Cluster 0", "Cluster 1", '\'=Third, the "best"', ""]
    assert [row["cluster_name"] for row in rows] == [names[label] for label in fitted.labels_]
    confidence = [float(row["confidence"]) for row in rows]
    assert confidence == pytest.approx(fitted.confidence_.tolist(), abs=1e-3)


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (400, True)], ids=["light", "dark"])
def test_nobody_is_shut_out(browser, page, width, dark):
    browser.view(width, dark=dark)
    open_report(browser, page)
    browser.run("document.querySelectorAll('details').forEach((part) => (part.open = true))")
    browser.find_all(".choose")[0].click()
    assert browser.violations() == []
    browser.find_all(".numbers label")[2].click()
    assert browser.violations() == []
    assert browser.run("return document.documentElement.scrollWidth") <= width
    grey = browser.run("return getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", grey))) < 200) == dark


def test_twelve_clusters_and_long_answers_fit_the_page(browser, tmp_path):
    rng = np.random.default_rng(0)
    own = np.arange(180) % 12
    words = np.array(["not at all, never", "sometimes, perhaps", "always and gladly"])
    X = pd.DataFrame(90 * rng.normal(size=(12, 4))[own] + rng.normal(size=(180, 4)))
    X = X.rename(columns=str).assign(answer=words[own % 3])
    for n, width in ((12, 1100), (3, 390)):
        model = PCKID(n, n_inits=2, max_components=12, categorical_features=["answer"])
        path = tmp_path / f"{n}.html"
        pckid.report(model.set_params(random_state=0).fit(X), X, path, assessment=False)
        browser.view(width)
        open_report(browser, path)
        across = "const box = document.querySelector('#profile .pckid-scroll');"
        assert browser.run(f"{across} return box.scrollWidth - box.clientWidth") <= 0
        assert browser.run("return document.documentElement.scrollWidth") <= width
        assert browser.violations() == []


def test_every_part_is_reached_by_keyboard(report):
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.keys import Keys

    seen = set()
    for _ in range(60):
        ActionChains(report.driver).send_keys(Keys.TAB).perform()
        seen.add(report.run("return document.activeElement.id || document.activeElement.className"))
    assert {
        "choose",
        "rename own-names needs-script",
        "row-detail",
        "search",
        "download",
        "rows-after",
    } <= seen


def test_without_scripts_it_tells_the_same_in_words_and_tables(browser, page):
    browser.disable_scripts()
    try:
        browser.open(page)
        text = browser.find("body").text
    finally:
        browser.disable_scripts(False)
    assert "switched off" in text
    assert "Map of the " in text
    assert "What sets the clusters apart" in text
    assert text.count("Data table:") == 9


def test_it_works_within_a_notebook(browser, fitted, table, tmp_path):
    cell = pckid.report(fitted, table, assessment=False)._repr_html_()
    (tmp_path / "notebook.html").write_text(f"<!DOCTYPE html><title>n</title>{cell}", "utf-8")
    browser.view(1000, 900)
    browser.open(tmp_path / "notebook.html")
    browser.driver.switch_to.frame(browser.find("iframe"))
    browser.wait(lambda: browser.find("html.ready"))
    browser.find_all(".choose")[0].click()
    assert shown_rows(browser) == (fitted.labels_ == 0).sum()
    before = set(browser.downloads.iterdir())
    browser.find("#download").click()
    browser.wait(lambda: set(browser.downloads.iterdir()) - before)
    browser.driver.switch_to.default_content()
    assert browser.console() == []


def test_a_request_would_be_noticed(browser, tmp_path):
    path = tmp_path / "page.html"
    path.write_text('<!DOCTYPE html><title>t</title><img src="http://127.0.0.1:9/x.png" alt="">')
    browser.open(path)
    assert browser.requests() == [path.as_uri(), "http://127.0.0.1:9/x.png"]
    assert browser.console() != []


HARM = "<img src=x onerror=\"document.title='ran'\"></script><script>document.title='ran'</script>"


def test_names_values_and_files_are_text_whatever_they_hold(browser, table, fitted, tmp_path):
    frame = (
        table.drop(7)
        .rename(columns={"one": HARM})
        .assign(category=[HARM, "b", None] * 49 + [HARM] * 2)
    )
    model = PCKID(2, n_inits=2, max_components=3, categorical_features=["category"], random_state=0)
    model.fit(frame)
    names = [f"{HARM}{row}" for row in range(149)]
    known = [HARM, "other"] * 74 + [HARM]
    background = Background(f"{HARM}.csv", row_names=names, known=known, left_out={HARM: HARM})
    pckid.report(model, frame, tmp_path / "report.html", background, assessment=False)
    browser.view()
    open_report(browser, tmp_path / "report.html")
    browser.find_all(".choose")[1].click()
    browser.find("#search").send_keys("onerror")
    assert browser.driver.title.startswith("Clusters in <img")
    assert browser.find_all("img") == []
    assert len(browser.find_all("script")) == 2
    assert browser.console() == []
    assert browser.requests() == [(tmp_path / "report.html").as_uri()]


def test_a_script_that_got_in_would_not_run(browser, page, tmp_path):
    hostile = tmp_path / "hostile.html"
    hostile.write_text(page.read_text("utf-8").replace("</main>", f"{HARM}</main>"), "utf-8")
    open_report(browser, hostile)
    assert browser.driver.title == "Clusters in table.csv"
    assert any("Content Security Policy" in line for line in browser.console())


def test_pointing_at_a_row_draws_its_series(browser, series, tmp_path):
    from selenium.webdriver import ActionChains

    model, table = series
    pckid.report(model, table, tmp_path / "report.html", assessment=False)
    browser.view(height=1600)
    open_report(browser, tmp_path / "report.html")
    assert len(browser.find_all("#series svg.chart")) == 2
    assert browser.find_all(".own-series circle") == []
    dot = browser.find_all("#map .dots > *")[3]
    ActionChains(browser.driver).move_to_element(dot).perform()
    browser.wait(lambda: browser.find_all(".own-series circle"))
    (row,) = browser.run(
        "return Array.from(document.querySelectorAll('#map .dots > *'))"
        ".flatMap((dot, row) => dot.classList.contains('hovered') ? [row] : [])"
    )
    seen = int((~np.isnan(table.values[row])).sum())
    assert len(browser.find_all(".own-series circle")) == seen
    assert browser.console() == []


def test_outcomes_and_flows_are_drawn(browser, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4)) + 9 * (np.arange(120) % 3)[:, None]
    old = PCKID(3, n_inits=2, max_components=4, random_state=0).fit(X[:60])
    model = PCKID(3, n_inits=2, max_components=4, random_state=0).fit(X[60:], like=old)
    found = pckid.compare_outcomes(
        model, X[60:], {"days": rng.normal(size=60), "late": ["a", "b"] * 30}
    )
    path = tmp_path / "outcomes.html"
    pckid.report(model, X[60:], path, assessment=False, outcomes=found)
    open_report(browser, path)
    assert len(browser.find_all('[data-figure^="outcome-"] svg.chart')) == 3
    assert len(browser.find_all('[data-figure="flow"] svg.chart')) == 1
    assert len(browser.find_all('[data-figure^="outcome-"] .dots > path')) == 9
    assert browser.console() == []


def saved(browser, name, kind):
    """Press the button below a figure, and give the file."""
    buttons = browser.find_all(f'[data-toolbar="{name}"] button')
    before = set(browser.downloads.iterdir())
    next(button for button in buttons if button.text.startswith(f"Save {kind}")).click()
    found = browser.wait(
        lambda: [
            path
            for path in set(browser.downloads.iterdir()) - before
            if path.suffix == f".{kind.lower()}"
        ]
    )
    return found[0]


def marks_of(svg):
    """What an SVG draws: its elements with what they look like, and its texts."""
    root = ElementTree.fromstring(svg)
    found = []
    for part in root.iter():
        tag = part.tag.partition("}")[2]
        if tag in ("path", "rect", "text"):
            found.append((tag, sorted(part.attrib.items()), part.text))
    return found


@pytest.mark.parametrize("name", ["profile", "map", "missing", "stability", "confidence"])
def test_a_saved_figure_is_that_of_python(report, fitted, table, background, assessed, name):
    made = pckid.report(fitted, table, background=background, assessment=assessed)
    path = saved(report, name, "SVG")
    assert marks_of(path.read_text("utf-8")) == marks_of(made.figures[name].to_svg())
    path.unlink()


def test_a_saved_picture_has_300_dots_per_inch(report, fitted, table, background, assessed):
    from PIL import Image

    made = pckid.report(fitted, table, background=background, assessment=assessed)
    path = saved(report, "stability", "PNG")
    with Image.open(path) as image:
        width, height = made.figures["stability"].size
        assert image.size == pytest.approx((width * 300 / 96, height * 300 / 96), abs=1)
        assert image.info["dpi"] == pytest.approx((300, 300), abs=0.1)
        assert len(image.convert("RGB").getcolors(1 << 24)) > 10
    path.unlink()


def test_the_table_is_copied_for_word_and_excel(report, fitted):
    report.run(
        "window.kept = {};"
        "DataTransfer.prototype.setData = (kind, text) => { window.kept[kind] = text; }"
    )
    report.find("[data-copy=profile]").click()
    kept = report.run("return window.kept")
    lines = [line.split("\t") for line in kept["text/plain"].split("\n")]
    assert {len(line) for line in lines} == {6}
    sizes = np.bincount(fitted.labels_[fitted.labels_ >= 0])
    for number, cell in enumerate(lines[0][1:4]):
        assert cell.startswith(f"Cluster {number} {sizes[number]} rows")
    names = [head.text for head in report.find_all("#profile tbody th")]
    assert [line[0] for line in lines[1:]] == names
    assert kept["text/html"].count("<tr>") == len(lines)
    assert "<svg" not in kept["text/html"]
