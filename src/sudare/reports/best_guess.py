"""What an outsider's best guess of a sensitive value wins: the most frequent value of a person's block, beside that of all."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

from sudare.attacks.harmless import Harmless, is_harmless
from sudare.attacks.published import Output, Published
from sudare.tables.schema import Schema

BELIEFS = {"up to 50%": 0.5, "over 50%": 0.75, "over 75%": 0.9, "over 90%": 1 - 1e-12, "certain": 1.0}
"""How likely the best guess of a block is, by the largest of each."""
HARMLESS = "a harmless value"


class BestGuess(NamedTuple):
    """How often the likeliest value of everybody's block is theirs, and how sure a guess it is."""

    attribute: str
    base: float
    """The share of the most frequent value of all records: who guesses that needs no block."""
    right: float
    by_belief: dict[str, int]
    """How many people are in blocks whose likeliest value has which share."""

    @property
    def people(self) -> int:
        """How many there are."""
        return sum(self.by_belief.values())

    @property
    def nearly_known(self) -> int:
        """How many are in blocks where one value has over 90%."""
        return self.by_belief["over 90%"] + self.by_belief["certain"]


def best_guesses(output: Output, schema: Schema, harmless: Harmless = ()) -> list[BestGuess]:
    """Guess everybody's value of each sensitive attribute by the block that they are in.

    Blocks whose likeliest value is harmless are counted apart, in `by_belief`; a guess of one is right or not as any other.

    >>> frame = pl.DataFrame({"zip": ["130**"] * 10 + ["148**"] * 2, "ill": ["no"] * 10 + ["yes", "no"]})
    >>> (guess,) = best_guesses(frame, Schema.from_roles(quasi=["zip"], sensitive=["ill"]))
    >>> round(guess.base, 3), round(guess.right, 3), guess.nearly_known
    (0.917, 0.917, 10)
    """
    right: dict[str, int] = {}
    beliefs: dict[str, dict[str, int]] = {}
    for piece in Published.pieces(output, schema):
        for name in piece.sensitive:
            likeliest = (
                piece.counted(name)
                .sort("count", "value", descending=[True, False])
                .unique("block", keep="first")
            )
            right[name] = right.get(name, 0) + int(likeliest["count"].sum())
            counted = beliefs.setdefault(name, dict.fromkeys([*BELIEFS, HARMLESS], 0))
            known = likeliest.select(is_harmless(harmless, name)).to_series()
            counted[HARMLESS] += int(likeliest.filter(known)["size"].sum())
            for belief, people in _by_belief(likeliest.filter(~known)).items():
                counted[belief] += people
    return [
        BestGuess(
            name,
            int(piece.overall[name]["overall"][0]) / piece.records,
            right[name] / piece.records,
            beliefs[name],
        )
        for name in piece.sensitive
    ]


def _by_belief(likeliest: pl.DataFrame) -> dict[str, int]:
    share = (likeliest["count"] / likeliest["size"]).to_numpy()
    place = np.searchsorted(list(BELIEFS.values()), share)
    people = np.bincount(place, likeliest["size"].to_numpy(), minlength=len(BELIEFS))
    return dict(zip(BELIEFS, people.astype(np.int64).tolist(), strict=True))
