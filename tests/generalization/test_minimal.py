from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import sudare as sd
from sudare.errors import ParameterError
from sudare.generalization import _kernels, drafts, moving
from sudare.generalization._grow import grow, nearest_units
from sudare.generalization.minimal import learn_minimal
from sudare.generalization.mondrian import _cut, learn_mondrian
from sudare.generalization.problem import Problem, level_vectors
from sudare.privacy.l_diversity import LDiversity
from sudare.privacy.limits import ByTable
from sudare.privacy.requirement import BlockRequirement
from sudare.privacy.t_closeness import TCloseness
from tests import by_row
from tests.generalization.adult import adult, adult_blocks
from tests.generalization.cases import Case, random_case, random_table, randoms, with_limits
from tests.generalization.plain import (
    Costs,
    Partition,
    Rule,
    check,
    check_blocks,
    check_distortion,
    check_levels,
    check_rows,
    frame_of,
    least_cost,
    partition,
    plain_nearest,
    plain_sweep,
)
from tests.tries import Tries

COIL = 0.15  # measured: 0.1300; Mondrian has 0.1818
PATHS = {"sweep": {}, "grow": {"MAX_CHOICES": 0}, "mondrian": {"MAX_CHOICES": 0, "MAX_PAIRS": 0}}
paths = st.sampled_from(list(PATHS))


@contextmanager
def taking(path: str) -> Iterator[None]:
    """Force one of the three ways to a first draft."""
    with pytest.MonkeyPatch.context() as patch:
        with_limits(patch, **PATHS[path])
        yield


# -- never a wrong claim ---------------------------------------------------------------------------


@given(r=randoms, path=paths)
@settings(max_examples=200)
def test_never_a_wrong_claim(r: Random, path: str) -> None:
    case = random_case(r)
    with taking(path):
        recoding = learn_minimal(Problem.of(case.table, case.requirements))
    check(case.table, case.rule, recoding)


@given(r=randoms, path=paths, share=st.sampled_from([0.05, 0.1, 0.29, 0.3, 0.6, 0.95]))
@settings(max_examples=150)
def test_never_a_wrong_claim_with_records_left_out(r: Random, path: str, share: float) -> None:
    """t-closeness, which speaks of the table itself, has a test of its own."""
    case = random_case(r)
    asked = [one for one in case.requirements if not isinstance(one, ByTable)] or [sd.KAnonymity(1)]
    with taking(path):
        recoding = learn_minimal(Problem.of(case.table, asked), suppress=share)
    check(case.table, Rule(case.table, asked), recoding, spare=math.floor(share * len(case.table)))


@given(r=randoms, share=st.sampled_from([0.1, 0.3, 0.6]))
@settings(max_examples=60)
def test_units_are_left_out_as_a_whole(r: Random, share: float) -> None:
    """Though their records may be dealt to several blocks: who is left out is told by their values."""
    case = random_case(r)
    asked = [one for one in case.requirements if not isinstance(one, ByTable)] or [sd.KAnonymity(2)]
    problem = Problem.of(case.table, asked)
    first = learn_minimal(problem, suppress=share)
    again = learn_minimal(first.problem, suppress=share, start=first.block_of)
    for recoding in (first, again):
        own = recoding.problem
        named = [
            (*unit, value) for unit, value in zip(own.units.tolist(), own.sensitive.tolist(), strict=True)
        ]
        out = {name for name, kept in zip(named, recoding.kept, strict=True) if not kept}
        assert out.isdisjoint(name for name, kept in zip(named, recoding.kept, strict=True) if kept)
        assert recoding.left_out <= share * len(case.table)


@pytest.mark.parametrize(
    ("rows", "share", "asked"),
    [
        ("d0 b1 b0 d0 c1", 0.4, [LDiversity(1.9, "entropy")]),
        ("c0 a1 b1 b0 b0", 0.3, [LDiversity(2, "recursive", c=3), sd.KAnonymity(3)]),
    ],
)
def test_what_is_left_out_is_not_missed_by_the_rest(
    rows: str, share: float, asked: list[BlockRequirement]
) -> None:
    """The whole table holds. Leaving out a rare value must not leave a block that does not."""
    table = small(rows)
    assert Rule(table, asked).possible
    recoding = learn_minimal(Problem.of(table, asked), suppress=share)
    check(table, Rule(table, asked), recoding, spare=math.floor(share * len(table)))


