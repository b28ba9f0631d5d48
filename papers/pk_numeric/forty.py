"""The game that the paper's adversary plays, over all outputs of one table: 40 people of two values, one of whom has the other one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import binom

from papers.page import Grid
from papers.pk_numeric.beyond import law
from sudare.attacks.chances import Chances
from sudare.attacks.matching import matched

PERSONS, K = 40, 5.0
SHOWN = (1, 2, 3, 5, 10, 15)


class Outcome(NamedTuple):
    """All outputs in which so many rows have the rare value."""

    rows: int
    probability: float
    person: float
    """The chance to find a person who is drawn at random, in their likeliest row."""
    best: float
    """The chance that the likeliest pair is right."""


def outcomes() -> list[Outcome]:
    """Return all that can come out, by the number of rows that have the rare value."""
    form = law("retain", 2, K, PERSONS)
    likelihood, keep = Chances.of(form).likelihood, (form.retention or (0.0,))[0]
    moved = binom(PERSONS - 1, 1 - keep)
    found = []
    for n in range(PERSONS + 1):
        kinds = np.array([kind for kind, many in ((0, PERSONS - n), (1, n)) if many])
        many = np.array([one for one in (PERSONS - n, n) if one])
        posterior = matched(
            np.exp(likelihood(np.arange(2)[:, None], kinds)), np.array([PERSONS - 1, 1]), many
        )
        if posterior is None:
            raise AssertionError("every output can come from every table")
        likeliest = posterior.max(axis=1)
        probability = float(keep * moved.pmf(n - 1) + (1 - keep) * moved.pmf(n))
        person = float(np.average(likeliest, weights=[PERSONS - 1, 1]))
        found.append(Outcome(n, probability, person, float(likeliest.max())))
    return found


def forty_grid(found: list[Outcome]) -> Grid:
    """Show how likely the best pair is right, by what came out."""
    lines = [
        [str(one.rows), f"{one.probability:.3%}", f"{one.person:.1%}", f"{one.best:.1%}"]
        for one in found
        if one.rows in SHOWN
    ]
    return Grid(
        f"{PERSONS} people of two values, one of whom has the other one, k = {K:g}: over all outputs",
        ["rows with the rare value", "of all outputs", "random person", "best pair"],
        lines,
    )


def forty_answer(found: list[Outcome]) -> str:
    """Say what the figures say."""
    person = sum(one.probability * one.person for one in found)
    best = sum(one.probability * one.best for one in found)
    few, one = found[3], max(found, key=lambda outcome: outcome.best)
    so_few = sum(outcome.probability for outcome in found[1:4])
    return (
        f"Of {PERSONS} people with k = {K:g}, one of whom has another value than all others, a random person is found in {person:.1%}, and the best pair is right in {best:.1%} on average: over "
        f"all outputs, exactly. What came out matters: where 1 to {few.rows} rows have the rare value, as in {so_few:.1%} of all outputs, it is {few.best:.1%} or more; "
        f"where {one.rows} has, in {one.probability:.3%}, it is {one.best:.1%}, and that is 1/k."
    )
