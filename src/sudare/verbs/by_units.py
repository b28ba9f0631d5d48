"""Learning for persons with several rows, and households: they are protected with all their rows.

Where published rows do not say which of them belong together, every block must have rows of k units; and what is asked of sensitive
values must hold both of the rows, which receivers see, and of the units, each of which counts as one, however many rows it has.
Units whose rows are seen to belong together by what is passed on are left out, as far as that is allowed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sudare.engines.by_unit import ByUnit
from sudare.errors import RequirementError
from sudare.generalization.merging import Failing, merged
from sudare.generalization.methods import Method, Minimal
from sudare.generalization.problem import Problem
from sudare.generalization.recoding import Recoding
from sudare.plans.generalization import GeneralizationPlan, Located, Places
from sudare.plans.placed import Placed, without_uncovered
from sudare.privacy.k_anonymity import KAnonymity
from sudare.privacy.requirement import BlockRequirement, sensitive_attribute
from sudare.tables.attribute import Role
from sudare.tables.counts import Counts, places_of
from sudare.tables.excerpt import without
from sudare.tables.table import Table
from sudare.verbs.blocks import blocks_of
from sudare.verbs.ties import Ties
from sudare.verbs.units import rows_with_unit, unit_of

Ints = NDArray[np.int64]
WHOLE = math.lcm(*range(1, 20))
"""What a unit weighs: up to 19 rows share it without a rest, and what is lost with more matters to nobody."""


def learned_by_unit(
    table: Table, asked: Sequence[BlockRequirement], method: Method
) -> tuple[GeneralizationPlan, Placed[Places]]:
    """Learn a plan for units, without those that rare values tie together, and say where it puts the table's rows."""
    unit, rest, records = unit_of(table), table, len(table)
    left_out = np.empty(0, dtype=np.int64)
    while True:
        plan = learn_by_unit(rest, asked, _with_what_is_left(method, records, len(rest)))
        placed = without_uncovered(plan, rest)
        ties = Ties(rows_with_unit(placed.rest, placed.located.rewriting), table.schema, asked)
        tied = ties.tied()
        if tied is None:
            break
        left_out = np.append(left_out, table[unit].values.is_in(tied.units.implode()).arg_true().to_numpy())
        own = table.counts([unit])
        without_them = own.weights[~np.isin(own.column(unit), left_out)].sum()
        if records - without_them > method.suppress * records:
            share = math.ceil(10_000 * (records - without_them) / records) / 10_000
            raise ties.refused(
                tied, f"Leave them out, with suppress={share:g} or more and a method that can. Or: "
            )
        rest = without(table, [unit], left_out[:, np.newaxis].astype(np.int32))
    whole = plan.locate(table)
    if len(left_out):
        whole = leaving_out(whole.at_once("Persons and households are counted"), left_out)
    return plan, without_uncovered(plan, table, whole)


def leaving_out(located: Located, units: Ints) -> Located:
    """Return where a plan puts the rows of a table if some units, given by their codes, are left out."""
    unit = unit_of(located.table)
    finer = located.with_column(unit)
    return replace(finer, block_of=np.where(np.isin(finer.counts.column(unit), units), -1, finer.block_of))


def _with_what_is_left(method: Method, records: int, rest: int) -> Method:
    """Return a method that leaves out no more of the rest than the whole table's share allows."""
    if rest == records:
        return method
    return replace(method, suppress=max(method.suppress * records - (records - rest), 0) / rest)  # type: ignore[arg-type]


