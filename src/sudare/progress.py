"""How far long work has come. Whoever works reports steps here, and whoever listens shows them; else they cost nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol


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
