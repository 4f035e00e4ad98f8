"""Every snippet of the docs runs, every command in them exists, every public name is in them.

The build of the pages runs the blocks of `{shell}` and the gallery; `tests/cli/test_pages.py` runs
the blocks of `console`.
"""

import re
import shlex
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from sklearn.manifold import TSNE
from snippets import run_python

import pckid
from pckid.frontends.cli.commands import pckid as shell
from pckid.mixture.em import CovarianceType
from pckid.reporting import display

DOCS = Path(__file__).parent.parent / "docs"
pytestmark = pytest.mark.skipif(not DOCS.exists(), reason="an installed package has no docs")
ROOT = DOCS.parent
PAGES = sorted(path for path in DOCS.rglob("*.md") if not {"_build", "gallery"} & set(path.parts))
# Pages for which the documentation has a place only, and which stand elsewhere.
FURTHER = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")]
FURTHER += [ROOT / folder / "README.md" for folder in ("benchmarks", "experiments")]
# Blocks that are run, or are no code. Any other kind must first be given a test.
KINDS = {"python", "console", "{shell}"}
PROGRAM = r"^(?:\$ |    )((?:pckid|python -m experiments)"
NO_CODE = {
    "{eval-rst}",
    "{include}",
    "{layers}",
    "{literalinclude}",
    "{picture}",
    "{toctree}",
    "text",
}


def name_of(page):
    return str(page.relative_to(ROOT if page in FURTHER else DOCS))


@pytest.mark.parametrize("page", [*PAGES, *FURTHER], ids=name_of)
def test_every_block_is_of_a_kind_that_is_run(page):
    opened = re.findall(r"^```(\S+)", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert set(opened) <= KINDS | NO_CODE


@pytest.mark.parametrize("page", [*PAGES, *FURTHER], ids=name_of)
def test_no_line_is_lost_as_a_comment(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.M)
    assert not re.search(r"^\s*%", text, re.MULTILINE), "Sphinx takes a line that begins with % out"


@pytest.mark.parametrize(
    "page", [page for page in PAGES if "```python" in page.read_text("utf-8")], ids=name_of
)
def test_python_snippets_run_one_after_the_other(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # Few null tables, resamples and steps: how many there are is no matter of the pages.
    monkeypatch.setattr(display, "N_NULL", 9)
    monkeypatch.setattr(display, "N_RESAMPLES", 3)
    monkeypatch.setitem(pckid.assess.__kwdefaults__, "n_null", 9)
    monkeypatch.setitem(pckid.assess.__kwdefaults__, "n_resamples", 3)
    monkeypatch.setitem(TSNE.__init__.__kwdefaults__, "max_iter", 250)
    run_python(page)


def command_of(name):
    """The command of `pckid` that has this name."""
    return shell.commands[name]


def options_of(*commands):
    """Every option of some commands."""
    written = (each.opts + each.secondary_opts for one in commands for each in one.params)
    return {"--help"}.union(*written)


def commands():
    """Every command of `pckid` and of the experiments that a page shows, with the page."""
    for page in [*PAGES, *FURTHER]:
        text = page.read_text(encoding="utf-8")
        for command in re.findall(PROGRAM + r" .+)$", text, re.MULTILINE):
            yield pytest.param(command, id=f"{name_of(page)}: {command}")


@pytest.mark.parametrize("command", list(commands()))
def test_commands_and_their_options_exist(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = shlex.split(command.split(" > ")[0].split(" # ")[0])
    ours = words.pop(0) == "pckid"
    words = words if ours else words[2:]
    for word in words:
        if word.startswith(("DATA/", "FOLDER", "results/")):
            path = Path(word)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch() if path.suffix else path.mkdir(exist_ok=True)
    if words in (["--help"], ["--version"]):
        return
    experiments = import_module("experiments.commands").experiments.commands
    parser = command_of(words[0]) if ours else experiments[words[0]]
    if hasattr(parser, "commands") and "--help" not in words[1:2]:
        parser = parser.commands[words.pop(1)]
    if "--help" not in words:
        parser.make_context(words[0], words[1:])


@pytest.mark.parametrize("page", [*PAGES, *FURTHER], ids=name_of)
def test_commands_within_sentences_and_their_options_exist(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.M)
    for command, rest in re.findall(r"`pckid ([\w-]+)([^`\n]*)`", text):
        if command not in shell.commands:
            assert command in ("--help", "--version"), f"pckid {command}"
            continue
        named = set(re.findall(r"--[\w-]+", rest))
        assert named <= options_of(command_of(command)), f"pckid {command}{rest}"
    ours = [command_of(command) for command in shell.commands]
    known = options_of(*ours, *import_module("experiments.commands").experiments.commands.values())
    assert set(re.findall(r"`(--[\w-]+)", text)) <= known


@pytest.mark.parametrize("page", [*PAGES, *FURTHER], ids=name_of)
def test_what_make_and_python_are_told_to_run_is_there(page):
    text = page.read_text(encoding="utf-8")
    targets = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"(?:`|^    )make ([\w-]+)", text, re.MULTILINE):
        assert re.search(rf"^{target}:", targets, re.MULTILINE), f"make {target}"
    text = re.sub(r"`[^`\n]+\n[^`\n]+`", lambda words: words[0].replace("\n", " "), text)
    for module, rest in re.findall(r"python -m ((?:pckid|benchmarks)[\w.]*)([^#`\n]*)", text):
        found = find_spec(module)
        inner = find_spec(f"{module}.__main__") if found.submodule_search_locations else found
        source = Path(inner.origin).read_text(encoding="utf-8")
        for option in re.findall(r"--[\w-]+", rest):
            assert f'"{option}"' in source, f"python -m {module} {option}"


def test_every_experiment_is_run_for_a_page():
    pages = " ".join(page.read_text(encoding="utf-8") for page in PAGES)
    named = {name for name, _ in re.findall(r"python -m experiments ([\w-]+)(\s|`)", pages)}
    assert named == set(import_module("experiments.commands").experiments.commands)


def test_every_benchmark_and_every_tool_is_named_where_people_look():
    benchmarks = [path for path in (ROOT / "benchmarks").glob("*.py") if path.stem[0] != "_"]
    commands = {path.stem for path in benchmarks if "\ndef main(" in path.read_text("utf-8")}
    page = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"python -m benchmarks\.(\w+)", page)) == commands
    places = (ROOT / "Makefile", CONTRIBUTORS)
    text = " ".join(path.read_text(encoding="utf-8") for path in places)
    assert not [path.name for path in (ROOT / "tools").glob("*.py") if path.name not in text]


