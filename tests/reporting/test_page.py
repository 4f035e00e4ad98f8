"""The page is whole, closed to the outside, and not too large."""

import base64
import hashlib
import html
import re
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import pckid
from pckid.reporting import Background, summarise
from pckid.reporting.figures import list_figures
from pckid.reporting.page import SCRIPTS

VOID = {"meta", "link", "br", "hr", "img", "input"}


class Outline(HTMLParser):
    """Collect elements, and check that every one is closed in its turn."""

    def __init__(self, page):
        super().__init__()
        self.open, self.elements = [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


def paragraph_with(page, mark):
    """Give the text of the only paragraph, caption or entry of a page that holds a mark."""
    parts = re.findall(r"<(p|figcaption|dd|h2|strong)\b[^>]*>(.*?)</\1>", page, re.DOTALL)
    (found,) = {text for _, text in parts if mark in text}
    return html.unescape(re.sub(r"<[^>]*>", "", found))


@pytest.fixture(scope="module")
def page(fitted, table, background, assessed):
    return pckid.report(fitted, table, background=background, assessment=assessed).html


@pytest.fixture(scope="module")
def outline(page):
    return Outline(page)


def test_every_element_is_closed(outline):
    assert outline.open == []


def test_nothing_is_loaded(outline):
    for _, attributes in outline.elements:
        assert not [name for name in attributes if name.startswith("on") or name == "style"]
        for name in ("src", "href"):
            assert attributes.get(name, "#").startswith("#")


def test_the_policy_allows_these_scripts_and_styles_and_nothing_else(page, outline):
    policy = next(a["content"] for a in outline.all("meta") if "http-equiv" in a)
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    scripts = re.findall("<script>(.*?)</script>", page, re.DOTALL)
    style = re.search("<style>(.*?)</style>", page, re.DOTALL).group(1)
    own = {"default-src", "script-src", "style-src", "img-src", "base-uri", "form-action"}
    assert rules.keys() == own
    assert rules["img-src"] == "blob: data:"  # of a figure that the page saves as PNG
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert rules["script-src"].split() == [digest(script) for script in scripts]
    assert len(scripts) == 1
    assert rules["style-src"] == digest(style)
    assert "unsafe" not in policy


def digest(text):
    """Hash a text as a content security policy does."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_every_picture_has_words_and_a_table(page, outline):
    pictures = [a for a in outline.all("div") if a.get("role") == "img"]
    assert len(pictures) == 8
    assert all("table" in a["aria-label"] for a in pictures)
    assert page.count("Data table:") == 9


def test_every_figure_is_on_the_page_with_its_buttons(page, fitted, table, background, assessed):
    figures, outline = list_figures(summarise(fitted, table, background, assessed)), Outline(page)
    shown = [a["data-figure"] for _, a in outline.elements if "data-figure" in a]
    places = [a["data-toolbar"] for _, a in outline.elements if "data-toolbar" in a]
    assert sorted(shown) == sorted(places) == sorted(figures)
    for name, figure in figures.items():
        assert figure.name == name
        assert figure.words
        assert name == "profile" or figure.to_svg(None) in page


def test_every_script_travels_in_the_page():
    folder = files("pckid.reporting").joinpath("static")
    assert {*SCRIPTS} == {path.name for path in folder.iterdir()}


def test_references_within_the_page_exist(outline):
    names = [attributes["id"] for _, attributes in outline.elements if "id" in attributes]
    assert len(set(names)) == len(names)
    used = {a["href"][1:] for _, a in outline.elements if "href" in a}
    used |= {a["aria-labelledby"] for _, a in outline.elements if "aria-labelledby" in a}
    assert used <= set(names)


@pytest.mark.parametrize(
    "mark",
    [
        "differs between clusters",
        "in no cluster",
        "<em>missing at random",
        "S. Løkse",
        "observed values differ",
        "switched off",
    ],
)
def test_the_page_says(page, golden, mark):
    golden(paragraph_with(page, mark), mark)


@pytest.mark.parametrize(
    "words",
    [
        "into 3 clusters by 4 columns",
        "left out by choice",
        "SHA-256 of the file",
        "<dt>Sheet</dt><dd><bdi>&lt;Data&gt;</bdi></dd>",
        "random_state",
        "Known groups",
    ],
)
def test_the_page_holds(page, words):
    assert words in page


def test_the_page_writes_tiny_p_values_in_words(fitted, table, assessed):
    tiny = replace(assessed, p_value=1e-12)
    page = pckid.report(fitted, table, assessment=tiny).html
    assert "as clear: p &lt; 0.001." in page


def test_the_page_warns_of_clusters_that_follow_the_holes(followed, page, golden):
    warned = pckid.report(*followed, assessment=False).html
    golden(paragraph_with(warned, "the data were collected"), "first")
    golden(paragraph_with(warned, "more than chance allows"), "details")
    assert "the data were collected" not in page


@pytest.fixture(scope="module")
def chosen():
    """A table of four groups, and a model that chose their number."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4)) + 8 * np.eye(4)[np.arange(120) % 4]
    return X, pckid.PCKID("auto", n_inits=4, max_components=8, random_state=0).fit(X)


def test_a_number_of_clusters_that_was_chosen_is_not_called_asked_for(chosen):
    X, model = chosen
    page = pckid.report(model, X, assessment=False).html
    assert Outline(page).open == []
    assert model.n_clusters_ == 4
    assert "clusters asked for" not in page
    assert "largest drop" not in page
    second = model.choice_.ranked[1]
    assert f" {second} would come next." in page
    for score in model.choice_.scores:
        assert f"<td>{score:.3f}</td>" in page


def test_one_cluster_is_said_to_be_chosen_because_tables_without_groups_look_the_same(chosen):
    X, model = chosen
    alone = clone(model).set_params(n_clusters=1).fit(X)
    alone.choice_ = model.choice_._replace(n_clusters=1)
    page = pckid.report(alone, X, assessment=False).html
    assert "1 was chosen. 4 would" in page


def test_doubts_are_marked(fitted, table, assessed):
    none = replace(assessed, p_value=0.5)
    for found, marked in ((assessed, False), (none, True), (False, False)):
        page = pckid.report(fitted, table, assessment=found).html
        assert ('<p class="verdict doubt">' in page) == marked
        assert marked == ('aria-hidden="true">✗<' in page)
    assert "No clear groups" in pckid.report(fitted, table, assessment=none).html


def test_a_number_of_clusters_that_was_given_is_called_asked_for(page):
    assert "3 clusters asked for." in page
    assert re.search(r" after bar \d+\.", page)


def test_one_of_anything_is_said_in_the_singular():
    X = np.arange(24.0).reshape(24, 1) % 7
    known = ["group", *[""] * 23]
    model = pckid.PCKID(1, n_inits=2, max_components=3, random_state=0).fit(X)
    page = pckid.report(model, X, background=Background(known=known), assessment=False).html
    assert "cluster by 1 column." in page
    assert "the 1 cluster asked " in page
    assert 'id="known"' not in page
    assert not re.search(r"\b1 (rows|columns|clusters)\b", page)


def test_columns_of_categories_do_not_make_the_numbers_a_choice():
    table = pd.DataFrame({"x": np.arange(40.0) % 9, "c": ["a", "b"] * 20, "d": ["u", "v"] * 20})
    model = pckid.PCKID(
        2, n_inits=2, max_components=3, categorical_features=["c", "d"], random_state=0
    ).fit(table)
    assert "more column" not in pckid.report(model, table, assessment=False).html


def test_the_file_is_the_page(fitted, table, tmp_path):
    made = pckid.report(fitted, table, tmp_path / "r.html", assessment=False)
    made.save(tmp_path / "again.html")
    for name in ("r.html", "again.html"):
        assert (tmp_path / name).read_text("utf-8") == made.html


@pytest.mark.filterwarnings("ignore::pckid.EmptyClusterWarning")
def test_one_cluster_and_many_columns_fit(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 105))
    X[rng.random(X.shape) < 0.5] = np.nan
    for n_clusters in (1, 9):
        model = pckid.PCKID(n_clusters, n_inits=2, max_components=3, random_state=0).fit(X)
        page = pckid.report(model, X, assessment=False).html
        assert Outline(page).open == []
        assert "the first 100 of 105" in page
        assert "90 more columns" in page


