"""What the pages need beyond Sphinx: equations as MathML, commands that run, drawn pictures."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

DOCS = Path(__file__).parent.parent
# Where the package is installed is nobody's business.
_ANYWHERE = re.compile(r"\S*[/\\]pckid[/\\](?=\w+\.py)")
_FOLDERS: dict[str, tempfile.TemporaryDirectory] = {}
# What a newcomer should meet first; examples that are not listed follow by their names.
_FIRST_EXAMPLES = (
    "plot_penguins.py",
    "plot_choosing_k.py",
    "plot_explain.py",
    "plot_pipeline.py",
    "plot_survey.py",
    "plot_mechanisms.py",
    "plot_digits_quadrants.py",
    "plot_clouds.py",
    "plot_map.py",
    "plot_dask.py",
    "plot_svm.py",
    "plot_mixture.py",
)


class Shell(SphinxDirective):
    """Run commands and show them with what they print, so that a page never tells old news.

    The content is lines "$ command" and, before them, lines without a prompt, which are not run.
    All blocks of a page share an empty folder. A command that fails stops the build.
    """

    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {
        "keep": directives.unchanged,  # "made.html as name.html": a file for readers to open
        "with": directives.unchanged,  # a file of this folder that the commands find in theirs
    }

    def run(self) -> list[nodes.Node]:
        folder = _folder(self.env.docname)
        if "with" in self.options:
            shutil.copy(DOCS / self.options["with"], folder)
        shown = []
        for line in self.content:
            shown.append(line)
            if line.startswith("$ ") and self.config.run_commands:
                shown += _output(line[2:], folder)
        if "keep" in self.options and self.config.run_commands:
            made, _, name = self.options["keep"].partition(" as ")
            shutil.copy(folder / made, DOCS / "_extra" / (name or made))
        block = nodes.literal_block("\n".join(shown), "\n".join(shown), language="console")
        return [block]


class Picture(SphinxDirective):
    """Show a picture in its light and its dark form; the content describes it.

    Screenshots lie in `images`, made by `screenshots.py`; all others are drawn by `pictures.py`.
    """

    has_content = True
    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        alt = " ".join(self.content)
        name = self.arguments[0]
        taken = (DOCS / "images" / f"{name}-light.png").exists()
        place, kind = ("images", "png") if taken else ("_pictures", "svg")
        return [
            nodes.image(uri=f"/{place}/{name}-{mode}.{kind}", alt=alt, classes=[f"only-{mode}"])
            for mode in ("light", "dark")
        ]


class Layers(SphinxDirective):
    """List the rooms in the order that the import contract in pyproject.toml gives them."""

    def run(self) -> list[nodes.Node]:
        settings = tomllib.loads((DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"))
        contract = settings["tool"]["importlinter"]["contracts"][0]
        items = []
        for layer in contract["layers"]:
            line = nodes.paragraph()
            for index, room in enumerate(layer.strip("()").split(" | ")):
                line += nodes.Text(", " if index else "")
                line += nodes.literal(text=room.removeprefix("pckid."))
            items.append(nodes.list_item("", line))
        return [nodes.enumerated_list("", *items)]


class TeachingOrder:
    """Sort the gallery's examples so that each builds on those before it."""

    def __init__(self, src_dir: str) -> None:
        self.src_dir = src_dir

    def __call__(self, filename: str) -> tuple[int, str]:
        known = filename in _FIRST_EXAMPLES
        place = _FIRST_EXAMPLES.index(filename) if known else len(_FIRST_EXAMPLES)
        return place, filename


def _folder(docname: str) -> Path:
    """Find the folder in which a page's commands run."""
    if docname not in _FOLDERS:
        _FOLDERS[docname] = tempfile.TemporaryDirectory()
    return Path(_FOLDERS[docname].name)


def _output(command: str, folder: Path) -> list[str]:
    """Run a command as a reader would, in the environment that builds the pages."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env={**os.environ, "PATH": path, "COLUMNS": "88", "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        raise ExtensionError(f"This command of the documentation failed: {command}\n{done.stdout}")
    printed = done.stdout.replace(f"{folder}{os.sep}", "")
    return [_ANYWHERE.sub(".../pckid/", line.rstrip()) for line in printed.splitlines()]


def _forget(app: Sphinx, docname: str, source: list[str]) -> None:
    """Start a page that is read again with an empty folder."""
    if docname in _FOLDERS:
        _FOLDERS.pop(docname).cleanup()


def _math(self: Any, node: nodes.Element, *, block: bool) -> None:
    """Write an equation as MathML."""
    mathml = tex2mathml(node.astext(), as_block=block)
    self.body.append(f'<div class="equation">{mathml}</div>' if block else mathml)
    raise nodes.SkipNode


def _inline(self: Any, node: nodes.Element) -> None:
    _math(self, node, block=False)


def _block(self: Any, node: nodes.Element) -> None:
    _math(self, node, block=True)


def _skip(app: Sphinx, what: str, name: str, member: Any, skip: bool, options: Any) -> bool | None:
    """Leave out scikit-learn's methods for metadata routing, which it documents itself."""
    return True if name.startswith("set_") and name.endswith("_request") else None


def _without_versions(
    app: Sphinx, what: str, name: str, member: Any, options: Any, lines: list[str]
) -> None:
    """Leave out what inherited docstrings say of scikit-learn's versions, which are not ours."""
    kept = [line for line in lines if not line.lstrip().startswith(".. versionadded::")]
    lines[:] = kept


def _without_empty_headers(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    """Make plain cells of the empty headers that pandas writes, which a screen reader stops at."""
    if "body" in context:
        context["body"] = context["body"].replace("<th></th>", "<td></td>")


def _draw(app: Sphinx) -> None:
    """Draw the pictures; where no commands are run, those that are there will do."""
    if app.config.run_commands or not (DOCS / "_pictures").exists():
        import pictures

        pictures.draw_all(DOCS / "_pictures")


def setup(app: Sphinx) -> dict[str, bool]:
    """Add all this to Sphinx."""
    app.add_config_value("run_commands", True, "env", bool)
    app.add_directive("shell", Shell)
    app.add_directive("picture", Picture)
    app.add_directive("layers", Layers)
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    app.connect("builder-inited", _draw)
    app.connect("source-read", _forget)
    app.connect("html-page-context", _without_empty_headers)
    app.connect("autodoc-skip-member", _skip)
    app.connect("autodoc-process-docstring", _without_versions)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
