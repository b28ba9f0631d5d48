"""What went out: the releases of a ledger, and which of them are of one source.

Releases are of one source if they have a name or a digest in common, or both have it with a third. So the same rows
are known under another name, from another file and in another format, and a table that grew is known by its name.
Names that look alike are one name, and so are those of files that differ in their endings.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sudare.errors import InputError, LedgerError
from sudare.ledger.blocks import RecordedBlocks
from sudare.ledger.chain import Entry
from sudare.ledger.entries import (
    MAX_CHARACTERS,
    ApartBody,
    BudgetBody,
    Neighbours,
    PeriodBody,
    ReleaseBody,
    exact,
)
from sudare.ledger.receivers import Group, groups_around
from sudare.ledger.several import Spread
from sudare.privacy.beta_likeness import BetaLikeness
from sudare.privacy.certificate import Certificate
from sudare.privacy.delta_disclosure import DeltaDisclosure
from sudare.privacy.l_diversity import LDiversity
from sudare.privacy.multi_view import MultiViewDiversity
from sudare.privacy.requirement import sensitive_in
from sudare.privacy.t_closeness import TCloseness
from sudare.tables.attribute import Role
from sudare.tables.counts import Counts
from sudare.tables.lookalikes import skeleton
from sudare.tables.schema import Schema
from sudare.tables.table import Table

#: Of files with tables, the longer first.
Compared = TCloseness | BetaLikeness | DeltaDisclosure
"""What compares the values of a block with those of the whole table."""
ENDINGS = (
    ".csv.gz", ".csv", ".tsv", ".parquet", ".pq", ".feather", ".arrow", ".ipc", ".jsonl", ".ndjson", ".txt",
)  # fmt: skip

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
    columns: Mapping[str, Sequence[str]] | None = None,
    blocks: Mapping[str, RecordedBlocks] | None = None,
    requirements: Sequence[object] = (),
    holder: Mapping[str, Any] | None = None,
    measurement: str | None = None,
) -> dict[str, Any]:
    """Return what a ledger must know of a release, as plain data.

    `neighbours` says between which tables the epsilon that was measured holds, if one was. `measurement` is the digest
    of a p-view's files: where the same go out again, that costs nothing more.
    """
    if receiver is not None:
        check_receiver(receiver)
    return {
        "folder": folder,
        "receiver": receiver,
        "source": table.name,
        "digest": table.digest(),
        "whole_digest": table.whole_digest(),
        "columns": {name: table.values_digest(name) for name in table.publishable},
        "rows": len(table),
        "noise": _noise(certificate.measured, neighbours),
        "views": {
            name: {
                "quasi": [column for column in published if _is_quasi(column, table.schema)],
                "others": [column for column in published if table.schema[column].treated_as != Role.quasi],
                **_means(published, table.schema),
                "blocks": blocks[name].to_json() if blocks and name in blocks else None,
            }
            for name, published in (columns or {}).items()
        },
        "promises": [
            promised for one in requirements if (promised := promise(one, table.schema)) is not None
        ],
        "certificate": certificate.model_dump(mode="json"),
        "certificate_sha256": certificate_sha256,
        "holder": dict(holder or {}),
        "input_salt": salt,
        **({} if measurement is None else {"measurement": measurement}),
    }


def _is_quasi(column: str, schema: Schema) -> bool:
    return column in schema.attributes and schema[column].treated_as == Role.quasi


def _means(published: Sequence[str], schema: Schema) -> dict[str, list[str]]:
    """Return which columns have a mean beside them; those that stand beside ranges otherwise tell what these do."""
    beside = schema.beside()
    means = [beside[name] for name in published if name in beside and schema[beside[name]].numbers == "means"]
    return {"means": means} if means else {}


def check_receiver(name: object) -> None:
    """Refuse what cannot be a receiver's name."""
    if not isinstance(name, str) or not name or not name.isprintable() or len(name) > MAX_CHARACTERS:
        raise InputError(f"A receiver is named by printable text of at most {MAX_CHARACTERS:,} characters.")


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
    if not isinstance(requirement, LDiversity | MultiViewDiversity | Compared):
        return None
    attribute = sensitive_in(requirement, schema)
    promised: dict[str, Any] = {"attribute": attribute, "text": str(requirement)}
    if not isinstance(requirement, Compared) and requirement.kind not in ("recursive", "proximity"):
        promised |= {"measure": requirement.kind, "l": requirement.l}
    if isinstance(requirement, LDiversity) and requirement.harmless:
        promised["harmless"] = list(requirement.harmless)
    return promised


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

    def is_of(self, table: Table, instead: Mapping[str, str] | None = None) -> bool:
        """Tell whether what could be published then holds the very same records as a part of a table.

        `instead` names columns of the table that are to stand for some of then.
        """
        columns = {name: (instead or {}).get(name) or table.like(name) for name in self.body.columns}
        there = {name: own for name, own in columns.items() if own is not None}
        if not there or len(there) < len(columns):
            return False
        return table.digest_of(there) == self.body.digest

    def blocks_with(self, attribute: str, table: Table) -> Iterator[RecordedBlocks]:
        """Yield the blocks of each view that shows an attribute as it is."""
        for view in self.body.views.values():
            if view.blocks is not None and attribute in view.others:
                with self._distrusted():
                    if not self.is_of(table):
                        raise InputError("its blocks are of other records than its table's")
                    if self.body.rows != len(table):
                        raise InputError(f"it has {self.body.rows:,} rows where its table has {len(table):,}")
                    yield RecordedBlocks.read(view.blocks)

    def spread(self, blocks: RecordedBlocks, table: Table, counts: Counts, attribute: str) -> Spread:
        """Say in which blocks the records may be of each tuple that was counted of a table, by an attribute too."""
        with self._distrusted():
            return blocks.spread(table, counts, attribute)

    def keys_of(self, blocks: RecordedBlocks, table: Table) -> list[str]:
        """Return the columns of a table by which blocks are looked up."""
        with self._distrusted():
            return blocks.own_keys(table)

    @contextmanager
    def _distrusted(self) -> Iterator[None]:
        """Say of what no release of ours records that it was not written by us."""
        try:
            yield
        except InputError as error:
            raise LedgerError(
                f"Release {self.seq} in the ledger was not written by Sudare: {error}. Do not rely on this ledger."
            ) from None


