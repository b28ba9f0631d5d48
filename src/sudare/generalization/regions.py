"""Learning by regions: a table of more tuples than are held at once is cut first, and each region is learned on its own.

Rothko-T of LeFevre, DeWitt & Ramakrishnan (2008) cuts by counts until a part fits into memory, too, and Rothko-S by a sample. Every
region meets the requirements as it stands, so it can be learned; it is, wherever the database has its tuples.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from functools import partial

import numpy as np
from numpy.typing import NDArray

from sudare.engines.database import Files
from sudare.engines.relational import Relational
from sudare.errors import ParameterError
from sudare.generalization.problem import Problem
from sudare.generalization.recoding import Account
from sudare.generalization.region_cuts import cut_into_regions
from sudare.plans.cuts import CutPlan
from sudare.plans.generalization import GeneralizationPlan
from sudare.plans.regions import RegionsPlan, Shelf, packed
from sudare.plans.tuples import TuplePlan
from sudare.privacy.blocks import Blocks
from sudare.privacy.requirement import BlockRequirement, sensitive_attribute
from sudare.progress import step
from sudare.tables.attribute import Role
from sudare.tables.counts import Counts
from sudare.tables.table import Table

Tuples = NDArray[np.int32]
Learn = Callable[[Problem], tuple[TuplePlan | CutPlan, Tuples]]
"""Learns a plan; also returns the tuples that it leaves out."""
LEFT_OUT, SEARCH = "left out", "search"
LEARNED_HERE = "Regions were learned here, one after the other."


def counted_of(table: Table, requirements: Sequence[BlockRequirement]) -> list[str]:
    """Return the columns that tuples are counted by."""
    attribute = sensitive_attribute(requirements, table)
    return [*table.names(Role.quasi), *([attribute] if attribute else [])]


def learn(
    table: Table, requirements: Sequence[BlockRequirement], learn_one: Learn
) -> tuple[GeneralizationPlan, Tuples]:
    """Learn from a table with hierarchies: at once if its tuples can be held, else by regions."""
    counted, rows = counted_of(table, requirements), table.rows
    if not isinstance(rows, Relational) or rows.tuple_count(counted) <= rows.max_tuples:
        return learn_one(Problem.of(table, requirements))
    whole, most = Blocks.of_table(table, [], sensitive_attribute(requirements, table)), rows.region_tuples
    regions, parted = cut_into_regions(table, requirements, counted, whole, most)
    none = Counts(tuple(counted), np.empty((0, len(counted)), np.int32), np.empty(0, np.int64), ())
    work = partial(_learn_region, Problem.of(table, requirements, none, whole), learn_one)
    left_out, accounts = [], []

    def learned() -> Iterator[Files]:
        with step("Learning", total=len(regions.sizes), unit="regions") as learning:
            for files in parted.each(len(regions.sizes), work):
                left_out.append(np.frombuffer(files[LEFT_OUT], dtype=np.int32).reshape(-1, len(counted)))
                if search := json.loads(files[SEARCH]):
                    accounts.append(Account.from_json(search))
                yield files
                learning.advance(1)

    shelf = Shelf.of(learned())
    parted.drop()
    said = [f"{LEARNED_HERE} {rows.works_here}"] if rows.works_here else []
    if large := [size for size in regions.sizes if size > most]:
        said.append(
            f"{len(large)} of {len(regions.sizes)} regions have more combinations than the {most:,} that are to be learned from at "
            f"once, up to {max(large):,}: no further cut keeps what was asked for in all its parts."
        )
    search = asdict(Account.joined(accounts)) if accounts else {}
    return RegionsPlan.of(regions.cuts, regions.region_of, shelf, search, said), np.concatenate(left_out)


def _learn_region(problem: Problem, learn_one: Learn, counts: Counts) -> Files:
    """Learn from the tuples of one region, wherever they are, and pack what was learned."""
    plan, left_out = learn_one(problem.of_units(counts))
    search = json.dumps(dict(plan.search), default=sorted).encode()  # kinds of changes are a set
    return packed(plan) | {LEFT_OUT: left_out.tobytes(), SEARCH: search}


def refuse_beyond_memory(table: Table, requirements: Sequence[BlockRequirement], what: str) -> None:
    """Refuse a table of more tuples than are held at once, where something is done with all of them together."""
    rows, counted = table.rows, counted_of(table, requirements)
    if isinstance(rows, Relational) and rows.tuple_count(counted) > rows.max_tuples:
        raise ParameterError(
            f"{what} for all tuples together, and the {rows.tuple_count(counted):,} tuples of {table.source.name} are too many "
            "to be held at once. Read it with more memory, or do without."
        )
