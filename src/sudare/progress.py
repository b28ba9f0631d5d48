"""How far long work has come. Whoever works reports steps here, and whoever listens shows them; else they cost nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from time import monotonic
from typing import Protocol

PATIENCE = 0.5  # seconds; what is done in parts and takes longer is shown


class Step(Protocol):
    """A piece of work that is under way."""

    def advance(self, amount: int) -> None:
        """Say that so much more of it is done."""


class Listener(Protocol):
    """Who shows steps."""

    def step(self, text: str, total: int, unit: str) -> AbstractContextManager[Step]:
        """Show a step, from its beginning to its end."""


class _Unheard:
    def advance(self, amount: int) -> None:
        """Say nothing."""


_listener: Listener | None = None


@contextmanager
def step(text: str, total: int, unit: str = "rows") -> Iterator[Step]:
    """Report a step: what it is, how much there is to do, and as it goes on, how much is done.

    >>> with step("Writing", total=3) as writing:
    ...     for row in range(3):
    ...         writing.advance(1)
    """
    if _listener is None:
        yield _Unheard()
        return
    with _listener.step(text, total, unit) as shown:
        yield shown


def in_parts(
    text: str, total: int, *, at_once: int, share: Callable[[], float] | None = None
) -> Iterator[range]:
    """Yield what a kernel is to do, some at a time: between two parts Ctrl-C is heard, and what takes long is reported.

    `share` says how much is done where work may end before all parts are.

    >>> [list(some) for some in in_parts("Learning", 5, at_once=2)]
    [[0, 1], [2, 3], [4]]
    """
    begun, shown, told = monotonic(), None, 0
    with ExitStack() as steps:
        for first in range(0, total, at_once):
            end = min(first + at_once, total)
            yield range(first, end)
            if shown is None and monotonic() - begun > PATIENCE:
                shown = steps.enter_context(step(text, total=100, unit="%"))
            if shown is not None:
                percent = int(100 * max(end / total, 0.0 if share is None else share()))
                shown.advance(max(percent - told, 0))
                told = max(percent, told)


@contextmanager
def heard_by(listener: Listener | None) -> Iterator[None]:
    """Let somebody hear of all steps that begin meanwhile."""
    global _listener
    before, _listener = _listener, listener
    try:
        yield
    finally:
        _listener = before


def listen(listener: Listener | None) -> None:
    """Let somebody hear of all steps from now on; nobody, if None."""
    global _listener
    _listener = listener
