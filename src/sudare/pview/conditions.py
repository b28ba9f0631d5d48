"""Conditions on attributes, and the disjoint products of cells that they take.

A comparison may take a cell in part: a range that ends within a bin. So bins are first cut wherever a comparison
ends; every piece is then taken or not, and what AND, OR and NOT make of that is exact. Then one attribute after the
other is settled (Shannon's expansion): pieces that leave the same to be asked of the others belong together.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.errors import InputError
from sudare.pview.domain import Axis, Domain
from sudare.tables.numbers import numbers_of
from sudare.tables.text import shown

MAX_STEPS = 2000

Sign = Literal["=", "<", "<=", ">", ">=", "between", "in", "null"]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Comparison:
    """A comparison of one attribute with values. Neither it nor its negation holds for a missing value."""

    name: str
    sign: Sign
    values: tuple[Any, ...] = ()
    negated: bool = False


@dataclass(frozen=True)
class Every:
    """Conditions that must all hold."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True)
class Some:
    """Conditions of which one must hold."""

    parts: tuple[Condition, ...]


Condition = Comparison | Every | Some | bool


def products_of(condition: Condition, domain: Domain) -> list[dict[int, Floats]]:
    """Take a condition apart into disjoint products: which share of the cells of which axes.

    >>> domain = Domain((Axis("age", pl.Int64(), None, 0, 4, 2), Axis("sex", pl.String(), ("f", "m"))))
    >>> [{axis: share.tolist() for axis, share in part.items()}
    ...     for part in products_of(Some((Comparison("age", "<", (1,)), Comparison("sex", "=", ("f",)))), domain)]
    [{0: [0.5, 1.0], 1: [1.0, 0.0]}, {0: [0.5, 0.0]}]
    """
    tests: dict[int, list[Comparison]] = {}
    for test in dict.fromkeys(_tests(condition)):
        tests.setdefault(domain.place(test.name), []).append(test)
    classes = {axis: _classes(domain.axes[axis], own) for axis, own in tests.items()}
    steps = iter(range(MAX_STEPS))

    def settle(left: Condition, axes: Sequence[int]) -> Iterator[dict[int, Floats]]:
        if next(steps, None) is None:
            raise InputError("The condition falls into too many parts. Ask several simpler questions.")
        if isinstance(left, bool):
            if left:
                yield {}
            return
        axis, *others = axes
        shares: dict[Condition, Floats] = {}
        for share, truths in classes[axis]:
            after = _settled(left, truths)
            shares[after] = shares.get(after, 0) + share
        for after, share in shares.items():
            whole = {} if np.allclose(share, 1, rtol=0, atol=1e-12) else {axis: share}
            if share.any():
                yield from (whole | part for part in settle(after, others))

    return list(settle(condition, list(tests)))


def _tests(condition: Condition) -> Iterator[Comparison]:
    if isinstance(condition, Comparison):
        yield condition
    elif not isinstance(condition, bool):
        for part in condition.parts:
            yield from _tests(part)


def _settled(condition: Condition, truths: Mapping[Comparison, bool]) -> Condition:
    """Return what is left of a condition once some tests are known."""
    if isinstance(condition, bool):
        return condition
    if isinstance(condition, Comparison):
        return truths.get(condition, condition)
    decisive = isinstance(condition, Some)  # one that holds decides a Some, one that does not an Every
    left = []
    for part in condition.parts:
        settled = _settled(part, truths)
        if settled is decisive:
            return decisive
        if not isinstance(settled, bool):
            left.append(settled)
    if len(left) > 1:
        return type(condition)(tuple(left))
    return left[0] if left else not decisive


# -- Which pieces of an axis a test takes ----------------------------------------------------------


def _classes(axis: Axis, tests: Sequence[Comparison]) -> list[tuple[Floats, dict[Comparison, bool]]]:
    """Put pieces on which the same tests hold together: their share of every cell, and which tests hold."""
    if axis.values is None:
        pieces, holds = _pieces(axis, [_ranges(axis, test) for test in tests])
    else:
        pieces, holds = None, np.array([_cells(axis, test) for test in tests])
    if axis.missing:
        lost = [[test.sign == "null"] for test in tests]
        holds = np.hstack([holds, lost])
    present = np.arange(holds.shape[1]) < holds.shape[1] - axis.missing
    for i, test in enumerate(tests):
        if test.negated:
            holds[i] = ~holds[i] & (present | (test.sign == "null"))
    kinds, of = np.unique(holds, axis=1, return_inverse=True)
    shares = []
    for kind in range(kinds.shape[1]):
        mine = of.ravel() == kind
        share = mine.astype(np.float64) if pieces is None else _share(axis, pieces, mine)
        shares.append((share, dict(zip(tests, kinds[:, kind].tolist(), strict=True))))
    return shares


