"""Looking people up in a view: which blocks may be theirs, and which sensitive values these have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.attacks import _kernels
from sudare.attacks.labels import LabelReader
from sudare.attacks.published import Published
from sudare.errors import InputError
from sudare.tables.column import Column
from sudare.tables.counts import Counts
from sudare.tables.dictionary import Dictionary
from sudare.tables.table import Table
from sudare.tables.text import shown

Ints = NDArray[np.int64]

MAX_BITS = 2**31  # pairs of a value and a block that are looked at at a time


@dataclass(frozen=True, eq=False)
class Records:
    """How many records of which sensitive value the blocks of a view have; those of block b are from starts[b] on."""

    starts: Ints
    sensitive: Ints
    counts: Ints
    totals: Ints
    """The records of the whole view, by value."""


def records_by_value(lookups: Sequence[Lookup], sensitive: str) -> tuple[list[str | None], list[Records]]:
    """Return the values of a sensitive attribute in any view, and for every view where their records are."""
    counted = [lookup.view.counted(sensitive) for lookup in lookups]
    values = pl.concat([one["value"] for one in counted]).unique().sort(nulls_last=True)
    numbered = values.to_frame().with_row_index("code")
    records = []
    for lookup, one in zip(lookups, counted, strict=True):
        joined = one.join(numbered, on="value", how="left", nulls_equal=True, maintain_order="left")
        codes, counts = joined["code"].to_numpy().astype(np.int64), one["count"].to_numpy()
        starts = np.searchsorted(one["block"].to_numpy(), np.arange(len(lookup.view) + 1))
        totals = np.bincount(codes, counts, minlength=len(values)).astype(np.int64)
        records.append(Records(starts, codes, counts, totals))
    return values.to_list(), records


@dataclass(frozen=True, eq=False)
class Lookup:
    """A view in which people can be looked up. The known values of its attributes are numbered, one after another."""

    view: Published
    people: Ints
    """The values of each person, one per attribute."""
    values: int
    label_of: Ints
    """The label of each block, by attribute."""
    starts: Ints
    """Label i covers the values covered[starts[i] : starts[i + 1]]."""
    covered: Ints

    @classmethod
    def of(cls, name: str, view: Published, known: Table, counts: Counts) -> Lookup:
        """Read the labels of a view; `counts` are the distinct people of the table of known ones."""
        people: list[Ints] = []
        label_of: list[Ints] = []
        covered: list[Ints] = []
        values = 0
        for i, attribute in enumerate(view.quasi):
            labels = Column.encode(view.keyed()[f"q{i}"])
            people.append(values + counts.codes[:, counts.names.index(attribute)].astype(np.int64))
            label_of.append(len(covered) + labels.codes.astype(np.int64))
            covered += [values + codes for codes in _read(name, known[attribute], labels)]
            values += len(known[attribute].values) + 1
        if not view.quasi:  # all records are one block, and everybody may be in it
            people, label_of, covered, values = (
                [np.zeros(len(counts), int)],
                [np.zeros(1, int)],
                [np.zeros(1, int)],
                1,
            )
        return cls(
            view=view,
            people=np.ascontiguousarray(np.stack(people, axis=1)),
            values=values,
            label_of=np.stack(label_of),
            starts=np.cumsum([0, *(len(codes) for codes in covered)]),
            covered=np.concatenate(covered),
        )

    def records_of(self, some: slice, records: Records) -> Ints:
        """Return how many records of each sensitive value are in all blocks that some of the people may be in."""
        people = self.people[some]
        totals = np.zeros((len(people), len(records.totals)), dtype=np.int64)
        blocks, step = len(self.view), max(1, MAX_BITS // self.values // 64) * 64
        for first in range(0, blocks, step):
            stop = min(blocks, first + step)
            bits = _kernels.mark_blocks(self.label_of, self.starts, self.covered, first, stop, self.values)
            _kernels.add_records(
                people, bits, first, records.starts, records.sensitive, records.counts, totals
            )
        return totals


def _read(view: str, known: Dictionary, labels: Column) -> Iterator[Ints]:
    """Return which of the known values each label covers."""
    reader = LabelReader(known)
    for label in [*labels.values.to_list(), *([None] if labels.missing else [])]:
        codes = reader.covered(label)
        if codes is None:
            raise InputError(
                f"View '{view}', column '{known.name}': the label {shown(label)} cannot be read: it is no value of the known "
                "people, no node of the hierarchy, no range and no listing. If it stands for values that none of "
                "them has, give the attribute its hierarchy, or its domain, in the schema."
            )
        yield codes
