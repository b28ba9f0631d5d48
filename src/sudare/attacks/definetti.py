"""The deFinetti attack (Kifer 2009): a model that is learned from the blocks themselves guesses sensitive values.

Each block says only that its values belong to its people somehow. But blocks with more smokers have more lung cancer, and
so the smoker of a block is likelier to be the one with it. People are exchangeable, not independent: what all the other
blocks show counts for everybody, and a person's chance is not the share of a value in their block.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.attacks.crowds import Crowd
from sudare.attacks.gains import Beliefs, Gain, gain_of
from sudare.tables.notebook import ShownFigures

Floats = NDArray[np.float64]
TINY = 1e-300

MAX_CELLS = 2**22  # pairs of a kind of people and a sensitive value that a model is learned from
ROUNDS = 10  # of learning the model, and dealing values out by it
FITTINGS = 4  # of rows and columns in turn, when values are dealt out
SMALL = 2.0  # is added to every count that the model rests on


@dataclass(frozen=True, repr=False)
class DeFinetti(ShownFigures):
    """What an outsider believes who learned from all blocks which people have which values."""

    gain: Gain

    def summary(self) -> dict[str, Any]:
        """Return the numbers as plain data; nobody is named."""
        return self.gain.summary()

    def __str__(self) -> str:
        return f"By a model that is learned from the blocks. {self.gain}"


def definetti(crowd: Crowd) -> DeFinetti:
    """Learn how often people with a sensitive value have which quasi values, and deal the values of every block out by it.

    The model is naive Bayes, as in the paper: given the sensitive value, quasi attributes are taken to be independent. It
    starts from what the blocks show, and is learned again from what it makes of them, some rounds.
    """
    each = max(1.0, len(crowd.block) / max(len(crowd.histograms), 1)) * len(crowd.values)
    some = crowd.sampled(max(1, int(MAX_CELLS // each)), np.random.default_rng(0))
    if not len(some.block):
        return DeFinetti(gain_of(some, []))
    some = some.without_absent_values()
    before = (some.histograms / some.sizes[:, None])[some.block]
    dealt = before * some.weights[:, None]
    for _ in range(ROUNDS):
        dealt = _fitted(some, before * _likely(some, dealt))
    after = dealt / some.weights[:, None]
    return DeFinetti(gain_of(some, [Beliefs(np.arange(len(after)), before, after)]))


def _likely(crowd: Crowd, dealt: Floats) -> Floats:
    """Return how likely the quasi values of each row are, given each sensitive value, but for a factor of the row.

    A value that one person has the others do not have. Of two people, that makes what speaks for an exchange count twice,
    exactly; of n people about n / (n - 1) times.
    """
    logs, totals = np.zeros_like(dealt), dealt.sum(axis=0)
    for a in range(crowd.tuples.shape[1]):
        codes, place = np.unique(crowd.tuples[:, a], return_inverse=True)
        place = place.reshape(-1)
        from scipy.sparse import csr_array  # it takes long to load

        which = csr_array(
            (np.ones(len(place)), (place, np.arange(len(place)))), shape=(len(codes), len(place))
        )
        counts = which @ dealt
        logs += np.log((counts + SMALL) / (totals + SMALL * len(codes)))[place]
    sizes = np.maximum(crowd.sizes, 2)[crowd.block, None]
    logs *= sizes / (sizes - 1)
    return np.asarray(np.exp(logs - logs.max(axis=1, keepdims=True)))


def _fitted(crowd: Crowd, dealt: Floats) -> Floats:
    """Deal out as many values as there are people in each row, and as many of each value as its block has."""
    starts = crowd.starts[:-1]
    for _ in range(FITTINGS):
        columns = np.maximum(np.add.reduceat(dealt, starts), TINY)
        dealt = dealt * (crowd.histograms / columns)[crowd.block]
        dealt = dealt * (crowd.weights / np.maximum(dealt.sum(axis=1), TINY))[:, None]
    return dealt
