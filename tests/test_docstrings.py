"""Every public object shows an example, and classes that are no estimators are described.

`tools/docstrings.py` checks the docstrings of estimators and functions.
"""

import inspect
import re
from importlib import import_module

import pytest
from sklearn.base import BaseEstimator

import pckid
from pckid._utils.sklearn_compat import StrOptions

MODULES = ("data", "metrics", "plots", "series")


def public():
    """Public classes and functions by name."""
    found = {name: getattr(pckid, name) for name in pckid.__all__ if name != "__version__"}
    for module in MODULES:
        room = import_module(f"pckid.{module}")
        names = getattr(room, "__all__", [n for n in vars(room) if n.endswith("Display")])
        found |= {f"{module}.{n}": getattr(room, n) for n in names if not n.startswith("_")}
    return found


def methods(kind):
    """A class's own public methods, inherited ones of ours included."""
    for name, member in inspect.getmembers(kind):
        home = getattr(member, "__module__", "") or ""
        if name[0] != "_" and callable(member) and home.startswith("pckid"):
            yield name, member


OBJECTS = public()
OTHERS = {
    name: kind
    for name, kind in OBJECTS.items()
    if inspect.isclass(kind) and not issubclass(kind, BaseEstimator)
}
OTHERS |= {
    f"{name}.{short}": member for name, kind in OTHERS.items() for short, member in methods(kind)
}


def sections(thing):
    """The docstring's sections by title; "" holds what comes first."""
    parts = re.split(r"\n([A-Z][A-Za-z ]+)\n-{3,}\n", "\n" + inspect.getdoc(thing))
    return dict(zip(["", *parts[1::2]], parts[0::2], strict=True))


def descriptions(name):
    """What the docstring says of each parameter, or that of PCKID where it says "as in PCKID"."""
    text = sections(OBJECTS[name])["Parameters"]
    listed = re.split(r"^(\w+(?:, \w+)*) : ", text, flags=re.MULTILINE)
    said = {
        parameter: told
        for names, told in zip(listed[1::2], listed[2::2], strict=True)
        for parameter in names.split(", ")
    }
    same = {each for each, told in said.items() if told.startswith("as in PCKID")}
    return said | {each: descriptions("PCKID")[each] for each in same}


def parameters(thing):
    """Names in a signature."""
    return [
        p.name
        for p in inspect.signature(thing).parameters.values()
        if p.name not in ("self", "cls") and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)
    ]


@pytest.mark.parametrize("name", OBJECTS)
def test_has_an_example(name):
    assert ">>> " in sections(OBJECTS[name]).get("Examples", "")


@pytest.mark.parametrize("name", OTHERS)
def test_summary_is_one_sentence_on_one_line(name):
    first = sections(OTHERS[name])[""].strip().split("\n\n")[0]
    assert "\n" not in first
    assert first.endswith(".")


@pytest.mark.parametrize("name", OTHERS)
def test_every_parameter_is_described(name):
    thing = OTHERS[name]
    if inspect.isclass(thing) and issubclass(thing, Exception):
        return
    text = inspect.getdoc(thing)
    listed = sections(thing).get("Parameters", "")
    for parameter in parameters(thing):
        in_words = f"`{parameter}`" in text or parameter in ("y", "ax")
        assert re.search(rf"^(\w+, )*{parameter}\b.*( :|$)", listed, re.MULTILINE) or in_words


@pytest.mark.parametrize(
    "name", [name for name, kind in OBJECTS.items() if hasattr(kind, "_parameter_constraints")]
)
def test_every_text_that_a_parameter_takes_is_listed(name):
    said = descriptions(name)
    for parameter, allowed in OBJECTS[name]._parameter_constraints.items():
        for each in allowed:
            for text in each.options if isinstance(each, StrOptions) else ():
                assert f'"{text}"' in said[parameter], parameter


def described_defaults():
    """Parameters whose description names a default, such as 3, "auto" or None."""
    for name, thing in (OBJECTS | OTHERS).items():
        listed = sections(thing).get("Parameters", "")
        found = re.findall(r"^(\w+(?:, \w+)*) : .*?default=([^\s,}]+)", listed, re.MULTILINE)
        given = inspect.signature(thing).parameters if found else {}
        for names, text in found:
            for each in names.split(", "):
                if each in given:
                    yield pytest.param(text, given[each].default, id=f"{name}-{each}")


@pytest.mark.parametrize(("text", "default"), [*described_defaults()])
def test_defaults_are_those_that_are_described(text, default):
    assert eval(text, vars(pckid)) == default
