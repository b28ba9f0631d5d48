"""Persons with several rows, and households: they are protected with all their rows.

Where published rows do not say which of them belong together, every block must have rows of k units; and what is asked of sensitive
values must hold both of the rows, which receivers see, and of the units, each of which counts as one, however many rows it has.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.engines.by_unit import ByUnit
from sudare.errors import InputError, RequirementError
from sudare.generalization.merging import Failing, merged
from sudare.generalization.methods import Method, Minimal
from sudare.generalization.problem import Problem
from sudare.generalization.recoding import Recoding
from sudare.noise.keystream import Keystream
from sudare.plans.generalization import GeneralizationPlan, Located, Places
from sudare.plans.placed import Placed
from sudare.privacy.blocks import Blocks
from sudare.privacy.k_anonymity import KAnonymity
from sudare.privacy.requirement import BlockRequirement, sensitive_attribute
from sudare.tables.attribute import Role
from sudare.tables.counts import Counts, is_first, places_of
from sudare.tables.runs import PublishedRows
from sudare.tables.table import Table
from sudare.tables.text import listed
from sudare.verification.findings import Finding, Verification
from sudare.verification.units import find_by_unit

Ints = NDArray[np.int64]
WHOLE = math.lcm(*range(1, 20))
"""What a unit weighs: up to 19 rows share it without a rest, and what is lost with more matters to nobody."""
AGREEING = 0.8
"""The share of units whose rows agree in a column, from which on it is taken to speak of units and not of rows."""
UNSEEN_UNITS = (
    "What is promised is counted in {0}s, each as one, however many rows it has. Which rows are of one {0} is not published: "
    "receivers can recount rows, and what is measured here is what was asked for."
)


def unit_of(table: Table) -> str:
    """Return the column that says which rows are protected together; it must say so of every row."""
    unit = table.schema.unit
    assert unit is not None  # or nobody would ask
    if table[unit].missing:
        raise InputError(
            f"{table.source.name}: the {table.schema[unit].role} '{unit}' is missing in some rows, so that nobody knows whose they "
            "are. Fill it in, or leave these rows out."
        )
    return unit


def refuse_units(table: Table, verb: str) -> None:
    """Refuse a table whose rows are protected together, in a verb that protects them one by one."""
    if table.schema.unit is not None:
        raise InputError(
            f"{table.source.name}: {verb} protects rows one by one, and '{table.schema.unit}' says which of them are of one "
            f"{table.schema[table.schema.unit].role}. Use generalize or materialize; or keep one row of each, and make '{table.schema.unit}' "
            "an identifier."
        )


def refuse_ties(table: Table, asked: Sequence[BlockRequirement]) -> None:
    """Refuse values that are passed on as they are and tell which rows are of one unit: who has the file sees units together.

    These are columns that the rows of nearly every unit agree in, such as a household's income, where they
    have values together that fewer units have than are to be told from each other.
    """
    unit, quasi = unit_of(table), table.names(Role.quasi)
    rows = table.counts([unit])
    several = rows.weights > 1
    if not several.any():
        return
    agreeing = [name for name in table.publishable if _agrees(table, name, rows, several)]
    own = [name for name in agreeing if name not in quasi]
    if not own:
        return  # nobody is alone in a block
    k = max([2, *(one.k for one in asked if isinstance(one, KAnonymity))])
    pairs = table.counts([*agreeing, unit])  # labels of quasi values may be these values themselves
    group = np.cumsum(is_first(pairs.codes[:, :-1])) - 1
    units = np.bincount(group)[group]
    large = np.zeros(rows.sizes[0], dtype=bool)
    large[rows.codes[several, 0]] = True
    tied = np.unique(pairs.codes[(units < k) & large[pairs.codes[:, -1]], -1])
    if len(tied):
        role = table.schema[unit].role
        raise RequirementError(
            f"{table.source.name}: the rows of a {role} agree in {listed(own)}, and fewer than {k} {role}s have what {len(tied):,} of "
            f"{len(rows):,} have there: whoever has the output sees which rows belong together. Make {'it' if len(own) == 1 else 'them'} "
            f"quasi with a hierarchy, or an identifier; or publish the {role}s as such: linked = true."
        )


def _agrees(table: Table, name: str, rows: Counts, several: NDArray[np.bool_]) -> bool:
    """Tell whether the rows of nearly all units with several have one value in a column."""
    values = np.bincount(table.counts([table.schema.unit or "", name]).codes[:, 0], minlength=rows.sizes[0])
    return bool((values[rows.codes[several, 0]] == 1).mean() >= AGREEING)


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
    failing = _failing(table, located, asked, attribute)
    if not failing(located.block_of).any():
        return plan
    problem = Problem.of(located.table, asked, located.counts)
    return merged(Recoding.of(plan.method, problem, located.block_of), failing).plan(asked)


def _failing(
    table: Table, located: Located, asked: Sequence[BlockRequirement], attribute: str | None
) -> Failing:
    """Return what tells which blocks fail, counted by rows or by units."""
    counts, unit = located.counts, unit_of(table)
    finer = table.counts([*counts.names, unit])
    tuple_of, unit_code = places_of(finer.codes[:, :-1], counts), finer.codes[:, -1]
    rows_of = np.bincount(unit_code, finer.weights, minlength=finer.sizes[-1]).astype(np.int64)
    weights = finer.weights * (WHOLE // rows_of[unit_code])

    def blocks(of_block: Ints, codes: NDArray[np.int32], weight: Ints, size: int) -> Blocks:
        inside = of_block >= 0
        if attribute is None:
            return Blocks.of_sizes(
                np.bincount(of_block[inside], weight[inside], minlength=size).astype(np.int64)
            )
        value = codes[:, counts.names.index(attribute)]
        columns: dict[str, NDArray[Any]] = {"block": of_block[inside], attribute: value[inside]}
        summed = Counts.of(columns, [size, table[attribute].size], weight[inside])
        return Blocks.of(summed, attribute, table[attribute].hierarchy, table[attribute].values)

    def failing(block_of: Ints) -> NDArray[np.bool_]:
        size = int(block_of.max()) + 1
        by_row = blocks(block_of, counts.codes, counts.weights, size)
        own = block_of[tuple_of]
        by_unit = blocks(own, finer.codes, weights, size)
        pairs = np.unique(np.stack([own[own >= 0], unit_code[own >= 0]]), axis=1)[0]
        bad = np.zeros(size, dtype=bool)
        for one in asked:
            if isinstance(one, KAnonymity):
                bad |= np.bincount(pairs, minlength=size) < one.k
            else:
                bad |= one.failing(by_row) | one.failing(by_unit)
        return bad

    return failing


def refuse_few_units(
    placed: Placed[Places], output: PublishedRows, asked: Sequence[BlockRequirement]
) -> list[Finding]:
    """Recount the output by units, beside the unit of every row; raise a RequirementError if a requirement does not hold."""
    rewriting = placed.located.rewriting.joined()
    if rewriting.dealt:
        raise RequirementError(
            "The plan deals rows of equal people to different blocks, as if each were somebody else's. Learn one from a table whose "
            "schema says whose rows they are."
        )
    beside = replace(rewriting, published={**rewriting.published, unit_of(placed.rest): None})
    findings = find_by_unit(placed.rest.rows.rewrite(beside).frame(), output, asked, placed.rest.schema)
    Verification(tuple(findings)).refuse_if_broken()
    return findings


def unit_record(table: Table, findings: Sequence[Finding]) -> dict[str, Any]:
    """Say in which unit the promises are counted, for the holder: how many there are, and what was measured."""
    unit = unit_of(table)
    rows = table.counts([unit]).weights
    return {
        "role": str(table.schema[unit].role),
        "units": len(rows),
        "most_rows": int(rows.max()),
        "measured": {one.name: one.value for one in findings},
    }


def counts_at_most(table: Table, names: Sequence[str], most: int, source: Keystream) -> Counts:
    """Count by some columns, with at most so many rows of each unit, drawn at random: which, depends on its own rows alone."""
    unit = unit_of(table)
    finer = table.counts([unit, *names])
    units = finer.codes[:, 0]
    rows = np.bincount(units, finer.weights).astype(np.int64)
    weights = np.where(rows[units] > most, 0, finer.weights)
    entry = np.repeat(np.arange(len(units)), np.where(rows[units] > most, finer.weights, 0))
    order = np.lexsort((source.words(len(entry)), units[entry]))
    drawn = entry[order]
    place = np.arange(len(drawn)) - np.searchsorted(units[drawn], units[drawn])
    np.add.at(weights, drawn[place < most], 1)
    kept = np.flatnonzero(weights)
    columns = {name: finer.column(name)[kept] for name in names}
    return Counts.of(columns, finer.sizes[1:], weights[kept])