@dataclass(frozen=True)
class History:
    """What a ledger says of one source: its names, its releases, and who was declared apart."""

    names: frozenset[str]
    """As `same_name` writes them."""
    releases: list[Recorded]
    budgets: dict[str, BudgetBody]
    """The last word on each name's budget."""
    declared: list[list[str]]
    periods: dict[str, list[int]] = field(default_factory=dict)
    """At which entries the second, third, ... period of each name's budget began."""

    @classmethod
    def of(cls, entries: Sequence[Entry], name: str, digests: Collection[str] = ()) -> History:
        """Read the history of the source that has this name, or is of this content."""
        releases = releases_in(entries)
        names, digests = _linked(releases, name, digests)
        budgets = [BudgetBody.model_validate(entry.body) for entry in entries if entry.kind == "budget"]
        periods: dict[str, list[int]] = {}
        for entry in entries:
            if entry.kind == "period":
                key = same_name(PeriodBody.model_validate(entry.body).source)
                periods.setdefault(key, []).append(entry.seq)
        return cls(
            names,
            [one for one in releases if same_name(one.source) in names or one.body.digests & digests],
            {key: budget for budget in budgets if (key := same_name(budget.source)) in names},
            [ApartBody.model_validate(entry.body).receivers for entry in entries if entry.kind == "apart"],
            {key: began for key, began in periods.items() if key in names},
        )

    @classmethod
    def of_table(cls, entries: Sequence[Entry], table: Table) -> History:
        """Read the history of the source that a table is of: by its name, its content, and what it has in it.

        A table that has all that could be published for an earlier release is of its source, whatever else is added to it.
        """
        within = {one.body.digest for one in releases_in(entries) if one.is_of(table)}
        return cls.of(entries, table.name, {table.digest(), table.whole_digest(), *within})

    def groups(self, receiver: str | None, releases: Sequence[Recorded]) -> list[Group]:
        """Return who may combine some of the releases with one for this receiver."""
        return groups_around(receiver, {one.receiver for one in releases}, self.declared)


def releases_in(entries: Sequence[Entry]) -> list[Recorded]:
    """Return the releases among entries."""
    return [
        Recorded(entry.seq, ReleaseBody.model_validate(entry.body))
        for entry in entries
        if entry.kind == "release"
    ]


def same_name(source: str) -> str:
    """Return a source's name as all names that may mean the same have it: by its look, without a file's ending.

    >>> same_name("People.csv.gz") == same_name("people ") == same_name("people")
    True
    """
    look = skeleton(source)
    ending = next((one for one in ENDINGS if look.endswith(one)), "")
    return look.removesuffix(ending) or look


def _linked(
    releases: Sequence[Recorded], name: str, digests: Collection[str]
) -> tuple[frozenset[str], set[str]]:
    """Return all names and digests that are linked with these by releases."""
    by_name: dict[str, set[str]] = {}
    by_digest: dict[str, set[str]] = {}
    for one in releases:
        source = same_name(one.source)
        by_name.setdefault(source, set()).update(one.body.digests)
        for digest in one.body.digests:
            by_digest.setdefault(digest, set()).add(source)
    names, known = {same_name(name)}, set(digests)
    new_names, new_digests = set(names), set(known)
    while new_names or new_digests:
        further = set().union(*(by_name.get(one, ()) for one in new_names)) - known
        new_names = set().union(*(by_digest.get(one, ()) for one in {*new_digests, *further})) - names
        new_digests = set()
        names |= new_names
        known |= further
    return frozenset(names), known
