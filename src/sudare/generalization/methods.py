"""The methods of generalization as objects. A string is short for one with its defaults."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sudare.errors import ParameterError
from sudare.generalization.blind import learn_blind
from sudare.generalization.close import learn_in_groups
from sudare.generalization.efforts import SEARCHES, Effort
from sudare.generalization.full_domain import MEASURES, Measure, learn_one_coding, levels_given
from sudare.generalization.harmless import learn_with_harmless
from sudare.generalization.mdav import learn_mdav
from sudare.generalization.minimal import learn_minimal
from sudare.generalization.mondrian import learn_cuts
from sudare.generalization.problem import Problem, with_hierarchies
from sudare.generalization.recoding import Recoding
from sudare.generalization.regions import Tuples, counted_of, learn, refuse_beyond_memory
from sudare.plans.cuts import CutPlan
from sudare.plans.generalization import GeneralizationPlan
from sudare.plans.plan import Plan
from sudare.plans.tuples import TuplePlan
from sudare.privacy.limits import block_meets
from sudare.privacy.requirement import BlockRequirement, number, one_of, refused, sensitive_attribute
from sudare.tables.excerpt import without
from sudare.tables.table import Table
from sudare.tables.text import listed
from sudare.tables.typed import typed


@typed
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
        one = partial(_learn_cuts, requirements=requirements, strict=self.strict)
        return learn(with_hierarchies(table), requirements, one)[0]


def _learn_cuts(
    problem: Problem, requirements: Sequence[BlockRequirement], *, strict: bool
) -> tuple[CutPlan, Tuples]:
    return learn_cuts(problem, requirements, strict=strict), problem.tuples()[:0]


@typed
@dataclass(frozen=True)
class Minimal:
    """Build blocks from what is nearest, and improve them until nothing helps: little distortion.

    >>> Minimal(suppress=0.05).suppress
    0.05
    """

    suppress: float = 0.0
    """The largest share of the records that may be left out."""
    effort: Effort | float = "normal"
    """How much is tried to save distortion: "quick", "normal" or "thorough"; or for how many seconds, after which the result may be another each time."""
    start: Plan | None = field(default=None, repr=False)
    """An earlier plan to begin from, such as `release.plan` of a try that was not good enough."""
    deal: bool = True
    """Whether the records of equal people may be dealt to different blocks: less distortion where many are equal and blocks are
    small."""
    name: ClassVar[str] = "minimal"

    def __post_init__(self) -> None:
        number(self.suppress, "suppress", "generalize", "a share from 0 to below 1", low=0, high=1 - 1e-12)
        if isinstance(self.effort, str):
            one_of(self.effort, "effort", "generalize", tuple(SEARCHES))
        else:
            number(
                self.effort,
                "effort",
                "generalize",
                "one of 'quick', 'normal', 'thorough', or seconds above 0",
                low=1e-9,
            )
        if not isinstance(self.deal, bool):
            raise refused(self.deal, "deal", "Minimal", "true or false")
        if self.start is not None and not isinstance(self.start, GeneralizationPlan):
            raise ParameterError(
                "The 'start' parameter of generalize must be a plan of generalize, such as release.plan or Plan.open(...). "
                f"Got {type(self.start).__name__} instead."
            )

    def learn(self, table: Table, requirements: Sequence[BlockRequirement]) -> GeneralizationPlan:
        """Learn the blocks of all tuples, under which the requirements hold.

        Who is left out leaves no trace. Where the schema does not say what a hierarchy is, it is made from the values of
        the table: the ends of its intervals are somebody's values, its height grows with the largest, and so do the blocks
        that are made along it. So once it is known who is left out, everything is learned again from the others alone, as
        if they were the whole table. They can meet the requirements: they did so in the blocks that were learned first.
        """
        if self.start is not None:
            refuse_beyond_memory(table, requirements, "A plan to start from is looked up")
        plan, left_out = self._learned(table, requirements, self.suppress)
        if not len(left_out):
            return plan
        rest = without(table, counted_of(table, requirements), left_out)
        return self._learned(rest, requirements, 0.0)[0]

    def _learned(
        self, table: Table, requirements: Sequence[BlockRequirement], suppress: float
    ) -> tuple[GeneralizationPlan, Tuples]:
        known = with_hierarchies(table)
        learned = partial(learn_minimal, suppress=suppress, effort=self.effort, deals=self.deal)
        if self.start is None:
            return learn(known, requirements, partial(_learn_blocks, learned, requirements))
        problem, start = _started(self.start, known, requirements)
        return _planned(learn_in_groups(problem, partial(learned, start=start)), requirements)


def _learn_blocks(
    learn_one: Callable[[Problem], Recoding], requirements: Sequence[BlockRequirement], problem: Problem
) -> tuple[TuplePlan, Tuples]:
    return _planned(learn_with_harmless(problem, partial(learn_in_groups, learn=learn_one)), requirements)


def _planned(recoding: Recoding, requirements: Sequence[BlockRequirement]) -> tuple[TuplePlan, Tuples]:
    """Return what was learned as a plan, with an account of the search, and the tuples that are left out."""
    plan = replace(recoding.plan(requirements), search=asdict(recoding.account))
    return plan, recoding.problem.tuples()[~recoding.kept]


def _started(
    plan: Plan, table: Table, requirements: Sequence[BlockRequirement]
) -> tuple[Problem, NDArray[np.int64]]:
    """Return the problem with records as an earlier plan deals them, and the blocks of that plan that meet the requirements."""
    assert isinstance(plan, GeneralizationPlan)
    located = plan.locate(table).at_once("A plan to start from is looked up")
    if attribute := sensitive_attribute(requirements, table):
        located = located.with_column(attribute)
    dealt = Problem.of(table, requirements, located.counts)
    blocks = int(located.block_of.max()) + 1
    histogram = np.zeros((blocks + 1, dealt.values), dtype=np.int64)  # the last is of those without a block
    np.add.at(histogram, (located.block_of, dealt.sensitive), dealt.weights)
    holds = [block_meets(own, int(own.sum()), dealt.limits) for own in histogram[:-1]]
    return dealt, np.where(np.append(holds, False)[located.block_of], located.block_of, -1).astype(np.int64)


@typed
@dataclass(frozen=True)
class FullDomain:
    """Let every attribute climb to one level for the whole table: of all such choices the best, which is proven, or one that is given.

    Groups that do not meet the requirements are left out, as a whole, up to a share of the records.

    >>> FullDomain(suppress=0.05, measure="ncp")
    FullDomain(suppress=0.05, measure='ncp', levels=None)
    """

    suppress: float = 0.0
    """The largest share of the records that may be left out."""
    measure: Measure = "distortion"
    """What is least: distortion (DIS), ncp or discernibility."""
    levels: Mapping[str, int] | None = field(default=None, hash=False)
    """The level of every quasi attribute, from 0, the values themselves; without it, those are found that cost least."""
    name: ClassVar[str] = "full-domain"

    def __post_init__(self) -> None:
        number(self.suppress, "suppress", "generalize", "a share from 0 to 1", low=0, high=1)
        one_of(self.measure, "measure", "generalize", MEASURES)
        if self.levels is not None:
            object.__setattr__(self, "levels", levels_given(self.levels))

    def learn(self, table: Table, requirements: Sequence[BlockRequirement]) -> GeneralizationPlan:
        """Find the best levels, or take those that are given."""
        refuse_beyond_memory(table, requirements, "The method 'full-domain' compares choices")
        return learn_one_coding(
            table, requirements, suppress=self.suppress, measure=self.measure, levels=self.levels
        )


@typed
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


@typed
@dataclass(frozen=True)
class Mdav:
    """Group the records that lie closest together, by the numbers themselves: what suits means of blocks (microaggregation).

    >>> Mdav().name
    'mdav'
    """

    name: ClassVar[str] = "mdav"
    suppress: ClassVar[float] = 0.0

    def learn(self, table: Table, requirements: Sequence[BlockRequirement]) -> GeneralizationPlan:
        """Learn the blocks of all tuples, under which the requirements hold."""
        refuse_beyond_memory(table, requirements, "The method 'mdav' compares records")
        whole = with_hierarchies(table)
        return learn_mdav(whole, Problem.of(whole, requirements), requirements).plan(requirements)


Method = Blind | FullDomain | Mdav | Minimal | Mondrian
METHODS: dict[str, type[Method]] = {
    "minimal": Minimal,
    "mondrian": Mondrian,
    "blind": Blind,
    "full-domain": FullDomain,
    "mdav": Mdav,
}
DEFAULTS = {
    "suppress": 0.0,
    "strict": False,
    "region_labels": False,
    "measure": "distortion",
    "levels": None,
    "effort": None,
    "start": None,
}


def method_of(method: object, parameters: Mapping[str, object]) -> Method:
    """Return the method that an object is, or that a short name stands for with these parameters."""
    given = {name: value for name, value in parameters.items() if value != DEFAULTS[name]}
    if isinstance(method, Method):
        if given:
            raise ParameterError(f"Give {listed(list(given))} to the method itself: {method!r}.")
        return method
    one_of(method, "method", "generalize", tuple(METHODS))
    for name in given:
        able = [short for short, own in METHODS.items() if name in _parameters(own)]
        if method not in able:
            words = " or ".join(f"'{own}'" for own in able)
            raise ParameterError(
                f"The '{name}' parameter of generalize is for the method {words}. "
                f"Use {'that one' if len(able) == 1 else 'one of these'}."
            )
    return METHODS[str(method)](**given)  # type: ignore[arg-type]


def parameters_of(method: Method) -> dict[str, Any]:
    """Return the name of a method and what it was asked to do, as plain data; of a plan to start from, that there is one."""
    given = {own.name: getattr(method, own.name) for own in fields(method)}
    return {
        "name": method.name,
        **given,
        **({"start": given["start"] is not None} if "start" in given else {}),
    }


def _parameters(method: type[Method]) -> set[str]:
    return {own.name for own in fields(method)}
