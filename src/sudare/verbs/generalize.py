"""The verb `generalize`: from a table to a verified release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.attacks.attack import attack_all
from sudare.errors import InputError, ParameterError
from sudare.generalization.kept import measured_by
from sudare.generalization.minimal import learn_minimal
from sudare.generalization.mondrian import learn_mondrian
from sudare.generalization.problem import Problem, with_hierarchies
from sudare.generalization.recoding import Recoding
from sudare.privacy.blocks import Blocks
from sudare.privacy.requirement import Requirement, one_of, sensitive_attribute
from sudare.release.certify import Declared, HandedOver, certify, verified
from sudare.release.published import as_published
from sudare.release.release import Kept, Release
from sudare.reports.generalization import write_generalization_report
from sudare.suitability.bounds import best_bounds, within_reach
from sudare.suitability.costs import Costs, Need
from sudare.tables.excerpt import only
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
    rest, plan = _learn(table, asked, method, suppress, strict)
    if (kept := plan.kept).all():
        return _release(rest, rest, kept, plan, predict, asked, decision)
    rest, plan = _learn(only(table, kept), asked, method, 0.0, strict)
    return _release(measured_by(table, rest, kept), rest, kept, plan, predict, asked, decision)


def _learn(
    table: Table, asked: list[Requirement], method: str, suppress: float, strict: bool
) -> tuple[Table, Recoding]:
    """Learn a plan; also returns the table with the hierarchies that it climbs."""
    table = with_hierarchies(table)
    problem = Problem.of(table, asked)
    if method == "minimal":
        return table, learn_minimal(problem, suppress=suppress)
    return table, learn_mondrian(problem, strict=strict)


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


def _release(
    table: Table,
    rest: Table,
    kept: NDArray[np.bool_],
    plan: Recoding,
    predict: str | None,
    requirements: list[Requirement],
    decision: str | None,
) -> Release:
    """Apply a plan to the rows that it was learned from, certify the output, and say what the holder keeps."""
    handed_over = HandedOver({"data": as_published(plan.apply(rest))})
    declared = Declared(requirements, plan.method, table.schema, NO_NOISE)
    commitment, salt = InputHash.commit(table.name, table.digest())
    certificate = certify(handed_over, declared, commitment)
    blocks = np.full(len(table), -1, dtype=np.int64)
    blocks[kept] = plan.block_of[plan.problem.row_unit]
    holds = Kept(
        plan,
        salt,
        record=partial(_record, table, kept, plan, certificate, predict, requirements, decision),
        report=partial(_report, table, handed_over, declared, certificate),
        table=table,
        row_blocks={"data": blocks},
    )
    return Release(handed_over, declared, certificate, holds)


def _record(
    table: Table,
    kept: NDArray[np.bool_],
    plan: Recoding,
    certificate: Certificate,
    predict: str | None,
    requirements: list[Requirement],
    decision: str | None,
) -> dict[str, Any]:
    """Measure what needs the original: what it cost, what it had to cost, and what could be done to the original."""
    utility = _utility(table, kept, plan, predict)
    bound = _bound(table, plan.problem if kept.all() else Problem.of(table, requirements))
    published = int(kept.sum())
    return {
        "records": {"read": len(table), "published": published, "suppressed": len(table) - published},
        "measured": certificate.measured,
        "utility": utility,
        "bound": bound,
        "gap": utility["distortion"] / bound if bound else None,
        "decision": decision,
        "attacks": {
            "input": attack_all(table.frame(), table.schema),
            "output": certificate.attacks["output"],
        },
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


def _utility(table: Table, kept: NDArray[np.bool_], plan: Recoding, predict: str | None) -> dict[str, Any]:
    """Measure what the plan leaves: cells and blocks, counting, and, if asked, predicting."""
    levels = np.tile(
        plan.problem.trees.height.astype(np.int16), (len(table), 1)
    )  # who is left out is at the root
    levels[kept] = plan.row_levels()
    utility = utility_of(table, levels, kept, plan.block_sizes())
    utility["query_error"] = asdict(query_error(table, levels, kept))
    if predict is not None:
        utility["prediction"] = asdict(classifier_scores(table, levels, kept, target=predict))
    return utility


def _bound(table: Table, problem: Problem) -> float | None:
    """Bound the distortion from below, where that takes no more than some seconds."""
    if not within_reach(problem):
        return None
    costs = Costs.in_table(table, problem)
    return best_bounds(problem, costs, [Need.of(problem.limits)])[0].value