def _share(axis: Axis, pieces: Floats, mine: Bools) -> Floats:
    share = np.zeros(axis.size)
    for i in np.flatnonzero(mine[: len(pieces) - 1]):
        share[: axis.bins] += axis.covered(pieces[i], pieces[i + 1])
    if axis.missing and mine[-1]:
        share[-1] = 1.0
    return share


def _pieces(axis: Axis, ranges: Sequence[Sequence[tuple[float, float]]]) -> tuple[Floats, Bools]:
    """Cut between the bounds wherever a range ends; return the cuts, and which tests hold on which piece."""
    ends = [end for several in ranges for pair in several for end in pair if axis.low < end < axis.high]
    cuts = np.unique([axis.low, *ends, axis.high])
    holds = np.zeros((len(ranges), len(cuts) - 1), dtype=bool)
    for i, several in enumerate(ranges):
        for begin, end in several:
            holds[i] |= (cuts[:-1] >= begin) & (cuts[1:] <= end)
    return cuts, holds


def _ranges(axis: Axis, test: Comparison) -> list[tuple[float, float]]:
    """Return what a test takes of the numbers, from one to below another."""
    if test.sign == "null":
        return []
    if test.sign == "in":
        return [_range(axis, "=", (value,)) for value in test.values]
    return [_range(axis, test.sign, test.values)]


def _range(axis: Axis, sign: Sign, values: tuple[Any, ...]) -> tuple[float, float]:
    first, last = _ends(axis, sign, values)
    if sign in ("=", "between") and first == last and not axis.whole:
        return axis.bin_of(first)
    if not axis.whole:
        return first, last
    begin = first if math.isinf(first) else math.floor(first) + 1 if sign == ">" else math.ceil(first)
    end = last if math.isinf(last) else math.ceil(last) if sign == "<" else math.floor(last) + 1
    return begin, end


def _cells(axis: Axis, test: Comparison) -> Bools:
    """Return which values a test takes."""
    count = len(axis.values or ())
    if test.sign == "null":
        return np.zeros(count, dtype=bool)
    values = tuple(_typed(axis, value) for value in test.values)
    if test.sign in ("=", "in"):
        return np.asarray(axis.wanted(list(values))[:count] > 0)
    if axis.ordered:
        _ends(axis, test.sign, values)
    # Below a value are those that are not from it on.
    low = values[0] if test.sign in ("<", ">=", "between") else None
    high = values[-1] if test.sign in ("<=", ">", "between") else None
    return np.asarray((axis.wanted((low, high))[:count] > 0) != (test.sign in ("<", ">")))


def _ends(axis: Axis, sign: Sign, values: tuple[Any, ...]) -> tuple[float, float]:
    """Return the ends of a range as numbers, and refuse one that misses the whole domain."""
    numbers = [_number(axis, value) for value in values]
    first = -math.inf if sign in ("<", "<=") else numbers[0]
    last = math.inf if sign in (">", ">=") else numbers[-1]
    low, high = axis.low, axis.high - axis.whole
    if axis.values is not None:
        own = numbers_of(pl.Series(list(axis.values), dtype=axis.dtype))
        low, high = own.min(), own.max()
    if first > last:
        raise InputError(
            f"'{axis.name}': BETWEEN {shown(values[0])} AND {shown(values[-1])} is the wrong way round."
        )
    if last < low or (first > high and (first >= axis.high or axis.values is not None)):
        raise axis.outside(values[-1] if last < low else values[0])
    return first, last


def _number(axis: Axis, value: Any) -> float:
    number = axis.number(_typed(axis, value))
    if not math.isfinite(number):
        raise InputError(f"'{axis.name}': {shown(value)} is not a number.")
    return number


def _typed(axis: Axis, value: Any) -> Any:
    """Return a value as the attribute has it: texts may be dates; nothing else changes its kind."""
    temporal = axis.dtype.is_temporal()
    if temporal and isinstance(value, str):
        try:
            moment = dt.datetime.fromisoformat(value)
        except ValueError:
            raise InputError(f"'{axis.name}': {shown(value)} is not a date such as '2025-03-31'.") from None
        return moment.date() if axis.dtype == pl.Date else moment
    if (
        temporal
        and axis.dtype != pl.Date
        and isinstance(value, dt.date)
        and not isinstance(value, dt.datetime)
    ):
        return dt.datetime(value.year, value.month, value.day)
    fits = isinstance(value, dt.date) == temporal
    if not fits or (isinstance(value, bool) and axis.dtype != pl.Boolean):
        raise InputError(f"'{axis.name}': {shown(value)} is not of its type, {axis.dtype}.")
    return value
