"""The code blocks of the documentation's pages: found, and run one after the other."""

import re
import warnings

import pytest

from pckid import EmptyRowWarning


def blocks(page, language):
    """The fenced blocks of one language."""
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


def commands(page):
    """The `pckid` commands of the console blocks."""
    lines = [line for block in blocks(page, "console") for line in block.splitlines()]
    return [line[2:] for line in lines if line.startswith("$ pckid ")]


def run_python(page):
    """Run the Python blocks in one scope, and return it."""
    scope = {"__name__": "__main__"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EmptyRowWarning)
        for snippet in blocks(page, "python"):
            exec(compile(runnable(snippet), str(page), "exec"), scope)
    return scope


def runnable(snippet):
    """A snippet as it is, or, where it needs a GPU and none is here, on fewer rows and the CPU."""
    if "# needs a GPU" not in snippet:
        return snippet
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        return snippet
    return snippet.replace('"cuda"', '"cpu"').replace("100_000", "300")
