"""Work that a library does outside Python, and that Ctrl-C ends all the same."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, wait
from threading import Thread
from typing import TypeVar

from sudare.progress import step

Found = TypeVar("Found")
PATIENCE = 0.5  # seconds; what takes longer is shown
POLL = 0.1


def interruptible(
    work: Callable[[], Found], stop: Callable[[], object], percent: Callable[[], float]
) -> Found:
    """Work in a thread of its own, so that this one hears Ctrl-C and can `stop` it, and meanwhile shows how far it is.

    >>> interruptible(lambda: 6 * 7, stop=lambda: None, percent=lambda: 50.0)
    42
    """
    found: Future[Found] = Future()
    thread = Thread(target=_settle, args=(found, work))
    thread.start()
    try:
        _await(found, percent)
    finally:
        while thread.is_alive():  # not yet where it can be stopped, perhaps
            if not found.done():
                stop()
            thread.join(POLL)
    return found.result()


def _settle(found: Future[Found], work: Callable[[], Found]) -> None:
    try:
        found.set_result(work())
    except BaseException as error:
        found.set_exception(error)


def _await(found: Future[Found], percent: Callable[[], float]) -> None:
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
