from __future__ import annotations

import math
import re
from collections import Counter
from functools import cache
from random import Random
from typing import get_args

import numpy as np
import pytest

import sudare as sd
from sudare.suitability.assess import Assessment
from sudare.suitability.choices import LEAST_SAVING, OUTLIER_SHARE, Advice
from sudare.suitability.facts import MAX_SUITABLE_RATIO
from sudare.tables.policy import Compromise
from tests import by_row
from tests.suitability.plain import Plain

NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?%?")


def numbers(choice: Advice) -> list[str]:
    """All numbers in a sentence, but for those in names, which are quoted."""
    return NUMBER.findall(re.sub(r"'[^']*'", "", choice.text))


class Told:
    """A table, its assessment, and what the sentences should say, computed from the rows."""

    def __init__(self, plain: Plain, ls: list[float], diversity: str) -> None:
        self.plain, self.diversity = plain, diversity
        self.assessment: Assessment = sd.assess(plain.table(), l=ls, k=2, diversity=diversity)
        self.own = list(Counter(plain.sensitive).values())

    def choice(self, l: float, action: str) -> Advice | None:
        return next((choice for choice in self.assessment.choices[l] if choice.action == action), None)

    def size(self, l: float, diversity: str | None = None) -> int:
        if (diversity or self.diversity) == "entropy":
            size = sd.bounds.min_block_entropy(self.own, l)
        else:
            size = sd.bounds.min_block_distinct(self.own, math.ceil(l))
        assert size is not None
        return size

    @cache  # noqa: B019
    def reached(self, size: int) -> float:
        return sd.generalize(self.plain.table(), sd.KAnonymity(size)).certificate.utility["distortion"]

    @cache  # noqa: B019
    def costs(self, l: float) -> np.ndarray:
        return row_costs(self.plain, math.ceil(l))

    def bound(self, l: float) -> float:
        return float(self.costs(l).mean())

    def ratio(self, l: float) -> float:
        reached = self.reached(self.size(l))
        return self.bound(l) / reached if reached else math.inf if self.bound(l) else 0


def distances(plain: Plain) -> np.ndarray:
    """CE of all pairs."""
    n = len(plain.rows)
    cost = np.zeros((n, n))
    for a, (height, share) in enumerate(zip(plain.heights(), plain.shares, strict=True)):
        for level in range(height):
            nodes = np.array([str(plain.node(a, row, level)) for row in range(n)])
            cost += (nodes[:, None] != nodes) * float(share)
    return cost


def row_costs(plain: Plain, l: int) -> np.ndarray:
    """Of each row, over the other values, the (l-1)-th smallest distance to the nearest row that has it."""
    distance = distances(plain)
    sensitive = np.array([str(value) for value in plain.sensitive])
    costs = []
    for u in range(len(sensitive)):
        near = sorted(
            distance[u, sensitive == v].min() for v in set(sensitive.tolist()) - {str(sensitive[u])}
        )
        costs.append(near[l - 2])
    return np.array(costs)


def skewed(seed: int, n: int = 240) -> Plain:
    """The illness nearly follows from the first attribute, so that blocks are near but not diverse."""
    r = Random(seed)
    town = [(f"t{i}", f"county {i // 2}", f"part {i // 4}", "*") for i in range(8)]
    age = [(f"{i}", f"{i // 3}x", "*") for i in range(9)]
    sex = [("f", "*"), ("m", "*")]
    rows: list[tuple[int | None, ...]] = []
    sensitive: list[str | None] = []
    for i in range(n):
        place = min(r.choices(range(8), (8, 7, 4, 3, 2, 1, 1, 1))[0], 7)
        rows.append((place, r.choice([0, 0, 1, 4, 8]), r.randrange(2)))
        sensitive.append(f"s{place // 2 if r.random() < 0.97 else r.randrange(5)}")
        if i % 60 == 0:
            rows[-1] = (7, 5 + i % 3, 0)
    return Plain([town, age, sex], [1.0, 0.5, 0.25], rows, sensitive)


