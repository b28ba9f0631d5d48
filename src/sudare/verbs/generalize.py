"""The verb `generalize`: from a table to a verified release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from sudare.attacks.k_map import known_of
from sudare.attacks.published import people_of
from sudare.errors import InputError
from sudare.generalization.efforts import Effort
from sudare.generalization.full_domain import Measure
from sudare.generalization.mapped import learn_mapped
from sudare.generalization.methods import Method, method_of, parameters_of
from sudare.ledger.blocks import RecordedBlocks
from sudare.ledger.several import LEFT_OUT, Listed
from sudare.plans.compositions import CompositionsPlan
from sudare.plans.generalization import GeneralizationPlan, Located, Places
from sudare.plans.numbers_beside import refuse_numbers
from sudare.plans.placed import Placed, without_uncovered
from sudare.plans.plan import Plan
from sudare.privacy.blocks import Blocks
from sudare.privacy.certificate import Certificate
from sudare.privacy.in_population import in_population
from sudare.privacy.k_map import KMap
from sudare.privacy.l_diversity import LDiversity
from sudare.privacy.requirement import BlockRequirement, sensitive_attribute
from sudare.release.certify import Declared, HandedOver
from sudare.release.release import Kept, Release
from sudare.tables.attribute import Role
from sudare.tables.given import kind_given
from sudare.tables.table import Table, table_given
from sudare.utility.classifier import refuse_unpredictable
from sudare.verbs.arguments import requirements_given
from sudare.verbs.by_units import learned_by_unit
from sudare.verbs.compositions import (
    LINKED,
    covered_units,
    is_linked,
    learn_linked,
    no_ledger,
    rewritten,
)
from sudare.verbs.generalization_record import (
    PREDICTING,
    generalization_record,
    generalization_report,
)
from sudare.verbs.shifting import Shifts, refuse_shifts
from sudare.verbs.ties import refuse_ties
from sudare.verbs.units import (
    UNSEEN_UNITS,
    refuse_alike_units,
    refuse_few_units,
    refuse_mapped_units,
    rows_with_unit,
    unit_of,
    unit_record,
)
from sudare.verification.columns import refuse_columns
from sudare.verification.compositions import fewest_alike
from sudare.verification.units import fewest_units

BYTES_PER_RECORDED = 400  # what naming the block of a tuple takes at its peak, roughly
MAY_BE_KNOWN = (
    "harmless values may be learned, and of somebody who has none of them that it is another one: which of the others, "
    "is what is kept"
)
MEANS = (
    "The mean of a block tells of its members together what their range does not: who knows the values of all but one of them knows "
    "that one's, too, as far as a mean is not rounded. And a second release of some of these people tells by its means the values of the others."
)
MAPPED = (
    "k-map counts the people of a population that the holder has. It protects from who does not know whether somebody is in the table: who knows "
    "that is told no more than k-anonymity hides, which may be nothing."
)
PRESENT = (
    "delta-presence counts the people of a population that the holder has. It bounds what who knows that population, and nothing else of who is in the "
    "table, believes of anybody in it. Who knows of some people whether they are in the table, or of a smaller population, believes more of the others. Of whom "
    "somebody is known to be in the table, it keeps nothing."
)
IN_ORDER = "rows stand in the order of their published values"
NO_NOISE = f"no noise; {IN_ORDER}"
KNOWN_METHOD = (
    "Blocks were cut where that did least damage. Who knows the method may rule values out, or undo labels in part, beyond what "
    "is promised of blocks."
)
KNOWN_LABELS = (
    "Sensitive values had no part in how blocks were cut. Labels climb only where people of a block differ, so that who knows "
    "the method may undo them in part."
)
KNOWN_MODEL = (
    "Blocks show how values go together. A model that is learned from them guesses better than the shares of one block, and "
    "whoever has other releases of the same people may put them together."
)
BY_METHOD = {"blind": (KNOWN_LABELS,), "blind-regions": ()}
"""What is not promised of a release by these methods; KNOWN_METHOD of one by the others."""


def generalize(
    table: Table,
    requirements: BlockRequirement | Sequence[BlockRequirement],
    method: str | Method = "minimal",
    *,
    suppress: float = 0.0,
    strict: bool = False,
    effort: Effort | float | None = None,
    start: Plan | None = None,
    measure: Measure = "distortion",
    levels: Mapping[str, int] | None = None,
    region_labels: bool = False,
    predict: str | None = None,
) -> Release:
    """Generalize the quasi attributes until the requirements hold, with little distortion.

    `method` is an object of `sudare.methods` or its short name: "minimal" (least distortion), "mondrian" (fastest; `strict`
    cuts a node only if all its children hold), "blind" (cut without looking at sensitive values, for receivers who know the
    method; `region_labels` keeps the labels of the cuts), "mdav" (groups of close numbers, for means of blocks) or "full-domain"
    (one coding for each column: the best of all by `measure`, "distortion", "ncp" or "discernibility", or the `levels` that are given
    of all quasi attributes). `suppress` is the
    largest share of records that "minimal", "blind" and "full-domain" may leave out; `effort` says how much "minimal" tries ("quick",
    "normal", "thorough", or seconds), and `start` is an earlier plan that it begins from. `predict` names a sensitive or other attribute; the holder's record then says how well a
    model still predicts it (this needs scikit-learn). The output is verified by code that shares nothing with the methods; identifiers are
    dropped, and the rows stand in the order of their published values.

    >>> import sudare as sd
    >>> table = sd.read(sd.datasets.health_survey(500).select("age", "sex", "diagnosis"), sd.Schema.from_roles(
    ...     quasi=["age", "sex"], sensitive=["diagnosis"],
    ...     hierarchies={"age": sd.Hierarchy.intervals(range(18, 96), width=10)}))
    >>> release = sd.generalize(table, [sd.KAnonymity(5), sd.LDiversity(3)])
    >>> release.certificate.measured["k"] >= 5, release.certificate.measured["l_distinct"] >= 3
    (True, True)
    """
    table_given(table, "generalize")
    asked = requirements_given(requirements, "generalize")
    given: dict[str, object] = {
        "suppress": suppress,
        "strict": strict,
        "region_labels": region_labels,
        "measure": measure,
        "levels": levels,
    }
    given |= {"effort": effort, "start": start}
    chosen = method_of(method, given)
    return generalized(table, asked, chosen, predict=predict)


def generalized(
    table: Table,
    asked: list[BlockRequirement],
    method: Method,
    *,
    predict: str | None = None,
    decision: str | None = None,
    caveats: Sequence[str] = (),
) -> Release:
    """Generalize, with what was decided before in the holder's record."""
    _refuse_what_cannot_be(table, asked, method, predict)
    if is_linked(table):
        return released_linked(
            table,
            learn_linked(table, asked, method),
            parameters_of(method),
            decision=decision,
            caveats=caveats,
        )
    placed = None
    if table.schema.unit:
        plan, placed = learned_by_unit(table, asked, method)
    elif counted := in_population(asked):
        people = people_of(counted[0].population, table.schema)
        known_of(people, table.schema)
        plan = learn_mapped(table, asked, method, counted[0], people)
    else:
        plan = method.learn(table, asked)
    placed = placed or without_uncovered(plan, table)
    if predict is not None:
        placed.whole.at_once(PREDICTING)  # refused before the rest is done
    asked_of = parameters_of(method)
    return released(table, plan, placed, asked_of, predict=predict, decision=decision, caveats=caveats)


