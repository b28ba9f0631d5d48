"""The verb `apply`: what was learned from some rows is done to others, and verified again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, overload

from sudare.errors import InputError, ParameterError, RequirementError
from sudare.plans.compositions import CompositionsPlan
from sudare.plans.cuts import CutPlan
from sudare.plans.generalization import GeneralizationPlan
from sudare.plans.levels import LevelsPlan
from sudare.plans.placed import Where, without_uncovered
from sudare.plans.plan import Plan
from sudare.plans.tuples import TuplePlan
from sudare.plans.views import ViewsPlan
from sudare.privacy.in_population import among, in_population
from sudare.privacy.requirement import one_of
from sudare.pview.design import PViewDesign
from sudare.pview.pview import PView
from sudare.randomization.plan import RandomizationPlan
from sudare.release.release import Release
from sudare.tables.attribute import Role
from sudare.tables.hierarchy import Hierarchy
from sudare.tables.table import Table, table_given
from sudare.tables.text import listed, text_of
from sudare.verbs.compositions import is_linked
from sudare.verbs.generalize import released, released_linked
from sudare.verbs.generalize_views import released_views
from sudare.verbs.materialize import materialize_design
from sudare.verbs.randomize import randomize_by_plan
from sudare.verbs.short_blocks import LEFT_OUT_BLOCKS, without_short_blocks
from sudare.verbs.true_labels import refuse_false_labels
from sudare.verbs.units import refuse_alike_units
from sudare.verification.columns import refuse_columns

Unseen = Literal["refuse", "suppress"]
OTHERS_VALUES = (
    "The labels are those of a plan that may have been learned from other records. Where the schema does not say what a "
    "hierarchy is, its intervals end at values of these."
)
WHICH_PLANS = (
    "(A plan of 'minimal' covers only combinations of values that it saw, one of 'mondrian' also others.)"
)
WHAT_GOES_ON = "A column that goes on with time, such as a date, has others in every table: for a plan that is to be used again, drop it (identifier)."


@overload
def apply(plan: PViewDesign, table: Table, unseen: Unseen = "refuse") -> PView: ...  # type: ignore[overload-overlap]


@overload
def apply(plan: Plan, table: Table, unseen: Unseen = "refuse", *, population: Any = None) -> Release: ...


def apply(plan: Plan, table: Table, unseen: Unseen = "refuse", *, population: Any = None) -> Release | PView:
    """Apply a plan to the rows of a table, of the same schema as that which the plan was learned from.

    Records are looked up by their values, whatever their order. What the plan does not cover is refused or, with
    unseen="suppress", left out; so are then blocks that these records do not fill, of a plan that generalizes one table. The output is verified again: if a requirement of the plan does not hold on it, or a label is
    not true of a value by what the schema says, nothing is released. A plan is trusted for what it asks for, and for no
    more: read `release.requirements` if somebody else may have written its file.

    A plan that was asked for k-map or delta-presence is counted in a `population` again.

    A law draws every record anew. A design of a p-view makes a new p-view, at the cost of its budget: with a ledger that
    is to be charged before anything is measured, call `materialize_design` instead.

    >>> import sudare as sd
    >>> people = sd.datasets.health_survey(500).select("age", "sex", "diagnosis")
    >>> schema = sd.Schema.from_roles(quasi=["age", "sex"], sensitive=["diagnosis"],
    ...     hierarchies={"age": sd.Hierarchy.intervals(range(18, 96), width=10)})
    >>> plan = sd.generalize(sd.read(people, schema), sd.KAnonymity(5), method="mondrian").plan
    >>> again = sd.apply(plan, sd.read(people.reverse(), schema))
    >>> again.certificate.measured["k"] >= 5
    True
    """
    if not isinstance(plan, Plan):
        raise ParameterError(
            f"apply needs a plan, such as release.plan or Plan.open(...). Got {type(plan).__name__} instead."
        )
    table_given(table, "apply")
    one_of(unseen, "unseen", "apply", ("refuse", "suppress"))
    if isinstance(plan, PViewDesign):
        return materialize_design(plan, table)
    if isinstance(plan, RandomizationPlan):
        return randomize_by_plan(table, plan)
    if not isinstance(plan, GeneralizationPlan | ViewsPlan):
        raise ParameterError(f"A plan of the kind '{plan.kind}' cannot be applied to rows.")
    refuse_columns([name for name in table.columns if name not in table.names(Role.identifier)], table.schema)
    if isinstance(plan, GeneralizationPlan) and in_population(plan.requirements):
        plan = _in_population(plan, population)
    elif population is not None:
        raise ParameterError(
            "apply counts in a population only where the plan was asked for k-map or delta-presence."
        )
    try:
        return _applied(plan, table, unseen)
    except RequirementError as error:
        can_leave_out = unseen == "refuse" and not isinstance(plan, ViewsPlan | CompositionsPlan)
        or_without = (
            ', or leave blocks out that fall short: unseen="suppress" (--unseen suppress on the command line)'
            if can_leave_out
            else ""
        )
        raise RequirementError(
            f"{error} The plan's blocks do not suit these records: learn a plan from them{or_without}."
        ) from None


def _applied(plan: GeneralizationPlan | ViewsPlan, table: Table, unseen: Unseen) -> Release:
    refuse_alike_units(table)
    caveats = [OTHERS_VALUES] if _has_labels_of_data(table) else []
    if isinstance(plan, ViewsPlan):
        views = without_uncovered(plan, table, _covered(plan, plan.locate(table), unseen))
        for rewriting in views.located.rewritings.values():
            refuse_false_labels(views.rest, rewriting)
        return released_views(table, plan, views, caveats=caveats)
    if isinstance(plan, CompositionsPlan) != is_linked(table):
        raise InputError(
            f"{table.source.name}: the plan is {'' if isinstance(plan, CompositionsPlan) else 'not '}for persons or households whose rows are "
            "published as belonging together, and by the schema it is the other way round. Apply it with the schema that it was learned with."
        )
    if isinstance(plan, CompositionsPlan):
        located = _covered(plan, plan.locate(table), unseen)
        refuse_false_labels(located.table, located.rewriting.joined())
        return released_linked(table, plan, caveats=caveats)
    whole = plan.locate(table)
    if unseen == "suppress":
        caveats = [*caveats, LEFT_OUT_BLOCKS]
        whole = without_short_blocks(plan, table, whole)
    placed = without_uncovered(plan, table, _covered(plan, whole, unseen))
    for piece in placed.located.rewriting.pieces():
        refuse_false_labels(placed.rest, piece)
    return released(table, plan, placed, caveats=caveats)


def _in_population(plan: GeneralizationPlan, population: Any) -> GeneralizationPlan:
    """Return a plan that is counted in a population; without one, in that which it was learned with, if it is still there."""
    if population is not None:
        plan = replace(plan, requirements=among(plan.requirements, population))  # type: ignore[type-var]
    for one in in_population(plan.requirements):
        if one.population is None:
            raise InputError(
                f"The plan was asked for {one}, which is counted among the people of a population. Give one: population=..., or "
                "--population FILE."
            )
    return plan


def _has_labels_of_data(table: Table) -> bool:
    """Tell whether the schema leaves it to the data what a hierarchy is: then labels end at somebody's values."""
    quasi = [table.schema[name] for name in table.names(Role.quasi)]
    return any(own.domain is None and not isinstance(own.hierarchy, Hierarchy) for own in quasi)


