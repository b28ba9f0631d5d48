"""Assessments of recursive diversity, proximity and harmless values, against all partitions of small tables."""

from __future__ import annotations

import json
from collections import Counter
from random import Random

import polars as pl
import pytest
from hypothesis import given, settings

import sudare as sd
from tests.privacy.plain import has_distinct, has_entropy, is_recursive
from tests.suitability.cases import random_plain, randoms
from tests.suitability.plain import Plain, Rule
from tests.suitability.test_implied import besides, in_numbers, spread_out


def check(
    table: sd.Table, plain: Plain, rules: dict[float, Rule], r: Random, **asked: object
) -> sd.Assessment:
    """What is feasible is, and no partition costs less than the bounds."""
    a = sd.assess(table, list(rules), k=2, tight=r.random() < 0.3, **asked)  # type: ignore[arg-type]
    assert json.loads(json.dumps(a.to_json()))["requirements"]
    for l, rule in rules.items():
        best = plain.optimum(rule)
        assert a.feasible[l] == (best is not None) == (l in a.best_l)
        if best is None:
            assert a.ratio[l] is None
            assert a.choices[l][0].action == "stop"
            continue
        assert a.bound_l[l] is not None
        assert a.bound_l[l] - 1e-12 <= a.best_l[l].value <= float(best) + 1e-12
        assert a.choices[l][0].action == "go ahead"
    return a


@given(r=randoms)
@settings(max_examples=30)
def test_recursive_diversity(r: Random) -> None:
    plain, c = random_plain(r, most=8), r.choice([0.5, 1, 1.5, 3])
    rules: dict[float, Rule] = {
        l: lambda own, l=l: is_recursive(own, c, l)  # type: ignore[misc, arg-type]
        for l in (1, 2, 3)
    }
    check(plain.table(), plain, rules, r, diversity="recursive", c=c)


@given(r=randoms)
@settings(max_examples=30)
def test_harmless_values(r: Random) -> None:
    plain = random_plain(r, most=8)
    harmless = {value for value in plain.sensitive if r.random() < 0.4}
    kind = r.choice(["distinct", "entropy"])
    holds = has_distinct if kind == "distinct" else has_entropy
    rules: dict[float, Rule] = {
        l: besides(lambda own, l=l: holds(own, l), 1, harmless)  # type: ignore[misc, arg-type]
        for l in (1, 2, 3)
    }
    a = check(plain.table(), plain, rules, r, diversity=kind, harmless=list(harmless))
    others = [value for value in plain.sensitive if value not in harmless]
    if others:
        counts = list(Counter(others).values())
        assert a.max_blocks[2] == sd.bounds.max_blocks(counts, 2)
        assert a.min_block_entropy[2] == sd.bounds.min_block_entropy(counts, 2)
    else:
        assert set(a.bound_l.values()) == {0}


@given(r=randoms)
@settings(max_examples=30)
def test_proximity(r: Random) -> None:
    plain, within = random_plain(r, most=8, missing=False, values=7), r.choice([0, 1, 2])
    rules = {l: spread_out(l, within) for l in (1, 1.5, 2, 3)}
    check(in_numbers(plain), plain, rules, r, diversity="proximity", within=within)


def test_blocks_are_as_large_as_some_release_shows() -> None:
    """Two of three records are close; so no block of two numbers apart can be made of more than the third."""
    frame = pl.DataFrame({"q": list("aabbcc"), "s": [10, 11, 12, 13, 50, 51]})
    table = sd.read(frame, sd.Schema.from_roles(quasi=["q"], sensitive=["s"]))
    a = sd.assess(table, 1.5, k=2, diversity="proximity", within=5)
    assert (a.feasible[1.5], a.max_blocks[1.5]) == (True, 2)
    smallest = min(
        Counter(sd.generalize(table, sd.LDiversity(1.5, "proximity", within=5)).frame()["q"]).values()
    )
    assert smallest >= 3
    with pytest.raises(sd.ParameterError, match="no record has '7' as its 's'"):
        sd.assess(table, 2, harmless=[7])
