"""Workloads and their errors, against plain counting."""

from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np
import pytest

import sudare as sd
from sudare.utility import workloads
from sudare.utility.workloads import (
    Workload,
    all_ranges,
    average_relative_rmse,
    marginals,
    prefixes,
    random_ranges,
    ranges_rmse,
    relative_error,
    rmse,
    table_of,
    tables_rmse,
    truth,
)

SIZES = (4, 3, 5, 2)


def rows(n: int = 60) -> np.ndarray:
    rng = np.random.default_rng(1)
    return np.stack([rng.integers(0, size, n) for size in SIZES], axis=1).astype(np.int32)


def plain(codes: np.ndarray, workload: Workload) -> list[int]:
    return [
        sum(all(a <= x <= b for x, a, b in zip(row, low, high, strict=True)) for row in codes.tolist())
        for low, high in zip(workload.low.tolist(), workload.high.tolist(), strict=True)
    ]


def every_workload() -> list[Workload]:
    return [
        *(marginals(SIZES, k) for k in (1, 2, 3, 4)),
        *(prefixes(SIZES, k) for k in (1, 2, 3)),
        all_ranges(SIZES),
        *(random_ranges(SIZES, k, 100, seed=k) for k in (1, 2, 4)),
    ]


@pytest.mark.parametrize("workload", every_workload(), ids=lambda workload: workload.name)
@pytest.mark.parametrize("n", [1, 60])
def test_truth_is_what_plain_counting_finds(workload: Workload, n: int) -> None:
    codes = rows(n)
    assert truth(codes, workload.low, workload.high).tolist() == plain(codes, workload)


@pytest.mark.parametrize("few", [1, 50])
def test_both_ways_of_counting_agree(few: int) -> None:
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 30, (4_000, 3)).astype(np.int32)
    workload = random_ranges((30, 30, 30), 3, few, seed=3)  # one query row by row, fifty from a table
    inside = (codes[None] >= workload.low[:, None]) & (codes[None] <= workload.high[:, None])
    assert truth(codes, workload.low, workload.high).tolist() == inside.all(axis=2).sum(axis=1).tolist()


def test_nobody_and_nothing_asked() -> None:
    none = np.empty((0, 2), np.int32)
    assert truth(none, [[0, 0]], [[3, 3]]).tolist() == [0]
    assert truth([[0, 0]], none, none).tolist() == []
    with pytest.raises(sd.InputError, match="one column per attribute"):
        truth([[0, 0]], [[0]], [[1]])


def test_marginals_and_prefixes_are_all_there_are() -> None:
    for k in (1, 2, 3):
        cells = {
            tuple(dict(zip(axes, codes, strict=True)).get(a, -1) for a in range(4))
            for axes in combinations(range(4), k)
            for codes in product(*(range(SIZES[a]) for a in axes))
        }
        workload = marginals(SIZES, k)
        assert len(workload) == len(cells)
        for low, high in zip(workload.low.tolist(), workload.high.tolist(), strict=True):
            assert tuple(a if a == b else -1 for a, b in zip(low, high, strict=True)) in cells
        assert (prefixes(SIZES, k).low == 0).all()
        assert (prefixes(SIZES, k).high == workload.high).all()


def test_some_are_drawn_without_repetition_and_evenly() -> None:
    workload = marginals((50, 40, 30), 2, most=2_000, seed=5)
    assert len(workload) == 2_000
    boxes = np.hstack([workload.low, workload.high])
    assert len(np.unique(boxes, axis=0)) == 2_000
    first_two = (workload.low[:, 2] < workload.high[:, 2]).mean()
    assert first_two == pytest.approx(2_000 / 4_700, abs=0.05)
    assert (marginals((50, 40, 30), 2, most=2_000, seed=5).low == workload.low).all()
    assert len(marginals(SIZES, 2, most=10**6)) == len(marginals(SIZES, 2))


def test_random_ranges_have_the_widths_and_places_that_they_should() -> None:
    workload = random_ranges((6, 6, 6), 2, 30_000, seed=1)
    width = workload.high - workload.low + 1
    asked = np.bincount(width[:, 0], minlength=7)[1:] / len(width)
    # A third of the queries do not ask for the first attribute; in the others each width has a sixth.
    assert asked == pytest.approx([2 / 3 / 6] * 5 + [2 / 3 / 6 + 1 / 3], abs=0.01)
    places = np.bincount(workload.low[width[:, 0] == 3, 0], minlength=4)
    assert places / places.sum() == pytest.approx([0.25] * 4, abs=0.03)
    assert ((width < 6).sum(axis=1) <= 2).all()


@pytest.mark.parametrize("make", [marginals, prefixes, lambda sizes, k: random_ranges(sizes, k, 5)])
@pytest.mark.parametrize("k", [0, 5])
def test_k_must_be_a_number_of_attributes(make: object, k: int) -> None:
    with pytest.raises(sd.ParameterError, match=f"from 1 to 4, the attributes there are. Got {k} instead"):
        make(SIZES, k)  # type: ignore[operator]


def test_errors() -> None:
    assert rmse([1, 2, 3], [1, 2, 7]) == pytest.approx(math.sqrt(16 / 3))
    assert relative_error([0, 10], [1, 5], 1_000) == pytest.approx((1 / 1 + 5 / 10) / 2)
    assert relative_error([0], [1], 100_000) == pytest.approx(0.01)


@pytest.mark.parametrize(("make", "prefix"), [(marginals, False), (prefixes, True)])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_whole_tables_have_the_error_of_their_cells(make: object, prefix: bool, k: int) -> None:
    codes, other = rows(60), rows(90)[30:]
    workload = make(SIZES, k)  # type: ignore[operator]
    one_by_one = rmse(*(truth(own, workload.low, workload.high) for own in (codes, other)))
    several = list(combinations(range(4), k))
    whole = tables_rmse(table_of(codes, SIZES), table_of(other, SIZES), several, prefix=prefix)
    assert whole == pytest.approx(one_by_one)


def test_all_ranges_of_single_attributes() -> None:
    codes, other = rows(60), rows(90)[30:]
    workload = all_ranges(SIZES)
    one_by_one = rmse(*(truth(own, workload.low, workload.high) for own in (codes, other)))
    whole = ranges_rmse(table_of(codes, SIZES), table_of(other, SIZES), range(4))
    assert whole == pytest.approx(one_by_one)


def test_arr_takes_the_tasks_that_both_have() -> None:
    errors = {"ours": {1: 2.0, 2: 4.0}, "theirs": {1: 4.0, 2: 4.0, 3: 9.0}}
    assert average_relative_rmse(errors, "ours") == {"ours": 1.0, "theirs": 1.5}


def test_the_floor_is_that_of_query_error() -> None:
    assert workloads.SANITY == 0.001
