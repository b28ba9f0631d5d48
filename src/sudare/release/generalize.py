"""The verb `generalize`: from a table to a verified release."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import numpy as np
import polars as pl

from sudare.errors import InputError, ParameterError
from sudare.generalization.full_domain import FullDomainPlan, learn
from sudare.privacy.blocks import Blocks
from sudare.privacy.requirement import Requirement, sensitive_attribute
from sudare.release.certificate import Certificate, InputHash
from sudare.release.release import Release
from sudare.release.report import write_report
from sudare.release.verify import verify
from sudare.tables.schema import Role
from sudare.tables.table import Table
from sudare.utility.distortion import discernibility, full_domain_distortion, weighted_mean


def generalize(
    table: Table,
    requirements: Requirement | Sequence[Requirement],
    method: str = "full-domain",
    *,
    suppress: float = 0.0,
) -> Release:
    """Generalize the quasi attributes until the requirements hold, with the least distortion.

    `suppress` is the largest share of records that may be left out. The output is verified by code
    that shares nothing with the method; identifiers are dropped and the rows are shuffled.

    >>> import sudare as sd
    >>> table = sd.read(sd.datasets.health_survey(500).select("age", "sex", "diagnosis"), sd.Schema.from_roles(
    ...     quasi=["age", "sex"], sensitive=["diagnosis"],
    ...     hierarchies={"age": sd.Hierarchy.intervals(range(18, 96), width=10)}))
    >>> sd.generalize(table, sd.KAnonymity(5)).certificate.measured["k"] >= 5
    True
    """
    asked = list(requirements) if isinstance(requirements, Sequence) else [requirements]
    quasi = _refuse_what_cannot_be(table, asked, method, suppress)
    counts = table.counts(quasi)
    plan = learn(table, counts, asked, suppress=suppress)
    data = _shuffled(plan.apply(table))
    verification = verify(data, asked, table.schema)
    verification.refuse_if_broken()
    commitment, salt = InputHash.commit(table.source.name, table.digest())
    certificate = Certificate(
        requirements=[str(requirement) for requirement in asked],
        measured=verification.measured,
        method=method,
        utility=_utility(table, plan, data),
        records={"read": len(table), "published": data.height, "suppressed": len(table) - data.height},
        randomness="no noise; rows shuffled with the operating system's cryptographic source",
        input=commitment,
    )
    report = write_report(table, data, certificate)
    return Release(data, plan, certificate, asked, table.schema, report, salt)


def _refuse_what_cannot_be(
    table: Table, requirements: list[Requirement], method: str, suppress: float
) -> list[str]:
    """Check everything that can be checked before any work; return the quasi attributes."""
    if method != "full-domain":
        raise ParameterError(
            f"The 'method' parameter of generalize must be 'full-domain'. Got {method!r} instead."
        )
    if not 0 <= suppress < 1:
        raise ParameterError(
            f"The 'suppress' parameter of generalize must be a share from 0 to below 1. Got {suppress} instead."
        )
    if not requirements:
        raise ParameterError("generalize needs at least one requirement, such as KAnonymity(5).")
    quasi = table.names(Role.quasi)
    if not quasi:
        raise InputError(
            f"{table.source.name}: the schema has no quasi attribute; there is nothing to generalize."
        )
    for requirement in requirements:
        whole = Blocks.of_table(table, [], sensitive_attribute(requirement, table))
        requirement.refuse_if_impossible(whole, suppressing=suppress > 0)
    return quasi


def _shuffled(data: pl.DataFrame) -> pl.DataFrame:
    """Put the rows into an order that tells nothing about the original one."""
    keys = np.frombuffer(secrets.token_bytes(8 * data.height), dtype=np.uint64)
    return data[pl.Series(keys).arg_sort()]


def _utility(table: Table, plan: FullDomainPlan, data: pl.DataFrame) -> dict[str, object]:
    suppressed = len(table) - data.height
    sizes = data.group_by(list(plan.levels)).len()["len"].to_numpy().astype(np.int64)
    costs = full_domain_distortion(table, plan.levels, suppressed)
    return {
        "distortion": weighted_mean(costs, table),
        "distortion_by_attribute": costs,
        "discernibility": discernibility(sizes, suppressed),
        "blocks": len(sizes),
        "average_block": data.height / len(sizes),
    }
