"""Finding how much of each requirement an output has: in its blocks, by its law, or in several views together.

Of a requirement only its parameters are used; what is measured is recounted here and in the modules beside this one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import polars as pl

from sudare.errors import InputError, ParameterError
from sudare.plans.law import TableLaw
from sudare.privacy.beta_likeness import BetaLikeness
from sudare.privacy.delta_disclosure import DeltaDisclosure
from sudare.privacy.differential_privacy import DifferentialPrivacy
from sudare.privacy.in_population import in_population
from sudare.privacy.k_anonymity import KAnonymity
from sudare.privacy.l_diversity import LDiversity
from sudare.privacy.multi_view import MultiViewDiversity
from sudare.privacy.pk_anonymity import PkAnonymity
from sudare.privacy.promises import Promise
from sudare.privacy.requirement import sensitive_in
from sudare.privacy.t_closeness import TCloseness
from sudare.tables.attribute import Attribute, Role
from sudare.tables.schema import Schema
from sudare.tables.text import listed
from sudare.verification import recount, recount_close, recount_laws, recount_shares, recount_views
from sudare.verification.among_people import find_in_population
from sudare.verification.claims import SMALLER_IS_BETTER
from sudare.verification.files import PublishedTable
from sudare.verification.findings import Finding
from sudare.verification.recount import RecountedBlocks
from sudare.verification.recount_values import Sensitive, sensitive_values

OfValues = LDiversity | TCloseness | BetaLikeness | DeltaDisclosure
"""Requirements of the sensitive values of blocks."""
TOLERANCE = 1e-9  # relative: of figures that sums of logarithms give
ALONE = (
    "this is what each view leaves by itself; that they leave enough together was verified when they were made: it cannot be "
    "counted from the views, none of which shows who is in which blocks of the others"
)
PROVEN = "this is what each view leaves by itself; all views of this release together leave {:g} or more, whoever is in which of their blocks"


# -- The blocks of one table ------------------------------------------------------------------------------


def find_in_blocks(table: PublishedTable, asked: Sequence[Promise], schema: Schema) -> list[Finding]:
    """Recount the blocks of one table, and say what they have of each requirement."""
    by_attribute: dict[str | None, list[Promise]] = {}
    mapped = {one: find_in_population(one, table, schema) for one in in_population(asked)}
    for requirement in dict.fromkeys(asked):
        if requirement in mapped:
            continue
        name = None if isinstance(requirement, KAnonymity) else sensitive_of(requirement, schema, table)
        by_attribute.setdefault(name, []).append(requirement)
    worst: dict[Promise, Finding] = {}
    for name, own in by_attribute.items():
        column = None if name is None else _sensitive(table, name, schema)
        for blocks in _blocks(table, schema.names(Role.quasi), column):
            for requirement in own:
                finding = _find(requirement, blocks, column, schema)
                before = worst.setdefault(requirement, finding)
                worst[requirement] = min(before, finding, key=_order)
    findings = [mapped.get(one) or _bounded(worst[one], one) for one in asked]  # type: ignore[call-overload]
    return _with_distinct_names(findings, asked, schema)


def _bounded(finding: Finding, requirement: Promise) -> Finding:
    """Where all values may be known every l holds; what is told then is the one that was asked for."""
    if finding.value == math.inf and isinstance(requirement, LDiversity):
        return replace(finding, value=requirement.l)
    return finding


def _sensitive(table: PublishedTable, name: str, schema: Schema) -> Sensitive:
    given = schema.missing_values or ()
    return sensitive_values(table.values(name), schema[name], given, from_csv=table.from_csv)


def _blocks(table: PublishedTable, quasi: list[str], column: Sensitive | None) -> Iterator[RecountedBlocks]:
    """Count the blocks of a table, some at a time where they are many."""
    whole = np.array([table.rows.height])
    if column is not None:
        every = table.counted([column.name])
        codes = column.codes(table.meant(every.rows[column.name]))
        whole = np.bincount(codes.to_numpy(), every.lengths.to_numpy(), minlength=column.size).astype(
            np.int64
        )
    for runs in table.pieces([*quasi, column.name] if column else quasi, quasi):
        own = None if column is None else column.codes(table.meant(runs.rows[column.name]))
        yield recount.count_blocks(runs.rows, runs.lengths, quasi, own, whole)


def _order(finding: Finding) -> tuple[float, list[tuple[bool, str]]]:
    """Put the worst first: the least k or l, or the largest of others; of equals the one whose block is named first."""
    worse = -finding.value if finding.name in SMALLER_IS_BETTER else finding.value
    return worse, [(text is not None, text or "") for text in finding.worst.values()]


def _find(requirement: Promise, blocks: RecountedBlocks, column: Sensitive | None, schema: Schema) -> Finding:
    if isinstance(requirement, KAnonymity):
        return _find_k(requirement, blocks)
    if isinstance(requirement, TCloseness) and column is not None:
        return _find_t(requirement, blocks, column, schema[column.name])
    if isinstance(requirement, BetaLikeness | DeltaDisclosure):
        return _find_share(requirement, blocks)
    assert isinstance(requirement, LDiversity)  # or sensitive_of had refused it
    assert column is not None
    return _find_l(requirement, blocks, column)


def sensitive_of(requirement: Promise, schema: Schema, table: PublishedTable) -> str:
    """Return the sensitive attribute that a requirement speaks of."""
    if not isinstance(requirement, OfValues | MultiViewDiversity):
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
    if name not in table.columns:
        raise InputError(f"{table.where} has no column '{name}', which the schema calls sensitive.")
    return name


def _find_k(requirement: KAnonymity, blocks: RecountedBlocks) -> Finding:
    worst = int(blocks.sizes.argmin())
    size = int(blocks.sizes[worst])
    return Finding(str(requirement), "k", size, size >= requirement.k, blocks.named(worst))


def _find_l(requirement: LDiversity, blocks: RecountedBlocks, column: Sensitive) -> Finding:
    """Find the least diverse block. A block whose values may all be known is as diverse as can be."""
    counted = recount_close.besides(blocks, column, requirement.harmless) if requirement.harmless else blocks
    some = np.flatnonzero(counted.sizes).tolist()
    name = f"l_{requirement.kind}"
    if not some:
        return Finding(str(requirement), name, math.inf, True, blocks.named(0))
    l: float
    if requirement.kind == "entropy":
        entropies = recount.entropies(counted)
        worst = min(some, key=lambda block: entropies[block])
        l = recount.perplexity(entropies[worst])
        holds = entropies[worst] >= math.log(requirement.l) - recount.TOLERANCE
    elif requirement.kind == "proximity":
        width = requirement.within or 0
        most = recount_close.fullest(counted, column, width, relative=requirement.relative)
        shares = {block: Fraction(most[block], int(counted.sizes[block])) for block in some}
        worst = max(some, key=lambda block: shares[block])
        l = float(1 / shares[worst])
        holds = shares[worst] * Fraction(requirement.l) <= 1 + recount.TOLERANCE
    else:
        recursive = requirement.kind == "recursive"
        c = requirement.c or 0
        ls = recount.recursive_ls(counted, c) if recursive else recount.distinct_values(counted)
        worst = min(some, key=lambda block: ls[block])
        l = ls[worst]
        holds = l >= requirement.l
    return Finding(str(requirement), name, l, holds, blocks.named(worst))


def _find_t(
    requirement: TCloseness, blocks: RecountedBlocks, column: Sensitive, attribute: Attribute
) -> Finding:
    if requirement.distance == "equal":
        distances = recount.flat_distances(blocks, column)
    elif requirement.distance == "ordered":
        distances = recount.ordered_distances(blocks, column.size)
    elif attribute.hierarchy is not None:
        distances = recount.tree_distances(blocks, column, attribute)
    else:
        raise InputError(
            f"{requirement} needs a hierarchy of '{column.name}'. Give it one in the schema, or choose another distance."
        )
    t = max(distances)
    holds = t <= Fraction(requirement.t) + recount.TOLERANCE
    return Finding(str(requirement), "t", round(float(t), 12), holds, blocks.named(distances.index(t)))


def _find_share(requirement: BetaLikeness | DeltaDisclosure, blocks: RecountedBlocks) -> Finding:
    if isinstance(requirement, BetaLikeness):
        found = recount_shares.growths(blocks, enhanced=requirement.kind == "enhanced")
        holds = recount_shares.allows(requirement.beta, max(found))
    else:
        found = recount_shares.disclosures(blocks)
        holds = recount_shares.below(requirement.delta, max(found))
    most = max(found)
    return Finding(
        str(requirement), requirement.name, round(most, 12), holds, blocks.named(found.index(most))
    )


def _with_distinct_names(findings: list[Finding], asked: Sequence[Promise], schema: Schema) -> list[Finding]:
    """Name findings of one name by what they differ in: the attribute, the distance, c, the width or the harmless values."""
    details = [_details(requirement, schema) for requirement in asked]
    named = []
    for finding, own in zip(findings, details, strict=True):
        alike = [other for f, other in zip(findings, details, strict=True) if f.name == finding.name]
        apart = [own[i] for i in range(len(own)) if len({other[i] for other in alike}) > 1]
        named.append(replace(finding, name=":".join([finding.name, *apart])))
    return named


def _details(requirement: Promise, schema: Schema) -> tuple[str, ...]:
    if isinstance(requirement, OfValues):
        name = sensitive_in(requirement, schema)
        if isinstance(requirement, TCloseness):
            return name, requirement.distance, "", ""
        if isinstance(requirement, BetaLikeness):
            return name, requirement.kind, "", ""
        if isinstance(requirement, DeltaDisclosure):
            return name, "", "", ""
        within = f"within={requirement.within}{' relative' if requirement.relative else ''}"
        return name, f"c={requirement.c}", within, f"harmless={', '.join(requirement.harmless)}"
    return ()


# -- The law of a randomized table ------------------------------------------------------------------------


def find_by_law(
    asked: Sequence[PkAnonymity | DifferentialPrivacy], table: PublishedTable, law: TableLaw
) -> Iterator[Finding]:
    """Find k and epsilon from the law, whichever is asked for, and the attribute that uses most of them."""
    epsilon, spread, worst = recount_laws.promised(table.columns, table.values, law)
    # Of one person or household, so many rows are protected together: any of them may be found, and all of them tell of it.
    k = max(1.0, (1 + (table.rows.height - 1) * math.exp(-spread)) / law.rows)
    epsilon *= law.rows
    pk = max((r.k for r in asked if isinstance(r, PkAnonymity)), default=1.0)
    least = min((r.epsilon for r in asked if isinstance(r, DifferentialPrivacy)), default=math.inf)
    words = {type(r): str(r) for r in asked}
    yield Finding(
        words.get(PkAnonymity, "Pk-anonymity"), "pk", k, k >= pk * (1 - TOLERANCE), {"attribute": worst}
    )
    yield Finding(
        words.get(DifferentialPrivacy, "differential privacy for each record"),
        "epsilon",
        epsilon,
        epsilon <= least * (1 + TOLERANCE),
        {"attribute": worst},
    )


# -- What several views leave to people ------------------------------------------------------------------


def find_in_views(promise: Promise, tables: Mapping[str, list[PublishedTable]], schema: Schema) -> Finding:
    """Say what every view leaves by itself, and whether that is enough whoever is in which of their blocks."""
    if not isinstance(promise, MultiViewDiversity):
        raise ParameterError(
            f"{promise} is a requirement of one table. Of the views {listed(list(tables))} together, ask for "
            "MultiViewDiversity alone."
        )
    views = {name: copies[0] for name, copies in tables.items()}
    seen: dict[str, tuple[pl.Series, pl.Series, pl.Series]] = {}
    for name, table in views.items():
        quasi = [column for column in schema.names(Role.quasi) if column in table.columns]
        sensitive = sensitive_of(promise, schema, table)
        runs = table.counted([*quasi, sensitive])
        seen[name] = recount_views.blocks_of(runs.rows, quasi), runs.rows[sensitive], runs.lengths
    _refuse_other_people(views, [(sensitive, weights) for _, sensitive, weights in seen.values()])
    alone = {
        name: recount_views.least_left([blocks], sensitive, promise.kind, weights)[0]
        for name, (blocks, sensitive, weights) in seen.items()
    }
    worst = min(alone, key=lambda name: alone[name])
    together = recount_views.least_of_any(list(seen.values()), promise.kind)
    enough = promise.l * (1 - recount_views.TOLERANCE)
    note = ALONE if together is None or together < enough else PROVEN.format(together)
    return Finding(str(promise), promise.name, alone[worst], alone[worst] >= enough, {"view": worst}, note)


def _refuse_other_people(
    views: Mapping[str, PublishedTable], sensitive: Sequence[tuple[pl.Series, pl.Series]]
) -> None:
    """Refuse views that are not of the same records: they must have the same sensitive values as often."""
    histograms = []
    for column, weights in sensitive:
        parts = pl.DataFrame({"value": column.cast(pl.String).fill_null(""), "records": weights})
        histograms.append(parts.group_by("value").agg(pl.sum("records")).sort("value"))
    for table, histogram in zip(views.values(), histograms, strict=True):
        if not histogram.equals(histograms[0]):
            raise InputError(
                f"{table.where} is not of the same records as {next(iter(views.values())).where}: its sensitive values "
                "differ. Verify views of one table."
            )
