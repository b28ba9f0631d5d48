"""Weighted boxes against a tensor that is written out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare as sd
from sudare.pview.boxes import Boxes

SIZES = (4, 3, 5)


def tensor(boxes: Boxes) -> np.ndarray:
    """Write all cells out, the obvious way."""
    cells = np.zeros(boxes.sizes)
    for low, high, weight in zip(boxes.low, boxes.high, boxes.weights, strict=True):
        place = tuple(slice(int(a), int(b) + 1) for a, b in zip(low, high, strict=True))
        cells[place] += weight / cells[place].size
    return cells


def some_boxes(rng: np.random.Generator, n: int, points: bool) -> Boxes:
    ends = np.sort(rng.integers(0, SIZES, size=(2, n, 3)), axis=0).astype(np.uint8)
    low, high = ends
    weights = rng.random(n) * 10
    return Boxes.of(low, low, weights, SIZES) if points else Boxes.of(low, high, weights, SIZES)


@settings(max_examples=60)
@given(st.integers(0, 10_000), st.integers(0, 400), st.booleans())
def test_counts_are_those_of_the_tensor(seed: int, n: int, points: bool) -> None:
    rng = np.random.default_rng(seed)
    boxes = some_boxes(rng, n, points)
    cells = tensor(boxes)
    low, high = np.sort(rng.integers(0, SIZES, size=(2, 20, 3)), axis=0).astype(np.int32)
    expected = [
        cells[tuple(slice(a, b + 1) for a, b in zip(one, other, strict=True))].sum()
        for one, other in zip(low, high, strict=True)
    ]
    assert boxes.counts(low, high) == pytest.approx(np.array(expected))


@settings(max_examples=60)
@given(
    st.integers(0, 10_000),
    st.lists(st.integers(0, 2), unique=True),
    st.lists(st.integers(0, 2), unique=True),
    st.booleans(),
)
def test_tables_are_those_of_the_tensor(seed: int, axes: list[int], weighed: list[int], points: bool) -> None:
    rng = np.random.default_rng(seed)
    boxes = some_boxes(rng, 150, points)
    cells = tensor(boxes)
    weights = {axis: rng.random(SIZES[axis]) for axis in weighed}
    for axis, own in weights.items():
        cells = cells * own.reshape([-1 if i == axis else 1 for i in range(3)])
    others = tuple(axis for axis in range(3) if axis not in axes)
    expected = cells.sum(axis=others)
    expected = np.transpose(expected, np.argsort(np.argsort(axes))) if len(axes) > 1 else expected
    assert boxes.table(axes, weights) == pytest.approx(expected)


def test_rows_are_drawn_as_the_weights_say() -> None:
    boxes = some_boxes(np.random.default_rng(0), 30, points=False)
    drawn = boxes.sample(100_000, np.random.default_rng(1))
    seen = np.zeros(SIZES)
    np.add.at(seen, tuple(drawn.T), 1)
    share = tensor(boxes) / boxes.weights.sum()
    assert abs(seen / 100_000 - share).max() < 0.01
    assert len(boxes.sample(0, np.random.default_rng(1))) == 0


def test_nobody_cannot_be_drawn_from_and_tables_have_an_end() -> None:
    empty = Boxes.of(np.zeros((1, 1), np.uint8), np.zeros((1, 1), np.uint8), np.zeros(1), (3,))
    with pytest.raises(sd.InputError, match="nothing to draw from"):
        empty.sample(3, np.random.default_rng(0))
    wide = Boxes.of(np.zeros((1, 2), np.int32), np.zeros((1, 2), np.int32), np.ones(1), (10**5, 10**5))
    with pytest.raises(sd.InputError, match="too large"):
        wide.table([0, 1], {})