@pytest.mark.slow
def test_ten_thousand_rows_stay_small():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10_000, 30)) + 4 * (np.arange(10_000) % 4)[:, None]
    X[rng.random(X.shape) < 0.3] = np.nan
    model = pckid.PCKID(4, n_inits=2, max_components=4, max_samples=500, random_state=0).fit(X)
    made = pckid.report(model, X, assessment=False)
    assert len(made.html.encode()) < 2_000_000
    assert len(made.summary.rows.rows) == 10_000
    assert "A sample of 3,000 rows." in made.html


@pytest.mark.parametrize("missingness", ["ignorable", "informative"])
def test_holes_that_tell_of_the_clusters_are_pointed_out(missingness, golden):
    from pckid import PCKID, report

    rng = np.random.default_rng(0)
    truth = np.arange(120) % 2
    X = rng.standard_normal((120, 4)) + 6 * truth[:, None]
    X[(rng.random((120, 4)) < 0.5) & (truth == 1)[:, None] & (np.arange(4) > 0)] = np.nan
    model = PCKID(2, n_inits=3, max_components=5, missingness=missingness, random_state=0).fit(X)
    page = report(model, X, assessment=False).html
    golden(paragraph_with(page, "use which cells are missing"), missingness)


@pytest.mark.parametrize("scaling", ["each", "common"])
def test_says_whether_columns_count_alike(scaling, table, golden):
    X = table.drop(7)
    model = pckid.PCKID(3, n_inits=2, max_components=4, scaling=scaling, random_state=0).fit(X)
    page = pckid.report(model, X, assessment=False).html
    golden(paragraph_with(page, "the rows are laid out"), scaling)


