"""The deFinetti attack (Kifer 2009): a model that is learned from the blocks themselves guesses sensitive values.

Each block says only that its values belong to its people somehow. But blocks with more smokers have more lung cancer, and
so the smoker of a block is likelier to be the one with it. People are exchangeable, not independent: what all the other
blocks show counts for everybody, and a person's chance is not the share of a value in their block.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sudare.attacks.crowds import Crowd
from sudare.attacks.gains import Beliefs, Gain, gain_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MAX_PEOPLE = 100_000  # that a model is learned from
ROUNDS = 150  # of dealing values out by the model, and learning it again
FIRST = 50  # of them, which only find to where the model belongs
SMALL = 0.5  # is added to every count that the model rests on


@dataclass(frozen=True)
class DeFinetti:
    """What an outsider believes who learned from all blocks which people have which values."""

    gain: Gain

    def summary(self) -> dict[str, object]:
        """Return the numbers as plain data; nobody is named."""
        return self.gain.summary()

    def __str__(self) -> str:
        return f"By a model that is learned from the blocks. {self.gain}"


def definetti(crowd: Crowd) -> DeFinetti:
    """Learn how often people with a sensitive value have which quasi values, and deal the values of every block out by it.

    The model is naive Bayes, as in the paper: given the sensitive value, quasi attributes are taken to be independent. It
    starts from a random deal. In every round the people of a block meet in pairs, and exchange their values if the model
    has it so, by chance; then the model is learned again from all blocks. A person's value is believed to be what it
    was in all rounds after the first ones.
    """
    rng = np.random.default_rng(0)  # the same release is always believed the same
    mean = max(1.0, crowd.weights.sum() / max(len(crowd.histograms), 1))
    some = crowd.sampled(max(1, int(MAX_PEOPLE // mean)), rng)
    if not len(some.block):
        return DeFinetti(gain_of(some, []))
    before = (some.histograms / some.sizes[:, None])[some.block]
    after = _dealt(some, rng)
    return DeFinetti(gain_of(some, [Beliefs(np.arange(len(after)), before, after)]))


def _dealt(crowd: Crowd, rng: np.random.Generator) -> Floats:
    """Deal values out again and again; return how often the people of each row had each."""
    row = np.repeat(np.arange(len(crowd.block)), crowd.weights)  # of every person, block by block
    block, values = crowd.block[row], crowd.histograms.shape[1]
    value = np.repeat(np.tile(np.arange(values), len(crowd.histograms)), crowd.histograms.ravel())
    value = value[np.lexsort((rng.random(len(value)), block))]
    codes = [
        np.unique(crowd.tuples[:, a], return_inverse=True)[1].reshape(-1)[row]
        for a in range(len(crowd.names))
    ]
    place = np.arange(len(row)) - np.searchsorted(block, block)
    meets = np.flatnonzero(
        (place[:-1] % 2 == 0) & (block[:-1] == block[1:])
    )  # those who stand next to each other
    had = np.zeros((len(crowd.block), values))
    for turn in range(ROUNDS):
        model = [_learned(own, value, values) for own in codes]
        order = np.lexsort((rng.random(len(row)), block))
        one, two = order[meets], order[meets + 1]
        gain = np.zeros(len(meets))
        for own, log in zip(codes, model, strict=True):
            gain += (log[own[one], value[two]] + log[own[two], value[one]]) - (
                log[own[one], value[one]] + log[own[two], value[two]]
            )
        exchange = rng.random(len(meets)) < 1 / (1 + np.exp(-np.clip(gain, -50, 50)))
        one, two = one[exchange], two[exchange]
        value[one], value[two] = value[two], value[one]
        if turn >= FIRST:
            had += np.bincount(row * values + value, minlength=had.size).reshape(had.shape)
    return np.asarray(had / had.sum(axis=1, keepdims=True))


def _learned(codes: Ints, value: Ints, values: int) -> Floats:
    """Return the logarithm of how often those with each sensitive value have each code of an attribute."""
    kinds = int(codes.max()) + 1
    counts = np.bincount(codes * values + value, minlength=kinds * values).reshape(kinds, values)
    return np.asarray(np.log((counts + SMALL) / (counts.sum(axis=0) + SMALL * kinds)))
