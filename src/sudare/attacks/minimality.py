"""The minimality attack (Wong, Fu, Wang & Pei 2007): who knows that nothing was coarsened without need rules values out.

A block is as coarse as it is because no cut of it would have met the requirements. So whoever knows the people of a block,
and tries in thought all ways in which its sensitive values can belong to them, may strike out every way in which it could
have been cut. What is left can make a value far likelier than its share of the block, or certain.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.attacks.crowds import Crowd, texts_of
from sudare.attacks.gains import Beliefs, Gain, gain_of
from sudare.privacy.blocks import Blocks
from sudare.privacy.requirement import BlockRequirement
from sudare.tables.dictionary import Dictionary
from sudare.tables.notebook import ShownFigures

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

MAX_BLOCKS = 1_000  # that are looked at; of more, so many are drawn
MAX_SIZE = 500  # records of a block that is looked at
MAX_WORLDS = 2_000  # ways to deal values out to people that are tried one by one; of more, so many are drawn
LEAST_WORLDS = 20  # that must be left of those drawn, for a belief to rest on them
CUTTING = ("minimal", "mondrian")
"""Methods that cut every block where sensitive values let them. That a block of another method was not cut rules nothing out."""
MOVING = ("minimal",)
"""Methods that move people to narrower blocks, where they can."""


@dataclass(frozen=True, repr=False)
class Minimality(ShownFigures):
    """What an outsider believes who knows that no block could be cut."""

    gain: Gain
    ruled_out: int
    """The blocks in which some way to deal the values out is ruled out."""

    def summary(self) -> dict[str, Any]:
        """Return the numbers as plain data; nobody is named."""
        return self.gain.summary() | {"ruled_out": self.ruled_out}

    def __str__(self) -> str:
        return f"Knowing that no block could be cut rules something out in {self.ruled_out:,} blocks. {self.gain}"


def minimality(
    crowd: Crowd,
    requirements: Sequence[BlockRequirement],
    method: str,
    *,
    strict: bool = False,
    blocks: int = MAX_BLOCKS,
) -> Minimality:
    """Believe of everybody what is left when all ways to deal a block's values out are struck by which it could be cut.

    A cut takes the node of one attribute apart into its children. `strict`: it is made only if all children meet the
    requirements. Else also if some do, and those that do not meet them together. By "minimal" a block is also smaller than it
    might be: people of one value would have moved to a narrower block that has others like them, if both blocks bore it.
    """
    rng = np.random.default_rng(0)  # the same release is always believed the same
    some = crowd.sampled(blocks, rng)
    if not len(some.block):
        return Minimality(gain_of(some, []), 0)
    rules = _Rules.of(crowd, requirements, strict) if method in CUTTING else None
    narrower = _Narrower.of(crowd) if method in MOVING else None
    starts, sizes = some.starts, some.sizes
    beliefs, ruled_out = [], 0
    for b in range(len(sizes)):
        rows = np.arange(starts[b], starts[b + 1])
        if sizes[b] <= MAX_SIZE:
            share = np.repeat(some.histograms[b][None, :] / sizes[b], len(rows), axis=0)
            after = None if rules is None else _believed(some, b, rows, rules, narrower, rng)
            ruled_out += after is not None
            beliefs.append(Beliefs(rows, share, share if after is None else after))
    return Minimality(gain_of(some, beliefs), ruled_out)


def _values(crowd: Crowd, column: Dictionary) -> pl.Series:
    """Return the sensitive values that the crowd's codes stand for, in their own type as far as it is known; the missing one has none."""
    place = {text: code for code, text in enumerate(texts_of(crowd.people, column.name))}
    texts = [text for text in crowd.values if text is not None]
    if not place.keys() >= set(texts):
        return pl.Series(texts, dtype=pl.String)
    return column.values.gather([place[text] for text in texts])


@dataclass(frozen=True, eq=False)
class _Rules:
    """By what the method decided whether a block is cut."""

    requirements: Sequence[BlockRequirement]
    strict: bool
    whole: Blocks
    """All records, by which some requirements measure a block."""

    @classmethod
    def of(cls, crowd: Crowd, requirements: Sequence[BlockRequirement], strict: bool) -> _Rules:
        column = crowd.people[crowd.sensitive] if crowd.sensitive in crowd.people.columns else None
        tree = None if column is None or column.size != len(crowd.values) else column.hierarchy
        known = None if column is None else _values(crowd, column)
        none, shares = np.empty(0, dtype=np.int64), crowd.overall / crowd.overall.sum()
        whole = Blocks(
            none, none, none.astype(np.int32), none, len(shares), shares, crowd.sensitive, tree, known
        )
        return cls(requirements, strict, whole)

    def meet(self, histograms: Ints, codes: Ints) -> Bools:
        """Tell of some records each, counted by these sensitive codes, whether they meet all requirements."""
        present = histograms > 0
        blocks = Blocks(
            histograms.sum(axis=1),
            np.append(0, np.cumsum(present.sum(axis=1))),
            codes[np.nonzero(present)[1]].astype(np.int32),
            histograms[present],
            self.whole.values,
            self.whole.shares,
            self.whole.sensitive,
            self.whole.hierarchy,
            self.whole.known,
        )
        failing = np.zeros(len(histograms), dtype=bool)
        for requirement in self.requirements:
            failing |= requirement.failing(blocks)
        return ~failing

    def bear(self, stay: Ints, there: Ints, codes: Ints, numbers: int) -> Bools:
        """Tell of each value, and of up to so many records of it, whether two blocks bear it that they go to the other."""
        by_value = np.zeros((len(codes), numbers, len(stay)), dtype=np.int64)
        by_value[np.arange(len(codes))[:, None], np.arange(numbers), codes[:, None]] = np.arange(numbers)
        change, every = by_value.reshape(-1, len(stay)), np.arange(len(stay))
        can = (change.sum(axis=1) > 0) & (change.sum(axis=1) < stay.sum()) & (change <= stay).all(axis=1)
        can[can] = self.meet(stay - change[can], every) & self.meet(there + change[can], every)
        return np.asarray(can.reshape(len(codes), numbers))

    def cut(self, worlds: Ints, child: Ints, codes: Ints) -> Bools:
        """Tell of every world, a sensitive value for each person, whether it is cut between the children they are in."""
        children, values = int(child.max()) + 1, len(codes)
        place = (np.arange(len(worlds))[:, None] * children + child) * values + worlds
        counted = np.bincount(place.ravel(), minlength=len(worlds) * children * values)
        histograms = counted.reshape(len(worlds) * children, values)
        meets = self.meet(histograms, codes).reshape(len(worlds), children)
        every = np.asarray(meets.all(axis=1))
        if self.strict or not (open_ := meets.any(axis=1) & ~every).any():
            return every
        apart = histograms.reshape(len(worlds), children, values)[open_]
        together = (apart * ~meets[open_][:, :, None]).sum(axis=1)
        every[open_] = self.meet(together, codes)
        return every


