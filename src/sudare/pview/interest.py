"""What a p-view will be asked, as far as its holder knows: which attributes together, how often, and in which way.

It is declared, like a domain, and as public: where a budget went shows what it was meant for. So it must not be read off the
data. A method may let its budget follow it (`WorkloadMethod`); what is promised does not depend on it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from sudare.errors import InputError, ParameterError
from sudare.privacy.requirement import whole_number
from sudare.pview.axis import Axis
from sudare.pview.conditions import products_of
from sudare.pview.domain import Domain
from sudare.pview.saved import Form, Name
from sudare.tables.faults import checked
from sudare.tables.text import listed, shown
from sudare.tables.typed import own_words, typed

Way = Literal["cells", "prefixes", "ranges"]
WAYS: tuple[Way, ...] = ("cells", "prefixes", "ranges")
"""How an attribute is asked for: value by value, from one end to somewhere, or from somewhere to somewhere."""
SETS: dict[str, Way] = {"marginals": "cells", "prefixes": "prefixes", "ranges": "ranges"}
"""What a workload can have beside queries, each a list of attributes or of sets of them."""
QUERIES = "queries"
MAX_ASKED = 1_000  # sets of attributes, each in its own ways
MAX_TOGETHER = 16  # attributes in one question
MAX_TIMES = 10**6

GivenWorkload = str | Sequence[str] | Mapping[str, Sequence[Any]]
"""A query in SQL, several, or a mapping of `queries`, `marginals`, `ranges` and `prefixes` to lists of them."""
Kind = tuple[tuple[str, ...], tuple[Way, ...]]


@dataclass(frozen=True)
class Asked:
    """Some attributes that are asked for together, each in its way, and how many of the questions do that."""

    attributes: tuple[str, ...]
    """In the order of the domain. A question for all records has none."""
    ways: tuple[Way, ...]
    times: int


@dataclass(frozen=True)
class Concern:
    """How much of what is asked concerns some attributes together."""

    weight: Fraction
    """The part of all questions in which all of them are asked for."""
    ways: tuple[Way, ...]
    """How each of them is asked for, in most of these questions."""


@typed
@dataclass(frozen=True)
class Interest:
    """All that will be asked, as plain data.

    >>> import sudare as sd
    >>> schema = sd.Schema.from_roles(
    ...     quasi=["age", "sex"], bounds={"age": (18, 95)}, domains={"sex": ["Female", "Male"]}, missing="refuse")
    >>> interest = Interest.of({
    ...     "queries": ["SELECT sex, COUNT(*) FROM view WHERE age BETWEEN 20 AND 39 GROUP BY sex"],
    ...     "prefixes": ["age"]}, Domain.of(schema))
    >>> interest.concerns(2)
    {('age', 'sex'): Concern(weight=Fraction(1, 2), ways=('ranges', 'cells'))}
    >>> interest.concerns(1)["age",].weight
    Fraction(1, 1)
    """

    asked: tuple[Asked, ...]
    """No two are alike."""

    @classmethod
    @own_words("workload")
    def of(cls, workload: GivenWorkload, domain: Domain) -> Interest:
        """Read what will be asked: queries, marginals, ranges and prefixes; each counts alike, and given twice twice."""
        times: Counter[Kind] = Counter(_kinds(_listed(workload), domain))
        if not times:
            raise ParameterError("The workload asks for nothing. Name what will be asked, or leave it out.")
        interest = cls(tuple(Asked(*kind, count) for kind, count in times.items()))
        interest._refuse_large()
        return interest

    @property
    def questions(self) -> int:
        """How many there are."""
        return sum(one.times for one in self.asked)

    def concerns(self, size: int) -> dict[tuple[str, ...], Concern]:
        """Return of every set of so many attributes that is asked for together how much of what is asked that is.

        Attributes stand in the order of the domain; a set that is not asked for is not there.
        """
        whole_number(size, "size", "Interest.concerns", least=1)
        votes: dict[tuple[str, ...], list[Counter[Way]]] = {}
        for one in self.asked:
            for chosen in combinations(zip(one.attributes, one.ways, strict=True), size):
                names = tuple(name for name, _ in chosen)
                for votes_of, (_, way) in zip(
                    votes.setdefault(names, [Counter() for _ in chosen]), chosen, strict=True
                ):
                    votes_of[way] += one.times
        whole = self.questions
        return {
            names: Concern(Fraction(own[0].total(), whole), tuple(map(_usual, own)))
            for names, own in votes.items()
        }

    def to_json(self) -> list[dict[str, Any]]:
        """Return it as plain data."""
        return [
            {"attributes": list(one.attributes), "ways": list(one.ways), "times": one.times}
            for one in self.asked
        ]

    @classmethod
    def from_json(cls, data: object, domain: Domain) -> Interest:
        """Read what `to_json` wrote, and refuse everything else."""
        forms = checked(InterestForm, {"asked": data}, "What a p-view will be asked").asked
        interest = cls(tuple(Asked(tuple(one.attributes), tuple(one.ways), one.times) for one in forms))
        if len({(one.attributes, one.ways) for one in interest.asked}) < len(forms):
            raise InputError("What a p-view will be asked: the same stands there twice.")
        for one in interest.asked:
            places = [domain.place(name) for name in one.attributes]
            if sorted(set(places)) != places:
                raise InputError("What a p-view will be asked: attributes are in another order than its own.")
            axes = [domain.axes[place] for place in places]
            if len(one.ways) != len(axes) or any(
                way != "cells" and not axis.ordered for way, axis in zip(one.ways, axes, strict=True)
            ):
                raise InputError("What a p-view will be asked: attributes cannot be asked for in these ways.")
        interest._refuse_large()
        return interest

    def _refuse_large(self) -> None:
        most, often = (
            max(own) for own in zip(*((len(one.attributes), one.times) for one in self.asked), strict=True)
        )
        if len(self.asked) > MAX_ASKED or most > MAX_TOGETHER or often > MAX_TIMES:
            raise InputError(
                f"What a p-view will be asked may be {MAX_ASKED:,} sets of attributes at most, each of {MAX_TOGETHER} at most, "
                f"and {MAX_TIMES:,} times at most. Leave out what is asked rarely."
            )


class AskedForm(Form):
    """Attributes that are asked for together, as they stand in a file."""

    attributes: list[Name] = Field(max_length=MAX_TOGETHER)
    ways: list[Way] = Field(max_length=MAX_TOGETHER)
    times: int = Field(ge=1, le=MAX_TIMES)


class InterestForm(Form):
    """All that will be asked, as it stands in a file."""

    asked: list[AskedForm] = Field(min_length=1, max_length=MAX_ASKED)


def _usual(votes: Counter[Way]) -> Way:
    """Return the way that most questions have; of two, the one that asks for more."""
    return max(WAYS, key=lambda way: (votes[way], WAYS.index(way)))


# -- Reading a workload --------------------------------------------------------------------------------


def _listed(workload: object) -> dict[str, Sequence[Any]]:
    """Return every kind of question with a list of them."""
    if isinstance(workload, str):
        return {QUERIES: [workload]}
    if isinstance(workload, Mapping):
        if unknown := [name for name in workload if name not in (QUERIES, *SETS)]:
            raise ParameterError(
                f"A workload has {listed([QUERIES, *SETS])}. Got {shown(unknown[0])} instead."
            )
        several = dict(workload)
    else:
        several = {QUERIES: workload}
    for name, own in several.items():
        if not isinstance(own, Sequence) or isinstance(own, str):
            raise ParameterError(f"The {name} of a workload are a list. Got {shown(own)} instead.")
    return several


def _kinds(workload: Mapping[str, Sequence[Any]], domain: Domain) -> Iterator[Kind]:
    for name, several in workload.items():
        for one in several:
            yield _of_query(one, domain) if name == QUERIES else _of_set(one, SETS[name], domain)


def _of_set(names: object, way: Way, domain: Domain) -> Kind:
    """Return attributes that are asked for together in one way; those without an order are asked for value by value."""
    chosen = [names] if isinstance(names, str) else names
    if not isinstance(chosen, Sequence) or not chosen or not all(isinstance(name, str) for name in chosen):
        raise ParameterError(f"A workload names attributes, one or several. Got {shown(names)} instead.")
    places = [domain.place(name) for name in chosen]
    if len(set(places)) < len(places):
        raise ParameterError(f"A workload names an attribute twice: {listed(list(chosen))}.")
    ways: dict[int, Way] = {place: way if domain.axes[place].ordered else "cells" for place in places}
    if way != "cells" and way not in ways.values():
        raise ParameterError(f"There are no {way} of {listed(list(chosen))}: the values have no order.")
    return _kind(ways, domain)


def _of_query(query: object, domain: Domain) -> Kind:
    """Return what a query names: in GROUP BY value by value, in WHERE as its conditions take values."""
    from sudare.pview.sql import question_of  # sqlglot takes long to load

    if not isinstance(query, str):
        raise ParameterError(f"A query of a workload is a text in SQL. Got {shown(query)} instead.")
    question = question_of(query, domain)
    parts = products_of(question.where, domain)
    if not parts:
        raise InputError(f"Nobody can meet the condition of {shown(query)}. Leave it out.")
    ways: dict[int, Way] = {}
    for part in parts:
        for axis, share in part.items():
            ways[axis] = max(ways.get(axis, "cells"), _way(domain.axes[axis], share), key=WAYS.index)
    return _kind(ways | dict.fromkeys(question.by, "cells"), domain)


def _way(axis: Axis, share: NDArray[np.float64]) -> Way:
    """Say how a condition takes cells: one by one, from either end on, or otherwise side by side."""
    real = axis.size - axis.missing
    taken = np.flatnonzero(share[:real] > 0)
    together = np.diff(taken) == 1
    if not axis.ordered or not together.any():
        return "cells"
    at_an_end = taken[0] == 0 or taken[-1] == real - 1
    return "prefixes" if together.all() and at_an_end else "ranges"


def _kind(ways: Mapping[int, Way], domain: Domain) -> Kind:
    places = sorted(ways)
    return tuple(domain.names[place] for place in places), tuple(ways[place] for place in places)
