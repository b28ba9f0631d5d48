"""Verification: recount what is published, from the output alone.

Nothing here comes from the methods or from what `privacy` measures with: the output is read and grouped by
polars, by the text that a receiver sees, and of a requirement only its parameters are used.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, TypeGuard

import polars as pl

from sudare.errors import InputError, ParameterError, RequirementError
from sudare.plans.law import TableLaw
from sudare.privacy.differential_privacy import DifferentialPrivacy
from sudare.privacy.k_anonymity import KAnonymity
from sudare.privacy.l_diversity import LDiversity
from sudare.privacy.pk_anonymity import PkAnonymity
from sudare.privacy.requirement import Requirement
from sudare.privacy.t_closeness import TCloseness
from sudare.pview.files import DATA, MANIFEST, open_view
from sudare.release import _recount, _recount_budget, _recount_laws
from sudare.release._recount import Blocks, Sensitive
from sudare.tables.parquet_files import read_parquet, without_panic
from sudare.tables.schema import Attribute, Role, Schema
from sudare.tables.text import listed

Promise = Requirement | PkAnonymity | DifferentialPrivacy


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
    output: pl.DataFrame | str | Path,
    requirements: Promise | Sequence[Promise],
    schema: Schema | None = None,
    *,
    plan: Mapping[str, Any] | None = None,
) -> Verification:
    """Recount a published frame, file or release folder, and say whether the requirements hold.

    What a randomized table promises is a property of its law, which is published with it: in plan.json beside the
    output, or given as `plan`.

    Of the table that t-closeness compares a block with, only the output is known: a block's distance is that
    from the sensitive column of the whole output, without records that were left out. Likewise, a hierarchy that
    the schema gives by a recipe is built from the output's values (or the declared domain).

    What a differentially private view promises is a property of its noise: its budget is added up again.

    Findings are named k, l_distinct, l_entropy, l_recursive and t. Several of one name are told apart by what
    they differ in: l_distinct:illness, t:ordered, l_recursive:c=3.

    >>> output = pl.DataFrame({"age": ["[20, 30)"] * 3 + ["[30, 40)"] * 2, "illness": list("abcab")})
    >>> schema = Schema.from_roles(quasi=["age"], sensitive=["illness"])
    >>> verify(output, KAnonymity(2), schema)
    Verification(findings=(Finding(requirement='2-anonymity', name='k', value=2, holds=True, worst={'age': '[30, 40)'}),))
    >>> verify(output, [LDiversity(2), TCloseness(0.3)], schema).measured
    {'l_distinct': 2, 't': 0.2}
    """
    promised = list(requirements) if isinstance(requirements, Sequence) else [requirements]
    if not promised:
        raise ParameterError("verify needs at least one requirement, such as KAnonymity(5).")
    if is_private_view(output):
        return Verification(tuple(_find_in_view(promised, Path(output))))
    if schema is None:
        raise ParameterError(
            "verify needs the schema of the table; only a differentially private view has its own."
        )
    frame, from_csv = _frame(output)
    if identifiers := [name for name in schema.names(Role.identifier) if name in frame.columns]:
        raise RequirementError(f"The output still has the identifier '{identifiers[0]}'. It must be dropped.")
    if absent := [name for name in schema.names(Role.quasi) if name not in frame.columns]:
        raise InputError(f"The output has no column '{absent[0]}', which the schema calls quasi.")
    if frame.height == 0:
        raise InputError("The output is empty; there is nothing to verify.")
    by_law = [promise for promise in promised if isinstance(promise, PkAnonymity | DifferentialPrivacy)]
    if by_law and len(by_law) < len(promised):
        raise ParameterError("Ask either for what blocks have, or for what a randomized table promises.")
    if by_law:
        return Verification(
            tuple(_find_by_law(by_law, frame, TableLaw.of(plan) if plan else _law_beside(output)))
        )
    asked = [promise for promise in promised if not isinstance(promise, PkAnonymity | DifferentialPrivacy)]

    @cache  # several requirements may speak of one attribute
    def counted(name: str | None) -> tuple[Blocks, Sensitive | None]:
        column = None
        if name is not None:
            given = schema.missing_values or ()
            column = _recount.sensitive_column(frame[name], schema[name], given, from_csv=from_csv)
        return _recount.count_blocks(frame, schema.names(Role.quasi), column), column

    findings = []
    for requirement in asked:
        if isinstance(requirement, KAnonymity):
            findings.append(_find_k(requirement, counted(None)[0]))
            continue
        name = _attribute(requirement, schema, frame)
        blocks, column = counted(name)
        assert column is not None
        if isinstance(requirement, LDiversity):
            findings.append(_find_l(requirement, blocks))
        else:
            assert isinstance(requirement, TCloseness)  # others were refused
            findings.append(_find_t(requirement, blocks, column, schema[name]))
    return Verification(tuple(_told_apart(findings, asked, schema)))


def _frame(output: pl.DataFrame | str | Path) -> tuple[pl.DataFrame, bool]:
    """Return the output, and whether it is a CSV file, in which everything is text."""
    if isinstance(output, pl.DataFrame):
        return output, False
    path = Path(output)
    if path.is_dir():
        _refuse_views(path)
        path = path / "data.parquet"
    if path.suffix == ".parquet":
        return read_parquet(path), False
    return without_panic(lambda: pl.read_csv(path, infer_schema=False), str(path)), True


def is_private_view(output: object) -> TypeGuard[str | Path]:
    """Say whether this is the folder of a differentially private view."""
    return isinstance(output, str | Path) and all(
        (Path(output) / name).is_file() for name in (DATA, MANIFEST)
    )


def _refuse_views(folder: Path) -> None:
    views = sorted(path.name for path in folder.glob("*.parquet"))
    if len(views) > 1:
        raise InputError(
            f"{folder}: this folder has several views, {listed(views)}, that were verified together when they were made. "
            f"Attack them together: sudare attack {folder} --known PEOPLE."
        )


def _find_in_view(promised: Sequence[object], folder: Path) -> Iterator[Finding]:
    """Add up the budget of a view, if its files are as they were written."""
    budget = open_view(folder).facts.get("budget")
    if budget is None:
        raise InputError(f"{folder}: the view does not tell on what its budget was spent.")
    most = max(budget["shares"], key=lambda what: Fraction(budget["shares"][what]))
    for promise in promised:
        if not isinstance(promise, DifferentialPrivacy) or promise.per != "table":
            raise ParameterError(
                f"{folder}: this is a differentially private view, of which {promise} cannot be verified. "
                "Ask for its epsilon (and delta)."
            )
        epsilon = _recount_budget.epsilon_spent(budget, promise.delta)
        holds = _recount_budget.keeps(budget, promise)
        yield Finding(str(promise), "epsilon", epsilon, holds, {"largest share": most})


def _law_beside(output: pl.DataFrame | str | Path) -> TableLaw:
    """Read the law that was published with the output."""
    if isinstance(output, pl.DataFrame):
        raise InputError(
            "A randomized table is verified by its law. Name the release's folder, or give plan=..."
        )
    path = Path(output)
    return TableLaw.open((path if path.is_dir() else path.parent) / "plan.json")


def _find_by_law(
    asked: list[PkAnonymity | DifferentialPrivacy], frame: pl.DataFrame, law: TableLaw
) -> Iterator[Finding]:
    """Find k and epsilon from the law, whichever is asked for, and the attribute that uses most of them."""
    epsilon, spread, worst = _recount_laws.promised(frame, law)
    k = 1 + (frame.height - 1) * math.exp(-spread)
    pk = max((r.k for r in asked if isinstance(r, PkAnonymity)), default=1.0)
    least = min((r.epsilon for r in asked if isinstance(r, DifferentialPrivacy)), default=math.inf)
    words = {type(r): str(r) for r in asked}
    yield Finding(words.get(PkAnonymity, "Pk-anonymity"), "pk", k, k >= pk * (1 - 1e-9), {"attribute": worst})
    yield Finding(
        words.get(DifferentialPrivacy, "differential privacy for each record"),
        "epsilon",
        epsilon,
        epsilon <= least * (1 + 1e-9),
        {"attribute": worst},
    )


def _attribute(requirement: Requirement, schema: Schema, frame: pl.DataFrame) -> str:
    """Return the sensitive attribute that a requirement speaks of."""
    if not isinstance(requirement, LDiversity | TCloseness):
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
    if name not in frame.columns:
        raise InputError(f"The output has no column '{name}', which the schema calls sensitive.")
    return name


def _find_k(requirement: KAnonymity, blocks: Blocks) -> Finding:
    worst = int(blocks.sizes.argmin())
    size = int(blocks.sizes[worst])
    return Finding(str(requirement), "k", size, size >= requirement.k, blocks.named(worst))


def _find_l(requirement: LDiversity, blocks: Blocks) -> Finding:
    l: float
    if requirement.kind == "entropy":
        found = _recount.entropies(blocks)
        least = min(found)
        worst, l = found.index(least), _recount.perplexity(least)
        holds = least >= math.log(requirement.l) - _recount.SLACK
    else:
        recursive = requirement.kind == "recursive"
        ls = (
            _recount.recursive_ls(blocks, requirement.c or 0)
            if recursive
            else _recount.distinct_values(blocks)
        )
        l = min(ls)
        worst, holds = ls.index(l), l >= requirement.l
    return Finding(str(requirement), f"l_{requirement.kind}", l, holds, blocks.named(worst))


def _find_t(requirement: TCloseness, blocks: Blocks, column: Sensitive, attribute: Attribute) -> Finding:
    if requirement.distance == "equal":
        found = _recount.flat_distances(blocks, column)
    elif requirement.distance == "ordered":
        found = _recount.ordered_distances(blocks, column.size)
    elif attribute.hierarchy is not None:
        found = _recount.tree_distances(blocks, column, attribute)
    else:
        raise InputError(
            f"{requirement} needs a hierarchy of '{column.name}'. Give it one in the schema, or choose another distance."
        )
    t = max(found)
    holds = t <= Fraction(requirement.t) + _recount.SLACK
    return Finding(str(requirement), "t", round(float(t), 12), holds, blocks.named(found.index(t)))


def _told_apart(findings: list[Finding], asked: list[Requirement], schema: Schema) -> list[Finding]:
    """Name findings of one name by the attribute, and by the distance or c, in which they differ."""
    details = [_details(requirement, schema) for requirement in asked]
    named = []
    for finding, own in zip(findings, details, strict=True):
        alike = [other for f, other in zip(findings, details, strict=True) if f.name == finding.name]
        apart = [own[i] for i in range(len(own)) if len({other[i] for other in alike}) > 1]
        named.append(replace(finding, name=":".join([finding.name, *apart])))
    return named


def _details(requirement: Requirement, schema: Schema) -> tuple[str, ...]:
    if isinstance(requirement, LDiversity | TCloseness):
        kind = requirement.distance if isinstance(requirement, TCloseness) else f"c={requirement.c}"
        return requirement.attribute or schema.names(Role.sensitive)[0], kind
    return ()
