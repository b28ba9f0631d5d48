"""How a budget is dealt out over periods: the same share to each of so many, or shares that shrink without end."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from sudare.errors import ParameterError
from sudare.ledger.entries import MAX_PERIODS, exact
from sudare.privacy.requirement import refused, whole_number
from sudare.tables.typed import typed


@typed
@dataclass(frozen=True)
class Schedule:
    """Which share of a budget each period may spend. All shares together are never more than the whole.

    With `periods` each of so many has the same share, and later ones have none. With `decay` there is no last one: each
    has that part of the share before it, and the first what makes them add up to the whole. What a period does not
    spend lapses: who is in the table in one period only is told no more about than its share allows.

    >>> Schedule(periods=12).share(3), Schedule(decay="1/2").share(3)
    (Fraction(1, 12), Fraction(1, 8))
    """

    periods: int | None = None
    decay: Fraction | str | float | None = None

    def __post_init__(self) -> None:
        if (self.periods is None) == (self.decay is None):
            raise ParameterError(
                "A schedule has either so many periods, as in Schedule(periods=12), or shares that shrink, as in "
                "Schedule(decay='1/2')."
            )
        if self.periods is not None and whole_number(self.periods, "periods", "Schedule", 1) > MAX_PERIODS:
            raise refused(self.periods, "periods", "Schedule", f"{MAX_PERIODS:,} at most")
        if self.decay is not None:
            object.__setattr__(self, "decay", exact(self.decay))
            if not 0 < self.decay < 1:  # type: ignore[operator]
                raise refused(str(self.decay), "decay", "Schedule", "between 0 and 1, neither included")

    def share(self, period: int) -> Fraction:
        """Return which part of the whole a period may spend; the first is 1.

        >>> [str(Schedule(decay="1/3").share(period)) for period in (1, 2, 3)]
        ['2/3', '2/9', '2/27']
        """
        whole_number(period, "period", "share", 1)
        if period > (self.periods or MAX_PERIODS):
            return Fraction(0)
        if self.periods is not None:
            return Fraction(1, self.periods)
        return (1 - exact(self.decay)) * exact(self.decay) ** (period - 1)

    def __str__(self) -> str:
        return (
            f"{self.periods} periods"
            if self.periods
            else f"periods, each with {self.decay} of the share before"
        )
