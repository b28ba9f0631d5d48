"""The methods of generalization as objects. A string is short for one with its defaults."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sudare.errors import ParameterError
from sudare.generalization.full_domain import MEASURES, Measure, learn_levels
from sudare.generalization.minimal import learn_minimal
from sudare.generalization.mondrian import learn_cuts
from sudare.generalization.problem import Problem, with_hierarchies
from sudare.generalization.regions import learn, refuse_beyond_memory
from sudare.plans.generalization import GeneralizationPlan
from sudare.plans.levels import LevelsPlan
from sudare.plans.tuples import TuplePlan
from sudare.privacy.requirement import BlockRequirement, number, one_of
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
class FullDomain:
    """Let every attribute climb to one level for the whole table: of all such choices the best, which is proven.

    Groups that do not meet the requirements are left out, as a whole, up to a share of the records.

    >>> FullDomain(suppress=0.05, measure="ncp")
    FullDomain(suppress=0.05, measure='ncp')
    """

    suppress: float = 0.0
    """The largest share of the records that may be left out."""
    measure: Measure = "distortion"
    """What is least: distortion (DIS), ncp or discernibility."""
    name: ClassVar[str] = "full-domain"

    def __post_init__(self) -> None:
        number(self.suppress, "suppress", "generalize", "a share from 0 to 1", low=0, high=1)
        one_of(self.measure, "measure", "generalize", MEASURES)

    def learn(self, table: Table, requirements: Sequence[BlockRequirement]) -> GeneralizationPlan:
        """Find the best levels.

        Who is left out leaves no trace: the levels are found again from the others alone, as if they were the whole table, with
        hierarchies that are made from their values. They can meet the requirements, and nobody more is left out: in the groups
        that were found first they did.
        """
        refuse_beyond_memory(table, requirements)
        plan = self._learned(table, requirements, self.suppress)
        whole = plan.locate(table)
        if whole.covered.all():
            return plan
        again = self._learned(whole.covered_rows(table), requirements, 0.0)
        rejoining = ~whole.covered & again.locate(table).covered
        return again.never_covering(table, whole.counts.codes[rejoining])

    def _learned(self, table: Table, requirements: Sequence[BlockRequirement], suppress: float) -> LevelsPlan:
        whole = with_hierarchies(table)
        problem = Problem.of(whole, requirements)
        return learn_levels(whole, problem, requirements, suppress=suppress, measure=self.measure)


Method = FullDomain | Minimal | Mondrian
NAMES = (Minimal.name, Mondrian.name, FullDomain.name)


def method_of(method: object, *, suppress: float, strict: bool, measure: Measure) -> Method:
    """Return the method that an object is, or that a short name stands for with these parameters."""
    measuring = measure != FullDomain.measure
    if isinstance(method, Method):
        if suppress or strict or measuring:
            raise ParameterError(f"Give 'suppress', 'strict' and 'measure' to the method itself: {method!r}.")
        return method
    one_of(method, "method", "generalize", NAMES)
    if suppress and method == Mondrian.name:
        raise ParameterError(
            "The 'suppress' parameter of generalize is for the method 'minimal' or 'full-domain'. Use one of these."
        )
    if strict and method != Mondrian.name:
        raise ParameterError(
            "The 'strict' parameter of generalize is for the method 'mondrian'. Use that one."
        )
    if measuring and method != FullDomain.name:
        raise ParameterError(
            "The 'measure' parameter of generalize is for the method 'full-domain'. Use that one."
        )
    if method == FullDomain.name:
        return FullDomain(suppress, measure)
    return Minimal(suppress) if method == Minimal.name else Mondrian(strict)
