"""Differential privacy: what is published hardly depends on any one person."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from sudare.privacy.requirement import Measure, number, one_of


@dataclass(frozen=True)
class DifferentialPrivacy:
    """Every output is at most e^epsilon times as likely for one table as for its neighbour, but for delta.

    Per record: neighbours differ in one record's values, and every record is randomized on its own.

    >>> print(DifferentialPrivacy(1.0, per="record"))
    differential privacy with epsilon = 1, for each record
    """

    epsilon: float
    delta: float = 0.0
    per: Literal["record", "table"] = "table"

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

    def measure(self, epsilon: float) -> Measure:
        """Say whether an epsilon is small enough."""
        return Measure("epsilon", epsilon, epsilon <= self.epsilon * (1 + 1e-12), worst=0)

    def __str__(self) -> str:
        words = f"differential privacy with epsilon = {self.epsilon:g}"
        if self.delta:
            words += f", delta = {self.delta:g}"
        return f"{words}, for each record" if self.per == "record" else words
