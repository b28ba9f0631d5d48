from __future__ import annotations

import json
import math
from collections import Counter
from random import Random
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings

import sudare as sd
from sudare.errors import InputError, ParameterError
from sudare.tables.counts import Counts
from tests import by_row
from tests.suitability.cases import Asked, random_plain, randoms
from tests.suitability.plain import Plain

FLAT = [(letter, "*") for letter in "abcdefgh"]


def flat(words: str, sensitive: str) -> Plain:
    """One attribute that is published or suppressed."""
    return Plain([FLAT], [1.0], [("abcdefgh".index(word),) for word in words], list(sensitive))


# -- the names that others rely on -----------------------------------------------------------------


def test_the_names_kept_for_others() -> None:
    plain = flat("aabbccddeeffgghh", "stuvstuvstuvstuv")
    a = sd.assess(plain.table(), l=[2, 4], k=[2, 5], diversity="entropy")
    assert a.bound_l[4] == pytest.approx(1.0)
    assert a.bound_k[2] == 0
    assert a.bound_k[5] == pytest.approx(1.0)
    assert a.max_blocks[4] == sd.bounds.max_blocks([4, 4, 4, 4], l=4) == 4
    assert a.min_block_distinct[4] == sd.bounds.min_block_distinct([4, 4, 4, 4], l=4) == 4
    assert a.min_block_entropy[4] == sd.bounds.min_block_entropy([4, 4, 4, 4], l=4) == 4
    assert a.feasible[4] is True
    assert a.ratio[4] == pytest.approx(1.0)
    assert all(isinstance(sentence, str) for sentence in a.advice)
    assert str(a) == "\n".join(a.advice)
    assert (a.records, a.attribute, a.diversity, a.largest) == (16, "illness", "entropy", 4)


@given(r=randoms)
@settings(max_examples=25)
def test_every_number_from_its_definition(r: Random) -> None:
    plain = random_plain(r, most=8)
    n, diversity = len(plain.rows), r.choice(["entropy", "distinct"])
    ls = [1, 2, 3] if diversity == "distinct" else [1, 1.5, 2, 3]
    a = sd.assess(plain.table(), l=ls, k=[1, 2, 3], diversity=diversity, tight=r.random() < 0.3)
    own = Counter(plain.sensitive)
    entropy = -sum(c / n * math.log(c / n) for c in own.values())
    assert list(a.bound_l) == list(a.feasible) == list(a.ratio) == list(a.choices) == ls
    for l in ls:
        values = math.ceil(l)
        holds = Asked(entropy=l) if diversity == "entropy" else Asked(distinct=values)
        assert a.feasible[l] is holds(own)
        if len(own) < values:
            assert a.bound_l[l] is None
        else:
            mean = sum(plain.nearest(u, values, values) for u in range(n)) / n
            assert a.bound_l[l] == pytest.approx(float(mean), abs=1e-12)
        assert a.max_blocks[l] == sd.bounds.max_blocks(list(own.values()), values)
        assert a.min_block_distinct[l] == sd.bounds.min_block_distinct(list(own.values()), values)
        assert a.min_block_entropy[l] == sd.bounds.min_block_entropy(list(own.values()), l)
        assert (a.min_block_entropy[l] is None) == (entropy < math.log(l) - 1e-9)
        if l in a.best_l:
            best = plain.optimum(holds)
            assert best is not None
            assert a.bound_l[l] - 1e-12 <= a.best_l[l].value <= float(best) + 1e-12
        assert (l in a.best_l) == a.feasible[l]
    assert list(a.bound_k) == [1, 2, 3]
    assert (
        list(a.best_k)
        == [k for k, bound in a.bound_k.items() if bound is not None]
        == [*range(1, min(n, 3) + 1)]
    )
    for k in a.best_k:
        bound = a.bound_k[k]
        mean = sum(plain.nearest(u, k, 1) for u in range(n)) / n
        assert bound == pytest.approx(float(mean), abs=1e-12)
        assert bound - 1e-12 <= a.best_k[k].value
    assert sum(a.values.values()) == n
    assert list(a.values.values()) == sorted(own.values(), reverse=True)
    assert json.loads(json.dumps(a.to_json()))["records"] == n


@given(r=randoms)
@settings(max_examples=25)
def test_the_ratio_is_to_what_generalize_reaches(r: Random) -> None:
    plain = random_plain(r, most=8)
    for diversity in ("entropy", "distinct"):
        a = sd.assess(plain.table(), l=[2, 3], k=[], diversity=diversity)
        for l in (2, 3):
            size = a.min_block_entropy[l] if diversity == "entropy" else a.min_block_distinct[l]
            if size is None:
                assert a.ratio[l] is a.reached_k[l] is None
                continue
            reached = sd.generalize(plain.table(), sd.KAnonymity(size)).certificate.utility["distortion"]
            assert a.reached_k[l] == pytest.approx(reached, abs=1e-12)
            if reached:
                assert a.ratio[l] == pytest.approx(a.bound_l[l] / reached)
            else:
                assert a.ratio[l] == (math.inf if a.bound_l[l] else None)


