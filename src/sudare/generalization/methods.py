"""The methods of generalization as objects. A string is short for one with its defaults."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sudare.errors import ParameterError
from sudare.generalization.blind import learn_blind
from sudare.generalization.minimal import learn_minimal
from sudare.generalization.mondrian import learn_cuts
from sudare.generalization.problem import Problem, with_hierarchies
from sudare.generalization.regions import learn
from sudare.plans.generalization import GeneralizationPlan
from sudare.plans.tuples import TuplePlan
from sudare.privacy.requirement import BlockRequirement, number, one_of, refused
from sudare.tables.excerpt import without
from sudare.tables.table import Table


@dataclass(frozen=True)
class Mondrian:
    """Cut the table top down, as long as every part holds (LeFevre, DeWitt & Ramakrishnan 2006): the fastest.

    >>> Mondrian(strict=True)
    Mondrian(strict=True)
    """

    strict: bool = False
    """Whether a node is cut only if all its children hold; else those that do not stay together under it."""
    name: ClassVar[str] = "mondrian"
    suppress: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.strict, bool):
            raise ParameterError(
                f"The 'strict' parameter of Mondrian must be true or false. Got {self.strict!r} instead."
            )

    def learn(self, table: Table, requirements: Sequence[BlockRequirement]) -> GeneralizationPlan:
        """Learn the cuts under which the requirements hold."""
        one = partial(learn_cuts, requirements=requirements, strict=self.strict)
        return learn(with_hierarchies(table), requirements, one)


@dataclass(frozen=True)
class Minimal:
    """Build blocks from what is nearest, and improve them until nothing helps: little distortion.

    >>> Minimal(suppress=0.05).suppress
    0.05
    """

    suppress: float = 0.0
    """The largest share of the records that may be left out."""
    name: ClassVar[str] = "minimal"

    def __post_init__(self) -> None:
        number(self.suppress, "suppress", "generalize", "a share from 0 to below 1", low=0, high=1 - 1e-12)

    def learn(self, table: Table, requirements: Sequence[BlockRequirement]) -> GeneralizationPlan:
        """Learn the blocks of all tuples, under which the requirements hold.

        Who is left out leaves no trace. Where the schema does not say what a hierarchy is, it is made from the values of
        the table: the ends of its intervals are somebody's values, its height grows with the largest, and so do the blocks
        that are made along it. So once it is known who is left out, everything is learned again from the others alone, as
        if they were the whole table. They can meet the requirements: they did so in the blocks that were learned first.
        """
        left_out: list[tuple[list[str], NDArray[np.int32]]] = []

        def one(problem: Problem, suppress: float = 0.0) -> TuplePlan:
            recoding = learn_minimal(problem, suppress=suppress)
            left_out.append((problem.counted, problem.tuples()[~recoding.kept]))
            return recoding.plan(requirements)

        plan = learn(with_hierarchies(table), requirements, partial(one, suppress=self.suppress))
        tuples = np.concatenate([tuples for _, tuples in left_out])
        if not len(tuples):
            return plan
        rest = without(table, left_out[0][0], tuples)
        return learn(with_hierarchies(rest), requirements, one)


@dataclass(frozen=True)
class Blind:
    """Cut the table by sizes alone, and leave parts out that do not meet the other requirements.

    Sensitive values have no part in who is in which block, so that who knows the method learns nothing more about anybody
    who is published (`generalization.blind` has the proof, and what is not promised).

    >>> Blind(suppress=0.05, region_labels=True).name
    'blind-regions'
    """

    suppress: float = 0.0
    """The largest share of the records that may be left out."""
    region_labels: bool = False
    """Whether a block is published under the labels it was cut by, even where its people have more in common."""

    def __post_init__(self) -> None:
        number(self.suppress, "suppress", "generalize", "a share from 0 to below 1", low=0, high=1 - 1e-12)
        if not isinstance(self.region_labels, bool):
            raise refused(self.region_labels, "region_labels", "Blind", "true or false")

    @property
    def name(self) -> str:
        """Its name, as a certificate tells it."""
        return "blind-regions" if self.region_labels else "blind"

    def learn(self, table: Table, requirements: Sequence[BlockRequirement]) -> GeneralizationPlan:
        """Learn the blocks of all tuples; parts under which the requirements fail have none."""
        return learn_blind(
            table, requirements, self.name, suppress=self.suppress, region_labels=self.region_labels
        )


Method = Minimal | Mondrian | Blind
NAMES = (Minimal.name, Mondrian.name, "blind")


def method_of(
    method: object, *, suppress: float = 0.0, strict: bool = False, region_labels: bool = False
) -> Method:
    """Return the method that an object is, or that a short name stands for with these parameters."""
    if isinstance(method, Minimal | Mondrian | Blind):
        if suppress or strict or region_labels:
            raise ParameterError(
                f"Give 'suppress', 'strict' and 'region_labels' to the method itself: {method!r}."
            )
        return method
    one_of(method, "method", "generalize", NAMES)
    if suppress and method == Mondrian.name:
        raise ParameterError(
            "The 'suppress' parameter of generalize is for the methods 'minimal' and 'blind'. Use one of them."
        )
    if strict and method != Mondrian.name:
        raise ParameterError(
            "The 'strict' parameter of generalize is for the method 'mondrian'. Use that one."
        )
    if region_labels and method != "blind":
        raise ParameterError(
            "The 'region_labels' parameter of generalize is for the method 'blind'. Use that one."
        )
    if method == "blind":
        return Blind(suppress, region_labels)
    return Minimal(suppress) if method == Minimal.name else Mondrian(strict)
