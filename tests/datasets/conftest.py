from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture
def data() -> Path:
    """The folder with the real files; its absence is no excuse on the machine that checks changes."""
    folder = os.environ.get("SUDARE_DATA")
    if folder:
        return Path(folder)
    reason = "SUDARE_DATA names no folder with the public data files"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