def with_outliers() -> Plain:
    """Two crowds that are diverse, three records that are near each other, and two far ones with the same illness."""
    paths = [
        ("a", "a1", "a2", "*"),
        ("b", "b1", "b2", "*"),
        ("c", "c1", "c2", "*"),
        ("d", "de", "d2", "*"),
        ("e", "de", "d2", "*"),
    ]
    rows = [(i % 2,) for i in range(200)] + [(2,), (2,), (3,), (4,), (4,)]
    sensitive = [f"s{i // 2 % 3}" for i in range(200)] + ["s0", "s0", "s0", "s1", "s2"]
    return Plain([paths, [("x", "*"), ("y", "*")]], [1.0, 0.5], [(*row, 0) for row in rows], sensitive)


TOLD = {
    "skewed": lambda: Told(skewed(1), [2, 2.5, 3, 4, 5], "entropy"),
    "skewed otherwise": lambda: Told(skewed(2), [2, 2.5, 3, 4, 5], "entropy"),
    "by distinct values": lambda: Told(skewed(3), [2, 3, 4, 5, 6], "distinct"),
    "with outliers": lambda: Told(with_outliers(), [2, 4], "entropy"),
}


@pytest.fixture(scope="module", params=TOLD)
def told(request: pytest.FixtureRequest) -> Told:
    return TOLD[request.param]()


# -- every number in every sentence ----------------------------------------------------------------


def test_going_ahead(told: Told) -> None:
    low = 0
    for l, feasible in told.assessment.feasible.items():
        if not feasible:
            continue
        choice = told.assessment.choices[l][0]
        bound, ratio, size = told.bound(l), told.ratio(l), told.size(l)
        assert choice.action == "go ahead"
        assert choice.requirement == sd.LDiversity(l, told.diversity)  # type: ignore[arg-type]
        assert choice.bound == pytest.approx(bound)
        assert told.assessment.ratio[l] == pytest.approx(ratio)
        assert numbers(choice) == [
            f"{l:g}",
            f"{bound:.4f}",
            f"{size}",
            f"{told.reached(size):.4f}",
            f"{ratio:.2f}",
        ]
        assert choice.text.startswith("Go ahead") == (ratio <= MAX_SUITABLE_RATIO)
        assert len(told.assessment.choices[l]) == 1 or ratio > MAX_SUITABLE_RATIO
        low += ratio > MAX_SUITABLE_RATIO
    assert low, "no case of low suitability was tried"


def test_lowering_l(told: Told) -> None:
    for l in told.assessment.feasible:
        choice = told.choice(l, "lower l")
        if choice is None:
            continue
        smaller = [x for x in range(2, math.ceil(l)) if feasible(told, x)]
        suit = [x for x in smaller if told.ratio(x) <= MAX_SUITABLE_RATIO]
        expected = max(suit or smaller)
        assert choice.requirement == sd.LDiversity(expected, told.diversity)  # type: ignore[arg-type]
        assert ("which suits the table" in choice.text) == bool(suit)
        assert choice.bound == pytest.approx(told.bound(expected))
        assert numbers(choice) == [
            f"{expected}",
            f"{told.bound(expected):.4f}",
            f"{told.ratio(expected):.2f}",
        ]


def feasible(told: Told, l: float) -> bool:
    shares = np.array(told.own) / sum(told.own)
    own = math.exp(-(shares * np.log(shares)).sum()) if told.diversity == "entropy" else len(told.own)
    return l <= own


def test_asking_for_distinct_diversity(told: Told) -> None:
    for l, possible in told.assessment.feasible.items():
        choice = told.choice(l, "distinct")
        if choice is None:
            continue
        whole = math.ceil(l)
        blocks, size = sd.bounds.max_blocks(told.own, whole), told.size(whole, "distinct")
        expected = [f"{whole}", f"{blocks:,}", f"{size}"]
        expected += [f"{told.size(l, 'entropy')}"] if possible else []
        assert numbers(choice) == [*expected, f"{told.bound(whole):.4f}"]
        assert choice.requirement == sd.LDiversity(whole)
        assert choice.bound == pytest.approx(told.bound(whole))
        again = sd.assess(told.plain.table(), l=whole, k=2, diversity="distinct")
        assert again.feasible[whole]
        assert again.bound_l[whole] == pytest.approx(choice.bound)
        assert (again.max_blocks[whole], again.min_block_distinct[whole]) == (blocks, size)


