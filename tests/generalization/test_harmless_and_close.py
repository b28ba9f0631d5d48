"""Harmless records that are learned apart, and very many numbers that are learned by groups."""

from __future__ import annotations

from functools import partial

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sudare as sd
from sudare.generalization import close
from sudare.generalization.close import learn_in_groups
from sudare.generalization.harmless import learn_with_harmless
from sudare.generalization.minimal import learn_minimal
from sudare.generalization.problem import Problem
from sudare.generalization.recoding import Recoding
from sudare.privacy.limits import block_meets
from sudare.privacy.values import windows

TOWNS = sd.Hierarchy.groups({f"t{i}": f"county {i // 3}" for i in range(9)})


def table(seed: int, n: int, numbers: bool = False) -> sd.Table:
    rng = np.random.default_rng(seed)
    ill = rng.lognormal(3, 0.6, n).round(2) if numbers else rng.choice(list("nnnnabcd"), n)
    frame = pl.DataFrame(
        {"town": rng.choice([f"t{i}" for i in range(9)], n), "age": rng.integers(20, 60, n), "ill": ill}
    )
    schema = sd.Schema.from_roles(quasi=["town", "age"], sensitive=["ill"], hierarchies={"town": TOWNS})
    return sd.read(frame, schema)


def all_meet(recoding: Recoding, problem: Problem) -> bool:
    """Count every block by hand against the limits as they were asked for."""
    for block in range(len(recoding.levels)):
        inside, own = recoding.block_of == block, recoding.problem
        histogram = np.bincount(own.sensitive[inside], own.weights[inside], minlength=problem.values)
        if not block_meets(histogram.astype(np.int64), int(histogram.sum()), problem.limits):
            return False
    return True


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("kind", ["distinct", "entropy"])
def test_harmless_records_are_learned_apart_where_that_costs_less(k: int, kind: str) -> None:
    asked = [sd.KAnonymity(k), sd.LDiversity(3, kind, harmless=["n"])]  # type: ignore[arg-type]
    better, learn = 0, partial(learn_minimal, deals=False)
    for seed in range(4):
        problem = Problem.of(table(seed, 120), asked)
        recoding = learn_with_harmless(problem, learn)
        assert all_meet(recoding, problem)
        together = learn(problem).distortion()
        assert recoding.distortion() <= together
        better += recoding.distortion() < together
    assert better or k > 1


def test_with_closeness_to_the_table_records_stay_together() -> None:
    asked = [sd.LDiversity(2, harmless=["n"]), sd.TCloseness(0.4)]
    problem = Problem.of(table(1, 60), asked)
    recoding = learn_with_harmless(problem, learn_minimal)
    assert (recoding.block_of == learn_minimal(problem).block_of).all()
    assert all_meet(recoding, problem)


def test_records_are_left_out_within_the_share() -> None:
    asked = [sd.KAnonymity(4), sd.LDiversity(3, "entropy", harmless=["n"])]
    release = sd.generalize(table(2, 100), asked, suppress=0.1)
    assert release.holder["records"]["suppressed"] <= 10


@pytest.mark.parametrize("harmless", [(), (20.0,)])
@pytest.mark.parametrize("within", [0.1, 0.5, 3])
def test_groups_of_numbers_keep_what_was_asked_for(
    monkeypatch: pytest.MonkeyPatch, within: float, harmless: tuple[float, ...]
) -> None:
    monkeypatch.setattr(close, "MAX_VALUES", 12)
    asked = sd.LDiversity(2, "proximity", within=within, relative=within < 1, harmless=harmless)
    seen = []

    def learn(problem: Problem) -> Recoding:
        seen.append(problem.unit_arrays.values)
        return learn_minimal(problem)

    for seed in range(3):
        numbers = table(seed, 80, numbers=True)
        problem = Problem.of(numbers, [asked])
        recoding = learn_in_groups(problem, learn)
        assert all_meet(recoding, problem)
        assert recoding.plan([asked]).requirements == (asked,)
    assert min(seen) < problem.values


def test_few_numbers_and_other_requirements_are_learned_as_they_are() -> None:
    seen: list[Problem] = []

    def learn(problem: Problem) -> Recoding:
        seen.append(problem)
        return learn_minimal(problem)

    near = sd.LDiversity(2, "proximity", within=1)
    for asked in ([near], [near, sd.LDiversity(2)], [sd.KAnonymity(2)]):
        problem = Problem.of(table(0, 40, numbers=True), asked)
        learn_in_groups(problem, learn)
        assert seen[-1] is problem


@given(
    st.lists(st.integers(-30, 60), min_size=1, max_size=40, unique=True),
    st.sampled_from([0, 1, 4, 10]),
    st.integers(1, 6),
    st.integers(0, 3),
)
def test_every_window_lies_in_the_groups_that_its_first_group_reaches(
    numbers: list[int], width: int, parts: int, harmless: int
) -> None:
    values = pl.Series(numbers)
    found = windows(values, len(numbers), width, relative=False)
    known = np.arange(min(harmless, len(numbers)))
    groups, ends = close._groups(found, known, parts)
    for i, x in enumerate(numbers):
        for j, y in enumerate(numbers):
            if x <= y <= x + width:
                assert groups[i] <= groups[j] < ends[groups[i]]
    for code in known:
        assert (groups == groups[code]).sum() == 1
