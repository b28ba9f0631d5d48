"""What the budget of a p-view was spent on: exact shares, each with what it was for."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from sudare.errors import InputError
from sudare.pview.saved import Form, Name
from sudare.tables.faults import checked

Unit = Literal["epsilon", "rho"]
Kind = Literal["total", "probe", "table", "choice", "pair", "set", "tree", "partition", "cells", "counts"]
MAX_ATTRIBUTES = 12
"""Of a table of several."""
ATTRIBUTES: dict[Kind, tuple[int, int]] = {"table": (1, 1), "pair": (2, 2), "set": (3, MAX_ATTRIBUTES)}
"""Of how many attributes something is, at least and at most; what is not listed is of none."""

MAX_DIGITS = 300
"""Of a share of the budget, and of the common denominator of all."""
MAX_SHARES = 100_000
MAX_BUDGET = 10**6
MAX_ROWS = 10**6
"""Of one person or household."""
FRACTION = re.compile(rf"[0-9]{{1,{MAX_DIGITS}}}(/[1-9][0-9]{{0,{MAX_DIGITS - 1}}})?")


@dataclass(frozen=True)
class Share:
    """A part of a budget, and what it was spent on.

    >>> print(Share("pair", Fraction(1, 8), ("age", "sex")))
    pair of 'age' and 'sex'
    """

    kind: Kind
    """The total, how far attributes are from independence, an attribute's table, the choice of a pair or its table; the tree, partition, cells or counts of others."""
    amount: Fraction
    """Of epsilon or rho."""
    attributes: tuple[str, ...] = ()
    """What is counted by, for a table or a pair."""

    def __str__(self) -> str:
        return " of ".join(
            [self.kind, *([" and ".join(map(repr, self.attributes))] if self.attributes else [])]
        )

    def to_json(self) -> dict[str, Any]:
        """Return the share as plain data."""
        return {"kind": self.kind, "attributes": list(self.attributes), "amount": str(self.amount)}


@dataclass(frozen=True)
class Spending:
    """A whole budget, and the shares of it that were spent.

    >>> spending = Spending("epsilon", Fraction(1), (Share("total", Fraction(1, 4)), Share("table", Fraction(1, 2), ("age",))))
    >>> spending.remaining, Spending.from_json(spending.to_json()) == spending
    (Fraction(1, 4), True)
    """

    unit: Unit
    whole: Fraction
    """For one row."""
    shares: tuple[Share, ...]
    rows: int = 1
    """How many rows of one person or household are protected together: they cost so many epsilons, or so many squared rhos."""

    @property
    def remaining(self) -> Fraction:
        """What was not spent."""
        return self.whole - sum((share.amount for share in self.shares), Fraction(0))

    def parts(self, most: int) -> dict[str, Fraction]:
        """Return what part of the whole went to what, in words; if there are too many shares, by kind alone.

        >>> Spending("epsilon", Fraction(2), (Share("choice", Fraction(1)), Share("choice", Fraction(1)))).parts(9)
        {'2 × choice': Fraction(1, 1)}
        """
        amounts: dict[str, list[Fraction]] = {}
        for share in self.shares:
            words = str(share) if len(self.shares) <= most else share.kind
            amounts.setdefault(words, []).append(share.amount / self.whole)
        return {
            words if len(own) == 1 else f"{len(own)} × {words}": sum(own, Fraction(0))
            for words, own in amounts.items()
        }

    def to_json(self) -> dict[str, Any]:
        """Return every share, exactly, as plain data."""
        return {
            "unit": self.unit,
            "whole": str(self.whole),
            "shares": [share.to_json() for share in self.shares],
            "remaining": str(self.remaining),
            **({} if self.rows == 1 else {"rows": self.rows}),
        }

    @classmethod
    def from_json(cls, data: object) -> Spending:
        """Read what `to_json` wrote, and refuse everything else."""
        form = checked(SpendingForm, data, "The budget of the p-view")
        shares = tuple(Share(one.kind, Fraction(one.amount), tuple(one.attributes)) for one in form.shares)
        _refuse_unlike_denominators(shares)
        if not Fraction(form.whole) > 0:
            raise InputError("The budget of the p-view: its whole is nothing.")
        for share in shares:
            least, most = ATTRIBUTES.get(share.kind, (0, 0))
            if not least <= len(share.attributes) <= most:
                raise InputError(f"The budget of the p-view: a {share.kind} is of other attributes.")
        return cls(form.unit, Fraction(form.whole), shares, form.rows)


def _refuse_unlike_denominators(shares: Sequence[Share]) -> None:
    """Refuse shares that have nothing in common: their sum would grow without end."""
    common = 1
    for share in shares:
        common = math.lcm(common, share.amount.denominator)
        if common > 10**MAX_DIGITS:
            raise InputError(
                "The budget of the p-view: its shares have no common denominator worth the name."
            )


# -- In a file ------------------------------------------------------------------------------------------


def _as_fraction(text: str) -> str:
    if not FRACTION.fullmatch(text) or Fraction(text) > MAX_BUDGET:
        raise ValueError(f"must be a fraction from 0 to {MAX_BUDGET:,}, such as '1/64'")
    return text


Amount = Annotated[str, AfterValidator(_as_fraction)]


class ShareForm(Form):
    """A share, as it stands in a file."""

    kind: Kind
    attributes: list[Name] = Field(max_length=MAX_ATTRIBUTES)
    amount: Amount


class SpendingForm(Form):
    """A spent budget, as it stands in a file."""

    unit: Unit
    whole: Amount
    shares: list[ShareForm] = Field(min_length=1, max_length=MAX_SHARES)
    remaining: Amount
    rows: int = Field(default=1, ge=1, le=MAX_ROWS)