def _refuse_what_cannot_be(
    table: Table, requirements: list[BlockRequirement], method: Method, predict: str | None
) -> None:
    """Check everything that can be checked before any work."""
    if not table.names(Role.quasi):
        raise InputError(
            f"{table.source.name}: the schema has no quasi attribute; there is nothing to generalize."
        )
    refuse_columns([name for name in table.columns if name not in table.names(Role.identifier)], table.schema)
    refuse_numbers(table)
    refuse_shifts(table)
    if predict is not None:
        kind_given(predict, str, "predict", "generalize", "the name of an attribute")
        refuse_unpredictable(table, predict, "'predict' parameter of generalize")
    refuse_alike_units(table)
    whole = Blocks.of_table(table, [], sensitive_attribute(requirements, table))
    for requirement in requirements:
        requirement.refuse_if_impossible(whole, suppressing=method.suppress > 0)
    refuse_mapped_units(table, requirements)


def released(
    table: Table,
    plan: GeneralizationPlan,
    placed: Placed[Places],
    asked_of: Mapping[str, Any] = MappingProxyType({}),
    *,
    predict: str | None = None,
    decision: str | None = None,
    caveats: Sequence[str] = (),
) -> Release:
    """Apply a plan to the rows that it covers, certify the output, and say what the holder keeps.

    `asked_of` is what was asked of the method, if the plan was learned just now.
    """
    refuse_mapped_units(table, plan.requirements)
    refuse_shifts(table)
    refuse_numbers(table)  # a plan may be applied to another table than it was learned from
    whole = placed.whole
    shifts = Shifts(placed.rest)
    rewriting = shifts.of(placed.located.rewriting.joined()) if shifts.names else placed.located.rewriting
    handed_over = HandedOver({"data": placed.rest.rows.rewrite(rewriting)})
    if any(isinstance(one, LDiversity) and one.harmless for one in plan.requirements):
        caveats = [*caveats, MAY_BE_KNOWN]
    units = None
    if table.schema.unit:
        rows = rows_with_unit(placed.rest, rewriting)
        known = placed.rest.frame().select(table.schema.unit, *table.schema.names(Role.quasi))
        refuse_ties(rows, table.schema, plan.requirements, known)
        findings = refuse_few_units(rows, handed_over.frames["data"], plan.requirements, table.schema)
        fewest = partial(fewest_units, schema=table.schema)
        data = handed_over.frames["data"]
        units = partial(unit_record, table, findings, data, plan.requirements, fewest, fewest(rows))
        caveats = [*caveats, UNSEEN_UNITS.format(table.schema[table.schema.unit].role)]
    if any(table.schema[name].numbers == "means" for name in table.schema.beside().values()):
        caveats = [*caveats, MEANS]
    for one in in_population(plan.requirements):
        caveats = [*caveats, MAPPED if isinstance(one, KMap) else PRESENT]
    caveats = [*caveats, *shifts.caveats()]
    not_promised = (*BY_METHOD.get(plan.method, (KNOWN_METHOD,)), KNOWN_MODEL, *caveats)
    declared = Declared(
        tuple(plan.requirements), plan.method, table.schema, _randomness(shifts), not_promised
    )
    kept = Kept(
        plan,
        table,
        record=partial(
            generalization_record, whole, plan, asked_of, predict, decision, units, handed_over.frames["data"]
        ),
        report=partial(generalization_report, whole),
        name_blocks=partial(_named_blocks, table, placed),
    )
    return Release(handed_over, declared, kept).refuse_if_broken()


