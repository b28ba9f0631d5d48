"""The verb `generalize`: from a table to a verified release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from sudare.attacks.attack import attack_all
from sudare.errors import InputError, ParameterError
from sudare.generalization.minimal import learn_minimal
from sudare.generalization.mondrian import learn_cuts
from sudare.generalization.problem import Problem, with_hierarchies
from sudare.ledger.blocks import RecordedBlocks
from sudare.plans.generalization import GeneralizationPlan, Located
from sudare.privacy.blocks import Blocks
from sudare.privacy.requirement import Requirement, one_of, sensitive_attribute
from sudare.release.certify import Declared, HandedOver, certify, verified
from sudare.release.release import Kept, Release
from sudare.reports.generalization import write_generalization_report
from sudare.suitability.bounds import best_bounds, within_reach
from sudare.suitability.costs import Costs, Need
from sudare.tables.excerpt import without
from sudare.tables.schema import Role
from sudare.tables.table import Table
from sudare.utility.classifier import classifier_scores, refuse_unpredictable
from sudare.utility.measures import utility_of
from sudare.utility.queries import query_error
from sudare.verification.certificate import Certificate, InputHash
from sudare.verification.columns import refuse_columns

METHODS = ("minimal", "mondrian")
NO_NOISE = "no noise; rows stand in the order of their published values"


def generalize(
    table: Table,
    requirements: Requirement | Sequence[Requirement],
    method: str = "minimal",
    *,
    suppress: float = 0.0,
    strict: bool = False,
    predict: str | None = None,
) -> Release:
    """Generalize the quasi attributes until the requirements hold, with little distortion.

    `method` is "minimal" (least distortion) or "mondrian" (fastest; `strict` cuts a node only if all its
    children hold). `suppress` is the largest share of records that "minimal" may leave out. `predict` names a
    sensitive or other attribute; the holder's record then says how well a model still predicts it (this needs
    scikit-learn). The output is verified by code that shares nothing with the methods; identifiers are
    dropped, and the rows stand in the order of their published values.

    >>> import sudare as sd
    >>> table = sd.read(sd.datasets.health_survey(500).select("age", "sex", "diagnosis"), sd.Schema.from_roles(
    ...     quasi=["age", "sex"], sensitive=["diagnosis"],
    ...     hierarchies={"age": sd.Hierarchy.intervals(range(18, 96), width=10)}))
    >>> release = sd.generalize(table, [sd.KAnonymity(5), sd.LDiversity(3)])
    >>> release.certificate.measured["k"] >= 5, release.certificate.measured["l_distinct"] >= 3
    (True, True)
    """
    asked = list(requirements) if isinstance(requirements, Sequence) else [requirements]
    return generalized(table, asked, method, suppress=suppress, strict=strict, predict=predict)


def generalized(
    table: Table,
    asked: list[Requirement],
    method: str = "minimal",
    *,
    suppress: float = 0.0,
    strict: bool = False,
    predict: str | None = None,
    decision: str | None = None,
) -> Release:
    """Generalize, with what was decided before in the holder's record."""
    _refuse_what_cannot_be(table, asked, method, suppress, strict, predict)
    plan = learn(table, asked, method, suppress=suppress, strict=strict)
    return released(table, plan, predict=predict, decision=decision)


def learn(
    table: Table,
    asked: Sequence[Requirement],
    method: str = "minimal",
    *,
    suppress: float = 0.0,
    strict: bool = False,
) -> GeneralizationPlan:
    """Learn a plan under which the requirements hold.

    Who is left out leaves no trace: where the schema does not say what a hierarchy is, it is made from the values of the
    table: the ends of its intervals are somebody's values, its height grows with the largest, and so do the blocks
    that are cut along it. So once it is known who is left out, everything is learned again from the others alone, as if they
    were the whole table. They can meet the requirements: they did so in the blocks that were learned first.
    """
    problem = Problem.of(with_hierarchies(table), asked)
    if method == "mondrian":
        return learn_cuts(problem, asked, strict=strict)
    recoding = learn_minimal(problem, suppress=suppress)
    if not recoding.kept.all():
        names = problem.counted
        left_out = problem.tuples()[~recoding.kept]
        problem = Problem.of(with_hierarchies(without(table, names, left_out)), asked)
        recoding = learn_minimal(problem)
    return recoding.plan(asked)


