"""Work that a library does outside Python, and that Ctrl-C ends all the same."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

from sudare.progress import step

Result = TypeVar("Result")
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
        self, work: Callable[[], Result], stop: Callable[[], object], percent: Callable[[], float]
    ) -> Result:
        """Return what the work finds. An interrupt calls `stop` until it has ended."""
        running = self._thread.submit(work)
        try:
            _await(running, percent)
        finally:
            while not running.done():  # not yet where it can be stopped, perhaps
                stop()
                wait([running], timeout=POLL)
        return running.result()


def _await(running: Future[Any], percent: Callable[[], float]) -> None:
    wait([running], timeout=PATIENCE)
    if running.done():
        return
    with step("Counting", total=100, unit="%") as counting:
        shown = 0
        while not running.done():
            done = min(int(percent()), 100)
            counting.advance(max(done - shown, 0))
            shown = max(done, shown)
            wait([running], timeout=POLL)
