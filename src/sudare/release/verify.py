"""Verification: recount what is published, from the output alone.

Nothing here comes from the methods or from `privacy`: the output is read and grouped by polars,
by the text that a receiver sees.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from sudare.errors import InputError, ParameterError, RequirementError
from sudare.privacy.k_anonymity import KAnonymity
from sudare.privacy.requirement import Requirement
from sudare.tables.schema import Role, Schema


@dataclass(frozen=True)
class Finding:
    """What the output was found to have of one requirement, and the block that is worst."""

    requirement: str
    name: str
    value: float
    holds: bool
    worst: dict[str, Any]


@dataclass(frozen=True)
class Verification:
    """The findings for all requirements; `value` and `worst` are those of the first."""

    findings: tuple[Finding, ...]

    @property
    def holds(self) -> bool:
        """Whether every requirement holds."""
        return all(finding.holds for finding in self.findings)

    @property
    def value(self) -> float:
        """The value found for the first requirement."""
        return self.findings[0].value

    @property
    def worst(self) -> dict[str, Any]:
        """The quasi values of the block that is worst for the first requirement."""
        return self.findings[0].worst

    @property
    def measured(self) -> dict[str, float]:
        """The values found, by name."""
        return {finding.name: finding.value for finding in self.findings}

    def refuse_if_broken(self) -> None:
        """Raise a RequirementError that names what does not hold."""
        for finding in self.findings:
            if not finding.holds:
                raise RequirementError(
                    f"The output does not have {finding.requirement}: {finding.name} = {finding.value} at "
                    f"{finding.worst}. Nothing was written."
                )


def verify(
    output: pl.DataFrame | str | Path, requirements: Requirement | Sequence[Requirement], schema: Schema
) -> Verification:
    """Recount a published frame, file or release folder, and say whether the requirements hold.

    >>> output = pl.DataFrame({"age": ["[20, 30)"] * 3 + ["[30, 40)"] * 2, "illness": list("abcab")})
    >>> schema = Schema.from_roles(quasi=["age"], sensitive=["illness"])
    >>> verify(output, KAnonymity(2), schema)
    Verification(findings=(Finding(requirement='2-anonymity', name='k', value=2, holds=True, worst={'age': '[30, 40)'}),))
    """
    frame = _frame(output)
    if identifiers := [name for name in schema.names(Role.identifier) if name in frame.columns]:
        raise RequirementError(f"The output still has the identifier '{identifiers[0]}'. It must be dropped.")
    if absent := [name for name in schema.names(Role.quasi) if name not in frame.columns]:
        raise InputError(f"The output has no column '{absent[0]}', which the schema calls quasi.")
    asked = list(requirements) if isinstance(requirements, Sequence) else [requirements]
    return Verification(tuple(_find(frame, schema.names(Role.quasi), requirement) for requirement in asked))


def _frame(output: pl.DataFrame | str | Path) -> pl.DataFrame:
    if isinstance(output, pl.DataFrame):
        return output
    path = Path(output)
    path = path / "data.parquet" if path.is_dir() else path
    try:
        return pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_csv(path, infer_schema=False)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise InputError(f"{path}: the output cannot be read: {str(error).strip()}.") from None


def _find(frame: pl.DataFrame, quasi: list[str], requirement: Requirement) -> Finding:
    if isinstance(requirement, KAnonymity):
        return _find_k(frame, quasi, requirement)
    raise ParameterError(f"{requirement} cannot be verified on a published table.")


def _find_k(frame: pl.DataFrame, quasi: list[str], requirement: KAnonymity) -> Finding:
    if frame.height == 0:
        raise InputError("The output is empty; there is nothing to verify.")
    if not quasi:
        return Finding(str(requirement), "k", frame.height, frame.height >= requirement.k, {})
    sizes = frame.select(pl.col(quasi).cast(pl.String)).group_by(quasi).len("_size").sort("_size", *quasi)
    worst = sizes.row(0, named=True)
    size = worst.pop("_size")
    return Finding(str(requirement), "k", size, size >= requirement.k, worst)
