"""What went out: the releases of a ledger, and which of them are of one source.

Releases are of one source if they have a name or a digest in common, or both have it with a third. So the same rows
are known under another name, from another file and in another format, and a table that grew is known by its name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from sudare.errors import InputError, LedgerError
from sudare.privacy.l_diversity import LDiversity
from sudare.privacy.multi_view import MultiViewDiversity
from sudare.privacy.t_closeness import TCloseness
from sudare.release.bodies import (
    MOST_SIGNS,
    ApartBody,
    BudgetBody,
    Ints,
    Neighbours,
    ReleaseBody,
    exact,
    packed,
    unpacked,
)
from sudare.release.certificate import Certificate
from sudare.release.chain import Entry
from sudare.release.receivers import Group, groups_around
from sudare.tables.schema import Role, Schema
from sudare.tables.table import Table

# -- What a release tells the ledger --------------------------------------------------------------------


def record(
    table: Table,
    folder: str,
    receiver: str | None,
    certificate: Certificate,
    salt: str,
    *,
    neighbours: Neighbours,
    certificate_sha256: str | None = None,
    frames: Mapping[str, pl.DataFrame] | None = None,
    row_blocks: Mapping[str, Ints] | None = None,
    requirements: Sequence[object] = (),
    holder: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return what a ledger must know of a release, as plain data.

    `neighbours` says between which tables the epsilon that was measured holds, if one was.
    """
    if receiver is not None:
        check_receiver(receiver)
    blocks = row_blocks or {}
    return {
        "folder": folder,
        "receiver": receiver,
        "source": table.name,
        "digest": table.digest(),
        "rows": len(table),
        "noise": _noise(certificate.measured, neighbours),
        "views": {
            name: {
                "quasi": [column for column in frame.columns if table.schema[column].role == Role.quasi],
                "others": [column for column in frame.columns if table.schema[column].role != Role.quasi],
                "blocks": packed(blocks[name][table.row_order]) if name in blocks else None,
            }
            for name, frame in (frames or {}).items()
        },
        "promises": [found for one in requirements if (found := promise(one, table.schema)) is not None],
        "certificate": certificate.model_dump(mode="json"),
        "certificate_sha256": certificate_sha256,
        "holder": dict(holder or {}),
        "input_salt": salt,
    }


def check_receiver(name: object) -> None:
    """Refuse what cannot be a receiver's name."""
    if not isinstance(name, str) or not name or not name.isprintable() or len(name) > MOST_SIGNS:
        raise InputError(f"A receiver is named by printable text of at most {MOST_SIGNS:,} characters.")


def _noise(measured: Mapping[str, Any], neighbours: Neighbours) -> dict[str, str] | None:
    if "epsilon" not in measured:
        return None
    spent = {name: str(measured.get(name, 0)) for name in ("epsilon", "delta")}
    for number in spent.values():
        exact(number)  # refused if it cannot be read again
    return {**spent, "neighbours": neighbours}


def promise(requirement: object, schema: Schema) -> dict[str, Any] | None:
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


# -- What the ledger tells ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Recorded:
    """A release in the ledger, by its number there."""

    seq: int
    body: ReleaseBody

    @property
    def source(self) -> str:
        """The name of what it was made from."""
        return self.body.source

    @property
    def receiver(self) -> str | None:
        """Who got it; None if anybody may."""
        return self.body.receiver

    @property
    def has_blocks(self) -> bool:
        """Whether it published rows in blocks."""
        return any(view.blocks is not None for view in self.body.views.values())

    def blocks_with(self, attribute: str, table: Table) -> Iterator[Ints]:
        """Yield the blocks of a table's rows in each view that shows an attribute as it is."""
        for view in self.body.views.values():
            if view.blocks is not None and attribute in view.others:
                try:
                    if self.body.rows != len(table):
                        raise InputError(f"it has {self.body.rows:,} rows where its table has {len(table):,}")
                    found = unpacked(view.blocks, len(table))
                except InputError as error:
                    raise LedgerError(
                        f"Release {self.seq} in the ledger was not written by Sudare: {error}. Do not rely on this ledger."
                    ) from None
                blocks = np.empty_like(found)
                blocks[table.row_order] = found
                yield blocks


@dataclass(frozen=True)
class History:
    """What a ledger says of one source: its names, its releases, and who was declared apart."""

    names: frozenset[str]
    releases: list[Recorded]
    budgets: dict[str, BudgetBody]
    """The last word on each name's budget."""
    declared: list[list[str]]

    @classmethod
    def of(cls, entries: Sequence[Entry], name: str, digest: str | None = None) -> History:
        """Read the history of the source that has this name, or is of this content."""
        releases = [
            Recorded(entry.seq, ReleaseBody.model_validate(entry.body))
            for entry in entries
            if entry.kind == "release"
        ]
        names, digests = _linked(releases, name, digest)
        budgets = [BudgetBody.model_validate(entry.body) for entry in entries if entry.kind == "budget"]
        return cls(
            names,
            [one for one in releases if one.source in names or one.body.digest in digests],
            {budget.source: budget for budget in budgets if budget.source in names},
            [ApartBody.model_validate(entry.body).receivers for entry in entries if entry.kind == "apart"],
        )

    def groups(self, receiver: str | None, releases: Sequence[Recorded]) -> list[Group]:
        """Return who may combine some of the releases with one for this receiver."""
        return groups_around(receiver, {one.receiver for one in releases}, self.declared)


def _linked(
    releases: Sequence[Recorded], name: str, digest: str | None
) -> tuple[frozenset[str], Collection[str]]:
    """Return all names and digests that are linked with these by releases."""
    by_name: dict[str, set[str]] = {}
    by_digest: dict[str, set[str]] = {}
    for one in releases:
        by_name.setdefault(one.source, set()).add(one.body.digest)
        by_digest.setdefault(one.body.digest, set()).add(one.source)
    names, digests = {name}, {digest} if digest else set()
    new_names, new_digests = set(names), set(digests)
    while new_names or new_digests:
        further = set().union(*(by_name.get(one, ()) for one in new_names)) - digests
        new_names = set().union(*(by_digest.get(one, ()) for one in {*new_digests, *further})) - names
        new_digests = set()
        names |= new_names
        digests |= further
    return frozenset(names), digests
