from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare as sd
from sudare.privacy.blocks import Blocks
from sudare.privacy.l_diversity import LDiversity
from sudare.privacy.multi_view import MultiViewDiversity, RemainingValues, refuse_other_requirements
from sudare.tables.counts import count
from tests.privacy.plain_views import Persons, entropy


def seen_by(people: Persons) -> RemainingValues:
    views = [np.array(view) for view in people.blocks]
    return RemainingValues.of(views, np.array(people.sensitive), np.array(people.weights))


@st.composite
def persons(draw: st.DrawFn, views: int | None = None) -> Persons:
    r = draw(st.randoms(use_true_random=False))
    n = draw(st.integers(1, 40))
    values = draw(st.sampled_from([1, 2, 5, 63, 64, 65, 130]))
    return Persons(
        [random_view(r, n) for _ in range(views or draw(st.integers(1, 4)))],
        [r.randrange(values) for _ in range(n)],
        [r.choice([1, 1, 1, 2, 5]) for _ in range(n)],
    )


def random_view(r: Random, n: int) -> list[int]:
    blocks = r.randint(1, max(1, n // 4))
    return [r.randrange(blocks) for _ in range(n)]


@given(persons())
@settings(max_examples=150)
def test_everybody_is_left_with_what_all_blocks_have(people: Persons) -> None:
    seen, expected = seen_by(people), [len(values) for values in people.candidates()]
    assert seen.candidates.tolist() == expected
    least = min(expected)
    measured = MultiViewDiversity(1).measure(seen)
    assert (measured.value, measured.worst) == (least, expected.index(least))
    assert isinstance(measured.value, int)
    assert MultiViewDiversity(least).measure(seen).holds
    assert not MultiViewDiversity(least + 1).measure(seen).holds


@given(persons())
@settings(max_examples=150)
def test_the_posterior_multiplies_the_shares_of_all_views(people: Persons) -> None:
    seen, expected = seen_by(people), people.posteriors()
    largest = [max(posterior.values()) for posterior in expected]
    assert seen.posterior == pytest.approx([float(p) for p in largest])
    assert seen.entropy == pytest.approx([entropy(posterior) for posterior in expected], abs=1e-9)
    measured = MultiViewDiversity(1, "posterior").measure(seen)
    assert measured.value == pytest.approx(float(1 / max(largest)))
    assert largest[measured.worst] == pytest.approx(float(max(largest)))
    for l in range(1, 8):
        assert MultiViewDiversity(l, "posterior").measure(seen).holds == (max(largest) <= Fraction(1, l))


@given(persons())
@settings(max_examples=100)
def test_entropy_measures_the_least_effective_number_of_values(people: Persons) -> None:
    seen, expected = seen_by(people), [entropy(posterior) for posterior in people.posteriors()]
    measured = MultiViewDiversity(1, "entropy").measure(seen)
    assert measured.value == pytest.approx(math.exp(min(expected)))
    assert expected[measured.worst] == pytest.approx(min(expected), abs=1e-9)
    assert MultiViewDiversity(max(1, measured.value), "entropy").measure(seen).holds
    assert not MultiViewDiversity(measured.value + 1e-6, "entropy").measure(seen).holds


@given(persons())
@settings(max_examples=60)
def test_the_distribution_counts_records(people: Persons) -> None:
    expected: Counter[int] = Counter()
    for values, weight in zip(people.candidates(), people.weights, strict=True):
        expected[len(values)] += weight
    distribution = seen_by(people).distribution()
    assert distribution == expected
    assert list(distribution) == sorted(distribution)


@given(persons())
@settings(max_examples=60)
def test_weights_are_records(people: Persons) -> None:
    blocks, sensitive = zip(*people.records(), strict=True)
    views = [list(view) for view in zip(*blocks, strict=True)]
    single = seen_by(Persons(views, list(sensitive), [1] * len(sensitive)))
    seen = seen_by(people)
    assert single.candidates.tolist() == np.repeat(seen.candidates, people.weights).tolist()
    assert single.posterior == pytest.approx(np.repeat(seen.posterior, people.weights))
    assert single.distribution() == seen.distribution()


@given(persons(views=1))
@settings(max_examples=100)
def test_one_view_is_l_diversity(people: Persons) -> None:
    blocks, values = np.array(people.blocks[0]), np.array(people.sensitive)
    columns = {"block": np.repeat(blocks, people.weights), "s": np.repeat(values, people.weights)}
    counted = Blocks.of(count(columns, sizes=[int(blocks.max()) + 1, int(values.max()) + 1]), "s")
    seen = seen_by(people)
    assert MultiViewDiversity(1).measure(seen).value == LDiversity(1).measure(counted).value
    ours = MultiViewDiversity(1, "entropy").measure(seen).value
    assert ours == pytest.approx(LDiversity(1, "entropy").measure(counted).value)
    shares = [max(p.values()) for p in people.posteriors()]
    assert MultiViewDiversity(1, "posterior").measure(seen).value == pytest.approx(float(1 / max(shares)))


@given(persons(), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_another_view_only_takes_values_away(people: Persons, r: Random) -> None:
    more = Persons([*people.blocks, random_view(r, len(people.sensitive))], people.sensitive, people.weights)
    assert (seen_by(more).candidates <= seen_by(people).candidates).all()
    whole = Persons([*people.blocks, [0] * len(people.sensitive)], people.sensitive, people.weights)
    assert (seen_by(whole).candidates == seen_by(people).candidates).all()
    assert seen_by(whole).posterior == pytest.approx(seen_by(people).posterior)


@given(persons(), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_a_view_says_nothing_of_those_it_leaves_out(people: Persons, r: Random) -> None:
    """They keep what the other views leave; the others see the records that are there."""
    out = [r.random() < 0.3 for _ in people.sensitive]
    out[0] = False
    last = [-1 if gone else block for gone, block in zip(out, people.blocks[-1], strict=True)]
    after = seen_by(Persons([*people.blocks, last], people.sensitive, people.weights))
    before, total = seen_by(people), Counter(np.repeat(people.sensitive, people.weights).tolist())
    for u, block in enumerate(last):
        if block == -1:
            assert after.candidates[u] == before.candidates[u]
            assert after.posterior[u] == pytest.approx(before.posterior[u])
            continue
        inside: Counter[int] = Counter()
        for other, value, weight in zip(last, people.sensitive, people.weights, strict=True):
            inside[value] += weight if other == block else 0
        assert after.candidates[u] == len(people.candidates()[u] & {s for s in inside if inside[s]})
        weighed = {s: p * Fraction(inside[s], total[s]) for s, p in people.posteriors()[u].items()}
        assert after.posterior[u] == pytest.approx(float(max(weighed.values()) / sum(weighed.values())))


def test_whoever_is_in_no_view_may_have_any_value() -> None:
    people = Persons([[0, 0, -1], [0, 0, -1]], [0, 1, 3], [1, 1, 2])
    seen = seen_by(people)
    assert seen.candidates.tolist() == [2, 2, 3]
    assert seen.posterior.tolist() == [0.5, 0.5, 0.5]
    nothing = seen_by(Persons([], people.sensitive, people.weights))
    assert nothing.distribution() == {3: 4}
    assert nothing.posterior.tolist() == [0.5, 0.5, 0.5]


@given(persons(), st.integers(0, 4))
@settings(max_examples=60)
def test_earlier_views_are_as_good_as_present_ones(people: Persons, views: int) -> None:
    before = seen_by(Persons(people.blocks[:views], people.sensitive, people.weights))
    later = [np.array(view) for view in people.blocks[views:]]
    remaining = RemainingValues.of(
        later, np.array(people.sensitive), np.array(people.weights), before.sets, before.weighed
    )
    assert remaining.candidates.tolist() == [len(values) for values in people.candidates()]
    assert remaining.posterior == pytest.approx(seen_by(people).posterior)
    assert remaining.entropy == pytest.approx(seen_by(people).entropy, abs=1e-9)


@pytest.mark.parametrize("l", [1, 2, 3, 7, 49, 63, 64, 65, 128, 130])
@pytest.mark.parametrize("views", [1, 2, 3])
def test_equally_frequent_values_are_a_whole_number_of_them(l: int, views: int) -> None:
    """Rounding must neither refuse what is met exactly, nor report 2.9999999999999996."""
    people = Persons([[0] * l + [1] * l] * views, [*range(l), *range(l)], [3] * (2 * l))
    for kind in ("distinct", "entropy", "posterior"):
        measured = MultiViewDiversity(l, kind).measure(seen_by(people))
        assert measured.holds
        assert measured.value == l
        assert not MultiViewDiversity(l + 1, kind).measure(seen_by(people)).holds


def test_the_two_views_of_the_paper_give_the_fourth_user_away() -> None:
    people = Persons([[0, 0, 0, 1, 1, 2, 2], [2, 2, 1, 0, 2, 1, 0]], [0, 1, 0, 2, 1, 2, 0], [1] * 7)
    assert people.candidates()[3] == {2}  # Tables 2 and 3: HIV
    assert seen_by(people).candidates.tolist() == [2, 2, 1, 1, 1, 2, 2]
    better = Persons([[0, 0, 1, 1, 2, 2, 2], people.blocks[1]], people.sensitive, people.weights)
    assert seen_by(better).distribution() == {2: 7}  # Tables 4 and 3


def test_a_set_of_two_may_hide_a_near_certainty() -> None:
    """Why the posterior is reported: two values are left to everybody, and one of them is nearly certain."""
    people = Persons([[0, 0], [0, 0]], [0, 1], [99, 1])
    seen = seen_by(people)
    assert MultiViewDiversity(2).measure(seen).holds
    assert seen.posterior.tolist() == pytest.approx([0.99, 0.99])
    assert not MultiViewDiversity(2, "posterior").measure(seen).holds


# -- parameters and words --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"l": 0}, "The 'l' parameter of MultiViewDiversity must be a whole number of 1 or more. Got 0"),
        ({"l": 2.5}, "must be a whole number of 1 or more. Got 2.5 instead."),
        ({"l": 2.0}, "must be a whole number of 1 or more. Got 2.0 instead."),
        ({"l": True}, "must be a whole number of 1 or more. Got True instead."),
        ({"l": "2"}, "must be a whole number of 1 or more. Got '2' instead."),
        ({"l": 0.9, "kind": "entropy"}, "must be a number of 1 or more. Got 0.9 instead."),
        ({"l": math.nan, "kind": "entropy"}, "must be a number of 1 or more. Got nan instead."),
        ({"l": math.inf, "kind": "posterior"}, "must be a number of 1 or more. Got inf instead."),
        ({"l": True, "kind": "posterior"}, "must be a number of 1 or more. Got True instead."),
        (
            {"l": 2, "kind": "recursive"},
            "The 'kind' parameter of MultiViewDiversity must be one of 'distinct', 'entropy', 'posterior'. "
            "Got 'recursive' instead.",
        ),
        ({"l": 2, "attribute": 7}, "The 'attribute' parameter of MultiViewDiversity must be the name"),
    ],
)
def test_refuses_what_parameters_cannot_be(parameters: dict[str, object], message: str) -> None:
    with pytest.raises(sd.ParameterError) as caught:
        MultiViewDiversity(**parameters)  # type: ignore[arg-type]
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("requirement", "message"),
    [
        (
            MultiViewDiversity(5),
            "multi-view 5-diversity is impossible: the table has only 4 distinct values of 's'.",
        ),
        (
            MultiViewDiversity(4, "entropy"),
            "multi-view entropy 4-diversity is impossible: the table's own entropy is log 3.28.",
        ),
        (
            MultiViewDiversity(2, "posterior"),
            "multi-view 2-diversity of the posterior is impossible: 52.0% of the records have the most frequent "
            "value of 's'.",
        ),
    ],
)
def test_says_why_it_is_impossible(requirement: MultiViewDiversity, message: str) -> None:
    with pytest.raises(sd.RequirementError) as caught:
        requirement.refuse_if_impossible(np.array([52, 0, 24, 14, 10]), "s")
    assert str(caught.value).startswith(message)


def test_does_not_refuse_what_the_whole_table_has() -> None:
    totals = np.array([52, 0, 24, 14, 10])
    for requirement in (
        MultiViewDiversity(4),
        MultiViewDiversity(3.28, "entropy"),
        MultiViewDiversity(1.92, "posterior"),
        MultiViewDiversity(1),
    ):
        requirement.refuse_if_impossible(totals, "s")
    MultiViewDiversity(130, "entropy").refuse_if_impossible(np.full(130, 7), "s")


def test_one_value_is_not_values() -> None:
    with pytest.raises(sd.RequirementError, match="only 1 distinct value of 's'"):
        MultiViewDiversity(2).refuse_if_impossible(np.array([3]), "s")


def test_names_and_words() -> None:
    asked = [
        MultiViewDiversity(3),
        MultiViewDiversity(2.5, "entropy", attribute="job"),
        MultiViewDiversity(4.0, "posterior"),
    ]
    assert [one.name for one in asked] == ["l_multiview", "l_multiview_entropy", "l_multiview_posterior"]
    assert [str(one) for one in asked] == [
        "multi-view 3-diversity",
        "multi-view entropy 2.5-diversity of 'job'",
        "multi-view 4-diversity of the posterior",
    ]


def test_other_requirements_do_not_speak_of_several_views() -> None:
    asked = MultiViewDiversity(2)
    assert refuse_other_requirements(asked) is asked
    with pytest.raises(sd.ParameterError, match=r"need MultiViewDiversity.*Got distinct 2-diversity instead"):
        refuse_other_requirements(LDiversity(2))