def test_harmless_values(told: Told) -> None:
    """Those that more than one in l have, or the most frequent; the others must be diverse among themselves."""
    counted, n = Counter(told.plain.sensitive), len(told.plain.rows)
    for l, possible in told.assessment.feasible.items():
        choice = told.choice(l, "harmless value")
        if possible and told.ratio(l) <= MAX_SUITABLE_RATIO:
            assert choice is None
            continue
        frequent = [value for value, count in counted.most_common() if count > n / l]
        frequent = frequent or [max(counted, key=lambda value: (counted[value], -int(str(value)[1:])))]
        kept = [row for row, value in enumerate(told.plain.sensitive) if value not in frequent]
        if not kept:
            assert choice is None
            continue
        rest = Plain(
            told.plain.paths,
            told.plain.weights,
            [told.plain.rows[row] for row in kept],
            [told.plain.sensitive[row] for row in kept],
        )
        among = Told(rest, [2], told.diversity)
        if not feasible(among, l):
            assert choice is None
            continue
        bound = among.bound(l) * len(kept) / n
        assert (choice is not None) == (not possible or bound <= (1 - LEAST_SAVING) * told.bound(l))
        if choice is not None:
            assert choice.bound == pytest.approx(bound)
            assert sorted(choice.harmless) == sorted(map(str, frequent))
            assert choice.accepted_as == tuple(f"harmless value: {value}" for value in choice.harmless)
            assert choice.requirement == sd.LDiversity(l, told.diversity, harmless=frequent)  # type: ignore[arg-type]
            assert numbers(choice) == [f"{(n - len(kept)) / n:.1%}", f"{l:g}", f"{bound:.4f}"]


def test_k_anonymity_with_its_risk(told: Told) -> None:
    for l, possible in told.assessment.feasible.items():
        choice = told.choice(l, "k-anonymity")
        if possible and told.ratio(l) <= MAX_SUITABLE_RATIO:
            assert choice is None
            continue
        assert choice is not None
        k = told.size(l) if possible else math.ceil(l)
        assert choice.requirement == sd.KAnonymity(k)
        release = sd.generalize(told.plain.table(), sd.KAnonymity(k))
        attacks = release.certificate.attacks["output"]
        alone, belief = attacks["homogeneity"]["illness"]["share"], largest_share(release)
        assert numbers(choice) == [f"{k}", f"{told.reached(k):.4f}", f"{alone:.1%}", f"{belief:.1%}"]


def largest_share(release: sd.Release) -> float:
    output = release.frame()
    quasi = [name for name in output.columns if name != "illness"]
    sizes = Counter(output.select(quasi).rows())
    pairs = Counter(output.select([*quasi, "illness"]).rows())
    return max(count / sizes[row[:-1]] for row, count in pairs.items())


def test_leaving_out_an_attribute(told: Told) -> None:
    for l, possible in told.assessment.feasible.items():
        choice = told.choice(l, "drop attribute")
        if not possible or told.ratio(l) <= MAX_SUITABLE_RATIO:
            assert choice is None
            continue
        bounds = {}
        for name in told.plain.names:
            others = [other for other in told.plain.names if other != name]
            table = sd.read(told.plain.frame(), told.plain.schema(others))
            bounds[name] = sd.assess(table, l=l, k=[], diversity=told.diversity).bound_l[l]
        name = min(bounds, key=lambda name: bounds[name])
        assert (choice is not None) == (bounds[name] <= (1 - LEAST_SAVING) * told.bound(l))
        if choice is not None:
            assert choice.attribute == name
            assert choice.bound == pytest.approx(bounds[name])
            assert f"'{name}'" in choice.text
            assert numbers(choice) == [f"{bounds[name]:.4f}"]
        if l == told.assessment.largest:
            assert told.assessment.without == pytest.approx(bounds)


