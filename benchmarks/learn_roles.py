"""Learn what each trait of a column weighs for its role, from the tables that were marked by hand, and write `weights.toml`.

`src/sudare/drafting/traits.py` says in words what is seen of a column; here a softmax regression (least log-loss, with a penalty
on large weights) finds what each of that speaks for, as far as tables of several collections have it. It learns from all tables that are
tuned with, each counted as the square root of its columns, those that the words were chosen with less than the others. What it would do
elsewhere is measured by leaving collections out: the tables of a tenth of them at a time are judged by what the others taught, with
words that all of them are known to. `--check` measures only.
"""

from __future__ import annotations

import math
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from hashlib import sha256
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

import sudare as sd
from benchmarks.common import show
from benchmarks.roles import HEADERS, Guessed, loaded, marked, nobody_would_argue, said_of, scores
from sudare.drafting import scored
from sudare.drafting.guess import guess_roles, sure_guess
from sudare.drafting.scored import ROLES, WEIGHTS
from sudare.drafting.seen import Seen
from sudare.drafting.traits import Traits, traits_of
from sudare.tables.attribute import Role
from sudare.tables.table import Table
from sudare.tables.toml import toml

FOLDS = 10
PENALTY = 0.8
FEW_SOURCES = 4  # collections that have a trait, at least
LEAST = 0.05  # what weighs less is not written
FIRST_WORDS = (
    0.6  # how much tables count that the words were chosen with, so that most of their names are understood
)
Floats = NDArray[np.float64]
Weights = dict[Role, dict[str, float]]


class Column(NamedTuple):
    """A marked column, with what is seen of it."""

    table: str
    name: str
    role: Role
    traits: Traits
    weighed: bool
    """Whether nothing but weighing decides it."""
    counts: float


def columns_of(tables: dict[str, dict[str, Role]], first: set[str]) -> tuple[dict[str, Table], list[Column]]:
    """Look at all columns of the tables that can be loaded."""
    read: dict[str, Table] = {}
    found = []
    for table, frame in loaded(tables):
        read[table] = sd.read(frame)
        seen = [Seen.of(read[table][name], len(read[table])) for name in read[table].columns]
        counts = (FIRST_WORDS if table in first else 1) / math.sqrt(len(seen))
        for one, traits in zip(seen, traits_of(seen).values(), strict=True):
            role = tables[table][one.column.name]
            weighed = sure_guess(one) is None and role in ROLES
            found.append(Column(table, one.column.name, role, traits, weighed, counts))
    return read, found


def learn(columns: list[Column]) -> Weights:
    """Return the weights for which the marked roles are likeliest, less a penalty."""
    names = common_traits(columns)
    place = {name: at for at, name in enumerate(names)}
    seen = np.zeros((len(columns), len(names)))
    for row, column in enumerate(columns):
        for trait, much in column.traits.items():
            if trait in place:
                seen[row, place[trait]] = much
    counts = np.array([column.counts for column in columns]) * 3
    is_role = np.array([[column.role == role for role in ROLES] for column in columns], dtype=float)

    def loss(flat: Floats) -> tuple[float, Floats]:
        weights = flat.reshape(len(names), len(ROLES))
        scores = seen @ weights
        logs = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
        slope = seen.T @ (counts[:, None] * (np.exp(logs) - is_role)) + PENALTY * weights
        return float(-(counts @ (is_role * logs).sum(1)) + PENALTY / 2 * (flat @ flat)), slope.ravel()

    best = minimize(loss, np.zeros(len(names) * len(ROLES)), jac=True, method="L-BFGS-B").x
    weights = best.reshape(len(names), len(ROLES))
    beside = weights - weights[:, [0]]
    return {
        role: {
            name: round(float(w), 2) for name, w in zip(names, beside[:, at], strict=True) if abs(w) >= LEAST
        }
        for at, role in enumerate(ROLES)
        if at
    }


def common_traits(columns: list[Column]) -> list[str]:
    """Return the traits that columns of several collections have: what one alone has says nothing about others."""
    having: dict[str, set[str]] = defaultdict(set)
    for column in columns:
        for trait in column.traits:
            having[trait].add(column.table.split("/")[0])
    return sorted(trait for trait, sources in having.items() if len(sources) >= FEW_SOURCES)


def left_out(read: dict[str, Table], columns: list[Column]) -> Iterator[Guessed]:
    """Guess the roles of the tables of each tenth of the collections by what the others teach."""
    roles = {(column.table, column.name): column.role for column in columns}
    for fold in range(FOLDS):
        taught = [column for column in columns if column.weighed and _fold(column.table) != fold]
        weights = learn(taught)
        scored.weights = lambda weights=weights: {role: weights.get(role, {}) for role in ROLES}  # type: ignore[assignment,misc]
        for table, data in read.items():
            if _fold(table) == fold:
                guesses = guess_roles((data[name] for name in data.columns), len(data))
                for name, guess in guesses.items():
                    yield Guessed(table, name, roles[table, name], guess.role)


def _fold(table: str) -> int:
    return int(sha256(table.split("/")[0].encode()).hexdigest(), 16) % FOLDS


def write(weights: Weights) -> None:
    """Write the weights, those that weigh most first."""
    lines = [
        "# What each trait of a column weighs for its role, beside quasi: the sums of a column's traits are compared, that of quasi",
        "# being 0. Learned from marked tables by benchmarks/learn_roles.py; not edited by hand.",
    ]
    for role, own in weights.items():
        ordered = sorted(own.items(), key=lambda pair: (-pair[1], pair[0]))
        lines += ["", f"[{role.value}]", *(f"{toml(trait)} = {weight}" for trait, weight in ordered)]
    WEIGHTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    tuned, judged = marked("tuned"), marked("judged")
    read, columns = columns_of(tuned | judged, set(tuned))
    print(
        f"{len(read)} tables, {Counter(column.weighed for column in columns)[True]} columns that are weighed"
    )
    if "--check" not in sys.argv:
        write(learn([column for column in columns if column.weighed]))
    found = list(left_out(read, columns))
    sure = nobody_would_argue(found, said_of("tuned") | said_of("judged"))
    for title, part in (("all", read.keys()), ("that somebody else marked", judged.keys())):
        for which, guesses in (("", found), (" that nobody would mark otherwise", sure)):
            some = [guess for guess in guesses if guess.table in part]
            show(f"Tables left out, {title}: {len(some)} columns{which}", HEADERS, scores(some))
    if "--wrong" in sys.argv:
        for guess in found:
            if guess.marked != guess.drafted:
                print(f"{guess.table}  {guess.column}: {guess.marked}, drafted as {guess.drafted}")


if __name__ == "__main__":
    main()
