"""Findings: how much of each requirement an output has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sudare.errors import RequirementError
from sudare.tables.attribute import Role
from sudare.tables.notebook import Listing, Shown, written
from sudare.tables.text import shown


@dataclass(frozen=True)
class Finding:
    """How much of one requirement the output has, and the block that is worst."""

    requirement: str
    name: str
    value: float
    holds: bool
    worst: dict[str, Any]
    note: str = field(default="", repr=False)
    """What this finding rests on, where the output alone does not show all of it."""

    @property
    def where(self) -> str:
        """Where the worst is, in words."""
        said = {name: "(missing)" if value is None else shown(value) for name, value in self.worst.items()}
        return ", ".join(f"{name} = {value}" for name, value in said.items()) or "all records"


@dataclass(frozen=True, repr=False)
class Verification(Shown):
    """The findings for all requirements; `value` and `worst` are those of the first."""

    findings: tuple[Finding, ...]
    roles: Mapping[str, Role] = field(default_factory=dict, repr=False, compare=False)
    """What each published column was taken for: every finding rests on it."""
    notes: tuple[str, ...] = field(default=(), repr=False)
    """What of the folder had to be believed."""
    rows: Mapping[str, int] = field(default_factory=dict, repr=False)
    """How many rows of each published table were read and recounted: all that it has."""

    @property
    def holds(self) -> bool:
        """Whether every requirement holds."""
        return all(finding.holds for finding in self.findings)

    @property
    def value(self) -> float:
        """The value for the first requirement."""
        return self.findings[0].value

    @property
    def worst(self) -> dict[str, Any]:
        """The quasi values of the block that is worst for the first requirement."""
        return self.findings[0].worst

    @property
    def measured(self) -> dict[str, float]:
        """The values by name."""
        return {finding.name: finding.value for finding in self.findings}

    def _line(self) -> str:
        words = [f"{own.requirement}, {own.name} = {written(own.value)}" for own in self.findings]
        return f"{'holds' if self.holds else 'does not hold'}: {'; '.join(words)}"

    def _listings(self) -> Iterable[Listing]:
        rows = [(own.requirement, own.name, own.value, own.holds, own.where) for own in self.findings]
        yield Listing("", ("requirement", "measured", "value", "holds", "worst of what is published"), rows)
        yield Listing.of_facts(dict(self.rows), "rows recounted")
        yield Listing.of_facts(dict(self.roles), "what columns were taken for")
        yield Listing("what had to be believed", (), [(note,) for note in self.notes])

    def refuse_if_broken(self) -> None:
        """Raise a RequirementError that names what does not hold."""
        for finding in self.findings:
            if not finding.holds:
                raise RequirementError(
                    f"The output does not have {finding.requirement}: {finding.name} = {finding.value:g} at "
                    f"{finding.where}. It must not be handed over."
                )