def test_leaving_out_the_farthest_records(told: Told) -> None:
    n, table = len(told.plain.rows), told.plain.table()
    codes = by_row.rows_of(table, [*table.names("quasi"), *table.names("sensitive")]).codes.tolist()
    for l, possible in told.assessment.feasible.items():
        choice = told.choice(l, "suppress")
        if not possible or told.ratio(l) <= MAX_SUITABLE_RATIO:
            assert choice is None
            continue
        left = n * 1 // 100
        costs = told.costs(l).round(9)
        kept = sorted(sorted(range(n), key=lambda row: (-costs[row], codes[row]))[left:])
        rest = Plain(
            told.plain.paths,
            told.plain.weights,
            [told.plain.rows[row] for row in kept],
            [told.plain.sensitive[row] for row in kept],
        )
        again = sd.assess(rest.table(), l=l, k=[], diversity=told.diversity)
        offered = again.feasible[l] and again.bound_l[l] <= (1 - LEAST_SAVING) * told.bound(l)
        assert (choice is not None) == offered
        if choice is not None:
            assert choice.bound == pytest.approx(again.bound_l[l])
            assert choice.suppress == OUTLIER_SHARE
            assert numbers(choice) == [f"{left:,}", "1%", f"{again.bound_l[l]:.4f}"]


def test_not_publishing(told: Told) -> None:
    for l, possible in told.assessment.feasible.items():
        choice = told.choice(l, "stop")
        if possible:
            assert (choice is not None) == (told.ratio(l) > MAX_SUITABLE_RATIO)
            assert choice is None or numbers(choice) == [f"{l:g}", f"{told.bound(l):.4f}"]
            continue
        assert choice is not None
        assert choice is told.assessment.choices[l][0]
        shares = np.array(told.own) / sum(told.own)
        entropy = math.exp(-(shares * np.log(shares)).sum())
        own = f"{math.floor(entropy * 100) / 100:g}" if told.diversity == "entropy" else f"{len(told.own)}"
        assert numbers(choice) == [f"{l:g}", own]
        assert told.choice(l, "lower l") is not None


def test_all_kinds_of_choices_were_seen() -> None:
    seen = set()
    for make in TOLD.values():
        assessment = make().assessment
        seen |= {choice.action for choices in assessment.choices.values() for choice in choices}
        told = iter(assessment.advice)
        for choices in assessment.choices.values():
            for choice, sentence in zip(choices, told, strict=False):
                assert sentence.startswith(choice.text)
                # Where there is a choice, each but the one to stop says what accepts it.
                accepted = re.findall(r"'([^']+)'", sentence[len(choice.text) :])
                assert accepted == (list(choice.accepted_as) if len(choices) > 1 else [])
        assert next(told, None) is None
        assert all(re.fullmatch(r"[A-Z].*\.", sentence) for sentence in assessment.advice)
    assert seen == {*get_args(Compromise), "stop"} - {"retry"}  # which there is after a release


# -- where k-anonymity is free ---------------------------------------------------------------------


def test_crowds_of_one_value_do_not_suit_diversity() -> None:
    """Everybody has copies, so 2-anonymity is free; but all copies have the same illness, and 2-diversity costs all."""
    plain = Plain([[("a", "*"), ("b", "*")]], [1.0], [(0,), (0,), (1,), (1,)], list("sstt"))
    assessment = sd.assess(plain.table(), l=2, k=2)
    assert assessment.bound_l[2] == 1
    assert assessment.reached_k[2] == 0
    first = assessment.choices[2][0]
    assert "suits" not in first.text
    assert "1.0000" in first.text
    assert assessment.choices[2][-1].action == "stop"


def test_a_lower_l_whose_cost_has_no_measure_is_not_called_suitable() -> None:
    """3-diversity is not feasible; 2-diversity is, at the cost of everything, while 2-anonymity is free."""
    plain = Plain([[("a", "*"), ("b", "*")]], [1.0], [(0,), (0,), (1,), (1,)], list("sstt"))
    assessment = sd.assess(plain.table(), l=3, k=2)
    lower = assessment.choices[3][1]
    assert (lower.action, lower.requirement) == ("lower l", sd.LDiversity(2))
    assert "suits" not in lower.text


def test_crowds_of_many_values_suit_it() -> None:
    plain = Plain([[("a", "*"), ("b", "*")]], [1.0], [(0,), (0,), (1,), (1,)], list("stts"))
    assessment = sd.assess(plain.table(), l=2, k=2)
    assert assessment.bound_l[2] == 0
    assert [choice.action for choice in assessment.choices[2]] == ["go ahead"]
    assert assessment.advice[0] == "Go ahead with distinct 2-diversity: it need not cost anything."
