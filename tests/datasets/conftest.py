from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def data(data_folder: Path) -> Path:
    """The folder with the real files."""
    return data_folder
