"""Where a plan puts all the tuples of a table, and those that it covers once the others are gone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from sudare.plans.generalization import Places
from sudare.plans.views import LocatedViews
from sudare.tables.table import Table

Where = TypeVar("Where", Places, LocatedViews)
Where_co = TypeVar("Where_co", Places, LocatedViews, covariant=True)


class Locating(Protocol[Where_co]):
    """A plan that looks tuples up."""

    def locate(self, table: Table) -> Where_co:
        """Say where the tuples of a table belong."""


@dataclass(frozen=True, eq=False)
class Placed(Generic[Where]):
    """A table beside a plan."""

    whole: Where
    """All its tuples."""
    rest: Table
    """The rows that the plan covers, as if there had never been others."""
    located: Where
    """Their tuples."""


def without_uncovered(plan: Locating[Where], table: Table, whole: Where | None = None) -> Placed[Where]:
    """Leave out what the plan does not cover, and look the rest up again: its values may have other types then.

    `whole` says where all tuples belong, if they were looked up before.
    """
    whole = plan.locate(table) if whole is None else whole
    rest = whole.covered_rows(table)
    return Placed(whole, rest, whole if rest is table else plan.locate(rest))