def test_every_command_has_its_place_in_the_reference():
    page = (DOCS / "api" / "cli.md").read_text(encoding="utf-8")
    for command in shell.commands:
        assert f"## {command}\n" in page
        assert f"$ pckid {command} --help" in page


PUBLIC = [
    *(f"pckid.{name}" for name in pckid.__all__ if name != "__version__"),
    *(
        f"{module}.{name}"
        for module in ("pckid.metrics", "pckid.series")
        for name in import_module(module).__all__
    ),
    *(
        f"pckid.plots.{name}"
        for name in dir(import_module("pckid.plots"))
        if name[-7:] == "Display"
    ),
    "pckid.data.load_penguins",
    "pckid.data.penguins_path",
]


@pytest.mark.parametrize("name", [name for name in PUBLIC if not name.endswith("._Display")])
def test_every_public_name_is_in_the_reference(name):
    pages = [page.read_text(encoding="utf-8") for page in (DOCS / "api").glob("*.md")]
    module, _, short = name.rpartition(".")
    whole = f".. automodule:: {module}\n   :members:\n"
    assert any(
        re.search(rf"{re.escape(name)}\b", page)
        or whole in page
        or (f"currentmodule:: {module}\n" in page and f" {short}\n" in page)
        for page in pages
    )


def test_pages_beside_the_documentation_link_to_files_that_are_there():
    for page in FURTHER:
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
            assert (page.parent / target).exists(), f"{name_of(page)} links to {target}"


CONTRIBUTORS = DOCS / "contributing" / "index.md"


def test_what_the_page_for_contributors_names_is_there():
    tops = "src", "tests", "docs", "experiments", "benchmarks", "tools", "packaging", ".github"
    inside = [path for top in tops for path in ((ROOT / top), *(ROOT / top).rglob("*"))]
    paths = [ROOT / "pyproject.toml", ROOT / "conftest.py", *inside]
    code = [p for p in paths if p.suffix in (".py", ".js", ".html") and "_build" not in p.parts]
    words = {word for path in code for word in re.findall(r"\w+", path.read_text("utf-8"))}
    words |= {path.stem for path in paths}
    whole = CONTRIBUTORS.read_text(encoding="utf-8")
    page = re.sub(r"```.*?```", "", whole, flags=re.DOTALL)
    drawing = " ".join(re.findall(r"```text(.*?)```", whole, re.DOTALL))
    ending = r"\.(?:py|js|toml|txt|json|html|md|yaml|yml)"
    named = set(re.findall(rf"`([\w./-]+(?:/|{ending}))`", page))
    named |= set(re.findall(rf"[\w/]+(?:/|{ending})(?=\s|,)", drawing))
    assert len(named) > 30
    known = {path.as_posix() + "/" * path.is_dir() for path in paths}
    for name in named:
        assert any(path.endswith(f"/{name}") for path in known), name
    for dotted in re.findall(r"`([a-zA-Z_.]+)`", page):
        if dotted not in named:
            assert words.issuperset(dotted.strip(".").split(".")), dotted


def test_the_tree_of_rooms_is_that_of_the_package():
    spec = spec_from_file_location("rooms", DOCS / "rooms.py")
    rooms = module_from_spec(spec)
    spec.loader.exec_module(rooms)
    page = rooms.PAGE.read_text(encoding="utf-8")
    assert page == rooms.put_on_page(page), "run `python docs/rooms.py --write`"
    trees = rooms.trees()
    assert max(len(line) for tree in trees for line in tree.splitlines()) <= 120


def test_every_function_of_a_family_of_components_is_described():
    described = re.findall(r"^ +- `(\w+)`:", CovarianceType.__doc__, re.MULTILINE)
    assert sorted(described) == sorted(name for name in vars(CovarianceType) if name[0].islower())


def test_the_link_checker_finds_what_is_wrong(tmp_path, golden):
    path = DOCS / "check_links.py"
    spec = spec_from_file_location("check_links", path)
    checker = module_from_spec(spec)
    spec.loader.exec_module(checker)
    (tmp_path / "a.html").write_text(
        '<p id="here"><a href="b.html#there">fine</a> <a href="#here">fine</a> '
        '<a href="b.html#nowhere">no such place</a> <a href="c.html">no such page</a> '
        '<a href="https://example.org/">elsewhere is not looked at</a> '
        '<script src="https://example.org/x.js"></script>'
    )
    (tmp_path / "b.html").write_text('<p id="there">')
    golden(checker.problems(tmp_path.resolve()))


@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("Excel", "guide/tables.md"),
        ("time series", "guide/series.md"),
        ("how many clusters", "guide/choosing-k.md"),
        ("GPU", "large-data.md"),
        ("new rows", "guide/saving.md"),
    ],
)
def test_what_people_search_for_is_in_the_title_of_its_page(words, page):
    title = (DOCS / page).read_text(encoding="utf-8").partition("\n")[0]
    assert words.lower() in title.lower()