def test_t_closeness_leaves_nothing_out() -> None:
    """A verifier sees only the output: with records left out, blocks would be compared with another table."""
    problem = Problem.of(small("c1 c0 a0 b0 b0"), [TCloseness(0.2)])
    with pytest.raises(ParameterError, match="no record may be left out"):
        learn_minimal(problem, suppress=0.3)


def small(rows: str) -> sd.Table:
    """A table from words: a letter for the quasi value, a digit for the sensitive one."""
    columns = {"q": [word[0] for word in rows.split()], "illness": [word[1] for word in rows.split()]}
    return sd.read(pl.DataFrame(columns), sd.Schema.from_roles(quasi=["q"], sensitive=["illness"]))


def test_leaving_out_an_outlier_spares_the_others() -> None:
    frame = pl.DataFrame({"age": [25] * 29 + [99], "town": ["Ayr"] * 30})
    table = sd.read(frame, sd.Schema.from_roles(quasi=["age", "town"]))
    problem = Problem.of(table, [sd.KAnonymity(5)])
    left_out = learn_minimal(problem, suppress=0.05)
    assert (by_row.block_of(table, left_out) >= 0).tolist() == [True] * 29 + [False]
    assert left_out.distortion() == pytest.approx(1 / 30)
    assert frame_of(table, left_out)["age"].unique().to_list() == [25]
    assert learn_minimal(problem, suppress=0.03).kept.all()


@given(r=randoms, path=paths)
@settings(max_examples=50)
def test_the_order_of_the_rows_does_not_matter(r: Random, path: str) -> None:
    case = random_case(r)
    order = list(range(len(case.table)))
    r.shuffle(order)
    shuffled = sd.read(case.table.frame()[order], case.table.schema)
    with taking(path):
        one, again, other = (
            learn_minimal(Problem.of(table, case.requirements))
            for table in (case.table, case.table, shuffled)
        )
    assert (one.block_of == again.block_of).all()
    assert (one.levels == again.levels).all()
    assert one.distortion() == again.distortion() == other.distortion()
    # Of people who are equal in all that is published, some may be in one block and some in another.
    frames = [frame_of(case.table, one), frame_of(shuffled, other)]
    assert_frame_equal(*frames, check_row_order=False)


# -- twins of the kernels --------------------------------------------------------------------------


def by_value(problem: Problem) -> bool:
    return problem.limits.distinct > 1 or problem.limits.more is not None


@given(r=randoms)
@settings(max_examples=80)
def test_sweep_twin(r: Random) -> None:
    case = random_case(r)
    p = Problem.of(case.table, case.requirements)
    choices = level_vectors(p.trees.height, p.trees.step)
    if len(choices) > 400:
        return
    block_of = _kernels.sweep(p.unit_arrays, p.limits, choices, by_value(p))
    assert partition(block_of) == plain_sweep(p, case.rule, choices.tolist())


@given(r=randoms)
@settings(max_examples=40)
def test_all_choices_of_levels_by_rising_cost(r: Random) -> None:
    p = Problem.of(random_table(r, r.randint(1, 12)), [sd.KAnonymity(1)])
    choices = level_vectors(p.trees.height, p.trees.step)
    every = itertools.product(*(range(h.height + 1) for h in p.hierarchies))
    assert sorted(map(tuple, choices.tolist())) == sorted(every)
    assert (np.diff(choices @ p.trees.step) >= -1e-12).all()


@given(r=randoms, apart=st.booleans())
@settings(max_examples=60)
def test_nearest_distances_twin(r: Random, apart: bool) -> None:
    p = Problem.of(random_table(r, r.randint(1, 16)), [LDiversity(1)])
    distances = nearest_units(p.unit_arrays, 1, apart)[1][:, 0]
    assert distances.tolist() == pytest.approx(plain_nearest(p, apart))


