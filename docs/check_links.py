"""Check the built pages: every internal link and picture leads somewhere, nothing is fetched.

python docs/check_links.py docs/_build/html
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# What a browser loads by itself when it shows a page.
_LOADED = {("img", "src"), ("script", "src"), ("iframe", "src"), ("source", "src")}
_SHEETS = {"stylesheet", "icon", "preload", "modulepreload", "shortcut icon"}


class Page(HTMLParser):
    """What a page links to, what it loads, and which places in it can be linked to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.loaded: set[str] = set()
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.anchors |= {value for key in ("id", "name") if (value := found.get(key))}
        for key, value in attrs:
            if (tag, key) in _LOADED and value:
                self.loaded.add(value)
        if tag == "link" and found.get("rel") in _SHEETS and found.get("href"):
            self.loaded.add(str(found["href"]))
        if tag == "a" and found.get("href"):
            self.links.add(str(found["href"]))


@cache
def read(path: Path) -> Page:
    """Parse a page once."""
    return Page(path.read_text(encoding="utf-8"))


def pages(root: Path) -> list[Path]:
    """List the pages, without the theme's own templates."""
    found = sorted(root.rglob("*.html"))
    return [path for path in found if path.relative_to(root).parts[0] != "_static"]


def problems(root: Path) -> list[str]:
    """List what is wrong with the pages below a folder."""
    found = []
    for path in pages(root):
        page = read(path)
        name = path.relative_to(root)
        found += [f"{name} loads {url}" for url in page.loaded if urlsplit(url).netloc]
        for url in page.links | page.loaded:
            if why := _broken(url, path, root):
                found.append(f"{name}: {url} {why}")
    return sorted(found)


def _broken(url: str, path: Path, root: Path) -> str:
    """Say what is wrong with an internal link; nothing is, with an external one."""
    parts = urlsplit(url)
    if parts.scheme or parts.netloc:
        return ""
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not target.is_relative_to(root):
        return "leads out of the documentation"
    if not target.is_file():
        return "is not there"
    # The search page makes its content itself.
    if parts.fragment and target.suffix == ".html" and target.name != "search.html":
        return "" if unquote(parts.fragment) in read(target).anchors else "names no place there"
    return ""


def report(folder: str, find: Callable[[Path], list[str]], nothing: str) -> int:
    """Print what is wrong with the pages of a folder, or that `nothing` is."""
    root = Path(folder).resolve()
    wrong = find(root)
    print("\n".join(wrong) or f"{len(pages(root))} pages: {nothing}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(report(sys.argv[1], problems, "no broken internal link"))
