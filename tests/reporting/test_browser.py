"""The page in a real browser: nothing fails, nothing leaves, everything shows."""

import json
import re
import shutil
import subprocess

import pytest

import pckid

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))),
                None)  # fmt: skip
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--hide-scrollbars", "--enable-logging=stderr", "--window-size=1000,2500",
    "--host-resolver-rules=MAP * ~NOTFOUND",
]  # fmt: skip

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")


@pytest.fixture(scope="module")
def page(fitted, table, background, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    pckid.report(fitted, table, path, background)
    return path


def browse(page, profile, *flags):
    """Open the page; return what was printed, and what the console said."""
    command = [CHROMIUM, *FLAGS, f"--user-data-dir={profile}", *flags, page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    return done.stdout, re.findall(r"CONSOLE.*", done.stderr)


def requests_of_page(page, folder):
    """List the addresses that the page itself asked for; the browser's own have no origin."""
    log = folder / "net.json"
    dom, console = browse(page, folder / "p", "--dump-dom", f"--log-net-log={log}")
    asked = [event.get("params", {}) for event in json.loads(log.read_text())["events"]]
    own = [p for p in asked if p.get("initiator", "not an origin") != "not an origin"]
    return dom, console, {p["url"] for p in own if "url" in p}


def test_text_and_figures_are_there_and_nothing_is_requested(page, tmp_path):
    dom, console, asked = requests_of_page(page, tmp_path)
    assert console == []
    assert asked == set()
    assert "The clusters follow the holes." in dom
    assert dom.count('role="img"') == 6


def test_a_request_would_be_noticed(tmp_path):
    page = tmp_path / "page.html"
    page.write_text('<!DOCTYPE html><title>t</title><img src="http://127.0.0.1:9/x.png" alt="">')
    assert requests_of_page(page, tmp_path)[2] == {"http://127.0.0.1:9/x.png"}


def test_light_dark_and_paper_look_different(page, tmp_path):
    light, dark, paper = (tmp_path / name for name in ("light.png", "dark.png", "paper.pdf"))
    for path, flags in (
        (light, [f"--screenshot={light}"]),
        (dark, [f"--screenshot={dark}", "--blink-settings=preferredColorScheme=0"]),
        (paper, [f"--print-to-pdf={paper}"]),
    ):
        _, console = browse(page, tmp_path / path.stem, *flags)
        assert console == []
        assert path.stat().st_size > 20_000
    from matplotlib.image import imread

    assert imread(light)[:, :, :3].mean() > 0.8
    assert imread(dark)[:, :, :3].mean() < 0.3


def test_a_script_that_got_in_would_not_run(page, tmp_path):
    hostile = tmp_path / "hostile.html"
    script = "<script>document.title = 'ran'</script><img src=x onerror=\"document.title='ran'\">"
    hostile.write_text(page.read_text("utf-8").replace("</main>", f"{script}</main>"), "utf-8")
    dom, console = browse(hostile, tmp_path / "p", "--dump-dom")
    assert "<title>ran</title>" not in dom
    assert any("Content Security Policy" in line for line in console)