def test_says_by_what_rows_of_a_wide_table_are_scored(rng, golden):
    X = rng.normal(size=(40, 60))
    X[:, :12] += 3 * rng.normal(size=(2, 12))[np.arange(40) % 2]
    model = pckid.PCKID(2, n_inits=2, max_components=4, n_factors=2, random_state=0).fit(X)
    page = pckid.report(model, X, assessment=False).html
    golden(paragraph_with(page, "the rows are laid out"))


@pytest.mark.parametrize("missingness", ["ignorable", "informative"])
def test_says_what_the_clusters_take_for_granted(missingness, table, golden):
    X, parameters = table.drop(7), {"n_inits": 2, "max_components": 4, "random_state": 0}
    page = pckid.report(
        pckid.PCKID(3, missingness=missingness, **parameters).fit(X), X, assessment=False
    ).html
    golden(paragraph_with(page, "rest on what was"), missingness)


def test_a_single_cluster_differs_from_nothing(table):
    X = table.drop(7)
    page = pckid.report(
        pckid.PCKID(1, n_inits=2, max_components=4, random_state=0).fit(X), X, assessment=False
    ).html
    assert 'class="profile single"' in page
    assert "Cluster 0" not in page[page.index("<h1>") : page.index('id="rows"')]
    assert "combinations of columns" not in page


def test_codes_for_missing_values_are_warned_of():
    X = np.random.default_rng(0).normal(size=(40, 3))
    X[:8, 1] = -999
    with pytest.warns(pckid.SentinelWarning):
        model = pckid.PCKID(2, n_inits=2, max_components=4, random_state=0).fit(X)
    found = pckid.assess(model, X, n_null=5, n_resamples=0, random_state=0)
    page = pckid.report(model, X, assessment=found).html
    warning = page.index(html.escape(found.codes[0], quote=False))
    assert warning < page.index('id="explore"')


@pytest.fixture(scope="module")
def visits():
    """Three groups in a day, a time of the day and an age; the first lies between the others."""
    rng = np.random.default_rng(0)
    places = np.array([1, 0, 2])[np.arange(120) % 3]
    days = 19000.0 + 200 * places + rng.integers(0, 50, size=120)
    hours = 8 + 4 * places + rng.integers(0, 120, size=120) / 60
    table = pd.DataFrame(
        {"visit": days, "arrival": hours, "age": 20 + 20 * places + rng.normal(size=120)}
    )
    return pckid.PCKID(3, n_inits=6, max_components=6, random_state=0).fit(table), table


def test_dates_are_written_as_dates(visits):
    dates = {"visit": "date", "arrival": "time"}
    found = pckid.report(*visits, background=Background(dates=dates), assessment=False)
    page, table = found.html, visits[1]
    words = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    first = np.datetime64(int(table.visit.min()), "D")
    assert f"<td>{first}</td>" in words
    assert not re.search(r"\b19,?[0-9]{3}\b", re.sub("<svg.*?</svg>", "", words))
    assert re.search(r"arrival</bdi></th><td[^>]*><b>\d+:\d\d</b>", words)
    columns = {column.name: column.form for column in found.summary.rows.columns}
    assert columns == {"visit": "date", "arrival": "time", "age": None}


def test_unknown_kinds_of_dates_are_refused():
    with pytest.raises(ValueError, match=r"'week', .* date, datetime, time"):
        Background(dates={"visit": "week"})


def test_a_cluster_in_the_middle_is_described(visits):
    page = pckid.report(*visits, assessment=False).html
    assert "medium <bdi>age</bdi>: median" in page


def test_a_single_cluster_is_compared_with_nothing():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"size": rng.normal(size=40), "colour": rng.choice(["red", "blue"], 40)})
    model = pckid.PCKID(1, n_inits=2, max_components=3, random_state=0).fit(table)
    page = pckid.report(model, table, assessment=False).html
    shown = page[page.index('<section id="profiles"') : page.index('<section id="rows"')]
    assert "<b>red</b>" in shown or "colour: red" in shown
    for word in ("elsewhere", "than the others", "Press a cluster"):
        assert word not in shown


