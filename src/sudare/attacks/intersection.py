"""The intersection attack: looking a person up in several views, and combining what each of them reveals.

It runs on the published views alone. An outsider who knows a person's quasi values reads, in every view, the blocks
whose labels cover them: the person is in one of these, so that their sensitive value occurs there. What occurs in all
views is left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.attacks.harmless import Harmless, harmless_texts
from sudare.attacks.lookup import Lookup, Records, records_by_value
from sudare.attacks.published import Output, Published, Values, described, people_of, rows_of, value_text
from sudare.errors import InputError
from sudare.tables.attribute import Role
from sudare.tables.counts import Counts
from sudare.tables.file_rows import FileRows
from sudare.tables.folders import handed_over
from sudare.tables.notebook import ShownFigures
from sudare.tables.parts import tables_of
from sudare.tables.runs import PublishedRows
from sudare.tables.schema import Schema
from sudare.tables.table import Table
from sudare.tables.text import listed, text_of

Views = Mapping[str, Output] | Output
Ints = NDArray[np.int64]

MAX_EXAMPLES = 5
TINY = np.finfo(np.float64).tiny
MAX_CELLS = 2**23  # pairs of a person and a sensitive value that are looked at at a time


# -- what the attack reveals ---------------------------------------------------------------------


@dataclass(frozen=True)
class Victim:
    """A person with one value left."""

    values: Values
    learned: str | None


@dataclass(frozen=True)
class ValuesLeft:
    """What all views together leave of one sensitive attribute."""

    candidates: dict[int, int]
    """How many people have how many values left. Who has none is not in these views."""
    least: int
    """The fewest values that are left to anybody who has any; 0 where nobody has."""
    given_away: int
    """The people with one value left."""
    share: float
    """Their share of all known people."""
    posterior: float
    """The probability of anybody's likeliest value, at most."""
    victims: tuple[Victim, ...]
    """The first of those who are given away."""

    @property
    def mean(self) -> float:
        """How many values are left to people on average."""
        return sum(values * people for values, people in self.candidates.items()) / sum(
            self.candidates.values()
        )

    def summary(self) -> dict[str, Any]:
        """Return the numbers as plain data."""
        return {
            "candidates": {str(values): people for values, people in self.candidates.items()},
            "least": self.least,
            "given_away": self.given_away,
            "share": self.share,
            "posterior": self.posterior,
        }


@dataclass(frozen=True, repr=False)
class Intersection(ShownFigures):
    """What an intersection attack reveals, by sensitive attribute."""

    views: tuple[str, ...]
    known: int
    """How many people were looked up."""
    unmatched: int
    """How many of them some view has no block for; for them that view is left out."""
    by_attribute: dict[str, ValuesLeft]

    @property
    def least(self) -> int:
        """The fewest values that are left of any attribute."""
        return min(left.least for left in self.by_attribute.values())

    @property
    def posterior(self) -> float:
        """The strongest belief about any attribute."""
        return max(left.posterior for left in self.by_attribute.values())

    def summary(self) -> dict[str, Any]:
        """Return the numbers as plain data; nobody is named."""
        return {
            "views": list(self.views),
            "known": self.known,
            "unmatched": self.unmatched,
            "by_attribute": {name: left.summary() for name, left in self.by_attribute.items()},
        }

    def __str__(self) -> str:
        head = f"People looked up in {listed(self.views)}: {self.known:,}."
        if self.unmatched:
            head += f" For {self.unmatched:,} of them some view has no block."
        return "\n".join([head, *(_sentence(name, left) for name, left in self.by_attribute.items())])


def _sentence(name: str, left: ValuesLeft) -> str:
    belief = f"Somebody's value is believed up to {left.posterior:.1%}."
    if nowhere := left.candidates.get(0):
        belief += f" To {nowhere:,} no value is left: they are not in these views."
    if not left.given_away:
        return f"{name}: nobody is given away; {left.least:,} values or more are left to everybody. {belief}"
    first = left.victims[0]
    return (
        f"{name}: to {left.given_away:,} of them ({left.share:.1%}) one value is left. The first: "
        f"{described(first.values)}: '{value_text(first.learned)}'. {belief}"
    )


# -- the attack ----------------------------------------------------------------------------------


def intersection(frames: Views, schema: Schema, *, known: Any, harmless: Harmless = ()) -> Intersection:
    """Look everybody up in all views, and find which sensitive values are left to them.

    `frames` are the views by name, or a folder whose Parquet files hold them. `known` are the people whose quasi
    values the outsider knows: a Table, or a frame or file of people, which need not have the other columns. Of the
    N(s) records with value s, the blocks that a person may be in have the share q(s) in a view; the person has s with a
    probability proportional to N(s) times the product of q(s) over all views.

    Who is left with harmless values alone is not given away, and the strongest belief is one about another value.

    >>> import sudare as sd
    >>> people = pl.DataFrame({"age": [20, 21, 22], "height": [180, 160, 170]})
    >>> by_age = pl.DataFrame({"age": ["[20, 21]", "[20, 21]", "22"], "illness": ["flu", "HIV", "flu"]})
    >>> by_height = pl.DataFrame({"height": ["180", "[160, 170]", "[160, 170]"], "illness": ["flu", "HIV", "flu"]})
    >>> schema = sd.Schema.from_roles(quasi=["age", "height"], sensitive=["illness"])
    >>> learned = intersection({"age": by_age, "height": by_height}, schema, known=people)
    >>> learned.by_attribute["illness"].candidates
    {1: 2, 2: 1}
    """
    views = _opened(frames, schema)
    quasi = list(dict.fromkeys(name for view in views.values() for name in view.quasi))
    if not quasi:
        raise InputError("No view has a column that the schema calls quasi; there is nobody to look up.")
    people = people_of(known, schema)
    counts = people.counts(quasi)
    lookups = [Lookup.of(name, view, people, counts) for name, view in views.items()]
    by_attribute = {}
    for name in lookups[0].view.sensitive:
        values, records = records_by_value(lookups, name)
        texts = harmless_texts(harmless, name)
        may_be_known = np.array(["" in texts if value is None else value in texts for value in values])
        left = _look_up(lookups, records, len(counts), may_be_known)
        by_attribute[name] = _summed(left, values, people, counts)
    unmatched = int(counts.weights[~left.everywhere].sum())  # whichever the attribute is
    return Intersection(tuple(views), len(people), unmatched, by_attribute)