def counted_rows(table: sd.Table) -> Counts:
    """The rows as they stand, by what an assessment counts them by."""
    return by_row.rows_of(table, [*table.names("quasi"), *table.names("sensitive")])


def row_costs(assessment: sd.Assessment, table: sd.Table) -> list[float]:
    """What each row costs at least."""
    place = by_row.tuple_of(table, table.counts(counted_rows(table).names))
    return assessment.costs[place].tolist()


@given(r=randoms)
@settings(max_examples=20)
def test_what_each_row_costs_and_the_worst(r: Random) -> None:
    plain = random_plain(r, most=14)
    table = plain.table()
    a = sd.assess(table, l=[1, 2, 3], k=2, diversity="distinct")
    assert a.largest is not None
    assert a.weights.sum() == len(table)
    expected = [float(plain.nearest(u, a.largest, a.largest)) for u in range(len(plain.rows))]
    costs, codes = row_costs(a, table), counted_rows(table).codes.tolist()
    assert costs == pytest.approx(expected, abs=1e-12)
    order = sorted(range(len(expected)), key=lambda u: (-costs[u], codes[u]))[:10]
    assert a.worst["costs at least"].to_list() == [costs[u] for u in order]
    assert a.worst.drop("costs at least").equals(plain.frame().select(plain.names)[order])


@given(r=randoms)
@settings(max_examples=20)
def test_without_an_attribute_is_as_if_it_were_not_quasi(r: Random) -> None:
    plain = random_plain(r, most=12, odd=r.random() < 0.5, missing=False)
    if not any(plain.weights):
        return
    a = sd.assess(plain.table(), l=[1, 2, 3], k=2, diversity="distinct")
    for name, bound in a.without.items():
        others = [other for other in plain.names if other != name]
        table = sd.read(plain.frame(), plain.schema(others))
        again = sd.assess(table, l=[1, 2, 3], k=2, diversity="distinct").bound_l[a.largest]
        assert bound <= again + 1e-8  # both are rounded down, to some 2^-31
        light = min(weight for weight in plain.weights if weight > 0) < 1e-3 * sum(plain.weights)
        assert light or bound == pytest.approx(again, abs=1e-5)
    heavy = [name for name, weight in zip(plain.names, plain.weights, strict=True) if weight > 0]
    assert set(a.without) == {name for name in plain.names if set(heavy) - {name}}


def test_without_an_attribute_nothing_costs_less_than_nothing() -> None:
    """1-diversity asks for nothing, and costs nothing, whatever is left out."""
    plain = Plain([FLAT, FLAT], [1.0, 1.0], [(0, 1), (1, 0), (2, 2)], list("stu"))
    assert sd.assess(plain.table(), l=1, k=2).without == {"q0": 0, "q1": 0}


# -- how it can be asked ---------------------------------------------------------------------------


def test_one_or_several() -> None:
    table = flat("aabbccdd", "stststst").table()
    one = sd.assess(table, l=2, k=3)
    for l, k in [([2], [3]), ((2,), (3,)), ([2, 2], [3, 3]), (range(2, 3), range(3, 4)), (2.0, 3)]:
        other = sd.assess(table, l=l, k=k)
        assert other.to_json() == one.to_json()
        assert other.bound_l[2] == one.bound_l[2]
    assert list(sd.assess(table, l=[8, 2, 1.5], k=[4, 2], diversity="entropy").bound_l) == [1.5, 2, 8]
    assert list(sd.assess(table, l=2, k=[4, 2]).bound_k) == [2, 4]
    assert sd.assess(table, l=2, k=[]).bound_k == {}
    default = sd.assess(table)
    assert list(default.bound_l) == [2, 4, 8]
    assert default.diversity == sd.LDiversity(2).kind == sd.Policy(l=2).diversity == "distinct"


def test_numbers_from_numpy() -> None:
    """l = np.arange(...) is how a curve is drawn: the answer is plain data all the same."""
    table = flat("aabbccdd", "stustust").table()
    assessment = sd.assess(table, l=list(np.array([1.5, 2.5])), k=2, diversity="entropy")
    assert assessment.feasible == {1.5: True, 2.5: True}
    assert json.loads(json.dumps(assessment.to_json()))["feasible"] == {"1.5": True, "2.5": True}


