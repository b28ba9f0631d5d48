"""What holds for all tests: no test fails for being slow, and none needs a network.

Doctests that show public tables run only where the tables are. A machine may be slow or busy, and the first example of a
property may compile kernels, so hypothesis has no deadline. With `-m "not slow"`, as in `make test`, a property is tried on an
eighth of its examples, the same in every run, so that none fails by chance; a loop over seeds takes an eighth of them, too
(`tries`). Of two workers, one begins where the kernels are others than those that the first one compiles.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable
from typing import Any

if (
    "PYTEST_XDIST_WORKER" in os.environ
):  # there is one for every core: more threads would only wait for each other
    os.environ.setdefault("POLARS_MAX_THREADS", "1")

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("sudare", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("quick", settings.get_profile("sudare"), max_examples=20, derandomize=True)

OWN_SETTINGS = "_hypothesis_internal_use_settings"
OTHER_KERNELS = ("tests/noise/", "tests/pview/", "tests/randomization/")
NEED_DATA = ("sudare.datasets.catalogue.load", "sudare.datasets.files.path")


FEWER = 8
LEAST_TRIES = 16


def is_quick(config: pytest.Config) -> bool:
    """Tell whether this run leaves out what takes long."""
    return bool(config.getoption("markexpr") == "not slow")


def pytest_configure(config: pytest.Config) -> None:
    """Let quick runs try the same examples every time."""
    settings.load_profile("quick" if is_quick(config) else "sudare")


@pytest.fixture(scope="session")
def quick(pytestconfig: pytest.Config) -> bool:
    """Whether this run leaves out what takes long."""
    return is_quick(pytestconfig)


@pytest.fixture(scope="session")
def tries(quick: bool) -> Callable[[int], range]:
    """So many seeds to try; an eighth of them, but 16 if there are so many, where it is to be quick."""

    def seeds(most: int) -> range:
        return range(min(most, max(most // FEWER, LEAST_TRIES)) if quick else most)

    return seeds


@pytest.hookimpl(trylast=True)  # after the slow ones were taken out
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip what cannot run, try fewer examples where it is to be quick, and let workers begin in different rooms."""
    _put_in_the_middle(items)
    if is_quick(config):
        tests = Counter(getattr(item, "function", None) for item in items)
        for test, times in tests.items():
            _try_fewer(test, times)
    if os.environ.get("SUDARE_DATA"):
        return
    for item in items:
        if isinstance(item, pytest.DoctestItem) and item.name in NEED_DATA:
            item.add_marker(pytest.mark.skip(reason="SUDARE_DATA names no folder with the public data files"))


def _put_in_the_middle(items: list[pytest.Item]) -> None:
    """Move the tests of the noisy rooms to where the second half begins, with which the second of two workers starts.

    A kernel that one worker has compiled, the other finds on the disk; at the same time, both would compile it.
    """
    theirs = [item for item in items if item.nodeid.startswith(OTHER_KERNELS)]
    others = [item for item in items if not item.nodeid.startswith(OTHER_KERNELS)]
    half = min(len(items) // 2, len(others))
    items[:] = [*others[:half], *theirs, *others[half:]]


def _try_fewer(test: Any, times: int) -> None:
    """Let a property be tried on an eighth of its examples, six at least, or on 16 by all tests that its parameters make of it.

    Hypothesis has no public name for what a test was given.
    """
    own = getattr(test, OWN_SETTINGS, None)
    if own is not None:
        least = min(6, math.ceil(LEAST_TRIES / times))
        fewer = min(own.max_examples, max(own.max_examples // FEWER, least))
        setattr(test, OWN_SETTINGS, settings(own, max_examples=fewer))
