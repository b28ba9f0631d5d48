"""Learn what each trait of a column weighs for its role, from the tables that were marked by hand, and write `weights.toml`.

`src/sudare/drafting/traits.py` says in words what is seen of a column; here a softmax regression (least log-loss, with a penalty
on large weights) finds what each of that speaks for, as far as tables of several collections have it. It learns from all tables that are
tuned with, each counted as the square root of its columns, those that the words were chosen with less than the others. Every table is
seen twice: as it is, and as if words that the names of its own collection alone have were not known. Many of them were added with
that collection in sight, so that there are more unknown names in tables that nobody has seen; what they are, the second view teaches.

What it would do elsewhere is measured by leaving collections out: the tables of a tenth of them at a time are judged by what the others
taught, in both views. Errors are standard errors, by drawing tables anew. `--check` measures only.
"""

from __future__ import annotations

import math
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

import sudare as sd
from benchmarks.common import show
from benchmarks.roles import HEADERS, Guessed, Marks, loaded, marked, nobody_would_argue, said_of, scores
from sudare.drafting import scored
from sudare.drafting.guess import roles_of, sure_guess
from sudare.drafting.names import Hit
from sudare.drafting.scored import ROLES, WEIGHTS
from sudare.drafting.seen import Seen
from sudare.drafting.traits import Traits, traits_of
from sudare.tables.attribute import Role
from sudare.tables.toml import toml

FOLDS = 10
DRAWN = 300  # samples of tables
WORDS = ("with all words known", "as if words that they alone have were not known")
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


Tables = dict[str, list[Seen]]
"""What is seen of the columns of tables."""


def seen_in(tables: dict[str, Marks]) -> Tables:
    """Look at all columns of the tables that can be loaded."""
    found = {}
    for name, frame in loaded(tables):
        table = sd.read(frame)
        found[name] = [Seen.of(table[column], len(table)) for column in table.columns]
    return found


def as_if_new(seen: Tables) -> Tables:
    """Forget the words that the names of one collection alone have: they may be known because its tables were in sight."""
    having: dict[tuple[str, str], set[str]] = defaultdict(set)
    for table, columns in seen.items():
        for word in (word for one in columns for word in map(_word, one.hits)):
            having[word].add(collection(table))
    return {
        table: [
            replace(one, hits=[hit for hit in one.hits if len(having[_word(hit)]) > 1]) for one in columns
        ]
        for table, columns in seen.items()
    }


def _word(hit: Hit) -> tuple[str, str]:
    return hit.meaning.what, hit.word


def collection(table: str) -> str:
    """Return the package, or repository, that a table is from."""
    return table.split("/")[0]


def columns_of(seen: Tables, tables: dict[str, Marks], first: set[str]) -> list[Column]:
    """Say of all columns what they were marked as, and which traits they have."""
    found = []
    for table, own in seen.items():
        counts = (FIRST_WORDS if table in first else 1) / math.sqrt(len(own))
        for one, traits in zip(own, traits_of(own).values(), strict=True):
            role = tables[table][one.column.name]
            weighed = sure_guess(one) is None and role in ROLES
            found.append(Column(table, one.column.name, role, traits, weighed, counts))
    return found


def learn(columns: list[Column]) -> Weights:
    """Return the weights for which the marked roles are likeliest, less a penalty."""
    names = common_traits(columns)
    place = {name: at for at, name in enumerate(names)}
    seen = np.zeros((len(columns), len(names)))
    for row, column in enumerate(columns):
        for trait, much in column.traits.items():
            if trait in place:
                seen[row, place[trait]] = much
    counts = np.array([column.counts for column in columns]) * 1.5
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
            having[trait].add(collection(column.table))
    return sorted(trait for trait, sources in having.items() if len(sources) >= FEW_SOURCES)


def left_out(taught: list[Weights], seen: Tables, marks: dict[str, Marks]) -> Iterator[Guessed]:
    """Guess the roles of the tables of each tenth of the collections by what the others taught."""
    for fold, weights in enumerate(taught):
        scored.weights = lambda weights=weights: {role: weights.get(role, {}) for role in ROLES}  # type: ignore[assignment,misc]
        for table in seen:
            if _fold(table) == fold:
                for name, guess in roles_of(seen[table]).items():
                    yield Guessed(table, name, marks[table][name], guess.role)


def beside(fold: int, columns: list[Column]) -> list[Column]:
    """Return the columns that are weighed and in none of the collections of this tenth."""
    return [column for column in columns if column.weighed and _fold(column.table) != fold]


def _fold(table: str) -> int:
    return int(sha256(collection(table).encode()).hexdigest(), 16) % FOLDS


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


def with_errors(found: list[Guessed]) -> list[list[str]]:
    """Return precision and recall for each role, and by how much they would differ among other tables."""
    place = {table: at for at, table in enumerate(sorted({guess.table for guess in found}))}
    counts = np.zeros((len(place), len(Role), 3))
    roles = list(Role)
    for guess in found:
        at = place[guess.table]
        counts[at, roles.index(guess.drafted), 0] += 1
        counts[at, roles.index(guess.marked), 1] += 1
        counts[at, roles.index(guess.marked), 2] += guess.marked == guess.drafted
    drawn = np.random.default_rng(0).integers(0, len(place), (DRAWN, len(place)))
    sums = counts[drawn].sum(1)
    with np.errstate(invalid="ignore", divide="ignore"):
        errors = {
            role.value: np.nanstd(sums[:, at, 2:] / sums[:, at, :2], axis=0) for at, role in enumerate(roles)
        }
    return [
        [
            *line[:3],
            *(f"{share} ± {error:.3f}" for share, error in zip(line[3:], errors[line[0]], strict=True)),
        ]
        for line in scores(found)
    ]


def main() -> None:
    tuned, judged = marked("tuned"), marked("judged")
    marks = tuned | judged
    known = seen_in(marks)
    new = as_if_new(known)
    columns = [column for seen in (known, new) for column in columns_of(seen, marks, set(tuned))]
    print(f"{len(known)} tables, {len(columns) // 2} columns")
    if "--check" not in sys.argv:
        write(learn([column for column in columns if column.weighed]))
    taught = [learn(beside(fold, columns)) for fold in range(FOLDS)]
    for words, seen in zip(WORDS, (known, new), strict=True):
        measure(words, list(left_out(taught, seen, marks)), judged)


def measure(words: str, found: list[Guessed], judged: dict[str, Marks]) -> None:
    """Print precision and recall for each role, of all columns and of those that nobody would mark otherwise."""
    sure = nobody_would_argue(found, said_of("tuned") | said_of("judged"))
    for which, some in (("", found), (" that nobody would mark otherwise", sure)):
        for title, part in (
            ("all", some),
            ("marked by somebody else", [one for one in some if one.table in judged]),
        ):
            show(f"Tables left out, {title}, {words}: {len(part)} columns{which}", HEADERS, with_errors(part))
    if "--wrong" in sys.argv:
        for guess in found:
            if guess.marked != guess.drafted:
                print(f"{guess.table}  {guess.column}: {guess.marked}, drafted as {guess.drafted}")


if __name__ == "__main__":
    main()