@pytest.mark.parametrize(
    "wrong",
    [
        {"l": 0},
        {"l": 0.5},
        {"l": "2"},
        {"l": None},
        {"l": True},
        {"l": math.nan},
        {"l": math.inf},
        {"l": [2, 0]},
        {"l": [2, "a"]},
        {"l": [2, None]},
        {"l": [[2]]},
        {"l": 2.5, "diversity": "distinct"},
        {"k": 0},
        {"k": 2.5},
        {"k": "2"},
        {"k": None},
        {"k": [2, -1]},
        {"k": [2, "a"]},
        {"diversity": "recursive"},
        {"diversity": "recursive", "c": 0},
        {"diversity": "recursive", "c": 1, "l": 2.5},
        {"diversity": "proximity"},
        {"diversity": "proximity", "within": -1},
        {"diversity": "proximity", "within": 1, "relative": 2},
        {"within": 1},
        {"relative": True},
        {"c": 1},
        {"harmless": "cold"},
        {"harmless": [[]]},
        {"diversity": None},
        {"attribute": 3},
        {"device": "tpu"},
    ],
    ids=str,
)
def test_a_wrong_parameter_is_refused_in_one_voice(wrong: dict[str, Any]) -> None:
    table = flat("aabbccdd", "stustust").table()
    with pytest.raises(ParameterError, match=r"The '\w+' parameter of \w+ must be .* Got .* instead\."):
        sd.assess(table, **{"l": 2, "k": 2, **wrong})


def test_at_least_one_l() -> None:
    with pytest.raises(ParameterError, match="at least one l"):
        sd.assess(flat("ab", "st").table(), l=[])


def test_the_sensitive_attribute() -> None:
    frame = pl.DataFrame({"q": list("aabb"), "s": list("xyxy"), "t": list("xxyy")})
    none = sd.read(frame, sd.Schema.from_roles(quasi=["q"], other=["s", "t"]))
    both = sd.read(frame, sd.Schema.from_roles(quasi=["q"], sensitive=["s", "t"]))
    with pytest.raises(InputError, match="needs a sensitive attribute, and the schema has none"):
        sd.assess(none)
    with pytest.raises(InputError, match="several sensitive attributes, 's', 't'"):
        sd.assess(both)
    by_s, by_t = sd.assess(both, 2, 2, attribute="s"), sd.assess(both, 2, 2, attribute="t")
    assert (by_s.attribute, by_s.bound_l[2]) == ("s", 0)
    assert (by_t.attribute, by_t.bound_l[2]) == ("t", 1)
    with pytest.raises(InputError, match="the schema calls 'q' quasi"):
        sd.assess(both, attribute="q")
    with pytest.raises(InputError, match="no column 'zz'"):
        sd.assess(both, attribute="zz")
    with pytest.raises(InputError, match="no quasi attribute"):
        sd.assess(sd.read(frame, sd.Schema.from_roles(sensitive=["s"], other=["q", "t"])))


# -- what is not possible --------------------------------------------------------------------------


def test_an_l_that_is_not_feasible() -> None:
    plain = flat("abcdefgh", "sssssstu")
    a = sd.assess(plain.table(), l=[2, 3, 4], k=2, diversity="entropy")
    own = math.exp(-sum(c / 8 * math.log(c / 8) for c in (6, 1, 1)))
    assert 2 < own < 3
    assert a.feasible == {2: True, 3: False, 4: False}
    assert a.bound_l[3] == 1  # distinct 3-diversity is possible, and the bound is of either kind
    assert a.bound_l[4] is None
    assert a.min_block_entropy[3] is a.min_block_entropy[4] is None
    assert (a.min_block_distinct[3], a.min_block_distinct[4]) == (8, None)
    assert a.max_blocks == {2: 2, 3: 1, 4: 0}
    assert a.ratio[3] is a.ratio[4] is a.reached_k[3] is None
    assert set(a.best_l) == {2}
    for l in (3, 4):
        first, second, *more = a.choices[l]
        assert first.action == "stop"
        assert f"{l}-diversity is impossible" in first.text
        assert f"log {math.floor(own * 100) / 100:g}" in first.text
        assert (second.action, second.requirement) == ("lower l", sd.LDiversity(2, "entropy"))
        assert [choice.action for choice in more] == [*(["distinct"] if l == 3 else []), "k-anonymity"]
    json.dumps(a.to_json())


