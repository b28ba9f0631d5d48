"""The intersection attack on several views from its definition, slowly, with sets and fractions."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sudare.privacy.multi_view import MultiViewDiversity

Posterior = dict[Any, Fraction]


@dataclass(frozen=True)
class Persons:
    """Groups of records: the block of each in every view, its sensitive value, and how many records it stands for."""

    blocks: list[list[Any]]
    sensitive: list[Any]
    weights: list[int]

    def records(self) -> list[tuple[tuple[Any, ...], Any]]:
        """Every single record: its blocks, and its value."""
        persons = zip(zip(*self.blocks, strict=True), self.sensitive, self.weights, strict=True)
        return [(blocks, value) for blocks, value, weight in persons for _ in range(weight)]

    def candidates(self) -> list[set[Any]]:
        """The intersection attack: the values of everybody's block in every view, and what they have in common."""
        records = self.records()
        return [
            set.intersection(
                *({value for others, value in records if others[i] == block} for i, block in enumerate(own))
            )
            for own in zip(*self.blocks, strict=True)
        ]

    def posteriors(self) -> list[Posterior]:
        """P(s|u) is proportional to N(s) times the product over the views of n_i(s) / N(s), in fractions."""
        records = self.records()
        total = Counter(value for _, value in records)
        posteriors = []
        for own in zip(*self.blocks, strict=True):
            weighed = {value: Fraction(times) for value, times in total.items()}
            for i, block in enumerate(own):
                inside = Counter(value for others, value in records if others[i] == block)
                weighed = {value: x * Fraction(inside[value], total[value]) for value, x in weighed.items()}
            whole = sum(weighed.values())
            posteriors.append({value: x / whole for value, x in weighed.items() if x})
        return posteriors

    def hold(self, requirement: MultiViewDiversity) -> bool:
        """Tell whether everybody keeps enough."""
        if requirement.kind == "distinct":
            return all(len(values) >= requirement.l for values in self.candidates())
        if requirement.kind == "entropy":
            return all(entropy(one) >= math.log(requirement.l) - 1e-9 for one in self.posteriors())
        return all(
            max(one.values()) * Fraction(requirement.l) <= 1 + Fraction(1, 10**9) for one in self.posteriors()
        )


def entropy(posterior: Posterior) -> float:
    return -sum(float(p) * math.log(p) for p in posterior.values())
