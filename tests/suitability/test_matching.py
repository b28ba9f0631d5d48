from __future__ import annotations

import itertools
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given, settings

from sudare.privacy.minimum import BlockMinimum
from sudare.suitability.bounds import Bound, best_bounds
from sudare.suitability.matching import matched_costs
from tests.suitability.cases import Asked, costs_of, problem_of, random_plain, randoms
from tests.suitability.plain import Plain

TOLERANCE = 1e-12


def plain_matching(plain: Plain, staying: int | None = None) -> Fraction:
    """The cheapest permutation of the distinct tuples, all of which are tried.

    A tuple that has copies may stay in place at no cost; one that has none must not, or at the cost `staying`.
    """
    first = {row: i for i, row in reversed(list(enumerate(plain.rows)))}
    tuples = list(first.values())
    alone = [plain.rows.count(plain.rows[i]) == 1 for i in tuples]

    def cost(i: int, j: int) -> Fraction:
        if i == j and alone[i]:
            return Fraction(10**6 if staying is None else staying)
        return plain.distance(tuples[i], tuples[j])

    costs = [[cost(i, j) for j in range(len(tuples))] for i in range(len(tuples))]
    return min(
        sum((costs[i][j] for i, j in enumerate(partner)), Fraction())
        for partner in itertools.permutations(range(len(tuples)))
    )


def letters(words: str, paths: list[tuple[str, ...]] | None = None) -> Plain:
    """Records of one attribute with values a, b, ...; by default suppressed or not."""
    own = paths or [(letter, "*") for letter in "abcdef"]
    names = [path[0] for path in own]
    return Plain([own], [1.0], [(names.index(word),) for word in words], ["s"] * len(words))


def tight(plain: Plain) -> Bound:
    return best_bounds(problem_of(plain, by_value=False), costs_of(plain), [BlockMinimum(2)], tight=True)[0]


@given(r=randoms)
@settings(max_examples=60)
def test_the_cheapest_permutation_is_found(r: Random) -> None:
    """Whether or not a record may be left out (it then costs 1)."""
    plain = random_plain(r, most=6)
    if len(plain.rows) == 1:
        return
    costs = costs_of(plain)
    cheapest = Fraction(int(matched_costs(problem_of(plain, by_value=False), costs).sum()), costs.whole)
    assert plain_matching(plain, staying=1) <= cheapest <= plain_matching(plain)


@given(r=randoms)
@settings(max_examples=60)
def test_the_cheapest_permutation_is_no_more_than_the_optimum(r: Random) -> None:
    plain = random_plain(r, most=7)
    best = plain.optimum(Asked(k=2))
    if best is not None:
        costs = costs_of(plain)
        least = matched_costs(problem_of(plain, by_value=False), costs)
        assert Fraction(int(least.sum()), costs.whole) <= best * len(plain.rows)


@pytest.mark.parametrize("copies", [2, 3, 5, 7])
def test_one_copy_can_be_a_partner_and_the_others_stay(copies: int) -> None:
    """Only one copy of a has to keep b company; a cost that one copy pays must not be counted for all of them."""
    plain = letters("a" * copies + "b")
    best = plain.optimum(Asked(k=2))
    assert best is not None
    assert best == Fraction(2 if copies > 2 else 3, copies + 1)
    assert tight(plain).value <= best + TOLERANCE


def test_a_suppressed_record_is_nobodys_partner() -> None:
    """a and b are near each other, c far from both: c may be left out, and nobody then has to pay for its company."""
    plain = letters("abc", [("a", "ab", "*"), ("b", "ab", "*"), ("c", "c", "*")])
    best = plain.optimum(Asked(k=2), suppressing=True)
    assert best == Fraction(2, 3)
    assert tight(plain).value <= best + TOLERANCE


def test_one_record_costs_no_more_than_all() -> None:
    assert tight(letters("a")).value <= 1


def test_where_all_want_the_same_partner_matching_says_more_than_the_nearest() -> None:
    """One record is near three others, which are far from each other."""
    plain = Plain(
        [[("x", "*"), ("y", "*")]] * 3, [1.0] * 3, [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], ["s"] * 4
    )
    assert sum(plain.nearest(u, 2, 1) for u in range(4)) == Fraction(4, 3)
    costs = costs_of(plain)
    assert Fraction(int(matched_costs(problem_of(plain, by_value=False), costs).sum()), costs.whole) == 2
    assert tight(plain).value == pytest.approx(2 / 4)
    assert plain.optimum(Asked(k=2)) == Fraction(2, 4)


def test_all_records_equal() -> None:
    assert tight(letters("aaaa")).value == 0
