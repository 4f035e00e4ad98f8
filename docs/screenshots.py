"""Take the screenshots of the documentation, each in a light and a dark form, in a real Chromium.

    python docs/screenshots.py docs/images

The report is the one that `pckid demo` writes; others show a table without groups and made tables,
one of them on a phone.
`make screenshots` runs this.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from browser import Browser, open_browser
from made_tables import MADE

# The last of the clusters holds the large birds.
CHOOSE = "document.querySelectorAll('.choose')[2].click();"
NAME = """
const button = document.querySelectorAll('.rename')[2];
button.click();
const field = document.querySelector('#profile .heads input');
field.value = 'Large birds';
field.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter'}));
document.activeElement.blur();
"""


def whole(browser: Browser) -> None:
    """Show the page as it opens."""


def selected(browser: Browser) -> None:
    """Select and name a cluster."""
    browser.run(NAME + CHOOSE)


SCREENSHOTS: dict[str, tuple[Callable[[Browser], None], int, int]] = {
    "report": (whole, 1280, 1000),
    "report-selected": (selected, 1280, 1440),
    "report-one": (whole, 1280, 640),
    "report-clinic": (whole, 1280, 860),
    "report-survey": (whole, 390, 844),
    "report-twelve": (whole, 1100, 520),
}


def take_all(pages: dict[str, Path], folder: Path) -> None:
    """Take every screenshot, of the report that it is of, in both modes into a folder."""
    with tempfile.TemporaryDirectory() as downloads, open_browser(Path(downloads)) as browser:
        for name, (prepare, width, height) in SCREENSHOTS.items():
            for mode in ("light", "dark"):
                browser.view(width, height, dark=mode == "dark")
                browser.open(pages.get(name, pages["report"]))
                prepare(browser)
                browser.wait(lambda: browser.find_all("svg.chart"))
                browser.run("return new Promise((done) => setTimeout(done, 400))")
                taken = Path(downloads) / "taken.png"
                browser.screenshot(taken)
                _shrink(taken.read_bytes()).save(folder / f"{name}-{mode}.png", optimize=True)


def _shrink(image: bytes) -> Image.Image:
    """Keep 256 colours: a third of the bytes, and no difference to the eye."""
    return Image.open(BytesIO(image)).convert("RGB").quantize(256, dither=Image.Dither.NONE)


def write_reports(folder: Path) -> dict[str, Path]:
    """Write the reports into a folder, and give them by the names of their screenshots."""
    run = [sys.executable, "-m", "pckid"]
    subprocess.run([*run, "demo", "--out", folder], check=True)
    table = np.random.default_rng(0).normal(size=(300, 4))
    path, head = folder / "one.csv", "length,width,height,weight"
    np.savetxt(path, table.round(2), delimiter=",", fmt="%g", header=head, comments="")
    tables = {"one": path}
    for name, write in MADE.items():
        tables[name] = folder / f"{name}.csv"
        write(tables[name])
    pages = {"report": folder / "penguins-report.html"}
    for name, path in tables.items():
        pages[f"report-{name}"] = folder / f"report-{name}.html"
        wanted = ["--out", folder / f"{name}-clusters.csv", "--report", pages[f"report-{name}"]]
        subprocess.run([*run, "cluster", path, "--yes", *wanted], check=True)
    return pages


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        take_all(write_reports(Path(made)), Path(sys.argv[1]))