def views_of(output: Output) -> dict[str, Output]:
    """Return the views of a folder by name; a frame or a file is a single view."""
    if isinstance(output, pl.DataFrame | PublishedRows | Table):
        return {"output": output}
    path = handed_over(output)
    if not path.is_dir():
        return {path.stem: path}
    tables = tables_of(path.glob("*.parquet"))
    if not tables:
        raise InputError(
            f"{path}: this folder has no Parquet file, and so no view. Name the files of the views."
        )
    return {name: FileRows(parts) for name, parts in tables.items()}


def _opened(frames: Views, schema: Schema) -> dict[str, Published]:
    """Read all views, each with the quasi attributes that it has, and the sensitive ones that all have."""
    outputs = frames if isinstance(frames, Mapping) else views_of(frames)
    if not outputs:
        raise InputError("There is no view to attack. Give at least one.")
    tables = {name: rows_of(output) for name, output in outputs.items()}
    sensitive = schema.names(Role.sensitive)
    shared = [name for name in sensitive if all(name in table.columns for table in tables.values())]
    if not shared:
        raise InputError(
            f"The views have no sensitive attribute in common; the schema has {listed(sensitive)}."
            if sensitive
            else "The schema has no sensitive attribute; the intersection attack needs one."
        )
    return {name: _published(name, table, schema, shared) for name, table in tables.items()}


def _published(name: str, table: PublishedRows, schema: Schema, sensitive: Sequence[str]) -> Published:
    own = [column for column in schema.names(Role.quasi) if column in table.columns]
    try:
        return Published.open(table, Schema.from_roles(quasi=own, sensitive=sensitive))
    except InputError as error:
        raise InputError(f"View '{name}': {error}") from None


class _Left(NamedTuple):
    """What is left to people, by distinct tuple of quasi values."""

    candidates: Ints
    posterior: NDArray[np.float64]
    first: Ints
    """The first value that is left."""
    harmful: NDArray[np.bool_]
    """Whether any value is left that is not harmless."""
    everywhere: NDArray[np.bool_]
    """Whether every view has a block for them."""


def _look_up(
    lookups: Sequence[Lookup], records: Sequence[Records], units: int, harmless: NDArray[np.bool_]
) -> _Left:
    """Look everybody up in all views, some people at a time."""
    step = max(1, MAX_CELLS // len(records[0].totals))
    parts = [_look_some_up(lookups, records, slice(at, at + step), harmless) for at in range(0, units, step)]
    return _Left(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def _look_some_up(
    lookups: Sequence[Lookup], records: Sequence[Records], some: slice, harmless: NDArray[np.bool_]
) -> _Left:
    people = len(lookups[0].people[some])
    left = np.ones((people, len(records[0].totals)), dtype=bool)
    likely = np.tile(records[0].totals.astype(np.float64), (people, 1))
    somewhere, everywhere = np.zeros((people, 1), dtype=bool), np.ones((people, 1), dtype=bool)
    for lookup, own in zip(lookups, records, strict=True):
        counts = lookup.records_of(some, own)
        here = counts.max(axis=1, keepdims=True) > 0
        left &= (counts > 0) | ~here
        # In the first view that has a block for a person, N(s) q(s) are the records themselves.
        updated = np.where(somewhere, likely * (counts / np.maximum(own.totals, 1)), counts)
        likely = np.where(here, updated, likely)
        likely /= np.maximum(likely.max(axis=1, keepdims=True), TINY)  # so that not all of them vanish
        somewhere |= here
        everywhere &= here
    candidates = left.sum(axis=1)
    whole = np.where(candidates > 0, likely.sum(axis=1), 1)
    believed = np.where(harmless, 0, likely).max(axis=1) / whole
    harmful = np.asarray((left & ~harmless).any(axis=1))
    return _Left(candidates, believed, left.argmax(axis=1), harmful, everywhere.ravel())


def _summed(left: _Left, values: Sequence[str | None], people: Table, counts: Counts) -> ValuesLeft:
    sizes = np.bincount(left.candidates, counts.weights).astype(np.int64)
    alone = np.flatnonzero((left.candidates == 1) & left.harmful)
    given_away = int(counts.weights[alone].sum())
    return ValuesLeft(
        candidates={int(number): int(sizes[number]) for number in np.flatnonzero(sizes)},
        least=int(left.candidates[left.candidates > 0].min()) if left.candidates.any() else 0,
        given_away=given_away,
        share=given_away / len(people),
        posterior=float(left.posterior.max()),
        victims=tuple(
            Victim(_values_of(people, counts, unit), values[left.first[unit]])
            for unit in alone[:MAX_EXAMPLES].tolist()
        ),
    )


def _values_of(people: Table, counts: Counts, unit: int) -> Values:
    values = {name: people[name].decode(counts.column(name)[[unit]])[0] for name in counts.names}
    return {name: None if value is None else text_of(value) for name, value in values.items()}
