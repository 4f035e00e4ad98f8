"""Take the screenshots of the app, step by step, each in a light and a dark form.

    python docs/app_screenshots.py docs/images

The app runs on this machine and clusters a messy workbook. `make screenshots` runs this.
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
from office_workbooks import write_messy_workbook
from running_app import AppPage, running_app

WIDTH = 1280


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
    messy = folder.resolve() / "messy.xlsx"
    write_messy_workbook(messy)
    _take(page.browser, folder / f"app-start-{mode}.png", 0, 400)
    page.drop(messy)
    page.see("5 questions")
    messy.unlink()
    page.settle()
    _take(page.browser, folder / f"app-table-{mode}.png", 0, 900)
    page.click("Find groups in")
    page.see("Comparing")
    _take(page.browser, folder / f"app-run-{mode}.png", 0, 220)
    page.report()
    time.sleep(2)
    page.browser.run("scrollTo(0, 0)")
    _take(page.browser, folder / f"app-result-{mode}.png", 0, 900)
    page.browser.view(390, 844, dark=mode == "dark")
    time.sleep(2)
    _take(page.browser, folder / f"app-phone-{mode}.png", 0, 844)
    page.browser.view(WIDTH, 900, dark=mode == "dark")
    page.click("Place new rows")
    page.browser.wait(lambda: page.browser.find_all("#new"))
    _take(page.browser, folder / f"app-new-rows-{mode}.png", 0, 420)


def _take(browser: Browser, path: Path, top: int, height: int) -> None:
    """Take a part of the window, in 256 colours: a third of the bytes, the same to the eye."""
    with tempfile.NamedTemporaryFile(suffix=".png") as taken:
        browser.screenshot(Path(taken.name))
        image = Image.open(BytesIO(Path(taken.name).read_bytes())).convert("RGB")
    part = image.crop((0, top, image.width, min(top + height, image.height)))
    part.quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == "__main__":
    take_all(Path(sys.argv[1]))
