"""How much more an outsider believes of people's sensitive values than the blocks of a release show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.attacks.crowds import Crowd

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SURE = 0.999
CLEARLY = 0.1  # a belief has clearly risen if it has by this


class Beliefs(NamedTuple):
    """What is believed of some people, by row of a crowd: the probability of each sensitive value."""

    rows: Ints
    before: Floats
    """By the share that a value has in their block."""
    after: Floats


@dataclass(frozen=True)
class Gain:
    """What people's values are believed to be, before an attack and after it."""

    people: int
    """How many people were looked at."""
    blocks: int
    """In how many blocks."""
    of_blocks: int
    """How many blocks the release has."""
    believed_before: float
    """The likeliest value's probability, on average."""
    believed_after: float
    strongest_before: float
    """The same of the person for whom it rose most."""
    strongest_after: float
    risen: int
    """The people for whom it rose by a tenth or more."""
    certain: int
    """The people whose value was open, and becomes certain."""
    right_before: float | None
    """How often the likeliest value is right; None where nobody told the truth to compare with."""
    right_after: float | None

    def summary(self) -> dict[str, Any]:
        """Return the numbers as plain data."""
        return asdict(self)

    def __str__(self) -> str:
        where = f"{self.people:,} people in {self.blocks:,} of {self.of_blocks:,} blocks were looked at"
        if not self.people:
            return f"{where}: of no block everybody is known."
        told = (
            f"{where}: the likeliest value is believed {self.believed_after:.1%} on average ({self.believed_before:.1%} by the "
            f"blocks alone); for {self.risen:,} people it rose clearly, most from {self.strongest_before:.1%} to "
            f"{self.strongest_after:.1%}; for {self.certain:,} it becomes certain."
        )
        if self.right_after is None:
            return told
        return f"{told} It is right for {self.right_after:.1%} of them ({self.right_before:.1%})."


def gain_of(crowd: Crowd, beliefs: Sequence[Beliefs]) -> Gain:
    """Sum up what is believed of all people of a crowd."""
    rows = np.concatenate([part.rows for part in beliefs]) if beliefs else np.empty(0, dtype=np.int64)
    blocks = len(np.unique(crowd.block[rows]))
    if not len(rows):
        return Gain(0, 0, crowd.blocks, 0.0, 0.0, 0.0, 0.0, 0, 0, None, None)
    weights = crowd.weights[rows]
    before, after = (np.concatenate([part[at].max(axis=1) for part in beliefs]) for at in (1, 2))
    most = int((after - before).argmax())
    right: list[float | None] = [None, None]
    if crowd.truth is not None:
        for at in (1, 2):
            guess = np.concatenate([part[at].argmax(axis=1) for part in beliefs])
            right[at - 1] = float(np.average(crowd.truth[rows, guess], weights=weights))
    return Gain(
        people=int(weights.sum()),
        blocks=blocks,
        of_blocks=crowd.blocks,
        believed_before=float(np.average(before, weights=weights)),
        believed_after=float(np.average(after, weights=weights)),
        strongest_before=float(before[most]),
        strongest_after=float(after[most]),
        risen=int(weights[after - before >= CLEARLY].sum()),
        certain=int(weights[(before < SURE) & (after >= SURE)].sum()),
        right_before=right[0],
        right_after=right[1],
    )
