"""Take the screenshots of the app, step by step, each in a light and a dark form.

    python docs/app_screenshots.py docs/images

The app runs on this machine and clusters its built-in table. `make screenshots` runs this.
"""

from __future__ import annotations

import sys
import tempfile
import time
from io import BytesIO
from pathlib import Path

from PIL import Image

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from browser import Browser, open_browser
from running_app import AppPage, running_app

WIDTH = 1100
# At which heading a picture begins, and above which it ends.
PARTS = {
    "table": ("1. Your table", "2. What the columns hold"),
    "columns": ("2. What the columns hold", "3. Find the groups"),
}


def take_all(folder: Path) -> None:
    """Take every screenshot into a folder."""
    with (
        running_app() as server,
        tempfile.TemporaryDirectory() as downloads,
        open_browser(Path(downloads), ("127.0.0.1",)) as browser,
    ):
        for mode in ("light", "dark"):
            browser.view(WIDTH, 900, dark=mode == "dark")
            _visit(AppPage(browser, server.url), folder, mode)


def _visit(page: AppPage, folder: Path, mode: str) -> None:
    """Go through the app once, and take a picture of every step."""
    dark = mode == "dark"
    page.see("Try it with the penguins")
    page.wait_for_drawing()
    time.sleep(1)
    _take(page.browser, folder / f"app-start-{mode}.png", 0, 480)
    page.click("Try it with the penguins")
    page.see("344 rows, 7 columns")
    page.wait_for_drawing()
    page.choose("I know the number")
    page.browser.view(WIDTH, 3200, dark=dark)
    page.wait_for_drawing()
    for name, (heading, end) in PARTS.items():
        top = _top(page.browser, heading)
        height = _top(page.browser, end) - top - 14
        _take(page.browser, folder / f"app-{name}-{mode}.png", top - 2, height)
    page.click("Find groups")
    page.see("Comparing with tables without groups")
    time.sleep(1)
    _take(page.browser, folder / f"app-run-{mode}.png", 0, 560)
    page.see("4. The groups")
    page.browser.wait(lambda: page.browser.find_all("iframe"))
    page.wait_for_drawing()
    time.sleep(2)
    _take(page.browser, folder / f"app-result-{mode}.png", 0, 1400)
    page.browser.view(WIDTH, 900, dark=dark)
    page.turn_to("Place new rows")
    page.wait_for_drawing()
    _take(page.browser, folder / f"app-new-rows-{mode}.png", 0, 640)


def _top(browser: Browser, heading: str) -> int:
    """Find how far down the page a heading is."""
    script = """return [...document.querySelectorAll('h2')].find(each =>
        each.innerText.includes(arguments[0])).getBoundingClientRect().top"""
    return int(browser.run(script, heading))


def _take(browser: Browser, path: Path, top: int, height: int) -> None:
    """Take a part of the window, in 256 colours: a third of the bytes, the same to the eye."""
    with tempfile.NamedTemporaryFile(suffix=".png") as taken:
        browser.screenshot(Path(taken.name))
        image = Image.open(BytesIO(Path(taken.name).read_bytes())).convert("RGB")
    part = image.crop((0, top, image.width, min(top + height, image.height)))
    part.quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == "__main__":
    take_all(Path(sys.argv[1]))