def released_linked(
    table: Table,
    plan: CompositionsPlan,
    asked_of: Mapping[str, Any] = MappingProxyType({}),
    *,
    decision: str | None = None,
    caveats: Sequence[str] = (),
) -> Release:
    """Apply a plan to the persons or households that it covers, and publish their rows as belonging together."""
    refuse_numbers(table)
    refuse_shifts(table)
    whole = plan.place(table)
    rest = covered_units(table, whole)
    shifts = Shifts(rest)
    data = rewritten(whole if rest is table else plan.place(rest), shifts)
    role = table.schema[unit_of(table)].role
    not_promised = (
        LINKED.format(role),
        *BY_METHOD.get(plan.method, (KNOWN_METHOD,)),
        KNOWN_MODEL,
        *caveats,
        *shifts.caveats(),
    )
    declared = Declared(
        tuple(plan.requirements), plan.method, table.schema, _randomness(shifts), not_promised
    )
    located = whole.located()

    def record(certificate: Certificate) -> dict[str, Any]:
        findings = release.verification.findings
        fewest = partial(fewest_alike, schema=table.schema, unit=unit_of(table))
        alike = fewest(data.frame())
        units = partial(unit_record, located.table, findings, data, plan.requirements, fewest, alike)
        return generalization_record(located, plan, asked_of, None, decision, units, data, certificate)

    kept = Kept(plan, table, record, partial(generalization_report, located), no_ledger)
    release = Release(HandedOver({"data": data}), declared, kept).refuse_if_broken()
    return release


def _randomness(shifts: Shifts) -> str:
    return f"{shifts.randomness}; {IN_ORDER}" if shifts.names else NO_NOISE


def _named_blocks(table: Table, placed: Placed[Places]) -> dict[str, RecordedBlocks]:
    """Name the blocks that receivers see, which need not be those of the plan."""
    whole, located = (
        one.at_once("A ledger compares blocks", BYTES_PER_RECORDED) for one in (placed.whole, placed.located)
    )
    if whole.counts.names != located.counts.names:
        whole = _left_out_alone(whole, located.counts.names)
    left_out = whole.counts.at(np.flatnonzero(~whole.covered))
    listed = [
        Listed(whole.table, left_out, np.full(len(left_out), LEFT_OUT, dtype=np.int64)),
        Listed(located.table, located.counts, located.rewriting.blocks_by(table.names(Role.quasi))),
    ]

    def finer(one: Listed) -> Listed:
        own = located if one.table is located.table else whole
        passed = [name for name in table.publishable if name not in one.counts.names]
        rows = own.only(one.counts, one.block_of).by_rows(passed)
        return Listed(rows.table, rows.counts, rows.block_of)

    return {"data": RecordedBlocks.of(listed, finer)}


def _left_out_alone(whole: Located, names: Sequence[str]) -> Located:
    """Return the records that are left out, by themselves, counted by some columns: which they are was told by more."""
    left_out = np.flatnonzero(~whole.covered)
    alone = whole.only(whole.counts.at(left_out), whole.block_of[left_out])
    counts = alone.table.counts(names)
    return replace(alone, counts=counts, block_of=np.full(len(counts), LEFT_OUT, dtype=np.int64))
