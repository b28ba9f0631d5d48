"""The report of a generalized table, for the holder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.privacy.certificate import Certificate
from sudare.reports.page import render
from sudare.reports.words import shown_value, value_labels
from sudare.tables.attribute import Role
from sudare.tables.runs import PublishedRows
from sudare.tables.table import Table
from sudare.verification.findings import Verification

MAX_BARS = 120  # values of an attribute that a picture shows
SIZES = {"1": 1, "2-4": 4, "5-9": 9, "10-49": 49, "50-249": 249, "250+": np.inf}
"""Sizes of blocks that are taken together, by the largest of each."""

Integers = NDArray[np.integer[Any]]


def write_generalization_report(
    table: Table,
    data: PublishedRows,
    certificate: Certificate,
    holder: Mapping[str, Any],
    verification: Verification,
) -> str:
    """Tell the holder in pictures what was asked, what was measured, and what it cost.

    >>> import sudare as sd
    >>> table = sd.read(pl.DataFrame({"age": [20, 20, 30, 30]}), sd.Schema.from_roles(quasi=["age"]))
    >>> "For the holder of the data only" in sd.generalize(table, sd.KAnonymity(2)).report
    True
    """
    quasi = table.names(Role.quasi)
    return render(
        "generalization",
        source=table.source.name,
        certificate=certificate,
        holder=holder,
        findings=verification.findings,
        original=block_sizes(np.concatenate([piece.weights for piece in table.rows.pieces(quasi, quasi)])),
        published=block_sizes(_published_sizes(data, quasi)),
        attacks=attack_shares(holder["attacks"]),
        knowing=knowing_lines(holder["attacks"]["knowing"]),
        population=population_lines(holder["population"]),
        histograms={
            name: (original_histogram(table, name), published_histogram(table, name, data)) for name in quasi
        },
    )


class BlockSizes(NamedTuple):
    """How many people share their quasi values with how many."""

    people: int
    alone: int
    """People who share them with nobody."""
    by_size: dict[str, int]


def block_sizes(sizes: Integers) -> BlockSizes:
    """Count people by the size of their block.

    >>> block_sizes(np.array([1, 1, 3, 10])).by_size
    {'1': 2, '2-4': 3, '5-9': 0, '10-49': 10, '50-249': 0, '250+': 0}
    """
    place = np.searchsorted(list(SIZES.values()), sizes)
    people = np.bincount(place, sizes, minlength=len(SIZES)).astype(np.int64)
    return BlockSizes(
        int(sizes.sum()), int((sizes == 1).sum()), dict(zip(SIZES, people.tolist(), strict=True))
    )


def _published_sizes(data: PublishedRows, names: Sequence[str]) -> Integers:
    sizes = [blocks.grouped().lengths for blocks in data.pieces(names, names)]
    return pl.concat(sizes).to_numpy().astype(np.int64)


class AttackShares(NamedTuple):
    """What an attack reaches on the original and on the output."""

    attack: str
    original: float
    published: float


def attack_shares(attacks: Mapping[str, Any]) -> list[AttackShares]:
    """Compare what an outsider reaches on the original and on the output."""
    paths = {
        "Highest risk that one person is re-identified (prosecutor)": (
            "reidentification",
            "prosecutor",
            "largest",
        ),
        "Expected share of people re-identified (marketer)": ("reidentification", "marketer"),
    }
    for name in attacks["input"].get("homogeneity", {}):
        paths |= {
            f"People whose {name} is known for sure (homogeneity)": ("homogeneity", name, "share"),
            f"... if one other value of {name} can be ruled out (background knowledge)": (
                "background",
                "by_attribute",
                name,
                "share",
            ),
        }
    return [
        AttackShares(attack, _at(attacks["input"], path), _at(attacks["output"], path))
        for attack, path in paths.items()
    ]


class KnowingLine(NamedTuple):
    """What somebody reaches who knows the method, and would without that."""

    attack: str
    without: float
    knowing: float
    looked_at: str


def knowing_lines(knowing: Mapping[str, Any] | None) -> list[KnowingLine]:
    """Compare how often guesses are right with and without knowing how blocks were made."""
    names = {
        "minimality": "Sensitive values guessed rightly, knowing that no block could be cut (minimality)",
        "definetti": "Sensitive values guessed rightly, by a model learned from the blocks (deFinetti)",
        "downcoding": "Records whose labels are undone by a level, in an attribute (downcoding)",
    }
    lines = []
    for kind, figures in (knowing or {}).items():
        if figures["right_after"] is not None:
            seen = f"{figures['blocks']:,} of {figures['of_blocks']:,} blocks"
            lines.append(KnowingLine(names[kind], figures["right_before"], figures["right_after"], seen))
    return lines


class PopulationLine(NamedTuple):
    """A risk in the population behind a sample, on the original and on the output."""

    risk: str
    original: str
    published: str


def population_lines(population: Mapping[str, Any] | None) -> list[PopulationLine]:
    """Compare what an outsider reaches who does not know who is in the sample."""
    if population is None:
        return []
    before, after = population["input"], population["output"]
    lines = {
        "Highest risk that one person is re-identified (individual risk)": (("individual", "largest"), ".2%"),
        "Re-identifications that can be expected": (("expected",), ",.2f"),
        "Records that are the only ones with their quasi values": (("alone",), ",.0f"),
        "People who are the only ones with theirs in the population": (("estimated_uniques",), ",.0f"),
    }
    return [
        PopulationLine(risk, *(format(_at(one, path), spec) for one in (before, after)))
        for risk, (path, spec) in lines.items()
    ]


def _at(data: Any, path: Sequence[str]) -> float:
    for key in path:
        data = data[key]
    return float(data)


class Histogram(NamedTuple):
    """How often values occur: all of them, or the most frequent."""

    labels: list[str]
    counts: list[int]
    distinct: int
    """How many values there are."""

    @classmethod
    def of(cls, labels: Sequence[str], counts: Integers) -> Histogram:
        """Keep the most frequent values, in their order."""
        kept = np.sort(np.argsort(-counts, kind="stable")[:MAX_BARS])
        return cls([labels[i] for i in kept], counts[kept].tolist(), len(labels))


def original_histogram(table: Table, name: str) -> Histogram:
    """Count the values of the original, in their own order."""
    counts, labels = table.counts([name]), value_labels(table[name])
    return Histogram.of([labels[code] for code in counts.codes[:, 0]], counts.weights)


def published_histogram(table: Table, name: str, data: PublishedRows) -> Histogram:
    """Count published values, in their own order, or as the labels of the hierarchy follow each other."""
    cells = data.counted([name])
    values = cells.rows[name]
    parts = pl.DataFrame({"value": values, "count": cells.lengths})
    counted = parts.group_by("value").agg(pl.sum("count")).sort("value", nulls_last=True)
    hierarchy = table[name].hierarchy
    if hierarchy is not None and values.dtype == pl.String:
        order = [label for level in hierarchy.labels for label in level]
        place = {label: i for i, label in reversed(list(enumerate(order)))}
        counted = counted.sort(
            pl.col("value").replace_strict(place, default=len(order), return_dtype=pl.Int64)
        )
    labels = [shown_value(value) for value in counted["value"].to_list()]
    return Histogram.of(labels, counted["count"].to_numpy().astype(np.int64))