@dataclass(frozen=True, eq=False)
class _Narrower:
    """Where people with the same quasi values are, too."""

    crowd: Crowd
    blocks_of: dict[tuple[int, ...], list[int]]

    @classmethod
    def of(cls, crowd: Crowd) -> _Narrower:
        blocks_of: dict[tuple[int, ...], list[int]] = {}
        for own, block in zip(crowd.tuples.tolist(), crowd.block.tolist(), strict=True):
            blocks_of.setdefault(tuple(own), []).append(block)
        return cls(crowd, {own: blocks for own, blocks in blocks_of.items() if len(blocks) > 1})

    def histograms(self, own: NDArray[np.int32], width: float) -> Iterator[Ints]:
        """Return what the narrower blocks have that people with these quasi values are in."""
        for block in self.blocks_of.get(tuple(own.tolist()), []):
            if self.crowd.widths[block] < width:
                yield self.crowd.histograms[block]


def _moved(
    crowd: Crowd,
    b: int,
    rows: Ints,
    person: Ints,
    worlds: Ints,
    codes: Ints,
    rules: _Rules,
    narrower: _Narrower,
) -> Bools:
    """Tell of every world whether people of one value could have moved to a narrower block."""
    moved = np.zeros(len(worlds), dtype=bool)
    stay, values = crowd.histograms[b], np.arange(len(codes))
    for at, row in enumerate(rows):
        there = list(narrower.histograms(crowd.tuples[row], float(crowd.widths[b])))
        if there:
            number = (worlds[:, person == at][:, :, None] == values).sum(axis=1)  # of each value, by world
            can = np.zeros((len(codes), int(number.max()) + 1), dtype=bool)
            for other in there:
                can |= rules.bear(stay, other, codes, can.shape[1])
            moved |= can[values, number].any(axis=1)
    return moved


def _believed(
    crowd: Crowd, b: int, rows: Ints, rules: _Rules, narrower: _Narrower | None, rng: np.random.Generator
) -> NDArray[np.float64] | None:
    """Return what is believed of the people of a block; None where nothing is ruled out."""
    histogram, weights = crowd.histograms[b], crowd.weights[rows]
    codes = np.flatnonzero(histogram)
    person = np.repeat(np.arange(len(rows)), weights)
    cuts = [child[person] for child in crowd.children(crowd.tuples[rows])]
    if not cuts or len(codes) < 2:
        return None
    worlds, all_of_them = _worlds(histogram[codes], rng)
    left = np.ones(len(worlds), dtype=bool)
    for child in cuts:
        left[left] = ~rules.cut(worlds[left], child, codes)
    if narrower is not None and left.any():
        stay = ~_moved(crowd, b, rows, person, worlds[left], codes, rules, narrower)
        if (
            stay.any()
        ):  # else it is several blocks with the same labels, each of which could not spare anybody
            left[left] = stay
    if left.all() or left.sum() < (1 if all_of_them else LEAST_WORLDS):
        return None
    believed = np.zeros((len(rows), len(histogram)))
    for at, code in enumerate(codes):
        share = (worlds[left] == at).mean(axis=0)  # of the worlds that are left, by person
        believed[:, code] = np.bincount(person, share) / weights
    return believed


def _worlds(counts: Ints, rng: np.random.Generator) -> tuple[Ints, bool]:
    """Return ways to deal values out to people, one in each row: all there are, if they are few; and whether they are all."""
    ways = math.factorial(int(counts.sum())) // math.prod(map(math.factorial, counts.tolist()))
    if ways <= MAX_WORLDS:
        return _dealt(counts), True
    people = np.repeat(np.arange(len(counts)), counts)
    return rng.permuted(np.tile(people, (MAX_WORLDS, 1)), axis=1), False


def _dealt(counts: Ints) -> Ints:
    """Return all different orders of values that occur so often, one in each row."""
    worlds, left = np.empty((1, 0), dtype=np.int64), counts[None, :]
    for _ in range(int(counts.sum())):
        row, value = np.nonzero(left)
        worlds, left = np.column_stack([worlds[row], value]), left[row]
        left[np.arange(len(row)), value] -= 1
    return worlds
