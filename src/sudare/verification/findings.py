"""What was found of each requirement on an output, and how the blocks of one table are looked through for it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from typing import Any

from sudare.errors import InputError, ParameterError, RequirementError
from sudare.privacy.k_anonymity import KAnonymity
from sudare.privacy.l_diversity import LDiversity
from sudare.privacy.multi_view import MultiViewDiversity
from sudare.privacy.promises import Promise
from sudare.privacy.t_closeness import TCloseness
from sudare.tables.schema import Attribute, Role, Schema
from sudare.tables.text import listed
from sudare.verification import recount
from sudare.verification.files import Part
from sudare.verification.recount import Blocks, Sensitive


@dataclass(frozen=True)
class Finding:
    """What the output was found to have of one requirement, and the block that is worst."""

    requirement: str
    name: str
    value: float
    holds: bool
    worst: dict[str, Any]
    note: str = field(default="", repr=False)
    """What this finding rests on, where the output alone does not tell all of it."""


@dataclass(frozen=True)
class Verification:
    """The findings for all requirements; `value` and `worst` are those of the first."""

    findings: tuple[Finding, ...]
    roles: Mapping[str, Role] = field(default_factory=dict, repr=False, compare=False)
    """What each published column was taken for: every finding rests on it."""
    notes: tuple[str, ...] = field(default=(), repr=False)
    """What of the folder had to be believed."""

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
                    f"{finding.worst}. It must not be handed over."
                )


def find_in_blocks(part: Part, asked: Sequence[Promise], schema: Schema) -> list[Finding]:
    """Recount the blocks of one table, and say what they have of each requirement."""
    quasi = schema.names(Role.quasi)

    @cache  # several requirements may speak of one attribute
    def counted(name: str | None) -> tuple[Blocks, Sensitive | None]:
        column = None
        if name is not None:
            given = schema.missing_values or ()
            column = recount.sensitive_column(part.meant(name), schema[name], given, from_csv=part.from_csv)
        return recount.count_blocks(part.frame, quasi, column), column

    findings = []
    for requirement in asked:
        if isinstance(requirement, KAnonymity):
            findings.append(_find_k(requirement, counted(None)[0]))
            continue
        name = sensitive_of(requirement, schema, part)
        blocks, column = counted(name)
        if isinstance(requirement, LDiversity):
            findings.append(_find_l(requirement, blocks))
        elif isinstance(requirement, TCloseness) and column is not None:
            findings.append(_find_t(requirement, blocks, column, schema[name]))
    return _told_apart(findings, asked, schema)


def sensitive_of(requirement: Promise, schema: Schema, part: Part) -> str:
    """Return the sensitive attribute that a requirement speaks of."""
    if not isinstance(requirement, LDiversity | TCloseness | MultiViewDiversity):
        raise ParameterError(f"{requirement} cannot be verified on a published table.")
    sensitive = schema.names(Role.sensitive)
    name = requirement.attribute
    if name is not None and schema[name].role != Role.sensitive:
        raise InputError(
            f"{requirement}: the schema calls '{name}' {schema[name].role}. Make its role sensitive."
        )
    if name is None and not sensitive:
        raise InputError(
            f"{requirement} needs a sensitive attribute, and the schema has none. Make a column's role sensitive."
        )
    if name is None and len(sensitive) > 1:
        raise InputError(
            f"{requirement}: there are several sensitive attributes, {listed(sensitive)}. "
            f"Name one: attribute='{sensitive[0]}'."
        )
    name = name or sensitive[0]
    if name not in part.frame.columns:
        raise InputError(f"{part.where} has no column '{name}', which the schema calls sensitive.")
    return name


def _find_k(requirement: KAnonymity, blocks: Blocks) -> Finding:
    worst = int(blocks.sizes.argmin())
    size = int(blocks.sizes[worst])
    return Finding(str(requirement), "k", size, size >= requirement.k, blocks.named(worst))


def _find_l(requirement: LDiversity, blocks: Blocks) -> Finding:
    l: float
    if requirement.kind == "entropy":
        found = recount.entropies(blocks)
        least = min(found)
        worst, l = found.index(least), recount.perplexity(least)
        holds = least >= math.log(requirement.l) - recount.SLACK
    else:
        recursive = requirement.kind == "recursive"
        ls = (
            recount.recursive_ls(blocks, requirement.c or 0) if recursive else recount.distinct_values(blocks)
        )
        l = min(ls)
        worst, holds = ls.index(l), l >= requirement.l
    return Finding(str(requirement), f"l_{requirement.kind}", l, holds, blocks.named(worst))


def _find_t(requirement: TCloseness, blocks: Blocks, column: Sensitive, attribute: Attribute) -> Finding:
    if requirement.distance == "equal":
        found = recount.flat_distances(blocks, column)
    elif requirement.distance == "ordered":
        found = recount.ordered_distances(blocks, column.size)
    elif attribute.hierarchy is not None:
        found = recount.tree_distances(blocks, column, attribute)
    else:
        raise InputError(
            f"{requirement} needs a hierarchy of '{column.name}'. Give it one in the schema, or choose another distance."
        )
    t = max(found)
    holds = t <= Fraction(requirement.t) + recount.SLACK
    return Finding(str(requirement), "t", round(float(t), 12), holds, blocks.named(found.index(t)))


def _told_apart(findings: list[Finding], asked: Sequence[Promise], schema: Schema) -> list[Finding]:
    """Name findings of one name by the attribute, and by the distance or c, in which they differ."""
    details = [_details(requirement, schema) for requirement in asked]
    named = []
    for finding, own in zip(findings, details, strict=True):
        alike = [other for f, other in zip(findings, details, strict=True) if f.name == finding.name]
        apart = [own[i] for i in range(len(own)) if len({other[i] for other in alike}) > 1]
        named.append(replace(finding, name=":".join([finding.name, *apart])))
    return named


def _details(requirement: Promise, schema: Schema) -> tuple[str, ...]:
    if isinstance(requirement, LDiversity | TCloseness):
        kind = requirement.distance if isinstance(requirement, TCloseness) else f"c={requirement.c}"
        return requirement.attribute or schema.names(Role.sensitive)[0], kind
    return ()
