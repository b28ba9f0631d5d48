"""Downcoding (Cohen 2022): who knows that no label is coarser than it must be undoes labels in part.

A label that climbed says that people below at least two of its children are in the block, or it would not have climbed.
Two records published as "*" of two sexes are a woman and a man, for sure; of five people published with the label of a small
town and its one suburb, most likely four are from the town. The outsider has the release, and knows how values are spread
among people in general; nobody's own values need be known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.attacks.crowds import Crowd
from sudare.attacks.shapes import Population, Shapes
from sudare.privacy.k_anonymity import KAnonymity
from sudare.privacy.requirement import BlockRequirement
from sudare.tables.notebook import ShownFigures

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

MAX_BLOCKS = 300  # that are looked at; of more, so many are drawn
MAX_SIZE = 50  # records of a block that is looked at
WORLDS = 1_000  # that are drawn for each block
LEAST_WORLDS = 20  # that must be possible, for a guess to rest on them
FEW = 5  # people below a label say how values go together there as much as the attributes one by one do
LIKELY = 0.9
TIGHT = ("minimal", "mondrian", "blind")
"""Methods whose labels climb only where people of a block differ, and whose blocks are cut where they can be."""
REGIONS = ("blind-regions",)
"""Methods whose labels are those of their cuts: of what stayed together when others were cut off, people differ there."""


@dataclass(frozen=True, repr=False)
class Downcoding(ShownFigures):
    """What labels give away to an outsider who knows how they were made."""

    records: int
    """In blocks with a label that climbed, of those that were looked at."""
    blocks: int
    of_blocks: int
    """How many blocks the release has."""
    believed_before: float
    """How likely a guess is right for all records of a block, on average, by how values are spread alone."""
    believed_after: float
    """The same by who knows that labels climb only if they must."""
    likely: int
    """The records for which such a guess is right with 90% or more."""
    right_before: float | None
    """The share of records that are undone rightly, in one attribute at least; None where nobody told the truth."""
    right_after: float | None
    whole_after: float | None
    """The share of records of which all attributes are undone rightly, by one level."""

    def summary(self) -> dict[str, Any]:
        """Return the numbers as plain data."""
        return asdict(self)

    def __str__(self) -> str:
        if not self.records:
            return "No label climbed in the blocks that were looked at: there is nothing to undo."
        told = (
            f"{self.records:,} records in {self.blocks:,} of {self.of_blocks:,} blocks have labels that were tried to be "
            f"undone by a level: with {self.believed_after:.1%} on average ({self.believed_before:.1%} by how values are spread "
            f"alone) a guess is right for all records of a block; for {self.likely:,} with 90% or more."
        )
        if self.right_after is None:
            return told
        return (
            f"{told} It is right for {self.right_after:.1%} of the records ({self.right_before:.1%}), in all attributes for "
            f"{self.whole_after:.1%}."
        )


def downcoding(
    shapes: Shapes,
    population: Population,
    requirements: Sequence[BlockRequirement],
    method: str,
    *,
    truth: Crowd | None = None,
    own_population: bool = False,
    blocks: int = MAX_BLOCKS,
) -> Downcoding:
    """Draw people for every block, keep the draws that the method would have published so, and guess what is left most often.

    `truth` are the people of the release, by the same codes, for scoring. `own_population`: they are the population itself,
    so that a block's own people are left out of it.
    """
    rng = np.random.default_rng(0)  # the same release is always guessed the same
    open_ = np.flatnonzero(shapes.levels.any(axis=1) & (shapes.sizes <= MAX_SIZE))
    chosen = np.sort(rng.choice(open_, size=min(blocks, len(open_)), replace=False)) if len(open_) else open_
    outsider = _Outsider.of(population, requirements, method)
    guesses = []
    for b in chosen.tolist():
        own = None if truth is None else _own(truth, int(shapes.numbers[b]))
        if own is None and truth is not None:
            continue
        guess = outsider.guessed(shapes, b, own, own_population, rng)
        if guess is not None:
            guesses.append(guess)
    return _summed(guesses, shapes.blocks)


@dataclass(frozen=True)
class _Guess:
    size: int
    before: float
    after: float
    right_before: bool | None
    right_after: bool | None
    whole: bool | None


def _summed(guesses: Sequence[_Guess], blocks: int) -> Downcoding:
    sizes = np.array([guess.size for guess in guesses])
    if not len(sizes):
        return Downcoding(0, 0, blocks, 0.0, 0.0, 0, None, None, None)

    def mean(name: str) -> float:
        return float(np.average([float(getattr(guess, name)) for guess in guesses], weights=sizes))

    known = guesses[0].whole is not None
    return Downcoding(
        records=int(sizes.sum()),
        blocks=len(sizes),
        of_blocks=blocks,
        believed_before=mean("before"),
        believed_after=mean("after"),
        likely=sum(guess.size for guess in guesses if guess.after >= LIKELY),
        right_before=mean("right_before") if known else None,
        right_after=mean("right_after") if known else None,
        whole_after=mean("whole") if known else None,
    )


def _own(truth: Crowd, b: int) -> NDArray[np.int32] | None:
    """Return the tuples of the people of a block, one by one; None where they are not known."""
    at = np.searchsorted(truth.numbers, b)
    if at == len(truth.numbers) or truth.numbers[at] != b:
        return None
    rows = slice(*np.searchsorted(truth.block, [at, at + 1]))
    return np.repeat(truth.tuples[rows], truth.weights[rows], axis=0)


@dataclass(frozen=True, eq=False)
class _Outsider:
    """How values are spread, and how labels are made."""

    people: Population
    k: int | None
    """Blocks are cut if all parts have so many records; None where that does not decide alone."""
    tight: bool
    regions: bool

    @classmethod
    def of(cls, people: Population, requirements: Sequence[BlockRequirement], method: str) -> _Outsider:
        sizes = [one.k for one in requirements if isinstance(one, KAnonymity)]
        decides = method in TIGHT and len(sizes) == len(requirements)
        return cls(people, max(sizes) if decides else None, method in TIGHT, method in REGIONS)

    def guessed(
        self,
        shapes: Shapes,
        b: int,
        own: NDArray[np.int32] | None,
        own_counted: bool,
        rng: np.random.Generator,
    ) -> _Guess | None:
        """Guess who is below which child of each label of a block that climbed."""
        climbed = np.flatnonzero(shapes.levels[b]).tolist()
        nodes = [self._below(a, int(shapes.corners[b, a]), int(shapes.levels[b, a])) for a in climbed]
        worlds = self._drawn(shapes, b, climbed, nodes, own if own_counted else None, rng)
        possible = worlds[self._possible(worlds)]
        if self.regions:
            possible = worlds[self._stayed_together(shapes, b, climbed, nodes, worlds)]
        if len(possible) < LEAST_WORLDS:
            return None
        true = (
            None
            if own is None
            else np.column_stack([node[own[:, a]] for a, node in zip(climbed, nodes, strict=True)])
        )
        before, after = _likeliest(worlds, true), _likeliest(possible, true)
        return _Guess(
            int(shapes.sizes[b]), before.chance, after.chance, before.right, after.right, after.whole
        )

    def _below(self, a: int, corner: int, level: int) -> Ints:
        """Return the child, of an attribute's node, that each leaf is below; -1 for leaves elsewhere."""
        codes = self.people.trees[a].codes
        inside = codes[level] == codes[level, corner]
        child = np.full(codes.shape[1], -1, dtype=np.int64)
        child[inside] = np.unique(codes[level - 1, inside], return_inverse=True)[1].reshape(-1)
        return child

    def _drawn(
        self,
        shapes: Shapes,
        b: int,
        climbed: list[int],
        nodes: list[Ints],
        own: NDArray[np.int32] | None,
        rng: np.random.Generator,
    ) -> Ints:
        """Draw the people of a block: worlds x people x attributes that climbed, the child that each is below.

        People below all labels say how values go together; where they are few, attributes are drawn one by one, too.
        """
        inside = np.ones(len(self.people.weights), dtype=bool)
        for a, tree in enumerate(self.people.trees):
            level = tree.codes[shapes.levels[b, a]]
            inside &= level[self.people.tuples[:, a]] == level[shapes.corners[b, a]]
        people = np.column_stack(
            [node[self.people.tuples[inside, a]] for a, node in zip(climbed, nodes, strict=True)]
        )
        weights = self.people.weights[inside].astype(np.float64)
        left_out = np.zeros((0, len(climbed)), dtype=np.int64)
        if own is not None:
            left_out = np.column_stack([node[own[:, a]] for a, node in zip(climbed, nodes, strict=True)])
            weights = _without(people, weights, left_out)
        size, total = int(shapes.sizes[b]), weights.sum()
        alone = np.empty((WORLDS, size, len(climbed)), dtype=np.int64)
        for i, (a, node) in enumerate(zip(climbed, nodes, strict=True)):
            shares = np.bincount(
                node[self.people.tuples[:, a]] + 1, self.people.weights, minlength=node.max() + 2
            )[1:]
            shares = np.maximum(shares - np.bincount(left_out[:, i], minlength=len(shares)), 0) + 1 / len(
                shares
            )
            alone[:, :, i] = rng.choice(len(shares), size=(WORLDS, size), p=shares / shares.sum())
        if not total:
            return alone
        together = people[rng.choice(len(people), size=(WORLDS, size), p=weights / total)]
        which = rng.random((WORLDS, size, 1)) < total / (total + FEW)
        return np.asarray(np.where(which, together, alone))

    def _possible(self, worlds: Ints) -> Bools:
        """Tell of each world whether it would have been published with these labels."""
        possible = np.ones(len(worlds), dtype=bool)
        if not self.tight:
            return possible
        for i in range(worlds.shape[2]):
            child = worlds[:, :, i]
            possible &= (child != child[:, :1]).any(axis=1)
            if self.k is not None:
                sizes = (child[:, :, None] == np.arange(child.max() + 1)).sum(axis=1)
                large = sizes >= self.k
                rest = (sizes * ~large).sum(axis=1)
                possible &= ~(large.any(axis=1) & ((rest == 0) | (rest >= self.k)))
        return possible

    def _stayed_together(
        self, shapes: Shapes, b: int, climbed: list[int], nodes: list[Ints], worlds: Ints
    ) -> Bools:
        """Tell of each world whether it has nobody where others were cut off from this block, and people who differ there."""
        possible = np.ones(len(worlds), dtype=bool)
        trees, levels, corners = self.people.trees, shapes.levels, shapes.corners
        inside = np.ones(len(levels), dtype=bool)
        for a, tree in enumerate(trees):
            level = tree.codes[levels[b, a]]
            inside &= (levels[:, a] <= levels[b, a]) & (level[corners[:, a]] == level[corners[b, a]])
        narrower = levels < levels[b]
        for i, (a, node) in enumerate(zip(climbed, nodes, strict=True)):
            others = np.flatnonzero(inside & narrower[:, a] & (narrower.sum(axis=1) == 1))
            if len(others):
                whole = others[levels[others, a] == levels[b, a] - 1]
                child = worlds[:, :, i]
                possible &= ~np.isin(child, node[corners[whole, a]]).any(axis=1)
                possible &= (child != child[:, :1]).any(axis=1) | (levels[others, a].max() < levels[b, a] - 1)
        return possible


