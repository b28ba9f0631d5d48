"""Pk-anonymity: nobody's record can be pointed at with a probability above 1/k, whatever is known beforehand."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from sudare.errors import RequirementError
from sudare.privacy.requirement import Measure, evidence_given, number, whole_number
from sudare.tables.typed import typed


@dataclass(frozen=True)
class Spread:
    """How far a law tells inputs apart, in natural logarithms, and for how many records it is drawn."""

    spread: float
    records: int


@typed
@dataclass(frozen=True)
class PkAnonymity:
    """An adversary who knows the whole original table finds a given person's record with a probability of 1/k at most.

    It is a property of how records are randomized, each on its own. The spread of a randomizer is the largest
    ln(A[u, a] A[v, b] / (A[v, a] A[u, b])) over any two inputs u, v and outputs a, b; over attributes that are randomized
    independently it adds up. In a table of N records, k = 1 + (N - 1) e^-spread (Theorem 4.1). With the epsilon of
    differential privacy, spread <= 2 epsilon, with equality for all randomizers here that treat values alike.

    >>> PkAnonymity(2).measure(Spread(math.log(999), records=1000)).holds
    True
    >>> round(PkAnonymity(2).epsilon(1000), 4)
    3.4534
    """

    k: float
    name: ClassVar[str] = "pk"
    attribute: ClassVar[None] = None
    needs_sensitive: ClassVar[bool] = False

    def __post_init__(self) -> None:
        number(self.k, "k", "PkAnonymity", "a number of 1 or more", low=1)

    def spread(self, records: int) -> float:
        """Return the largest spread that still gives k in a table of so many records."""
        return spread_for(self.k, whole_number(records, "records", "PkAnonymity.spread", least=1))

    def epsilon(self, records: int) -> float:
        """Return the epsilon that is equivalent: half the spread."""
        return self.spread(records) / 2

    def measure(self, law: Spread) -> Measure:
        """Return the k that a law's spread gives, and whether it is enough."""
        evidence_given(law, Spread, "PkAnonymity")
        k = k_of(law.spread, law.records)
        return Measure(self.name, k, k >= self.k * (1 - 1e-12))

    def __str__(self) -> str:
        return f"Pk-anonymity with k = {self.k:g}"


def k_of(spread: float, records: int) -> float:
    """Return the k of Pk-anonymity for a spread.

    >>> round(k_of(math.log(999), 1000), 6), k_of(0.0, 1000)
    (2.0, 1000.0)
    """
    return 1 + (records - 1) * math.exp(-spread)


def spread_for(k: float, records: int) -> float:
    """Return the largest spread that still gives k; for k = 1, which everything gives, it has no end.

    >>> round(math.exp(spread_for(2, 1000)))
    999
    """
    if k > records:
        raise RequirementError(
            f"Pk-anonymity with k = {k:g} is impossible for {records:,} records: even if nothing but noise were "
            f"published, one of {records:,} could be guessed. Ask for a k up to that number."
        )
    return math.inf if k == 1 else math.log((records - 1) / (k - 1))
