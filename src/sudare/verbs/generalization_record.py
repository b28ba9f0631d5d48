"""What the holder keeps of a generalized table: what it cost and had to cost, and what could be done to the original."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from sudare.attacks.attack import attack_all
from sudare.attacks.knowing import known_to_the_holder
from sudare.attacks.population import is_sample, population
from sudare.engines.relational import Relational
from sudare.generalization.problem import Problem
from sudare.plans.cuts import REST, CutPlan
from sudare.plans.generalization import GeneralizationPlan, Located, Places
from sudare.privacy.blocks import Blocks
from sudare.privacy.certificate import Certificate
from sudare.privacy.in_population import of_blocks
from sudare.privacy.requirement import BlockRequirement, sensitive_attribute
from sudare.privacy.telling import telling_columns
from sudare.privacy.uniqueness import joining_columns, nearly_unique_values
from sudare.release.release import Release
from sudare.reports.generalization import write_generalization_report
from sudare.suitability.bounds import within_reach
from sudare.suitability.costs import Costs
from sudare.suitability.implied import bound_of_limits
from sudare.tables.attribute import Role
from sudare.tables.runs import PublishedRows
from sudare.tables.table import Table
from sudare.tables.text import listed
from sudare.utility.cells import cells_of
from sudare.utility.classifier import classifier_scores
from sudare.utility.measures import utility_of_cells
from sudare.utility.numbers_beside import variance_lost
from sudare.utility.outcome import Outcome
from sudare.utility.queries import query_error
from sudare.verbs.method_record import method_record
from sudare.verbs.shifting import alone_with_intervals, shifted
from sudare.verification.utility import harmless_by_attribute

PREDICTING = "'predict' is measured"
MAX_LOOKED_AT = 10**6  # values of a column that is only passed on


def generalization_record(
    whole: Places,
    plan: GeneralizationPlan,
    asked_of: Mapping[str, Any],
    predict: str | None,
    decision: str | None,
    units: Callable[[], dict[str, Any]] | None,
    data: PublishedRows,
    certificate: Certificate,
) -> dict[str, Any]:
    """Measure what needs the original: what it cost, what it had to cost, and what could be done to the original."""
    table, (utility, records) = whole.table, _utility(whole, predict)
    asked = of_blocks(plan.requirements)
    bound = least_distortion(table, asked) if isinstance(whole, Located) else None
    return {
        "records": records,
        "sampling_fraction": table.schema.sampling_fraction,
        "measured": certificate.measured,
        "unit": None if units is None else units(),
        "utility": utility,
        "bound": bound,
        "gap": utility["distortion"] / bound if bound else None,
        "decision": decision,
        "retry": None,
        "method": method_record(whole, plan, asked_of, utility["distortion"], bound),
        **plan.record(),
        "warnings": [*plan.warnings, *_warnings(table, asked), *alone_with_intervals(table)],
        "attacks": {
            "input": attack_all(table, table.schema, harmless_by_attribute(plan.requirements, table.schema)),
            "output": certificate.attacks["output"],
            "knowing": _knowing(whole, plan) if isinstance(whole, Located) else None,
        },
        "population": _in_population(table, data),
    }


def _in_population(table: Table, data: PublishedRows) -> dict[str, Any] | None:
    """Estimate the risk in the population behind a sample, where weights or the share that was drawn tell how large that is.

    Where a published weight does not tell it, a record stands for as many people as one of the original does on average.
    """
    if not is_sample(table.schema):
        return None
    before = population(table, table.schema)
    after = population(data, table.schema, sampling_fraction=before.sampling_fraction)
    return {"input": before.summary(), "output": after.summary()}


def _warnings(table: Table, requirements: Sequence[BlockRequirement]) -> list[str]:
    """Say where what was asked for says little, and by what records can be found in other tables."""
    attribute = sensitive_attribute(requirements, table)
    moved = shifted(table.schema)
    names = [name for name in table.columns if name not in moved and _is_looked_at(table, name)]
    joining = [*joining_columns(table, names), *telling_columns(table, names)]
    if attribute is None:
        return joining
    unique = nearly_unique_values(Blocks.of_table(table, [], attribute), requirements)
    return [*_with_k_alone(table, attribute), *unique, *joining]


def _with_k_alone(table: Table, attribute: str) -> list[str]:
    """Say which other sensitive attributes nothing was asked for."""
    others = [name for name in table.names(Role.sensitive) if name != attribute]
    if not others:
        return []
    return [
        f"What was asked for is about '{attribute}' alone. Of {listed(others)} a whole block may have one value, which is then known of everybody in it: "
        "'sudare attack' says of how many."
    ]


def _is_looked_at(table: Table, name: str) -> bool:
    """Tell whether a column has been looked at, or has few enough values; what a database only passes on may have too many."""
    rows = table.rows
    return not isinstance(rows, Relational) or rows.unseen_values(name) <= MAX_LOOKED_AT


def _knowing(whole: Located, plan: GeneralizationPlan) -> dict[str, Any]:
    """Try what somebody can who knows the method; a tree of cuts with nothing kept together was cut strictly."""
    strict = isinstance(plan, CutPlan) and not (plan.branches[:, 1] == REST).any()
    return known_to_the_holder(whole, of_blocks(plan.requirements), plan.method, strict=strict)


def generalization_report(whole: Places, release: Release) -> str:
    """Write the report for the holder."""
    data, verification = release.handed_over.frames["data"], release.verification
    return write_generalization_report(whole, data, release.certificate, release.holder, verification)


def _utility(whole: Places, predict: str | None) -> tuple[dict[str, Any], dict[str, int]]:
    """Measure what the plan leaves: cells and blocks, counting, and, if asked, predicting. Also count the records."""
    records, sizes = {"read": 0, "published": 0, "suppressed": 0}, []

    def outcomes() -> Iterator[Outcome]:
        for piece in whole.pieces():
            outcome = piece.outcome()
            records["read"] += outcome.records
            records["published"] += outcome.published
            sizes.append(piece.block_sizes())
            yield outcome

    cells = cells_of(outcomes())
    records["suppressed"] = records["read"] - records["published"]
    utility = utility_of_cells(cells, whole.table, np.concatenate(sizes), records["suppressed"])
    utility["query_error"] = asdict(query_error(piece.outcome() for piece in whole.pieces()))
    if whole.table.schema.beside():
        utility["numbers"] = variance_lost(
            (piece.table, piece.rewriting, piece.counts.weights[piece.covered]) for piece in whole.pieces()
        )
    if predict is not None:
        predicting = whole.at_once(PREDICTING).with_column(predict)
        utility["prediction"] = asdict(classifier_scores(predicting.outcome(), target=predict))
    return utility, records


def least_distortion(table: Table, requirements: Sequence[BlockRequirement]) -> float | None:
    """Bound the distortion from below, where that takes no more than some seconds."""
    problem = Problem.of(table, requirements)
    if not within_reach(problem):
        return None
    return bound_of_limits(problem, Costs.in_table(table, problem)).value
