"""Persons with several rows, and households: they are protected with all their rows.

Where published rows do not say which of them belong together, every block must have rows of k units; and what is asked of sensitive
values must hold both of the rows, which receivers see, and of the units, each of which counts as one, however many rows it has.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.attacks.households import known_to_belong_together
from sudare.engines.by_unit import ByUnit
from sudare.engines.rewriting import AnyRewriting
from sudare.errors import InputError, RequirementError
from sudare.generalization.merging import Failing, merged
from sudare.generalization.methods import Method, Minimal
from sudare.generalization.problem import Problem
from sudare.generalization.recoding import Recoding
from sudare.noise.keystream import Keystream
from sudare.plans.generalization import GeneralizationPlan, Located
from sudare.privacy.blocks import Blocks
from sudare.privacy.k_anonymity import KAnonymity
from sudare.privacy.k_map import maps
from sudare.privacy.requirement import BlockRequirement, sensitive_attribute
from sudare.tables.attribute import Role
from sudare.tables.counts import Counts, places_of
from sudare.tables.exact import exact
from sudare.tables.lookalikes import lookalikes
from sudare.tables.runs import PublishedRows
from sudare.tables.schema import Schema
from sudare.tables.table import Table
from sudare.tables.text import listed, spelled
from sudare.verification.findings import Finding, Verification
from sudare.verification.units import find_by_unit

Ints = NDArray[np.int64]
WHOLE = math.lcm(*range(1, 20))
"""What a unit weighs: up to 19 rows share it without a rest, and what is lost with more matters to nobody."""
AGREEING = 0.8
"""The share of units whose rows agree in a column, from which on it is taken to speak of units and not of rows."""
MOSTLY = 0.5
"""The share of units whose rows agree in a column, from which on it is looked at together with others."""
TIED = 0.01
"""The share of units that rare values of another column may tie together, such as an illness of two in a family."""
OWN_VALUES = 0.9
"""The share of rows with a value of their own, from which on the order of a column may be that of the source."""
BY_CHANCE = 8
"""Units whose rows are neighbours by chance in some order: with one expected, so many come once in a million."""
UNSEEN_UNITS = (
    "What is promised is counted in {0}s, each as one, however many rows it has. Which rows are of one {0} is not published: "
    "receivers can recount rows, and what is measured here is what was asked for."
)


def unit_of(table: Table) -> str:
    """Return the column that says which rows are protected together; it must say so of every row."""
    unit = table.schema.unit
    assert unit is not None  # or nobody would ask
    values = table[unit].values
    if table[unit].missing or (values.dtype.is_float() and values.is_nan().any()):
        raise InputError(
            f"{table.source.name}: the {table.schema[unit].role} '{unit}' is missing in some rows, so that nobody knows whose they "
            "are. Fill it in, or leave these rows out."
        )
    return unit


def refuse_alike_units(table: Table) -> None:
    """Refuse a table in which one person or household may be written in two ways: it would be counted, and be hidden among, twice."""
    if table.schema.unit is None:
        return
    unit = unit_of(table)
    if alike := _alike(table[unit].values):
        raise InputError(
            f"{table.source.name}, column '{unit}': {listed(list(alike))} look alike, so that one {table.schema[unit].role} may be counted for "
            "several. Write each in one way, or number them anew."
        )


def _alike(ids: pl.Series) -> tuple[str, ...] | None:
    """Return some ids that people take for one another; numbers are what they are."""
    if not (ids.dtype == pl.String or ids.dtype.is_float()):
        return None
    texts = (
        ids
        if ids.dtype == pl.String
        else pl.Series([spelled(value) for value in ids.to_list()], dtype=pl.String)
    )
    if not texts.str.contains(r"[^\x20-\x7e]").any():  # then this is all that makes texts look alike
        plain = texts.str.to_lowercase().str.replace_all(" ", "", literal=True)
        texts = texts.filter(plain.is_duplicated())
    return next(iter(lookalikes(texts.to_list())), None) or _same(texts)


def _same(texts: pl.Series) -> tuple[str, ...] | None:
    """Return a text that stands for two values, as 0 does for 0.0 and -0.0."""
    twice = texts.filter(texts.is_duplicated())
    return (twice[0], twice[0]) if len(twice) else None


def refuse_units(table: Table, verb: str) -> None:
    """Refuse a table whose rows are protected together, in a verb that protects them one by one."""
    if table.schema.unit is not None:
        raise InputError(
            f"{table.source.name}: {verb} protects rows one by one, and '{table.schema.unit}' says which of them are of one "
            f"{table.schema[table.schema.unit].role}. Use generalize or materialize; or keep one row of each, and make '{table.schema.unit}' "
            "an identifier."
        )


def refuse_mapped_units(table: Table, asked: Sequence[object]) -> None:
    """Refuse a population whose people would be counted for persons or households."""
    if table.schema.unit is not None and maps(asked):
        raise InputError(
            f"{table.source.name}: {maps(asked)[0]} counts the people that a row could be of, and rows of one {table.schema[table.schema.unit].role} are "
            "protected together. Ask for k-anonymity."
        )


def refuse_ties(rows: pl.DataFrame, schema: Schema, asked: Sequence[BlockRequirement]) -> None:
    """Refuse values that are passed on as they are and tell which rows are of one unit; `rows` are published ones with their unit.

    Where the rows of most units agree in a column, such as a household's region, whoever knows its members looks for a value
    that all of them may have. So k units must have each such value in every block, as if it were quasi. In any other column, a
    value that several rows of a unit share, and fewer than k units have, ties these rows together; so do values of several columns that mostly agree.
    """
    quasi = schema.names(Role.quasi)
    k = max([2, *(one.k for one in asked if isinstance(one, KAnonymity))])
    # Columns go by their places: whatever they are called, no name of ours is one of theirs.
    key = {name: str(place) for place, name in enumerate(rows.columns)}
    keys = pl.DataFrame([exact(column).alias(key[column.name]) for column in rows.iter_columns()])
    unit = key[schema.unit or ""]
    sizes = keys.group_by(unit).len("rows")
    several = sizes.filter(pl.col("rows") > 1).height
    if not several:
        return

    def agree(names: Sequence[str]) -> int:
        """Count the units whose rows agree in columns; refuse those of which rare values tie rows together."""
        own = [key[name] for name in names]
        shared = keys.group_by(unit, *own).len("alike").join(sizes, on=unit).filter(pl.col("rows") > 1)
        units = shared.filter(pl.col("alike") == pl.col("rows")).height
        if len(names) == 1 and units >= AGREEING * several:
            return units
        rare = keys.group_by(own).agg(pl.n_unique(unit).alias("units")).filter(pl.col("units") < k)
        tied = shared.filter(pl.col("alike") > 1).join(rare, on=own, nulls_equal=True)[unit].n_unique()
        if tied > TIED * several:
            raise _tied(schema, names, tied, sizes.height, k)
        return units

    passed = [name for name in rows.columns if name not in (schema.unit, *quasi)]
    for name in passed:
        if (near := _neighbours(keys[unit], rows[name])) > max(TIED * several, BY_CHANCE):
            raise _in_order(schema, name, near, several)
    of_units = {name: agree([name]) for name in passed}
    agreeing = [name for name, units in of_units.items() if units >= AGREEING * several]
    if agreeing:
        cells = keys.group_by([key[name] for name in (*quasi, *agreeing)]).agg(pl.col(unit).unique())
        alone = cells.filter(pl.col(unit).list.len() < k)[unit].explode().n_unique() if cells.height else 0
        if alone:
            raise _tied(schema, agreeing, alone, sizes.height, k)
    mostly = [name for name, units in of_units.items() if units > MOSTLY * several]
    if len(mostly) > max(1, len(agreeing)):  # as an outsider would take them together
        agree(mostly)


def _neighbours(units: pl.Series, values: pl.Series) -> int:
    """Count the units whose rows stand next to each other in the order of a column that has a value for nearly every row.

    Of pairs of rows in any other order that is one at most, on average: n / 2 pairs, each with a chance of 2 / n.
    """
    if values.n_unique() < OWN_VALUES * len(values):
        return 0
    places = pl.DataFrame({"unit": units.gather(values.arg_sort())}).with_row_index("place")
    spans = places.group_by("unit").agg(pl.len().alias("rows"), span=pl.max("place") - pl.min("place") + 1)
    return spans.filter((pl.col("rows") > 1) & (pl.col("rows") == pl.col("span"))).height


def _in_order(schema: Schema, name: str, near: int, of: int) -> RequirementError:
    role = schema[schema.unit or ""].role
    return RequirementError(
        f"In the order of '{name}', the rows of {near:,} of {of:,} {role}s with several stand next to each other: whoever has the output sees "
        f"which rows belong together. Leave '{name}' out, as an identifier; or publish the {role}s as such: linked = true."
    )


def _tied(schema: Schema, names: Sequence[str], units: int, of: int, k: int) -> RequirementError:
    role = schema[schema.unit or ""].role
    return RequirementError(
        f"Rows of a {role} agree in {listed(list(names))}, and fewer than {k} {role}s are published alike with what {units:,} of {of:,} have "
        f"there: whoever has the output sees which rows belong together. Make {'it' if len(names) == 1 else 'them'} quasi, or an "
        f"identifier; or publish the {role}s as such: linked = true."
    )


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
    failing = _failing(table, located, asked, attribute)
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


def rows_with_unit(table: Table, published: AnyRewriting) -> pl.DataFrame:
    """Return what is published of a table, with the unit of every row."""
    rewriting = published.joined()
    if rewriting.dealt:
        raise RequirementError(
            "The plan deals rows of equal people to different blocks, as if each were somebody else's. Learn one from a table whose "
            "schema says whose rows they are."
        )
    beside = replace(rewriting, published={**rewriting.published, unit_of(table): None})
    return table.rows.rewrite(beside).frame()


def refuse_few_units(
    rows: pl.DataFrame, output: PublishedRows, asked: Sequence[BlockRequirement], schema: Schema
) -> list[Finding]:
    """Recount the output by units, beside the unit of every row; raise a RequirementError if a requirement does not hold."""
    findings = find_by_unit(rows, output, asked, schema)
    Verification(tuple(findings)).refuse_if_broken()
    return findings


def unit_record(
    table: Table,
    findings: Sequence[Finding],
    output: PublishedRows,
    asked: Sequence[BlockRequirement],
    fewest: Callable[[pl.DataFrame], int],
    alike: int,
) -> dict[str, Any]:
    """Say for the holder in which unit the promises are counted: how many there are, what was measured, and what looking them up finds.

    `alike` are as many units as nobody's published rows have fewer of, and `fewest` says the same of the original.
    """
    unit = unit_of(table)
    rows = table.counts([unit]).weights
    k = max([2, *(one.k for one in asked if isinstance(one, KAnonymity))])
    return {
        "role": str(table.schema[unit].role),
        "units": len(rows),
        "most_rows": int(rows.max()),
        "measured": {one.name: one.value for one in findings},
        "alike": {"input": fewest(table.frame()), "output": alike},
        "looked_up": known_to_belong_together(output, table, k),
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
