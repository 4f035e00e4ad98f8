"""A real Chromium for tests: it reaches nothing but what is named, and its console is read."""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))),
                None)  # fmt: skip
DRIVER = shutil.which("chromedriver")
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic",
    "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--disable-extensions", "--hide-scrollbars", "--force-device-scale-factor=1",
)  # fmt: skip

needs_browser = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (CHROMIUM and DRIVER and find_spec("selenium") and find_spec("axe_core_python")),
        reason="needs Chromium, chromedriver, selenium and axe-core-python",
    ),
]


class Browser:
    """A page under observation.

    Parameters
    ----------
    driver : selenium.webdriver.Chrome
    downloads : Path
        Where files go that the page lets a reader download.
    """

    def __init__(self, driver: Any, downloads: Path) -> None:
        self.driver = driver
        self.downloads = downloads

    def open(self, address: str | Path) -> None:
        """Open a file or an address, and forget what earlier pages said."""
        self.console()
        self.requests()
        self.driver.get(address.as_uri() if isinstance(address, Path) else address)

    def find(self, selector: str) -> Any:
        """Return the first element that matches a CSS selector; fail where there is none."""
        from selenium.webdriver.common.by import By

        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def find_all(self, selector: str) -> list[Any]:
        """Return all elements that match a CSS selector."""
        from selenium.webdriver.common.by import By

        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def wait(self, condition: Any, seconds: float = 300) -> Any:
        """Wait until a function of no arguments returns something true, and return that."""
        from selenium.webdriver.support.ui import WebDriverWait

        return WebDriverWait(self.driver, seconds, 0.05).until(lambda _: condition())

    def run(self, script: str, *arguments: Any) -> Any:
        """Run a script in the page, outside its content security policy; return its result."""
        return self.driver.execute_script(script, *arguments)

    def view(self, width: int = 1280, height: int = 900, *, dark: bool = False) -> None:
        """Set the size of the window and the colour scheme that the reader prefers."""
        self._command(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=width < 600,
        )  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._command("Emulation.setEmulatedMedia", features=[scheme])

    def disable_scripts(self, disabled: bool = True) -> None:
        """Open pages as a reader who allows no scripts."""
        self._command("Emulation.setScriptExecutionDisabled", value=disabled)

    def console(self) -> list[str]:
        """Return what the page wrote to the console since the last call, errors among it."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """Return the addresses asked for since the last call."""
        events = [json.loads(e["message"])["message"] for e in self.driver.get_log("performance")]
        sent = [e["params"] for e in events if e["method"] == "Network.requestWillBeSent"]
        return [event["request"]["url"] for event in sent]

    def violations(self) -> list[str]:
        """Return what axe-core finds to object to: rule, impact and the elements."""
        import axe_core_python

        script = Path(axe_core_python.__file__).with_name("axe.min.js").read_text("utf-8")
        self.driver.execute_script(script)
        found = self.driver.execute_async_script(
            "const done = arguments[0]; axe.run(document, {resultTypes: ['violations']}).then(done)"
        )
        return [
            f"{rule['id']} ({rule['impact']}): {node['html'][:200]} {node['failureSummary']}"
            for rule in found["violations"]
            for node in rule["nodes"]
        ]

    def screenshot(self, path: Path, *, whole: bool = False) -> None:
        """Write a PNG of the window, or of the whole page."""
        shot = self._command(
            "Page.captureScreenshot", format="png", captureBeyondViewport=whole,
            **({"clip": self._whole_page()} if whole else {}),
        )  # fmt: skip
        path.write_bytes(base64.b64decode(shot["data"]))

    def pdf(self, path: Path) -> None:
        """Print the page."""
        printed = self._command("Page.printToPDF", printBackground=False)
        path.write_bytes(base64.b64decode(printed["data"]))

    def _whole_page(self) -> dict[str, float]:
        """Measure the whole page."""
        size = self._command("Page.getLayoutMetrics")["cssContentSize"]
        return {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}

    def _command(self, name: str, **parameters: Any) -> Any:
        """Send a command of the DevTools protocol."""
        return self.driver.execute_cdp_cmd(name, parameters)


@contextmanager
def open_browser(downloads: Path, hosts: tuple[str, ...] = ()) -> Iterator[Browser]:
    """Start Chromium, and stop it at the end.

    Parameters
    ----------
    downloads : Path
        Where files go that pages let a reader download.
    hosts : tuple of str, default=()
        What may be reached besides files; every other name is unknown, every other address too.
    """
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    options.add_experimental_option("prefs", {"download.default_directory": str(downloads)})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    rules = ", ".join(["MAP * ~NOTFOUND", *(f"EXCLUDE {host}" for host in hosts)])
    for flag in (*FLAGS, f"--host-resolver-rules={rules}"):
        options.add_argument(flag)
    driver = webdriver.Chrome(options, webdriver.ChromeService(DRIVER))
    try:
        driver.set_script_timeout(300)
        yield Browser(driver, downloads)
    finally:
        driver.quit()
