"""Work that a library does outside Python, and that Ctrl-C ends all the same."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

from sudare.progress import step

Found = TypeVar("Found")
PATIENCE = 0.5  # seconds; what takes longer is shown
POLL = 0.1


class Worker:
    """Works in a thread of its own, so that the other one hears Ctrl-C, and meanwhile shows how far the work is.

    >>> Worker().do(lambda: 6 * 7, stop=lambda: None, percent=lambda: 50.0)
    42
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1)

    def do(
        self, work: Callable[[], Found], stop: Callable[[], object], percent: Callable[[], float]
    ) -> Found:
        """Return what the work finds. An interrupt calls `stop` until it has ended."""
        found = self._thread.submit(work)
        try:
            _await(found, percent)
        finally:
            while not found.done():  # not yet where it can be stopped, perhaps
                stop()
                wait([found], timeout=POLL)
        return found.result()


def _await(found: Future[Any], percent: Callable[[], float]) -> None:
    wait([found], timeout=PATIENCE)
    if found.done():
        return
    with step("Counting", total=100, unit="%") as counting:
        shown = 0
        while not found.done():
            done = min(int(percent()), 100)
            counting.advance(max(done - shown, 0))
            shown = max(done, shown)
            wait([found], timeout=POLL)