@given(r=randoms)
@settings(max_examples=80)
def test_grown_blocks_hold_and_stop_growing_as_soon_as_they_do(r: Random) -> None:
    case = random_case(r)
    p = Problem.of(case.table, case.requirements)
    seeds = np.array(r.sample(range(len(p.units)), len(p.units)))
    block_of = grow(p.unit_arrays, p.limits, seeds, by_value(p))
    costs = Costs(p, case.rule)
    blocks, left = partition(block_of)
    assert all(costs.meets(block) for block in blocks)
    if left and all(isinstance(one, sd.KAnonymity) for one in case.requirements):
        assert not costs.meets(left)
        least = max((one.k for one in case.requirements if isinstance(one, sd.KAnonymity)), default=1)
        for block in blocks:  # without the unit that came last it did not hold
            assert min(int(p.weights[list(block - {u})].sum()) for u in block) < least


def test_sweep_does_not_mistake_units_for_equal_when_the_attributes_are_wide() -> None:
    """14 attributes of 256 values each are 112 bits: a packed key of 64 forgets the first six."""
    names = [f"c{i}" for i in range(14)]
    wide = sd.Hierarchy.suppress([str(i) for i in range(256)])
    schema = sd.Schema.from_roles(quasi=names, hierarchies=dict.fromkeys(names, wide))
    rows = [[first] * 6 + ["7"] * 7 + [last] for first in "01" for last in "78"]
    table = sd.read(pl.DataFrame(rows, schema=names, orient="row"), schema)
    problem = Problem.of(table, [sd.KAnonymity(2)])
    assert problem.trees.choices <= drafts.MAX_CHOICES
    assert learn_minimal(problem).distortion() == pytest.approx(1 / 14)


def test_a_table_too_large_to_compare_all_pairs_is_cut_by_mondrian() -> None:
    for seed in range(20):
        case = random_case(Random(seed), 20)
        problem = Problem.of(case.table, case.requirements)
        with taking("mondrian"):
            improved = learn_minimal(problem)
            plain = learn_minimal(problem, effort="quick")
        whole = learn_mondrian(problem)
        assert improved.distortion() <= whole.distortion() + 1e-12
        assert plain.distortion() <= whole.distortion() + 1e-12
        coarse, _ = partition(whole.block_of)
        assert all(any(part <= block for block in coarse) for part in partition(plain.block_of)[0])


# -- how good it is --------------------------------------------------------------------------------

# Tables take longer to make than to publish, so each is made once for all tests and all paths.


@cache
def any_case(seed: int) -> Case:
    return random_case(Random(seed))


@cache
def small_case(seed: int) -> Case:
    r = Random(seed)
    return random_case(r, r.randint(6, 16))


@cache
def eight_rows(seed: int) -> sd.Table:
    r = Random(seed)
    return random_table(r, 8, attributes=r.randint(2, 3))


def final_blocks(case: Case, path: str, *, cut: bool = True) -> tuple[Costs, Partition]:
    problem = Problem.of(case.table, case.requirements)
    with taking(path), pytest.MonkeyPatch.context() as patch:
        if not cut:
            patch.setattr(moving, "cut", lambda problem, block_of, levels: block_of)
        recoding = learn_minimal(problem)
    blocks, left = partition(recoding.block_of)
    assert not left
    return Costs(recoding.problem, case.rule), blocks


def moves_that_save(costs: Costs, blocks: Partition) -> Iterator[tuple[int, float]]:
    """Every unit that another block could take while both still hold, and what that would save."""
    for block, other in itertools.permutations(blocks, 2):
        for u in block:
            rest, joined = block - {u}, other | {u}
            if rest and costs.meets(rest) and costs.meets(joined):
                saved = costs.cost(block) + costs.cost(other) - costs.cost(rest) - costs.cost(joined)
                if saved > 1e-9:
                    yield u, saved


@given(r=randoms, path=paths)
@settings(max_examples=80)
def test_units_move_until_no_move_saves(r: Random, path: str) -> None:
    costs, blocks = final_blocks(random_case(r), path, cut=False)
    assert not list(moves_that_save(costs, blocks))


