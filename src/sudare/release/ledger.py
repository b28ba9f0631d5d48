"""The ledger: every release of a source, who received it, and the budget that noise has spent."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from sudare.errors import InputError
from sudare.release import history
from sudare.release.chain import Chain, Entry
from sudare.release.history import Budget, Recorded


class Ledger(Chain):
    """A chain of entries that remembers releases, budgets, and which receivers do not combine what they get.

    >>> import tempfile
    >>> ledger = Ledger(f"{tempfile.mkdtemp()}/releases.db")
    >>> entry = ledger.set_budget("people.csv", 3)
    >>> print(ledger.budget("people.csv"))
    people.csv: epsilon 3 in all, 0 spent, 3 remain
    """

    def set_budget(self, source: str, epsilon: float | str | Fraction) -> Entry:
        """Record how much epsilon all noisy releases of a source may spend together; the last word counts."""
        whole = history.exact(epsilon)
        if whole <= 0:
            raise InputError(f"A budget must be above 0. Got {epsilon} instead.")
        return self.append("budget", {"source": source, "epsilon": str(whole)})

    def budget(self, source: str, receiver: str | None = None) -> Budget | None:
        """Return the budget of a source, with what was spent on all that a receiver may put together."""
        return history.budget_of(self.entries(), source, receiver)

    def declare_apart(self, receivers: Sequence[str]) -> Entry:
        """Record that some receivers do not put together what they get. What anybody may get is always combined."""
        if isinstance(receivers, str) or len(set(receivers)) < 2 or not all(receivers):
            raise InputError("Name at least two different receivers that do not combine what they get.")
        return self.append("apart", {"receivers": list(receivers)})

    def releases(
        self, source: str, receiver: str | None = None, *, everybody: bool = False
    ) -> list[list[Recorded]]:
        """Return the sets of releases of a source that somebody may put together with one for this receiver."""
        return history.combined(self.entries(), source, receiver, everybody=everybody)