def _covered(plan: GeneralizationPlan | ViewsPlan, located: Where, unseen: Unseen) -> Where:
    """Refuse a table of which the plan does not cover enough."""
    table, records, without, first = located.table, 0, 0, ""
    for piece in located.pieces():
        records += piece.counts.total
        without += int(piece.counts.weights[~piece.covered].sum())
        if not first and not piece.covered.all():
            first = table.describe(piece.counts, int((~piece.covered).argmax()))
    if without == records:
        short = ", or their blocks do not have what was asked for" if unseen == "suppress" else ""
        new = _new_to(plan, table)
        why = (
            WHICH_PLANS
            if not new
            else f"Of {listed(new)} the plan has seen none of these values. {WHAT_GOES_ON}"
        )
        raise InputError(
            f"{table.source.name}: the plan covers none of its records{short}. Learn a plan from them. {why}"
        )
    if unseen == "refuse" and without:
        raise InputError(
            f"{table.source.name}: the plan does not cover {without:,} of {records:,} records; the first has {first}. Leave "
            'them out with unseen="suppress" (--unseen suppress on the command line), or learn a plan from these records.'
            f"{f' {WHICH_PLANS}' if 2 * without > records else ''}"
        )
    return located


def _new_to(plan: GeneralizationPlan | ViewsPlan, table: Table) -> list[str]:
    """Return the quasi attributes of which a plan has seen none of a table's values."""
    trees = {} if isinstance(plan, ViewsPlan) else plan.trees
    return [
        name
        for name, tree in trees.items()
        if set(tree.labels[0]).isdisjoint(map(text_of, table[name].values.to_list()))
    ]


__all__ = ["CutPlan", "LevelsPlan", "Plan", "TuplePlan", "ViewsPlan", "apply"]
