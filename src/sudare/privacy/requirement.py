"""What every requirement can do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sudare.errors import ParameterError
from sudare.tables.counts import Counts


@dataclass(frozen=True)
class Measure:
    """What a requirement found: the value that holds, whether it is enough, and the worst block."""

    name: str
    value: float
    holds: bool
    worst: int
    """The row of the Counts with the worst value."""


class Requirement(Protocol):
    """Something that must hold of what is published."""

    @property
    def name(self) -> str:
        """The name under which the measured value is certified, such as "k"."""

    def measure(self, blocks: Counts) -> Measure:
        """Measure blocks: the Counts of the quasi attributes."""

    def failing(self, blocks: Counts) -> NDArray[np.bool_]:
        """Tell of each block whether it fails."""

    def refuse_if_impossible(self, records: int) -> None:
        """Raise a RequirementError if no release of so many records can meet it."""

    def __str__(self) -> str: ...


def whole_number(value: object, name: str, owner: str, least: int) -> int:
    """Check a parameter that must be a whole number of at least `least`."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ParameterError(
            f"The '{name}' parameter of {owner} must be a whole number of {least} or more. Got {value!r} instead."
        )
    return value