@pytest.mark.parametrize("path", PATHS)
def test_no_unit_can_move_for_less(path: str, tries: Tries) -> None:
    moves_by_seed = {}
    for seed in tries(300):
        if moves := list(moves_that_save(*final_blocks(small_case(seed), path))):
            moves_by_seed[seed] = moves
    assert not moves_by_seed


@pytest.mark.parametrize("path", PATHS)
def test_no_block_can_be_cut_strictly(path: str, tries: Tries) -> None:
    """What the paper calls a minimal solution."""
    for seed in tries(150):
        case = any_case(seed)
        problem = Problem.of(case.table, case.requirements)
        with taking(path):
            recoding = learn_minimal(problem)
        again = _cut(recoding.problem, recoding.block_of, recoding.levels, strict=True)[0]
        assert partition(again) == partition(recoding.block_of)


def least_dissolved(costs: Costs, block: frozenset[int], others: list[frozenset[int]]) -> float:
    """The least that it can cost to give each unit of a block a place in another: all ways are tried."""
    best = math.inf
    for targets in itertools.product(range(len(others)), repeat=len(block)):
        grown = dict(enumerate(others))
        for u, target in zip(block, targets, strict=True):
            grown[target] = grown[target] | {u}
        if all(costs.meets(grown[t]) for t in set(targets)):
            best = min(best, sum(costs.cost(grown[t]) - costs.cost(others[t]) for t in set(targets)))
    return best


def greedily_dissolved(costs: Costs, order: tuple[int, ...], others: list[frozenset[int]]) -> float:
    """What it costs if each unit in turn takes the cheapest place."""
    state, total = list(others), 0.0
    for u in order:
        prices = [
            (costs.cost(b | {u}) - costs.cost(b), i) for i, b in enumerate(state) if costs.meets(b | {u})
        ]
        if not prices:
            return math.inf
        price, place = min(prices)
        state[place] |= {u}
        total += price
    return total


@pytest.mark.slow
def test_hardly_a_block_can_be_dissolved_for_less() -> None:
    """Units are placed one after the other, each where it is cheapest, so a joint move may be missed.

    Measured: 3 of 492 blocks could be dissolved for less by a joint move (all ways tried), and for each of them
    some order fails.
    """
    seen = missed = 0
    for seed, path in itertools.product(range(200), ("sweep", "grow")):
        costs, blocks = final_blocks(small_case(seed), path)
        for block in blocks:
            others = sorted(blocks - {block}, key=min)
            if not others or costs.cost(block) == 0 or len(others) ** len(block) > 1_000:
                continue
            seen += 1
            enough = costs.cost(block) - 1e-9
            if least_dissolved(costs, block, others) < enough:
                missed += 1
                assert any(
                    greedily_dissolved(costs, order, others) >= enough
                    for order in itertools.permutations(block)
                )
    assert seen > 400
    assert missed <= 4


# Bounds on the mean of (distortion - least possible distortion) over 150 fixed tables of 8 rows (121 for entropy).
# Measured when they were set, mean (largest), and by how much the sum of all distortions exceeds the least:
#                          sweep                     grow
#   2-anonymity            0.0153 (0.188), 5.2 %     0.0279 (0.250),  9.5 %
#   3-anonymity            0.0036 (0.179), 0.6 %     0.0111 (0.233),  1.8 %
#   distinct 2-diversity   0.0239 (0.188), 5.7 %     0.0226 (0.208),  5.4 %
#   entropy 2-diversity    0.0741 (0.500), 16.4 %    0.0579 (0.500), 12.8 %
GAPS: dict[str, tuple[BlockRequirement, dict[str, float]]] = {
    "2-anonymity": (sd.KAnonymity(2), {"sweep": 0.019, "grow": 0.037}),
    "3-anonymity": (sd.KAnonymity(3), {"sweep": 0.005, "grow": 0.018}),
    "distinct 2-diversity": (LDiversity(2), {"sweep": 0.029, "grow": 0.029}),
    "entropy 2-diversity": (LDiversity(2, "entropy"), {"sweep": 0.083, "grow": 0.078}),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] if name != "entropy 2-diversity" else []) for name in GAPS],
)
def test_gap_to_the_optimum(name: str) -> None:
    requirement, bounds = GAPS[name]
    gaps: dict[str, list[float]] = {path: [] for path in bounds}
    for seed in range(150):
        table = eight_rows(seed)
        rule = Rule(table, [requirement])
        if not rule.possible:
            continue
        problem = Problem.of(table, [requirement])
        optimum = least_cost(Costs(rows_as_units(problem), rule), len(table)) / len(table)
        for path in bounds:
            with taking(path):
                distortion = learn_minimal(problem).distortion()
            assert distortion >= optimum - 1e-9
            gaps[path].append(distortion - optimum)
    assert min(map(len, gaps.values())) > 100
    assert {path: sum(own) / len(own) for path, own in gaps.items()} <= Bounds(bounds)