def test_a_single_cluster_is_not_set_apart(table):
    X = np.random.default_rng(0).normal(size=(60, 3))
    page = pckid.report(pckid.PCKID(1, n_inits=2, random_state=0).fit(X), X, assessment=False).html
    words = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert "rows are like</h2>" in words
    for without in ("What sets the clusters apart", "Do the clusters follow", "rows are doubtful"):
        assert without not in words


def test_the_page_says_first_who_the_groups_are(page, assessed):
    words = re.sub(r"<[^>]+>", " ", page[page.index("<h1>") :])
    order = [
        "3 groups",
        "Chance alone",
        "149 rows were",
        "Cluster 0",
        "In words",
        "Map of the rows",
    ]
    places = [words.index(each) for each in order]
    assert places == sorted(places)


def test_a_single_cluster_has_no_map(table):
    X = table.drop(7)
    model = pckid.PCKID(1, n_inits=2, max_components=4, random_state=0).fit(X)
    assert 'id="map"' not in pckid.report(model, X, assessment=False).html


def test_clusters_have_the_names_that_they_were_given(table):
    X = table.drop(7)
    model = pckid.PCKID(3, n_inits=2, max_components=4, random_state=0).fit(X)
    model.cluster_names_ = ["<young>", None, "old"]
    found = pckid.report(model, X, assessment=False)
    assert found.summary.titles == ["<young>", "Cluster 1", "old"]
    assert '<bdi data-name="0">&lt;young&gt;</bdi>' in found.html
    assert "<young>" not in found.html


@pytest.fixture(scope="module")
def later():
    """A page on a fit like an earlier one, with outcomes; a name is markup."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(150, 4)) + 9 * (np.arange(150) % 3)[:, None]
    old = pckid.PCKID(3, n_inits=4, max_components=4, random_state=0).fit(rows[:75])
    old.cluster_names_ = ["<i>one</i>", None, "three"]
    model = clone(old).fit(rows[75:], like=old)
    outcomes = {"<b>days</b>": rng.normal(size=75), "stage": ["a", "b", None] * 25}
    found = pckid.compare_outcomes(model, rows[75:], outcomes)
    return pckid.report(model, rows[75:], assessment=False, outcomes=found)


def test_outcomes_follow_the_table_and_then_what_became_of_clusters(later):
    sections = [a["id"] for a in Outline(later.html).all("section") if "id" in a]
    assert sections[:4] == ["profiles", "outcomes", "matches", "explore"]
    assert "<b>days" not in later.html
    assert "<i>one" not in later.html
    assert html.escape("<b>days</b> shows no difference") in later.html.replace("&#34;", '"')
    assert "3 of 3 clusters stayed." in later.html
    assert later.html.count('data-figure="outcome-') == 3
    assert "stage: 25 rows without a value, not compared." in later.html


def test_the_paragraph_for_a_paper_and_its_reference_can_be_copied(fitted, table, assessed):
    made = pckid.report(fitted, table, assessment=assessed)
    assert made.methods_text in html.unescape(made.html)
    for name in ("methods", "bibtex"):
        assert made.html.count(f'id="{name}"') == 1
        assert made.html.count(f'data-copy="{name}"') == 1


def test_after_no_clear_groups_there_is_a_way_on(assessed):
    rng = np.random.default_rng(1)
    cloud = pd.DataFrame(rng.normal(size=(80, 3)), columns=["a", "b<", "c"])
    model = pckid.PCKID(1, n_inits=4, max_components=6, random_state=0).fit(cloud)
    none = replace(
        assessed,
        n_clusters=1,
        p_value=0.5,
        runs=(),
        gaps=None,
        coarser=None,
        cluster_stability=None,
    )
    power = pckid.power.Power(np.array([2.2, 2.6]), np.array([4, 9]))
    made = pckid.report(model, cloud, assessment=none, power=power)
    outline = Outline(made.html)
    ids = [attrs.get("id") for _, attrs in outline.elements]
    assert ids.count("way-on") == ids.count("axis") == 1
    assert power.sentence in html.unescape(made.html)
    assert "axis" in made.figures
    for way in made.summary.ways_on:
        assert way in html.unescape(made.html)


def test_there_is_no_way_on_after_groups(fitted, table, assessed):
    made = pckid.report(fitted, table, assessment=assessed)
    assert made.summary.axis is None
    assert 'id="way-on"' not in made.html