def learn_by_unit(table: Table, asked: Sequence[BlockRequirement], method: Method) -> GeneralizationPlan:
    """Learn a plan under which the requirements hold of units, and of rows."""
    unit = unit_of(table)
    rows = ByUnit.of(table.rows, unit, table.names(Role.quasi))
    units = len(table[unit].values)
    for one in asked:
        if isinstance(one, KAnonymity) and one.k > units:
            raise RequirementError(
                f"{one} is impossible: there are only {units:,} {table.schema[unit].role}s. Ask for a smaller k."
            )
    if isinstance(method, Minimal):
        method = replace(method, deal=False)  # rows of one person would come into several blocks
    weighed = [KAnonymity(one.k * rows.whole) if isinstance(one, KAnonymity) else one for one in asked]
    learned = method.learn(replace(table, rows=rows), weighed)
    plan: GeneralizationPlan = replace(learned, requirements=asked)  # type: ignore[type-var]
    located = plan.locate(table).at_once("Persons and households are counted")
    if attribute := sensitive_attribute(asked, table):
        located = located.with_column(attribute)
    _refuse_left_out(table, located, method)
    failing = failing_by_unit(table, located, asked, attribute)
    if not failing(located.block_of).any():
        return plan
    problem = Problem.of(located.table, asked, located.counts)
    return merged(Recoding.of(plan.method, problem, located.block_of), failing).plan(asked)


def _refuse_left_out(table: Table, located: Located, method: Method) -> None:
    """Refuse to leave out more records than are allowed: a method, for which those of one unit weigh less, may take them for few."""
    records = int(located.counts.weights.sum())
    left_out = int(located.counts.weights[located.block_of < 0].sum())
    if left_out > method.suppress * records:
        role = table.schema[unit_of(table)].role
        raise RequirementError(
            f"{table.source.name}: {left_out:,} of {records:,} records would be left out, those of few {role}s with many, and 'suppress' lets "
            f"{method.suppress:.1%} be. Allow suppress={math.ceil(1000 * left_out / records) / 1000:g}, or leave nobody out: suppress=0."
        )


def failing_by_unit(
    table: Table, located: Located, asked: Sequence[BlockRequirement], attribute: str | None
) -> Failing:
    """Return what tells which blocks fail, counted by rows or by units."""
    counts, unit = located.counts, unit_of(table)
    finer = located.with_column(unit).counts
    tuple_of = np.arange(len(counts)) if unit in counts.names else places_of(finer.codes[:, :-1], counts)
    unit_code = finer.column(unit)

    def failing(block_of: Ints) -> NDArray[np.bool_]:
        size = int(block_of.max()) + 1
        by_row = blocks_of(table, counts, block_of, attribute)
        own = block_of[tuple_of]
        published = np.where(
            own >= 0, finer.weights, 0
        )  # a unit counts as one with the rows of it that are left
        rows_of = np.bincount(unit_code, published).astype(np.int64)
        share = WHOLE // np.maximum(rows_of, 1)
        weighed = replace(finer, weights=published * share[unit_code])
        by_unit = blocks_of(table, weighed, own, attribute)
        pairs = np.unique(np.stack([own[own >= 0], unit_code[own >= 0]]), axis=1)[0]
        bad = np.zeros(size, dtype=bool)
        if attribute is not None:
            bad |= _certain(own, unit_code, finer, attribute, size)
        for one in asked:
            if isinstance(one, KAnonymity):
                bad |= np.bincount(pairs, minlength=size) < one.k
            else:
                bad |= one.failing(by_row) | one.failing(by_unit)
        return bad

    return failing


def _certain(
    block_of: Ints, unit: NDArray[np.int32], counts: Counts, attribute: str, blocks: int
) -> NDArray[np.bool_]:
    """Tell of which blocks somebody knows a value of a unit by counting: more rows have it than are anybody else's."""
    inside = block_of >= 0
    block, weights = block_of[inside], counts.weights[inside]
    rows = np.bincount(block, weights, minlength=blocks)
    most = np.zeros((2, blocks))
    for at, codes in enumerate((unit, counts.column(attribute))):
        own = Counts.of({"block": block, "code": codes[inside]}, [blocks, int(codes.max()) + 1], weights)
        np.maximum.at(most[at], own.codes[:, 0], own.weights)
    return np.asarray((rows > 0) & (most.sum(axis=0) > rows))