class Bounds(dict[str, float]):
    """Compares path by path, so that a failure shows all means and all bounds."""

    def __ge__(self, other: object) -> bool:
        assert isinstance(other, dict)
        return all(other[path] <= bound for path, bound in self.items())


def rows_as_units(problem: Problem) -> Problem:
    """The same problem in which equal rows may go different ways."""
    unit = np.repeat(np.arange(len(problem.weights)), problem.weights)
    return replace(
        problem,
        units=problem.units[unit],
        weights=np.ones(len(unit), dtype=np.int64),
        sensitive=problem.sensitive[unit],
    )


@pytest.mark.slow
def test_many_units_many_blocks() -> None:
    table = random_table(Random(5), 1_500, attributes=4, kinds=["number", "tree", "intervals", "date"])
    for asked in ([sd.KAnonymity(7)], [LDiversity(2), TCloseness(0.5)]):
        for path in PATHS:
            with taking(path):
                recoding = learn_minimal(Problem.of(table, asked))
            check_blocks(frame_of(table, recoding), table, Rule(table, asked))
            check_levels(table, recoding)
            check_distortion(table, recoding)
            assert recoding.kept.all()


# -- real tables -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def people(data_folder: Path) -> sd.Table:
    return adult(data_folder)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("k", "l", "most"),
    [
        (5, 1, 0.0525),
        (5, 2, 0.0530),
        pytest.param(10, 1, 0.0755, marks=pytest.mark.slow),
        pytest.param(5, 3, 0.0570, marks=pytest.mark.slow),
        pytest.param(5, 4, 0.0660, marks=pytest.mark.slow),
    ],
)
def test_adult(people: sd.Table, k: int, l: int, most: float) -> None:
    asked = [sd.KAnonymity(k), *([LDiversity(l)] if l > 1 else [])]
    recoding = learn_minimal(Problem.of(people, asked))
    blocks = adult_blocks(recoding, people)
    assert min(block.total() for block in blocks) >= k
    assert min(len(block) for block in blocks) >= l
    assert recoding.distortion() < most


@pytest.mark.slow
def test_adult_with_records_left_out(people: sd.Table) -> None:
    problem = Problem.of(people, [sd.KAnonymity(10)])
    recoding = learn_minimal(problem, suppress=0.01)
    frame = frame_of(people, recoding)
    assert len(people) - frame.height <= math.floor(0.01 * len(people))
    assert min(Counter(frame.select(problem.names).iter_rows()).values()) >= 10
    assert recoding.distortion() < 0.0755


@pytest.mark.slow
@pytest.mark.usefixtures("data_folder")
def test_coil2000() -> None:
    frame = sd.datasets.load("coil2000").head(1_500)
    names = [name for name in frame.columns if name != "MOSTYPE"]
    schema = sd.Schema.from_roles(
        quasi=names,
        sensitive=["MOSTYPE"],
        hierarchies={name: sd.Hierarchy.mask(frame[name]) for name in names},
    )
    table = sd.read(frame, schema)
    recoding = learn_minimal(Problem.of(table, [sd.KAnonymity(2)]))
    published = frame_of(table, recoding)
    assert min(Counter(published.select(names).rows()).values()) >= 2
    assert published["MOSTYPE"].equals(frame["MOSTYPE"])
    check_rows(published, table, recoding, spare=0)
    check_levels(table, recoding)
    assert recoding.distortion() < COIL
