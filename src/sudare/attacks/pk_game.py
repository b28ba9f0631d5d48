"""The Pk game: who knows the whole original table and the law picks a person and a published row, and says they belong together.

The adversary picks the pair that is likeliest, given all rows of the published table, which are shuffled. Pk-anonymity promises
that no pair of any published table is right with a probability above 1/k.

Let the pair be person i with the values u, and row j. A matching with i at j, and the one in which i and another person v have
changed places, are at most e^spread(u, v) apart, and every matching without i at j is the second of exactly one
such two. So i is at j with a probability of 1 / (1 + S), where S is the mean, over the matchings with i at j, of the sum over
the others of these ratios. It has two uses. With S at least the sum of e^-spread(u, v), there is a bound for the
original at hand, whatever is published (`bound`). And where there are too many matchings, the true one, which is as likely as any other of
its weight, has a chance of its own: 1 / (1 + S) for the matching with i at j that is next to it. Its mean over games is
the winning rate.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from sudare.attacks.chances import Chances, Codes, Floats
from sudare.attacks.matching import can_match, matched
from sudare.plans.law import LawForm
from sudare.tables.notebook import ShownFigures
from sudare.utility.intervals import REACH

MAX_PERSONS = 10_000
"""On whom a game is played."""
TABLES = 20
"""How many are drawn."""
SETS = 2**12
"""Where there are more sets of rows, not all matchings are looked at."""
SCREENED, CANDIDATES = 100, 50
"""There: with how many persons rows are compared at first, and how many rows then with all."""
COMPARED = 1000
"""With how many others everybody is compared for the bound."""


@dataclass(frozen=True, repr=False)
class PkGame(ShownFigures):
    """How likely the best pair is right, and how likely it may be: 1/k for so many persons."""

    win_rate: float
    """The mean over published tables."""
    low: float
    """The ends of its 95% interval."""
    high: float
    largest: float
    """In the table of these that tells most."""
    bound: float
    """No table that is published of this original tells more."""
    limit: float
    """What is allowed: 1/k."""
    tables: int
    persons: int
    exact: bool
    """Whether all matchings were looked at; else the pair is the best that was found, and not surely the best."""
    here: float | None = None
    """How likely the best pair of the published table itself is right, if that was asked for and the table is small."""

    def summary(self) -> dict[str, Any]:
        """Return the numbers as plain data."""
        return asdict(self)

    def __str__(self) -> str:
        found = "the likeliest pair" if self.exact else "the likeliest pair that was found"
        return (
            f"Who knows the original and the law, and picks {found} of a person and one of {self.persons:,} rows, is right in "
            f"{self.win_rate:.2%} of all tables (95%: {self.low:.2%} to {self.high:.2%}; {self.tables:,} drawn), and with "
            f"{self.largest:.2%} in the worst of them. No table tells more than {self.bound:.2%}; "
            f"among so many, {self.limit:.2%} are allowed."
        ) + ("" if self.here is None else f" In the output itself it is {self.here:.2%}.")


def pk_game(original: Mapping[str, Any], laws: Mapping[str, LawForm], *, limit: float) -> PkGame:
    """Play the game on tables that are drawn by a law from an original, given as codes by the name of the law.

    The holder's record plays it on a sample of the persons. Among n persons a row is found more easily than
    among all, so that the limit is 1/k for n records, k = 1 + (n - 1) e^-spread.

    >>> form = {"how": "retain", "epsilon": 0.0, "spread": 0.0, "values": ["no", "yes"], "retention": [0.5, 0.5]}
    >>> game = pk_game({"ill": np.array([0, 1] * 5)}, {"ill": LawForm.of("ill", form)}, limit=0.1)
    >>> round(game.win_rate, 6), round(game.bound, 6), game.exact
    (0.1, 0.1, True)
    """
    chances = {name: Chances.of(law) for name, law in laws.items()}
    people = {name: np.asarray(original[name]).astype(np.int64) for name in laws}
    rng = np.random.default_rng(0)  # it draws tables to judge the law by, and protects nobody
    won = [_played(people, chances, rng) for _ in range(TABLES)]
    rates = np.array([one.chance for one in won])
    rate, reach = float(rates.mean()), REACH * float(rates.std(ddof=1)) / math.sqrt(len(rates))
    return PkGame(
        win_rate=rate,
        low=max(0.0, rate - reach),
        high=min(1.0, rate + reach),
        largest=float(rates.max()),
        bound=min(table_bound(people, chances), 1.0),
        limit=limit,
        tables=len(won),
        persons=_size(people),
        exact=all(one.exact for one in won),
    )


class _Won(NamedTuple):
    """How likely the pair is right that was picked in one table."""

    chance: float
    exact: bool


def best_pair(
    people: Mapping[str, Codes], rows: Mapping[str, Codes], chances: Mapping[str, Chances], sets: int
) -> float | None:
    """Return the probability that the likeliest pair of a person and a row is right; None if there are too many matchings.

    0, if these rows cannot have come from these people.
    """
    inputs, persons = distinct(people)
    outputs, published = distinct(rows)
    if not can_match(persons, published, sets):
        return None
    logs = likelihoods(chances, across(inputs), outputs)
    logs -= logs.max(axis=1, keepdims=True)
    posterior = matched(np.exp(logs), persons, published)
    return 0.0 if posterior is None else float(posterior.max())


def table_bound(people: Mapping[str, Codes], chances: Mapping[str, Chances]) -> float:
    """Return what no pair exceeds in any table that is published of an original: 1 / (1 + the least sum of e^-spread).

    Everybody is compared with some of the others only, which makes it no smaller.
    """
    inputs, persons = distinct(people)
    size = len(persons)
    others = np.unique(np.linspace(0, size - 1, min(size, COMPARED)).round().astype(np.int64))
    least = math.inf
    for start in range(0, size, COMPARED):
        some = {name: codes[start : start + COMPARED] for name, codes in inputs.items()}
        compared = {name: codes[others] for name, codes in inputs.items()}
        spread = sum(one.spread(some[name][:, None], compared[name]) for name, one in chances.items())
        sums = np.exp(-np.asarray(spread)) @ persons[others]
        itself = np.isin(np.arange(start, start + len(sums)), others)
        alike = persons[start : start + len(sums)]
        least = min(least, float((sums + np.where(itself, 0, alike)).min()))
    return 1 / max(least, 1.0)


# -- One table ----------------------------------------------------------------------------------------------


def _played(people: Mapping[str, Codes], chances: Mapping[str, Chances], rng: np.random.Generator) -> _Won:
    """Draw a table, and let the adversary pick a pair."""
    rows = {name: one.draw(people[name], rng) for name, one in chances.items()}
    chance = best_pair(people, rows, chances, SETS)
    if chance is not None:
        return _Won(chance, exact=True)
    person, row = _picked(people, rows, chances, rng)
    return _Won(_chance(person, row, people, rows, chances), exact=False)


def _picked(
    people: Mapping[str, Codes],
    rows: Mapping[str, Codes],
    chances: Mapping[str, Chances],
    rng: np.random.Generator,
) -> tuple[int, int]:
    """Return the pair with the largest A[i, j] / sum of A[v, j] over everybody v, which among many is nearly its probability.

    All rows are compared with some persons at first, and those that promise most with all.
    """
    size = _size(people)
    some = rng.permutation(size)[:SCREENED]
    logs = likelihoods(chances, across({name: codes[some] for name, codes in people.items()}), rows)
    candidates = np.argsort(-_surest(logs))[:CANDIDATES]
    logs = likelihoods(chances, across(people), {name: codes[candidates] for name, codes in rows.items()})
    row = int(_surest(logs).argmax())
    return int(logs[:, row].argmax()), int(candidates[row])


def _surest(logs: Floats) -> Floats:
    """Return the logarithm of the largest part of each column in its sum."""
    most = logs.max(axis=0)
    return np.asarray(-np.log(np.maximum(np.exp(logs - np.where(most > -np.inf, most, 0)).sum(axis=0), 1)))


def _chance(
    person: int,
    row: int,
    people: Mapping[str, Codes],
    rows: Mapping[str, Codes],
    chances: Mapping[str, Chances],
) -> float:
    """Return 1 / (1 + S) for the matching that has the pair and is next to the true one, in which everybody has their own row."""
    written = np.arange(_size(people))
    written[row], written[person] = person, row  # who had the picked row gets that of the picked person
    own = {name: codes[written] for name, codes in rows.items()}
    one = {name: codes[[person]] for name, codes in people.items()}
    picked = {name: codes[[row]] for name, codes in rows.items()}
    ratios = (
        likelihoods(chances, people, picked)
        + likelihoods(chances, one, own)
        - likelihoods(chances, one, picked)
        - likelihoods(chances, people, own)
    )
    return 1 / (1 + float(np.exp(np.delete(ratios, person)).sum()))


def likelihoods(
    chances: Mapping[str, Chances], inputs: Mapping[str, Codes], outputs: Mapping[str, Codes]
) -> Floats:
    """Return the logarithms of the probabilities of outputs for inputs, over all laws, up to a constant of each."""
    return np.asarray(sum(one.likelihood(inputs[name], outputs[name]) for name, one in chances.items()))


def across(codes: Mapping[str, Codes]) -> dict[str, Codes]:
    """Return codes as columns, to be compared with rows."""
    return {name: own[:, None] for name, own in codes.items()}


def _size(people: Mapping[str, Codes]) -> int:
    return len(next(iter(people.values())))


def distinct(codes: Mapping[str, Codes]) -> tuple[dict[str, Codes], Codes]:
    """Return the combinations of codes that there are, and how many have each."""
    tuples, counts = np.unique(np.stack(list(codes.values())), axis=1, return_counts=True)
    return dict(zip(codes, tuples, strict=True)), counts
