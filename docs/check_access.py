"""Check the built pages with axe-core, light and dark: can everybody read them?

    python docs/check_access.py docs/_build/html

Needs Chromium and chromedriver. `make docs-access` runs this.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from browser import open_browser
from check_links import pages, report


def violations(root: Path) -> list[str]:
    """List what axe objects to, with the page and its mode."""
    found = []
    with tempfile.TemporaryDirectory() as downloads, open_browser(Path(downloads)) as browser:
        for dark in (False, True):
            browser.view(dark=dark)
            for path in pages(root):
                browser.open(path)
                name = f"{path.relative_to(root)}, {'dark' if dark else 'light'}"
                found += [f"{name}: {violation}" for violation in browser.violations()]
    return found


if __name__ == "__main__":
    sys.exit(report(sys.argv[1], violations, "axe finds nothing, light and dark"))