def _refuse_what_cannot_be(
    table: Table,
    requirements: list[Requirement],
    method: str,
    suppress: float,
    strict: bool,
    predict: str | None,
) -> None:
    """Check everything that can be checked before any work."""
    one_of(method, "method", "generalize", METHODS)
    if not 0 <= suppress < 1:
        raise ParameterError(
            f"The 'suppress' parameter of generalize must be a share from 0 to below 1. Got {suppress} instead."
        )
    if suppress and method != "minimal":
        raise ParameterError(
            "The 'suppress' parameter of generalize is for the method 'minimal'. Use that one."
        )
    if strict and method != "mondrian":
        raise ParameterError(
            "The 'strict' parameter of generalize is for the method 'mondrian'. Use that one."
        )
    if not requirements:
        raise ParameterError("generalize needs at least one requirement, such as KAnonymity(5).")
    if not table.names(Role.quasi):
        raise InputError(
            f"{table.source.name}: the schema has no quasi attribute; there is nothing to generalize."
        )
    refuse_columns([name for name in table.columns if name not in table.names(Role.identifier)], table.schema)
    if predict is not None:
        refuse_unpredictable(table, predict, "'predict' parameter of generalize")
    whole = Blocks.of_table(table, [], sensitive_attribute(requirements, table))
    for requirement in requirements:
        requirement.refuse_if_impossible(whole, suppressing=suppress > 0)


def released(
    table: Table, plan: GeneralizationPlan, *, predict: str | None = None, decision: str | None = None
) -> Release:
    """Apply a plan to the rows that it covers, certify the output, and say what the holder keeps."""
    whole = plan.locate(table)
    rest, located = table, whole
    if not whole.covered.all():
        rest = without(table, whole.counts.names, whole.counts.codes[~whole.covered])
        located = plan.locate(rest)
    handed_over = HandedOver({"data": rest.rows.rewrite(located.rewriting())})
    declared = Declared(list(plan.requirements), plan.method, table.schema, NO_NOISE)
    commitment, salt = InputHash.commit(table.name, table.digest())
    certificate = certify(handed_over, declared, commitment)
    holds = Kept(
        plan,
        salt,
        record=partial(_record, whole, plan, certificate, predict, decision),
        report=partial(_report, whole.table, handed_over, declared, certificate),
        table=table,
        blocks={"data": RecordedBlocks.of(table, whole.counts, whole.block_of)},
    )
    return Release(handed_over, declared, certificate, holds)


def _record(
    whole: Located,
    plan: GeneralizationPlan,
    certificate: Certificate,
    predict: str | None,
    decision: str | None,
) -> dict[str, Any]:
    """Measure what needs the original: what it cost, what it had to cost, and what could be done to the original."""
    table, outcome = whole.table, whole.outcome()
    utility = _utility(whole, plan, predict)
    bound = _bound(table, Problem.of(table, plan.requirements))
    return {
        "records": {
            "read": outcome.records,
            "published": outcome.published,
            "suppressed": outcome.records - outcome.published,
        },
        "measured": certificate.measured,
        "utility": utility,
        "bound": bound,
        "gap": utility["distortion"] / bound if bound else None,
        "decision": decision,
        "attacks": {"input": attack_all(table, table.schema), "output": certificate.attacks["output"]},
    }


def _report(
    table: Table,
    handed_over: HandedOver,
    declared: Declared,
    certificate: Certificate,
    holder: dict[str, Any],
) -> str:
    data, verification = handed_over.frames["data"], verified(handed_over, declared)
    return write_generalization_report(table, data, certificate, holder, verification)


def _utility(whole: Located, plan: GeneralizationPlan, predict: str | None) -> dict[str, Any]:
    """Measure what the plan leaves: cells and blocks, counting, and, if asked, predicting."""
    outcome = whole.outcome()
    utility = utility_of(outcome, whole.block_sizes())
    utility["query_error"] = asdict(query_error(outcome))
    if predict is not None:
        utility["prediction"] = asdict(
            classifier_scores(whole.with_column(predict).outcome(), target=predict)
        )
    return utility


def _bound(table: Table, problem: Problem) -> float | None:
    """Bound the distortion from below, where that takes no more than some seconds."""
    if not within_reach(problem):
        return None
    costs = Costs.in_table(table, problem)
    return best_bounds(problem, costs, [Need.of(problem.limits)])[0].value