def _without(people: Ints, weights: NDArray[np.float64], own: Ints) -> NDArray[np.float64]:
    """Take a block's own people out of those below its labels, by what they look like there."""
    rows, count = np.unique(own, axis=0, return_counts=True)
    left = weights.copy()
    for row, times in zip(rows, count, strict=True):
        alike = np.flatnonzero((people == row).all(axis=1))
        if total := left[alike].sum():
            left[alike] *= max(total - times, 0) / total
    return left


@dataclass(frozen=True)
class _Likeliest:
    chance: float
    right: bool | None
    whole: bool | None


def _likeliest(worlds: Ints, true: Ints | None) -> _Likeliest:
    """Find what most worlds agree on: how many people are below which child, of one attribute, or of all of them jointly."""
    width = worlds.shape[2]
    each = [worlds[:, :, [i]] for i in range(width)]
    truths = [None if true is None else true[:, [i]] for i in range(width)]
    if width > 1:
        each, truths = [*each, worlds], [*truths, true]
    found = [_agreed(one, own) for one, own in zip(each, truths, strict=True)]
    chance, right = max(reversed(found), key=lambda one: one[0])  # of equals the one with all attributes
    return _Likeliest(chance, right, found[-1][1])


def _agreed(worlds: Ints, true: Ints | None) -> tuple[float, bool | None]:
    """Return which share of the worlds is the most frequent one, whoever is who in it, and whether that is the truth."""
    if true is not None:
        worlds = np.concatenate([worlds, true[None]])
    keys = np.zeros(worlds.shape[:2], dtype=np.uint64)
    for column in np.moveaxis(
        worlds, 2, 0
    ):  # of many attributes, a tuple has no number of 64 bits of its own
        keys = _mixed(keys + column.astype(np.uint64))
    kinds = keys.sum(axis=1)  # the same whoever is who
    drawn = kinds if true is None else kinds[:-1]
    each, count = np.unique(drawn, return_counts=True)
    most = int(count.argmax())
    return float(count[most] / len(drawn)), None if true is None else bool(each[most] == kinds[-1])


def _mixed(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return numbers whose sums tell which keys were added, but for a chance in 2^64."""
    keys = (keys + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))
