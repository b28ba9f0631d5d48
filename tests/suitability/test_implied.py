"""Bounds for harmless and close values, against the true optimum of all partitions."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given, settings

import sudare as sd
from sudare.generalization.problem import Problem
from sudare.privacy.minimum import recursive_values
from sudare.suitability.costs import Costs
from sudare.suitability.implied import bound_of_limits
from tests.privacy.plain import has_distinct, has_entropy, is_recursive
from tests.suitability.cases import random_plain, randoms
from tests.suitability.plain import Plain, Rule


def besides(rule: Rule, k: int, harmless: set[str | None]) -> Rule:
    """The definition: k records, and all values harmless or the others by themselves as the rule says."""

    def holds(histogram: Counter[str | None]) -> bool:
        others = Counter({value: count for value, count in histogram.items() if value not in harmless})
        return histogram.total() >= k and (not others or rule(others))

    return holds


def spread_out(l: float, within: int) -> Rule:
    """Values s0, s1, ... are numbers; of the records of a block at most 1/l lie in any interval of the width."""

    def holds(histogram: Counter[str | None]) -> bool:
        numbers = {int(value[1:]): count for value, count in histogram.items() if value is not None}
        most = max(sum(c for y, c in numbers.items() if x <= y <= x + within) for x in numbers)
        return most * Fraction(l) <= histogram.total()

    return holds


def bound(table: sd.Table, asked: list[sd.LDiversity | sd.KAnonymity], tight: bool) -> float:
    problem = Problem.of(table, asked)
    return bound_of_limits(problem, Costs.in_table(table, problem), tight=tight).value


def in_numbers(plain: Plain) -> sd.Table:
    frame = plain.frame()
    numbers = frame["illness"].str.slice(1).cast(int)
    return sd.read(frame.with_columns(numbers.alias("illness")), plain.schema())


@pytest.mark.parametrize("most", [6, pytest.param(8, marks=pytest.mark.slow)])
@given(r=randoms)
@settings(max_examples=60)
def test_no_partition_costs_less_with_harmless_values(r: Random, most: int) -> None:
    plain = random_plain(r, most=most)
    harmless = {value for value in plain.sensitive if r.random() < 0.3}
    k, l, c = r.choice([1, 1, 2, 3]), r.choice([2, 2, 3]), r.choice([0.5, 1, 2])
    rules: dict[str, Rule] = {
        "distinct": lambda own: has_distinct(own, l),  # type: ignore[arg-type]
        "entropy": lambda own: has_entropy(own, l),  # type: ignore[arg-type]
        "recursive": lambda own: is_recursive(own, c, l),  # type: ignore[arg-type]
    }
    for kind, rule in rules.items():
        best = plain.optimum(besides(rule, k, harmless))
        if best is None:
            continue
        asked = sd.LDiversity(l, kind, c if kind == "recursive" else None, harmless=list(harmless))  # type: ignore[arg-type]
        least = bound(plain.table(), [sd.KAnonymity(k), asked], r.random() < 0.5)
        assert least <= float(best) + 1e-12
        for method in ("minimal", "mondrian"):
            release = sd.generalize(plain.table(), [sd.KAnonymity(k), asked], method)
            assert release.holder["utility"]["distortion"] >= float(best) - 1e-12


@given(r=randoms)
@settings(max_examples=60)
def test_no_partition_costs_less_with_close_values(r: Random) -> None:
    plain = random_plain(r, most=8, missing=False, values=6)
    l, within = r.choice([1.5, 2, 2.5, 3]), r.choice([0, 1, 2])
    best = plain.optimum(spread_out(l, within))
    table = in_numbers(plain)
    asked = sd.LDiversity(l, "proximity", within=within)
    if best is None:
        with pytest.raises(sd.RequirementError, match="impossible"):
            sd.generalize(table, asked)
        return
    assert bound(table, [asked], r.random() < 0.5) <= float(best) + 1e-12
    for method in ("minimal", "mondrian"):
        release = sd.generalize(table, asked, method)
        assert release.holder["utility"]["distortion"] >= float(best) - 1e-12
        assert release.certificate.measured["l_proximity"] >= l


def test_the_bound_for_harmless_values_says_something() -> None:
    """All but two illnesses are harmless and alike; the two are far from each other and must meet."""
    paths = [[(letter, letter.upper(), "*") for letter in "abcd"]]
    plain = Plain(paths, [1.0], [(0,), (0,), (0,), (1,), (2,)], ["n", "n", "n", "s", "t"])
    asked = sd.LDiversity(2, harmless=["n"])
    best = plain.optimum(besides(lambda own: len(own) >= 2, 1, {"n"}))
    assert best == Fraction(2, 5)
    for tight in (False, True):
        assert bound(plain.table(), [asked], tight) == pytest.approx(0.4)
    assert sd.generalize(plain.table(), asked).holder["bound"] == pytest.approx(0.4)


def test_the_bound_for_close_values_says_more_than_that_values_differ() -> None:
    paths = [[(letter, "*") for letter in "abcd"]]
    plain = Plain(paths, [1.0], [(0,), (0,), (1,), (1,)], ["s0", "s1", "s10", "s11"])
    table = in_numbers(plain)
    assert bound(table, [sd.LDiversity(2)], tight=False) == 0
    assert bound(table, [sd.LDiversity(2, "proximity", within=1)], tight=False) == 1


@pytest.mark.parametrize("c", [0.1, 0.3, 1 / 3, 0.5, 0.7, 1, 1.5, 3])
@pytest.mark.parametrize("l", [1, 2, 4])
def test_recursive_diversity_needs_so_many_values(c: float, l: int) -> None:
    """As many that are equally frequent do, and one less do not, whatever their counts."""
    values = recursive_values(c, l)
    for times in (1, 7):
        equal = Counter(dict.fromkeys(range(values), times))
        assert is_recursive(equal, c if c != 1 / 3 else Fraction(1, 3), l)  # type: ignore[arg-type]
        del equal[0]
        assert not equal or not is_recursive(equal, c if c != 1 / 3 else Fraction(1, 3), l)  # type: ignore[arg-type]
