"""The report of a generalized table, for the holder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.plans.generalization import Places
from sudare.privacy.certificate import Certificate
from sudare.reports.best_guess import HARMLESS, BestGuess, best_guesses
from sudare.reports.compared_columns import compared_columns
from sudare.reports.page import render
from sudare.reports.samples import samples_of
from sudare.tables.attribute import Role
from sudare.tables.runs import PublishedRows
from sudare.tables.table import Table
from sudare.verification.claims import promised_by
from sudare.verification.findings import Verification
from sudare.verification.utility import harmless_by_attribute

SIZES = {"1": 1, "2-4": 4, "5-9": 9, "10-49": 49, "50-249": 249, "250+": np.inf}
"""Sizes of blocks that are taken together, by the largest of each."""

Integers = NDArray[np.integer[Any]]


def write_generalization_report(
    whole: Places,
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
    table = whole.table
    quasi = table.names(Role.quasi)
    return render(
        "generalization",
        source=table.source.name,
        certificate=certificate,
        holder=holder,
        findings=verification.findings,
        original=block_sizes(np.concatenate([piece.weights for piece in table.rows.pieces(quasi, quasi)])),
        published=block_sizes(_published_sizes(data, quasi)),
        attacks=attack_shares(
            holder["attacks"],
            [name for name in table.names(Role.sensitive) if table[name].size > 2],
            holder["unit"],
        ),
        guesses=compared_guesses(table, data, certificate),
        knowing=knowing_lines(holder["attacks"]["knowing"]),
        population=population_lines(holder["population"]),
        columns=list(compared_columns(table, data)),
        samples=samples_of(whole),
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


def attack_shares(
    attacks: Mapping[str, Any], several: Sequence[str], unit: Mapping[str, Any] | None = None
) -> list[AttackShares]:
    """Compare what an outsider reaches on the original and on the output.

    Of attributes that have several values beside each other: who can rule out one of two knows the other, in any table. A
    `unit` is found among units that are alike, however many records they have.
    """
    found, paths = [], dict[str, tuple[str, ...]]()
    if unit is None:
        paths |= {
            "Highest risk that one person is re-identified (prosecutor)": (
                "reidentification",
                "prosecutor",
                "largest",
            ),
            "Expected share of people re-identified (marketer)": ("reidentification", "marketer"),
        }
    else:
        what = f"Highest risk that one {unit['role']} is re-identified by its quasi values (prosecutor)"
        found.append(AttackShares(what, 1 / unit["alike"]["input"], 1 / unit["alike"]["output"]))
    for name in attacks["input"].get("homogeneity", {}):
        whose = "People" if unit is None else "Records"
        paths[f"{whose} whose {name} is known for sure (homogeneity)"] = ("homogeneity", name, "share")
        if name in several:
            known = f"... if one other value of {name} can be ruled out (background knowledge)"
            paths[known] = ("background", "by_attribute", name, "share")
    return found + [
        AttackShares(attack, _at(attacks["input"], path), _at(attacks["output"], path))
        for attack, path in paths.items()
    ]


class ComparedGuess(NamedTuple):
    """What the best guess of a sensitive value wins on the original and on the output."""

    original: BestGuess
    published: BestGuess

    @property
    def beliefs(self) -> list[str]:
        """How sure guesses are; harmless values only where there are any."""
        sides = (self.original, self.published)
        return [
            one
            for one in self.published.by_belief
            if one != HARMLESS or any(side.by_belief[one] for side in sides)
        ]

    def people(self, guess: BestGuess) -> list[int]:
        """Count people by how sure the guess of theirs is."""
        return [guess.by_belief[one] for one in self.beliefs]


def compared_guesses(table: Table, data: PublishedRows, certificate: Certificate) -> list[ComparedGuess]:
    """Guess everybody's sensitive values by the block that they are in, of the original and of the output."""
    if not table.names(Role.sensitive):
        return []
    harmless = harmless_by_attribute(promised_by(certificate), table.schema)
    sides = (best_guesses(rows, table.schema, harmless) for rows in (table, data))
    return [ComparedGuess(*pair) for pair in zip(*sides, strict=True)]


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
