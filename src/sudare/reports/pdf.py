"""A page as PDF, printed by a browser that is on this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from sudare.errors import InputError

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
TIMEOUT = 120  # seconds


def browser() -> str:
    """Return the browser that prints; an InputError if there is none."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        raise InputError(
            "A PDF needs Chromium or Chrome to print it, and none was found. Install one, or open the HTML page in any browser and print it."
        )
    return found


def print_pdf(page: Path, pdf: Path) -> None:
    """Print a page of ours, which loads nothing and runs nothing; the PDF appears whole or not at all, for its owner only."""
    program = browser()
    # As root, Chromium runs only without its sandbox.
    rooted = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory(
        prefix=f".{pdf.name}.partial-", dir=pdf.parent, ignore_cleanup_errors=True
    ) as place:
        printed = Path(place) / "page.pdf"
        options = [
            "--headless",
            "--disable-gpu",
            f"--user-data-dir={place}/browser",
            "--no-pdf-header-footer",
            *rooted,
        ]
        command = [program, *options, f"--print-to-pdf={printed}", page.resolve().as_uri()]
        try:
            subprocess.run(command, capture_output=True, check=True, timeout=TIMEOUT)
            printed.chmod(0o600)
            printed.replace(pdf)
        except (OSError, subprocess.SubprocessError) as error:
            raise InputError(
                f"{program} could not print {page}: {error}. Open it in a browser and print it."
            ) from None
