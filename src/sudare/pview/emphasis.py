"""Where the method of pairs puts its budget: on all attributes alike, or where it was declared that questions will be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sudare.pview.domain import Domain
from sudare.pview.interest import Interest

LEAST = 1 / 16
"""What nobody asks for matters so much, against what is asked for most: a declaration may be wrong."""


@dataclass(frozen=True, eq=False)
class Emphasis:
    """How much attributes and pairs of them matter, from 0 to 1, and which attributes are asked for by ranges.

    >>> Emphasis.even([True, False]).pairs.tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """

    ranged: Sequence[bool]
    """Whether an attribute's noise shall suit ranges of its values, rather than single ones."""
    attributes: NDArray[np.float64]
    pairs: NDArray[np.float64]
    """Attributes x attributes."""
    alone: float
    """How many of the questions ask for one attribute alone: for them, one-way tables are kept as good as they can be."""

    @property
    def asked(self) -> NDArray[np.bool_]:
        """Which pairs come first: those that are asked for, or all of them."""
        return np.asarray(self.pairs > LEAST)

    @classmethod
    def even(cls, ordered: Sequence[bool]) -> Emphasis:
        """Any question may be asked."""
        return cls(ordered, np.ones(len(ordered)), np.ones((len(ordered), len(ordered))), 1.0)

    @classmethod
    def of(cls, interest: Interest, domain: Domain) -> Emphasis:
        """Look at what will be asked."""
        ranged = [axis.ordered for axis in domain.axes]
        attributes, pairs = np.zeros(len(ranged)), np.zeros((len(ranged), len(ranged)))
        for names, concern in interest.concerns(1).items():
            place = domain.place(names[0])
            attributes[place], ranged[place] = float(concern.weight), concern.ways[0] != "cells"
        for names, concern in interest.concerns(2).items():
            i, j = (domain.place(name) for name in names)
            pairs[i, j] = pairs[j, i] = float(concern.weight)
        alone = sum(one.times for one in interest.asked if len(one.attributes) <= 1) / interest.questions
        return cls(ranged, _scaled(attributes), _scaled(pairs), alone)


def _scaled(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Let the largest be 1, and none be nothing."""
    return (
        np.asarray(np.maximum(weights / max(weights.max(), 1e-300), LEAST)) if weights.any() else weights + 1
    )