def test_nothing_feasible() -> None:
    a = sd.assess(flat("abcd", "ssss").table(), l=[2, 3], k=[2])
    assert a.feasible == {2: False, 3: False}
    assert a.bound_l == {2: None, 3: None}
    assert (a.largest, a.best_l, a.without) == (None, {}, {})
    assert a.costs.tolist() == [0] * 4
    assert [choice.action for offered in a.choices.values() for choice in offered] == [
        "stop",
        "k-anonymity",
    ] * 2
    json.dumps(a.to_json())
    distinct = sd.assess(flat("abcd", "sstt").table(), l=3, k=2, diversity="distinct")
    assert "has only 2 values" in distinct.advice[0]
    lower = distinct.choices[3][1]
    assert (lower.action, lower.requirement) == ("lower l", sd.LDiversity(2))


def test_more_records_than_there_are() -> None:
    """No bound can be given for a k above the number of records."""
    a = sd.assess(flat("abcd", "stst").table(), l=2, k=[4, 5])
    assert a.bound_k[4] == 1
    assert a.bound_k[5] is None
    assert 5 not in a.best_k


@pytest.mark.parametrize("l", [math.exp(math.log(3)), 0.1 * 3 * 10])
def test_an_l_that_is_whole_but_for_rounding(l: float) -> None:
    """The verifier lets a block of 3 equally frequent values pass as 3.0000000000000004-diverse, so it is feasible."""
    table = flat("abcabc", "stutus").table()
    release = sd.generalize(table, sd.LDiversity(l, "entropy"))
    a = sd.assess(table, l=l, k=2, diversity="entropy")
    assert a.feasible[l] is True
    assert a.bound_l[l] <= release.certificate.utility["distortion"]
    assert a.max_blocks[l] == 2
    assert not any("impossible" in sentence for sentence in a.advice)


def test_a_bound_of_an_l_that_is_whole_but_for_rounding() -> None:
    """a to d are near each other and have three values; a fourth value is far away."""
    paths = [(letter, "far" if letter in "ef" else "near", "*") for letter in "abcdef"]
    rows = [(0,), (1,), (2,), (0,), (1,), (2,), (4,), (5,), (4,)]
    l = 3.0000000000000004
    table = Plain([paths], [1.0], rows, list("stustustv")).table()
    bound = sd.assess(table, l=l, k=2, diversity="entropy").bound_l[l]
    assert bound is not None
    three = sd.assess(table, l=3, k=2, diversity="entropy").bound_l[3]
    assert bound == three


# -- missing values --------------------------------------------------------------------------------


def test_a_missing_sensitive_value_is_a_value() -> None:
    plain = Plain([FLAT], [1.0], [(i % 4,) for i in range(8)], ["s", None, "s", None, "s", None, None, "s"])
    a = sd.assess(plain.table(), l=[2, 3], k=2)
    assert a.values == {"s": 4, "(missing)": 4}
    assert a.feasible == {2: True, 3: False}
    assert a.max_blocks[2] == 4
    release = sd.generalize(plain.table(), sd.LDiversity(2, "entropy"))
    assert a.bound_l[2] <= a.best_l[2].value <= release.certificate.utility["distortion"]


def test_a_value_called_missing_is_not_a_missing_one() -> None:
    plain = Plain([FLAT], [1.0], [(i,) for i in range(4)], ["(missing)", None, "s", "s"])
    assert sum(sd.assess(plain.table(), l=2, k=2).values.values()) == 4


def test_values_that_nobody_has_count_for_nothing() -> None:
    """A declared domain may be wider than the data."""
    frame = pl.DataFrame({"q": list("aabbcd"), "s": list("xyxyxx")})
    roles = {"quasi": ["q"], "sensitive": ["s"]}
    plain = sd.assess(sd.read(frame, sd.Schema.from_roles(**roles)), l=[1, 2, 3], k=2)
    wide = sd.Schema.from_roles(**roles, domains={"s": list("uvwxyz"), "q": list("abcdefg")})
    assert sd.assess(sd.read(frame, wide), l=[1, 2, 3], k=2).to_json() == plain.to_json()


@given(r=randoms)
@settings(max_examples=15)
def test_the_order_of_the_rows_does_not_matter(r: Random) -> None:
    plain = random_plain(r, most=12)
    order = r.sample(range(len(plain.rows)), len(plain.rows))
    other = Plain(
        plain.paths, plain.weights, [plain.rows[i] for i in order], [plain.sensitive[i] for i in order]
    )
    tables = [p.table() for p in (plain, other)]
    first, second = (sd.assess(table, l=[2, 3], k=[2, 3]) for table in tables)
    for name in ("bound_l", "bound_k", "max_blocks", "min_block_entropy", "feasible", "without"):
        assert getattr(first, name) == pytest.approx(getattr(second, name), abs=1e-12)
    costs = [row_costs(a, table) for a, table in zip((first, second), tables, strict=True)]
    assert costs[1] == pytest.approx([costs[0][i] for i in order], abs=1e-12)
