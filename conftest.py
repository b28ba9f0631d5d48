"""What holds for all tests: no test fails for being slow, and none needs a network.

Doctests that show public tables run only where the tables are. A machine may be slow or busy, and the first example of a
property may compile kernels, so hypothesis has no deadline. With `-m "not slow"`, as in `make test`, a property is tried on a
third of its examples.
"""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("sudare", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("sudare")

OWN_SETTINGS = "_hypothesis_internal_use_settings"
NEED_DATA = ("sudare.datasets.catalogue.load", "sudare.datasets.files.path")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip what cannot run, and try fewer examples where it is to be quick."""
    if config.getoption("markexpr") == "not slow":
        for item in items:
            _try_fewer(getattr(item, "function", None))
    if os.environ.get("SUDARE_DATA"):
        return
    for item in items:
        if isinstance(item, pytest.DoctestItem) and item.name in NEED_DATA:
            item.add_marker(pytest.mark.skip(reason="SUDARE_DATA names no folder with the public data files"))


def _try_fewer(test: Any) -> None:
    """Let a property be tried on a third of its examples; hypothesis has no public name for what a test was given."""
    own = getattr(test, OWN_SETTINGS, None)
    if own is not None and not hasattr(test, "tried_fewer"):
        setattr(
            test,
            OWN_SETTINGS,
            settings(own, max_examples=min(own.max_examples, max(own.max_examples // 3, 10))),
        )
        test.tried_fewer = True  # a test with several parameters comes several times
