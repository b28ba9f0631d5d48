"""Doctests that show public tables run only where the tables are, so that the suite needs no network."""

from __future__ import annotations

import os

import pytest

NEED_DATA = ("sudare.datasets.catalogue.load", "sudare.datasets.files.path")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what cannot run."""
    if os.environ.get("SUDARE_DATA"):
        return
    for item in items:
        if isinstance(item, pytest.DoctestItem) and item.name in NEED_DATA:
            item.add_marker(pytest.mark.skip(reason="SUDARE_DATA names no folder with the public data files"))
