"""The verb `materialize`: a p-view of a table."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sudare.ledger.ledger import Ledger, ledger_given
from sudare.noise.keystream import Keystream
from sudare.privacy.certificate import InputHash
from sudare.privacy.differential_privacy import DifferentialPrivacy
from sudare.pview.account import Account
from sudare.pview.design import PViewDesign
from sudare.pview.domain import Domain
from sudare.pview.interest import GivenWorkload
from sudare.pview.method import Method
from sudare.pview.methods import METHODS, method_of
from sudare.pview.pview import Model, PView
from sudare.release.certify import Declared, certify_pview
from sudare.release.pview_release import KeptOfPView
from sudare.tables.schema import Schema
from sudare.tables.table import Table, table_given
from sudare.tables.typed import typed
from sudare.tables.types import lists_values
from sudare.tables.undeclared import refuse_undeclared
from sudare.verbs.most_rows import counts_at_most
from sudare.verbs.units import refuse_alike_units
from sudare.verification.recount_budget import refuse_overspent

__all__ = ["METHODS", "materialize", "materialize_design"]

ADDED_OR_REMOVED = (
    "Neighbouring tables differ in one record, added or removed; replacing one costs twice the epsilon."
)
TOGETHER = (
    "Neighbouring tables differ in one {0} with all its rows, added or removed; replacing one costs twice the epsilon. Of a {0} with more "
    "than {1} rows, so many were drawn and the others left out."
)
UNWRITTEN = "a p-view"
"""In the place of a folder, in a ledger that is charged before there is one."""


def materialize(
    table: Table,
    requirement: DifferentialPrivacy,
    method: str | Method = "pairs",
    *,
    ledger: Ledger | None = None,
    receiver: str | None = None,
    workload: GivenWorkload | None = None,
    unsafe_seed: int | None = None,
    **parameters: Any,
) -> PView:
    """Make a p-view of a table: a differentially private stand-in that answers any range count and yields synthetic rows.

    Every attribute but identifiers needs a domain or bounds in the schema. Neighbouring tables differ in one record,
    added or removed; where the schema has persons or households, in one of them with all its rows, of which it says how many
    there are at most. With a delta, noise is Gaussian. `method` is an object of `sudare.methods`, or its short name:
    "pairs" (a cloud of points that agrees with noisy tables of single attributes and of the pairs that matter most),
    "dp-mondrian" (the paper's, with its parameters theta, tree_share, beta and gamma), or a baseline: "independent",
    "identity", "dawa", "privbayes" or "hdmm". A `workload` says what will be asked, if that is known, to a method whose budget can follow it:
    queries in SQL, or a mapping of "queries", "marginals", "ranges" and "prefixes" to lists of these. A ledger is charged before
    anything is measured, and refuses what would overspend; what is refused for another reason costs nothing.

    >>> import polars as pl, sudare as sd
    >>> table = sd.read(pl.DataFrame({"ill": ["yes"] * 300 + ["no"] * 700}), sd.Schema.from_roles(
    ...     sensitive=["ill"], domains={"ill": ["yes", "no"]}))
    >>> pview = sd.materialize(table, sd.DifferentialPrivacy(1.0))
    >>> 250 < pview.count(ill="yes").value < 350
    True
    """
    table_given(table, "materialize")
    method = method_of(method, parameters)
    refuse_undeclared(table, _undeclared(table.schema))
    design = PViewDesign.of(table.schema, requirement, method, workload)
    return materialize_design(design, table, ledger=ledger, receiver=receiver, unsafe_seed=unsafe_seed)


@typed
def materialize_design(
    design: PViewDesign,
    table: Table,
    *,
    ledger: Ledger | None = None,
    receiver: str | None = None,
    unsafe_seed: int | None = None,
) -> PView:
    """Make a p-view of a table's rows by a design, at the cost that the design says; see `materialize`.

    >>> import polars as pl, sudare as sd
    >>> from sudare.pview.design import PViewDesign
    >>> schema = sd.Schema.from_roles(sensitive=["ill"], domains={"ill": ["yes", "no"]})
    >>> design = PViewDesign.of(schema, sd.DifferentialPrivacy(1.0))
    >>> pview = materialize_design(design, sd.read(pl.DataFrame({"ill": ["yes", "no", "no"] * 100}), schema))
    >>> pview.design.to_json() == design.to_json()
    True
    """
    ledger_given(ledger)
    design.refuse_other(table)
    refuse_alike_units(table)
    source = Keystream() if unsafe_seed is None else Keystream.unsafe(unsafe_seed)
    account = Account(design.requirement, source, rows=design.rows)
    whole = {"unit": account.unit, "rows": account.rows, "shares": [{"amount": account.whole}]}
    refuse_overspent(whole, design.requirement)
    some = counts_at_most(table, design.domain.names, design.rows, source) if table.schema.unit else None
    counts = design.domain.counts(table, some)
    commitment, salt = InputHash.commit(table.name, table.digest())
    certificate = certify_pview(_declared(design, table.schema, source), commitment)
    kept = KeptOfPView(design, certificate, salt, counts, table, receiver)
    if ledger is not None:
        entry = kept.ledger_entry(UNWRITTEN, receiver)
        ledger.refuse(entry, table)  # at once, before anything is measured
        # The entry stands when the first share is spent, and does so even if something fails then.
        account.opening = lambda: ledger.record(entry, table)
    model = design.learn(counts, account)
    budget = account.spending.to_json()
    refuse_overspent(budget, design.requirement)
    certificate = certificate.model_copy(update={"utility": size_of(model, design.domain)})
    facts = {"certificate": certificate.model_dump(mode="json"), "budget": budget}
    return PView(design.domain, model, facts, replace(kept, certificate=certificate))


def _declared(design: PViewDesign, schema: Schema, source: Keystream) -> Declared:
    """Say what was declared; of the schema only what the p-view counts."""
    unit = {} if schema.unit is None else {schema.unit: schema[schema.unit]}
    attributes = {name: schema[name] for name in design.domain.names} | unit
    counted = schema.model_copy(update={"attributes": attributes})
    caveats = [ADDED_OR_REMOVED]
    if schema.unit is not None:
        caveats = [TOGETHER.format(schema[schema.unit].role, design.rows)]
    return Declared((design.requirement,), design.method.name, counted, source.description, tuple(caveats))


def _undeclared(schema: Schema) -> list[str]:
    """List what is to be counted, but has neither a domain nor bounds."""
    counted = {name: one for name, one in schema.attributes.items() if one.is_measured}
    return [name for name, one in counted.items() if not lists_values(one) and one.bounds is None]


def size_of(model: Model, domain: Domain) -> dict[str, Any]:
    """Say how large the p-view is against the tensor of all counts."""
    rows, columns = model.frame().shape
    return {
        "model": model.kind,
        "rows": rows,
        "columns": columns,
        "cells_of_domain": float(min(domain.cells, 10**300)),  # more could not be written as a number
    }
