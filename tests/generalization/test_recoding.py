from __future__ import annotations

import json
from random import Random
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare as sd
from sudare.generalization import _kernels
from sudare.generalization.minimal import learn_minimal
from sudare.generalization.mondrian import learn_mondrian
from sudare.generalization.problem import Problem
from sudare.generalization.recoding import Recoding
from sudare.plans.tuples import TuplePlan
from tests.generalization.cases import random_table, randoms
from tests.generalization.plain import (
    Rule,
    check_distortion,
    check_levels,
    check_plan,
    check_rows,
    frame_of,
    plain_levels,
)


def random_blocks(r: Random, m: int) -> np.ndarray[Any, Any]:
    """Block numbers with gaps; some units are left out, but never all."""
    blocks = [r.choice([-2, -1, 0, 1, 2, 5, 7]) for _ in range(m)]
    blocks[r.randrange(m)] = 3
    return np.array(blocks, dtype=np.int64)


@given(r=randoms)
def test_any_division_into_blocks_is_recoded_as_little_as_it_can_be(r: Random) -> None:
    table = random_table(r, r.randint(1, 20))
    problem = Problem.of(table, [sd.KAnonymity(1)])
    block_of = random_blocks(r, len(problem.units))
    recoding = Recoding.of("by-hand", problem, block_of)
    together = {
        (int(old), int(new)) for old, new in zip(block_of, recoding.block_of, strict=True) if old >= 0
    }
    assert len(together) == len({old for old, _ in together}) == len({new for _, new in together})
    assert ((block_of < 0) == (recoding.block_of == -1)).all()
    frame = frame_of(table, recoding)
    check_rows(frame, table, recoding, spare=len(table) - 1)
    check_levels(table, recoding)
    check_distortion(table, recoding)
    check_plan(table, recoding)


@given(r=randoms)
def test_block_levels_twin(r: Random) -> None:
    problem = Problem.of(random_table(r, r.randint(1, 20)), [sd.KAnonymity(1)])
    blocks, block_of = np.unique(random_blocks(r, len(problem.units)).clip(-1), return_inverse=True)
    block_of = block_of - (blocks[0] == -1)
    levels = _kernels.block_levels(problem.units, block_of, int(block_of.max()) + 1, problem.trees)
    assert levels.tolist() == plain_levels(problem, block_of)


@given(r=randoms, a=st.integers(0, 3))
@settings(max_examples=50)
def test_meet_twin(r: Random, a: int) -> None:
    problem = Problem.of(random_table(r, r.randint(1, 12), attributes=4), [sd.KAnonymity(1)])
    h = problem.hierarchies[a]
    for x in range(len(h.leaves)):
        for y in range(len(h.leaves)):
            lowest = int(h.meet(x, y))
            for start in range(h.height + 1):
                assert _kernels.meet(problem.trees, a, x, y, start) == max(lowest, start)


def test_a_column_that_nothing_climbs_in_keeps_its_type() -> None:
    frame = pl.DataFrame({"a": [1, 1, 2, 2], "b": [0.5, 1.5, 2.5, 3.5]})
    table = sd.read(frame, sd.Schema.from_roles(quasi=["a", "b"]))
    recoding = learn_minimal(Problem.of(table, [sd.KAnonymity(2)]))
    published = frame_of(table, recoding)
    assert published["a"].dtype == pl.Int64
    assert published.rows() == [(1, "[0.5, 1.5]"), (1, "[0.5, 1.5]"), (2, "[2.5, 3.5]"), (2, "[2.5, 3.5]")]
    assert recoding.distortion() == 0.25
    assert recoding.block_sizes().tolist() == [2, 2]


def test_missing_values_stay_missing_below_the_root() -> None:
    frame = pl.DataFrame({"a": [None, None, 1, 2], "b": ["x", "y", "z", "z"]})
    table = sd.read(frame, sd.Schema.from_roles(quasi=["a", "b"]))
    recoding = learn_minimal(Problem.of(table, [sd.KAnonymity(2)]))
    assert frame_of(table, recoding).rows() == [(None, "*"), (None, "*"), ("*", "z"), ("*", "z")]


def test_plan_of_a_small_table() -> None:
    frame = pl.DataFrame({"a": ["x", "x", "y", "y"], "b": [1, 2, 3, 3]})
    table = sd.read(frame, sd.Schema.from_roles(quasi=["a", "b"]))
    asked = [sd.KAnonymity(2)]
    plan = learn_minimal(Problem.of(table, asked)).plan(asked)
    assert (plan.method, list(plan.requirements), plan.sensitive) == ("minimal", asked, None)
    paths = [tree.rows() for tree in plan.trees.values()]
    tuples = [[own[leaf][0] for own, leaf in zip(paths, one, strict=True)] for one in plan.tuples.tolist()]
    assert sorted(tuples) == [["x", "1"], ["x", "2"], ["y", "3"]]
    labels = {
        tuple(own[leaf][level] for own, leaf, level in zip(paths, one, plan.levels[b], strict=True))
        for one, b in zip(plan.tuples.tolist(), plan.block_of.tolist(), strict=True)
    }
    assert labels == {("y", "3"), ("x", "[1, 2]")}
    assert plan.locate(table).block_sizes().tolist() == [2, 2]
    again = TuplePlan.read(json.loads(json.dumps(plan.to_json())), plan.tables())
    assert again.locate(table).rewriting.tuples.tolist() == plan.tuples.tolist()


@pytest.mark.parametrize("learn", [learn_mondrian, learn_minimal])
@pytest.mark.parametrize("width", [127, 128, 130, 260])
def test_a_deep_hierarchy_is_climbed_to_the_root(learn: Any, width: int) -> None:
    texts = ["a" * width, "b" + "a" * (width - 1)]
    schema = sd.Schema.from_roles(quasi=["q"], hierarchies={"q": sd.Hierarchy.mask(texts)})
    table = sd.read(pl.DataFrame({"q": texts}), schema)
    recoding = learn(Problem.of(table, [sd.KAnonymity(2)]))
    assert recoding.levels.tolist() == [[width]]
    assert recoding.distortion() == 1
    assert frame_of(table, recoding)["q"].n_unique() == 1


def test_the_rule_itself_knows_a_wrong_claim() -> None:
    """The check above is only as good as its eyes: it must notice blocks that do not hold."""
    table = random_table(Random(1), 12)
    assert not Rule(table, [sd.KAnonymity(13)]).possible
    assert Rule(table, [sd.KAnonymity(12)]).possible
