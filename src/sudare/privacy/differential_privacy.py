"""Differential privacy: what is published hardly depends on any one person."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

from sudare.privacy.requirement import Measure, evidence_given, number, one_of
from sudare.tables.typed import typed


@dataclass(frozen=True)
class PrivacyLoss:
    """What a mechanism is proven to give away: an epsilon, which may be exceeded with the probability delta."""

    epsilon: float
    delta: float = 0.0


@typed
@dataclass(frozen=True)
class DifferentialPrivacy:
    """Every output is at most e^epsilon times as likely for one table as for its neighbour, but for delta.

    Per record: neighbours differ in one record's values, and every record is randomized on its own.

    >>> print(DifferentialPrivacy(1.0, per="record"))
    differential privacy with epsilon = 1, for each record
    >>> DifferentialPrivacy(1.0).measure(PrivacyLoss(0.75))
    Measure(name='epsilon', value=0.75, holds=True, worst=0)
    """

    epsilon: float
    delta: float = 0.0
    per: Literal["record", "table"] = "table"
    name: ClassVar[str] = "epsilon"
    attribute: ClassVar[None] = None
    needs_sensitive: ClassVar[bool] = False

    def __post_init__(self) -> None:
        number(self.epsilon, "epsilon", "DifferentialPrivacy", "a number of 0 or more", low=0)
        number(
            self.delta,
            "delta",
            "DifferentialPrivacy",
            "a number from 0 to below 1",
            low=0,
            high=math.nextafter(1, 0),
        )
        one_of(self.per, "per", "DifferentialPrivacy", ("record", "table"))

    def measure(self, loss: PrivacyLoss) -> Measure:
        """Return a loss's epsilon, and whether that and its delta are small enough."""
        evidence_given(loss, PrivacyLoss, "DifferentialPrivacy")
        holds = loss.epsilon <= self.epsilon * (1 + 1e-12) and loss.delta <= self.delta * (1 + 1e-12)
        return Measure(self.name, loss.epsilon, holds)

    def __str__(self) -> str:
        words = f"differential privacy with epsilon = {self.epsilon:g}"
        if self.delta:
            words += f", delta = {self.delta:g}"
        return f"{words}, for each record" if self.per == "record" else words
