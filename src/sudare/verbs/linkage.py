"""Record linkage: which rows of an output are likely of one unit, as somebody weighs it who knows all members (Fellegi and Sunter 1969).

Two rows are compared in all that is passed on: whether they agree in a column, how near they are in the order of its numbers, and, by
`agreement.py`, whether one has in a column what the other has in another one, or what is known of a member.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.tables.exact import exact
from sudare.verbs.agreement import Agreement, KnownValues, Nearness, across, near

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
COMPARED = 20_000_000
"""Pairs of rows that are compared. Of large tables, units are drawn."""
MANY_ROWS = 20
"""Rows of a unit: of more, so many are compared."""


@dataclass(frozen=True)
class Guesses:
    """The surest guess for each unit: a row of one of its blocks."""

    confidence: Floats
    right: NDArray[np.bool_]
    alone: Floats
    """How often a row of that block, taken at random, is right."""


class Linkage:
    """Rows by block and unit, and what each way to agree says."""

    def __init__(
        self, unit: Ints, block: Ints, passed: pl.DataFrame, known: pl.DataFrame | None = None
    ) -> None:
        """`known` has what is known of the members, with the numbers of their units in its first column."""
        self._unit, self._block = unit, block
        self._rows_of = grouped(unit)
        self._rows_in = grouped(block)
        self._units = self._drawn()
        self._compared: dict[tuple[int, int], Floats] = {}
        pairs = self._pairs()
        self._agreements = [_alike(own, pairs) for own in passed.iter_columns()]
        self._agreements += across(passed, pairs)
        self._near: list[Nearness] = near(passed, pairs)
        several = np.concatenate(self._units) if self._units else np.empty(0, dtype=np.int64)
        self._known = KnownValues.found(passed, known, unit, several) if known is not None else []

    def _drawn(self) -> list[Ints]:
        """Return the rows of units that have several, as many as can be compared; which, a fixed seed says."""
        several = [rows[:MANY_ROWS] for rows in self._rows_of if len(rows) > 1]
        sizes = [len(rows) for rows in self._rows_in]
        drawn: list[Ints] = []
        pairs: set[tuple[int, int]] = set()
        compared = 0
        for at in np.random.default_rng(0).permutation(len(several)).tolist():
            new = set(itertools.permutations(self._block[several[at]].tolist(), 2)) - pairs
            compared += sum(sizes[one] * sizes[other] for one, other in new)
            if compared > COMPARED and drawn:
                break
            pairs |= new
            drawn.append(several[at])
        return drawn

    def _pairs(self) -> tuple[Ints, Ints]:
        """Return all pairs of rows of one unit."""
        if not self._units:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        one, other = np.concatenate(
            [rows[np.stack(np.triu_indices(len(rows), 1))] for rows in self._units], axis=1
        )
        return one, other

    def telling(self) -> list[str]:
        """Return the columns by which rows are linked: in which they share a value most often, and not much less."""
        ways: list[Agreement | Nearness | KnownValues] = [*self._agreements, *self._near, *self._known]
        most = max(way.shared for way in ways)
        return list(dict.fromkeys(name for way in ways if way.shared >= most / 2 for name in way.names))

    def guesses(self) -> Guesses:
        """Guess for every unit which row is one of its own, where that is surest."""
        told = [self._surest(rows) for rows in self._units]
        confidence, right, alone = (
            (np.array(own) for own in zip(*told, strict=True)) if told else ([], [], [])
        )
        return Guesses(
            np.asarray(confidence, dtype=float), np.asarray(right, dtype=bool), np.asarray(alone, dtype=float)
        )

    def _surest(self, rows: Ints) -> tuple[float, bool, float]:
        best, unit = (-1.0, False, 1.0), int(self._unit[rows[0]])
        blocks = self._block[rows]
        for at, block in enumerate(blocks.tolist()):
            candidates = self._rows_in[block]
            scores = np.zeros(len(candidates))
            for other in np.delete(blocks, at).tolist():
                scores += self._likelier(block, other)
            for way in self._known:
                scores += np.log(way.ratio(unit, candidates))
            chances = np.exp(scores - scores.max())
            # Rows that are alike in all columns are one guess: which of them it is, nobody can tell.
            surest = chances / chances.sum()
            top = np.flatnonzero(chances >= chances.max() * (1 - 1e-9))
            mine = self._unit[candidates] == unit
            if surest[top[0]] > best[0]:
                picked = top[int(np.random.default_rng(len(best) + int(rows[0])).integers(len(top)))]
                best = float(surest[top[0]]), bool(mine[picked]), float(mine.mean())
        return best

    def _likelier(self, block: int, other: int) -> Floats:
        """Return how much likelier each row of a block is with any of another block, in logarithms, if both are of one unit."""
        if (block, other) not in self._compared:
            rows, others = self._rows_in[block], self._rows_in[other]
            ratio = np.ones((len(rows), len(others)))
            ways: list[Agreement | Nearness] = [*self._agreements, *self._near]
            for way in ways:
                ratio *= way.ratio(rows, others)
            ratio[rows[:, np.newaxis] == others] = 0
            self._compared[block, other] = np.log(ratio.sum(axis=1) + 1e-300)
        return self._compared[block, other]


def codes_of(keys: pl.DataFrame, names: Sequence[str]) -> Ints:
    """Number the tuples of some columns; rows that are alike have one number."""
    if not names:
        return np.zeros(keys.height, dtype=np.int64)
    codes = keys.select(pl.struct(names).rank("dense")).to_series()
    return codes.to_numpy().astype(np.int64) - 1


def grouped(codes: Ints) -> list[Ints]:
    """Return the places of every number."""
    order = np.argsort(codes, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(codes[order])) + 1)


def _alike(column: pl.Series, pairs: tuple[Ints, Ints]) -> Agreement:
    """Say how often rows of a unit agree in a column."""
    codes = codes_of(exact(column).to_frame(), [column.name])
    return Agreement.of((column.name,), codes, codes, pairs)
