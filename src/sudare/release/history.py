"""What earlier releases of a source tell, and what that leaves for the next one.

A release is compared with all earlier ones of the same source whose receivers may put them together: the same
receiver, the public, and any receivers that were not declared apart.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.errors import InputError, LedgerError, RequirementError
from sudare.privacy.l_diversity import LDiversity
from sudare.privacy.multi_view import MultiViewDiversity, ViewedBy
from sudare.privacy.t_closeness import TCloseness
from sudare.release.certificate import InputHash
from sudare.release.chain import JSON, Entry
from sudare.tables.schema import Role, Schema
from sudare.tables.table import Table
from sudare.tables.text import listed

Ints = NDArray[np.int64]


# -- What a release tells the ledger --------------------------------------------------------------------


def told_by(
    frames: Mapping[str, pl.DataFrame],
    row_blocks: Mapping[str, Ints],
    requirements: Sequence[object],
    schema: Schema,
) -> dict[str, Any]:
    """Return what a ledger must know of a release, as plain data."""
    return {
        "views": {
            name: {
                "quasi": [column for column in frame.columns if schema[column].role == Role.quasi],
                "others": [column for column in frame.columns if schema[column].role != Role.quasi],
                **({"blocks": _packed(row_blocks[name])} if name in row_blocks else {}),
            }
            for name, frame in frames.items()
        },
        "promises": [found for one in requirements if (found := _promise(one, schema)) is not None],
    }


def _promise(requirement: object, schema: Schema) -> dict[str, Any] | None:
    """Return what a requirement promises about a sensitive attribute; None if it speaks of none.

    Only sets and counts of values can be followed through several releases ("measure").
    """
    if not isinstance(requirement, LDiversity | MultiViewDiversity | TCloseness):
        return None
    attribute = requirement.attribute or schema.names(Role.sensitive)[0]
    found: dict[str, Any] = {"attribute": attribute, "text": str(requirement)}
    if not isinstance(requirement, TCloseness) and requirement.kind != "recursive":
        found |= {"measure": requirement.kind, "l": requirement.l}
    return found


def _packed(blocks: Ints) -> str:
    return base64.b64encode(zlib.compress(blocks.astype("<i4").tobytes())).decode("ascii")


def _unpacked(text: str) -> Ints:
    return np.frombuffer(zlib.decompress(base64.b64decode(text)), dtype="<i4").astype(np.int64)


# -- Which releases count -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Recorded:
    """A release in the ledger: who received it, its columns, promises and blocks, and the epsilon it spent."""

    seq: int
    body: dict[str, Any]

    @property
    def source(self) -> str:
        """The name of what it was made from."""
        return str(self.body["certificate"]["input"]["source"])

    @property
    def receiver(self) -> str | None:
        """Who got it; None if anybody may."""
        found: str | None = self.body.get("receiver")
        return found

    @property
    def epsilon(self) -> Fraction:
        """The epsilon that it spent; 0 without noise."""
        return exact(self.body["certificate"]["measured"].get("epsilon", 0))

    @property
    def delta(self) -> Fraction:
        """The probability with which that may fail."""
        return exact(self.body["certificate"]["measured"].get("delta", 0))

    @property
    def has_blocks(self) -> bool:
        """Whether it published rows in blocks."""
        return any("blocks" in view for view in self.body.get("views", {}).values())

    def is_of(self, digest: str) -> bool:
        """Tell whether it was made from the table with this digest."""
        return InputHash(**self.body["certificate"]["input"]).matches(digest, self.body["input_salt"])

    def tells_of(self, attribute: str) -> bool:
        """Tell whether it has blocks in which an attribute is shown as it is."""
        return any("blocks" in v and attribute in v["others"] for v in self.body.get("views", {}).values())

    def blocks_with(self, attribute: str) -> Iterator[Ints]:
        """Yield the blocks of the rows in each view that shows an attribute as it is."""
        for view in self.body.get("views", {}).values():
            if "blocks" in view and attribute in view["others"]:
                yield _unpacked(view["blocks"])


def exact(number: float | str | Fraction) -> Fraction:
    """Return a number exactly as it is written, so that 0.1 + 0.2 is 0.3."""
    try:
        return Fraction(str(number))
    except (ValueError, ZeroDivisionError):
        raise InputError(f"An epsilon must be a number, such as 1.5 or 3/2. Got {number} instead.") from None


def combined(
    entries: Sequence[Entry], source: str, receiver: str | None, *, everybody: bool = False
) -> list[list[Recorded]]:
    """Return the sets of releases of a source that somebody may put together with a new one for this receiver.

    Whoever received something of the public is told nothing apart from the others by it: each set has the releases
    of receivers of whom no two were declared apart, and is as large as possible. With `everybody`, all are one set.
    """
    releases = [
        Recorded(entry.seq, entry.body)
        for entry in entries
        if entry.kind == "release" and entry.body["certificate"]["input"]["source"] == source
    ]
    if everybody:
        return [releases]
    apart = {
        frozenset(pair)
        for entry in entries
        if entry.kind == "apart"
        for pair in combinations(entry.body["receivers"], 2)
    }
    near = {
        one: {other for other in (r.receiver for r in releases) if frozenset({one, other}) not in apart}
        for one in {receiver, *(r.receiver for r in releases)}
    }
    return [
        [release for release in releases if release.receiver in together]
        for together in _largest({receiver}, near[receiver] - {receiver}, set(), near)
    ]


def _largest(
    together: set[str | None],
    possible: set[str | None],
    done: set[str | None],
    near: Mapping[str | None, set[str | None]],
) -> Iterator[set[str | None]]:
    """Yield the largest sets of receivers who may all combine what they get (Bron & Kerbosch 1973)."""
    if not possible and not done:
        yield together
    for one in sorted(possible, key=str):
        yield from _largest(together | {one}, possible & near[one] - {one}, done & near[one], near)
        possible = possible - {one}
        done = done | {one}


# -- Budgets --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Budget:
    """How much epsilon a source has, and how much was spent on what one receiver may put together."""

    source: str
    epsilon: Fraction
    spent: Fraction
    delta: Fraction = Fraction(0)
    """The deltas of the same releases, added up: the probability with which the promise may fail."""

    @property
    def remaining(self) -> Fraction:
        """What is left."""
        return self.epsilon - self.spent

    def __str__(self) -> str:
        whole, spent, left = (f"{float(x):g}" for x in (self.epsilon, self.spent, self.remaining))
        failing = f"; deltas add up to {float(self.delta):g}" if self.delta else ""
        return f"{self.source}: epsilon {whole} in all, {spent} spent, {left} remain{failing}"


def budget_of(entries: Sequence[Entry], source: str, receiver: str | None = None) -> Budget | None:
    """Return the budget of a source as it stands; None if none was set.

    Releases compose: what a receiver can put together has the sum of their epsilons, and of their deltas.
    """
    given = [e.body["epsilon"] for e in entries if e.kind == "budget" and e.body["source"] == source]
    if not given:
        return None
    together = combined(entries, source, receiver)
    spent = max(sum((e.epsilon for e in releases), Fraction(0)) for releases in together)
    delta = max(sum((e.delta for e in releases), Fraction(0)) for releases in together)
    return Budget(source, Fraction(given[-1]), spent, delta)


def _refuse_overspending(entries: Sequence[Entry], new: Recorded) -> None:
    budget = budget_of(entries, new.source, new.receiver)
    if budget is not None and new.epsilon > budget.remaining:
        over = new.epsilon - budget.remaining
        raise LedgerError(
            f"The budget of '{new.source}' would be overspent: {float(new.epsilon):g} is requested, "
            f"{float(budget.remaining):g} of {float(budget.epsilon):g} remains, {float(over):g} too little. "
            "Ask for a smaller epsilon, or decide on a larger budget."
        )


# -- Promises -------------------------------------------------------------------------------------------


def refuse(entries: Sequence[Entry], body: Mapping[str, JSON], table: Table | None) -> None:
    """Raise an error if a new release would overspend, or break a promise together with earlier ones."""
    new = Recorded(len(entries) + 1, dict(body))
    _refuse_overspending(entries, new)
    for releases in combined(entries, new.source, new.receiver):
        _refuse_together([release for release in releases if release.has_blocks], new, table)


def _refuse_together(releases: Sequence[Recorded], new: Recorded, table: Table | None) -> None:
    if not releases or not new.has_blocks:
        return
    if table is None:
        raise InputError(
            "This release does not know what it was made from, and cannot be compared with earlier ones."
        )
    for attribute, promises in _promises([*releases, new]).items():
        if not new.tells_of(attribute):
            continue
        # A release of the same columns in the same blocks adds nothing to what the other one tells.
        other = [release for release in releases if release.body["views"] != new.body["views"]]
        telling = telling_of(other, attribute, table)
        if telling:
            _refuse_joinable([*telling, new], attribute)
            _refuse_broken([*telling, new], attribute, promises, table)


def _promises(releases: Sequence[Recorded]) -> dict[str, list[tuple[Recorded, dict[str, Any]]]]:
    found: dict[str, list[tuple[Recorded, dict[str, Any]]]] = {}
    for release in releases:
        for promise in release.body.get("promises", []):
            found.setdefault(promise["attribute"], []).append((release, promise))
    return found


def _refuse_other_states(releases: Sequence[Recorded], table: Table) -> None:
    digest = table.digest() if releases else ""
    for release in releases:
        if not release.is_of(digest):
            raise RequirementError(
                f"Release {release.seq} in the ledger was made from another state of '{release.source}'. Who is in both "
                "could be found through both, and no rule is known that rules it out. Release the same table as "
                "then, or name the source otherwise if nobody is in both."
            )


def _refuse_joinable(releases: Sequence[Recorded], attribute: str) -> None:
    """Refuse columns that two releases have and one of them shows as they are: they would join rows together."""
    for one, other in combinations(releases, 2):
        for a, b in ((one, other), (other, one)):
            shown = {name for view in a.body["views"].values() for name in view["others"]} - {attribute}
            has = {name for view in b.body["views"].values() for name in (*view["quasi"], *view["others"])}
            if common := sorted(shown & has):
                raise RequirementError(
                    f"Releases {one.seq} and {other.seq} would both have {listed(common)}, by which their rows could be "
                    "joined. Leave it out, or give it the role quasi in both."
                )


def _refuse_broken(
    releases: Sequence[Recorded],
    attribute: str,
    promises: Sequence[tuple[Recorded, dict[str, Any]]],
    table: Table,
) -> None:
    seen = seen_in(releases, attribute, table)
    for release, promise in promises:
        if release not in releases:
            continue
        if "measure" not in promise:
            raise RequirementError(
                f"Release {release.seq} promises {promise['text']}, and no rule is known by which that survives a second "
                f"release of '{attribute}'. Give it to receivers who were declared apart."
            )
        found = MultiViewDiversity(promise["l"], promise["measure"]).measure(seen)
        if not found.holds:
            raise RequirementError(
                f"Together with {named(releases[:-1])}, this would break what release "
                f"{release.seq} promises, {promise['text']}: somebody would be left with {found.value:.4g}. Make it as a view "
                "against this ledger, which goes only as far as is safe."
            )


def seen_in(releases: Sequence[Recorded], attribute: str, table: Table) -> ViewedBy:
    """Return what releases of this very table tell together about every row's value of an attribute."""
    blocks = [found for release in releases for found in release.blocks_with(attribute)]
    return ViewedBy.of(blocks, table[attribute].codes.astype(np.int64), np.ones(len(table), dtype=np.int64))


def named(releases: Sequence[Recorded]) -> str:
    """Name releases by their number in the ledger."""
    numbers = [str(release.seq) for release in releases]
    return f"release {numbers[0]}" if len(numbers) == 1 else f"releases {', '.join(numbers)}"


def telling_of(releases: Sequence[Recorded], attribute: str, table: Table) -> list[Recorded]:
    """Return the releases that tell something about an attribute of this very table."""
    telling = [release for release in releases if release.tells_of(attribute)]
    _refuse_other_states(telling, table)
    return telling
