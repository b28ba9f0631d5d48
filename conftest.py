"""What holds for all tests: no test fails for being slow, and none needs a network.

Doctests that show public tables run only where the tables are. A machine may be slow or busy, and the first example of a
property may compile kernels, so hypothesis has no deadline.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("sudare", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("sudare")

NEED_DATA = ("sudare.datasets.catalogue.load", "sudare.datasets.files.path")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what cannot run."""
    if os.environ.get("SUDARE_DATA"):
        return
    for item in items:
        if isinstance(item, pytest.DoctestItem) and item.name in NEED_DATA:
            item.add_marker(pytest.mark.skip(reason="SUDARE_DATA names no folder with the public data files"))
