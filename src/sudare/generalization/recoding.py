"""Local recoding: every block is generalized on its own, as far as its records need and no further."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.generalization import _kernels
from sudare.generalization.problem import Problem
from sudare.plans.tuples import TuplePlan
from sudare.privacy.requirement import BlockRequirement
from sudare.tables.text import text_of


@dataclass(frozen=True)
class Account:
    """What is known of the search for a recoding."""

    settled: frozenset[str] = frozenset()
    """The kinds of changes that were tried until none saved anything any more."""
    parts: int = 1
    """In how many parts the records were learned, each by itself; what is settled is so within each."""
    out_of_time: bool = False

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Account:
        """Read an account."""
        return cls(frozenset(data["settled"]), data["parts"], data["out_of_time"])

    @classmethod
    def joined(cls, accounts: Sequence[Account]) -> Account:
        """Put the accounts of parts together."""
        return cls(
            frozenset.intersection(*(account.settled for account in accounts)),
            sum(account.parts for account in accounts),
            any(account.out_of_time for account in accounts),
        )


@dataclass(frozen=True, eq=False)
class Recoding:
    """Which block each unit is in (-1: left out), and to which level each block's attributes climb."""

    method: str
    problem: Problem
    block_of: NDArray[np.int64]
    levels: NDArray[np.int16]
    account: Account = Account()

    @classmethod
    def of(cls, method: str, problem: Problem, block_of: NDArray[np.int64]) -> Recoding:
        """Number the blocks anew and find the lowest level at which the records of each are alike."""
        blocks, renumbered = np.unique(block_of[block_of >= 0], return_inverse=True)
        place = np.full(len(block_of), -1, dtype=np.int64)
        place[block_of >= 0] = renumbered
        levels = _kernels.block_levels(problem.units, place, len(blocks), problem.trees)
        return cls(method, problem, place, levels)

    @classmethod
    def joined(cls, problem: Problem, recodings: Sequence[Recoding]) -> Recoding:
        """Put recodings of different records of a problem together."""
        parts = [recoding.problem for recoding in recodings]
        whole = replace(
            problem,
            units=np.concatenate([part.units for part in parts]),
            weights=np.concatenate([part.weights for part in parts]),
            sensitive=np.concatenate([part.sensitive for part in parts]),
        )
        first = np.cumsum([0, *(len(recoding.levels) for recoding in recodings[:-1])])
        block_of = [
            np.where(recoding.kept, recoding.block_of + start, -1)
            for recoding, start in zip(recodings, first.tolist(), strict=True)
        ]
        joined = cls.of(recodings[0].method, whole, np.concatenate(block_of))
        return replace(joined, account=Account.joined([recoding.account for recoding in recodings]))

    def settling(self, kinds: Iterable[str]) -> Recoding:
        """Return the same recoding, of which it is known that no change of these kinds saves anything."""
        return replace(self, account=replace(self.account, settled=self.account.settled.union(kinds)))

    @property
    def left_out(self) -> int:
        """How many records are left out."""
        return int(self.problem.weights[~self.kept].sum())

    @property
    def kept(self) -> NDArray[np.bool_]:
        """Which units are published."""
        return np.asarray(self.block_of >= 0)

    def first_units(self) -> NDArray[np.int64]:
        """Return the first unit of each block."""
        first = np.empty(len(self.levels), dtype=np.int64)
        inside = np.flatnonzero(self.kept)[::-1]
        first[self.block_of[inside]] = inside
        return first

    def block_sizes(self) -> NDArray[np.int64]:
        """Return how many records each block has."""
        inside = self.block_of >= 0
        return np.bincount(self.block_of[inside], self.problem.weights[inside]).astype(np.int64)

    def distortion(self) -> float:
        """Return DIS: the mean cost of a cell; a record that is left out costs 1."""
        costs = np.append(self.levels @ self.problem.trees.step, 1.0)  # block -1 is the last
        return float((costs[self.block_of] * self.problem.weights).sum() / self.problem.weights.sum())

    def plan(self, requirements: Sequence[BlockRequirement]) -> TuplePlan:
        """Return what was learned as plain data."""
        problem, kept = self.problem, self.kept
        sensitive = problem.sensitive_dictionary
        cost = self.levels @ problem.trees.step
        tuples, block_of, records = _entries(
            problem.tuples()[kept], self.block_of[kept], problem.weights[kept], cost
        )
        values: tuple[str | None, ...] = ()
        if sensitive is not None:
            texts = [text_of(value) for value in sensitive.values.to_list()]
            values = (*texts, None) if sensitive.missing else tuple(texts)
        return TuplePlan(
            self.method,
            tuple(requirements),
            dict(zip(problem.names, problem.hierarchies, strict=True)),
            None if sensitive is None else sensitive.name,
            values,
            tuples,
            block_of,
            self.levels,
            records,
        )


def _entries(
    tuples: NDArray[np.int32],
    block_of: NDArray[np.int64],
    weights: NDArray[np.int64],
    cost: NDArray[np.float64],
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
    """List every tuple once for each block that has records of it, the costliest first, with how many; 0 for all of them."""
    order = np.lexsort((block_of, -cost[block_of], *tuples.T[::-1]))
    tuples, block_of, weights = tuples[order], block_of[order], weights[order]
    new_tuple = np.append(True, (tuples[1:] != tuples[:-1]).any(axis=1))
    first = np.flatnonzero(new_tuple | np.append(True, block_of[1:] != block_of[:-1]))
    begins = new_tuple[first]
    alone = begins & np.append(begins[1:], True)
    records = np.where(alone, 0, np.add.reduceat(weights, first))
    return np.ascontiguousarray(tuples[first]), block_of[first], records
