"""What a p-view promises, in numbers: the same for the holder and for analysts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from sudare.pview.spending import Spending

MAX_SHARES = 16  # of the budget that are drawn one by one
ALWAYS = (
    "One record is protected. Somebody with several records in the table is protected as much less: epsilon times "
    "their number.",
    "Domains and bounds are taken from the schema, and taken for public.",
)


class Promise(NamedTuple):
    """What epsilon and delta mean, and what is not covered."""

    epsilon: float
    delta: float
    odds: float
    """How sure somebody can become who held it for as likely as not that a record is there."""
    seeded: bool
    """Whether whoever knows a seed can undo the noise."""
    caveats: list[str]


def promise(certificate: Mapping[str, Any]) -> Promise:
    """Read the promise off a p-view's certificate."""
    epsilon = certificate["measured"]["epsilon"]
    return Promise(
        epsilon,
        certificate["measured"].get("delta", 0.0),
        1 / (1 + math.exp(-epsilon)),
        certificate["randomness"].startswith("UNSAFE"),
        [*certificate["caveats"], *ALWAYS],
    )


class SpendingBars(NamedTuple):
    """Where the budget of a p-view went."""

    unit: str
    """epsilon, or rho of zero-concentrated differential privacy."""
    whole: float
    unspent: float
    """As a share of the whole."""
    shares: dict[str, float]

    @property
    def largest(self) -> float:
        """The largest share."""
        return max(self.shares.values(), default=1.0)


def spending(budget: Mapping[str, Any]) -> SpendingBars:
    """Read the spending off a p-view's budget."""
    whole = Fraction(budget["whole"])
    shares = {what: float(share) for what, share in budget_shares(budget).items()}
    return SpendingBars(budget["unit"], float(whole), float(Fraction(budget["remaining"]) / whole), shares)


def budget_shares(budget: Mapping[str, Any]) -> dict[str, Fraction]:
    """Return what share of the budget went to what; if there are many, those of one kind together."""
    return Spending.from_json(budget).parts(MAX_SHARES)
