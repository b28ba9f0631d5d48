"""The verb `materialize`: a differentially private view of a table."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.errors import ParameterError
from sudare.ledger import history
from sudare.ledger.ledger import Ledger
from sudare.noise.keystream import Keystream
from sudare.privacy.differential_privacy import DifferentialPrivacy
from sudare.privacy.requirement import one_of
from sudare.pview.account import Account
from sudare.pview.baselines import learn_identity, learn_independent
from sudare.pview.dawa import learn_dawa
from sudare.pview.domain import Domain
from sudare.pview.models import BlocksModel, CellsModel, ProductModel
from sudare.pview.mondrian import learn_mondrian
from sudare.pview.pairs import learn_pairs
from sudare.pview.pview import Model, PView
from sudare.release.certify import Declared, certify_view
from sudare.tables.schema import Role, Schema
from sudare.tables.table import Table
from sudare.tables.undeclared import refuse_undeclared
from sudare.verification.certificate import Certificate, InputHash
from sudare.verification.recount_budget import refuse_overspent

Codes = NDArray[np.int32]


def _pairs(codes: Codes, domain: Domain, account: Account) -> Model:
    return learn_pairs(codes, domain.sizes, [axis.ordered for axis in domain.axes], account)


def _mondrian(codes: Codes, domain: Domain, account: Account, **parameters: Any) -> Model:
    return BlocksModel.of(learn_mondrian(codes, domain.sizes, account, **parameters), domain.sizes)


METHODS: dict[str, Callable[..., Model]] = {
    "pairs": _pairs,
    "dp-mondrian": _mondrian,
    "identity": lambda codes, domain, account: CellsModel(learn_identity(codes, domain.sizes, account)),
    "independent": lambda codes, domain, account: ProductModel(
        learn_independent(codes, domain.sizes, account)
    ),
    "dawa": lambda codes, domain, account: CellsModel(learn_dawa(codes, domain.sizes, account)),
}
ADDED_OR_REMOVED = (
    "Neighbouring tables differ in one record, added or removed; replacing one costs twice the epsilon."
)
PARAMETERS: dict[str, Sequence[str]] = {"dp-mondrian": ("theta", "tree_share", "beta", "gamma")}


def materialize(
    table: Table,
    requirement: DifferentialPrivacy,
    method: str = "pairs",
    *,
    ledger: Ledger | None = None,
    receiver: str | None = None,
    unsafe_seed: int | None = None,
    **parameters: Any,
) -> PView:
    """Make a differentially private view of a table, which answers any range count and yields synthetic rows.

    Every attribute but identifiers needs a domain or bounds in the schema. Neighbouring tables differ in one record,
    added or removed; with a delta, noise is Gaussian. `method` is "pairs" (a cloud of points that agrees with noisy
    tables of single attributes and of the pairs that matter most), "dp-mondrian" (the paper's, with its parameters
    theta, tree_share, beta and gamma), or a baseline: "independent", "identity" or "dawa". A ledger is charged before
    anything is measured, and refuses what would overspend; what is refused for another reason costs nothing.

    >>> import polars as pl, sudare as sd
    >>> table = sd.read(pl.DataFrame({"ill": ["yes"] * 300 + ["no"] * 700}), sd.Schema.from_roles(
    ...     sensitive=["ill"], domains={"ill": ["yes", "no"]}))
    >>> view = sd.materialize(table, sd.DifferentialPrivacy(1.0))
    >>> 250 < view.count(ill="yes").value < 350
    True
    """
    _refuse(table, requirement, method, parameters, ledger)
    refuse_undeclared(table, _undeclared(table.schema))
    domain = Domain.of(table.schema)
    codes = domain.codes(table)
    source = Keystream() if unsafe_seed is None else Keystream.unsafe(unsafe_seed)
    declared = Declared([requirement], method, table.schema, source.description, [ADDED_OR_REMOVED])
    commitment, salt = InputHash.commit(table.name, table.digest())
    certificate = certify_view(declared, commitment)
    account = Account(requirement, source)
    refuse_overspent({"unit": account.unit, "shares": {"all": account.whole}}, requirement)
    if ledger is not None:
        account.opening = _charging(ledger, receiver, table, certificate, salt)
    model = METHODS[method](codes, domain, account, **parameters)
    refuse_overspent(account.to_json(), requirement)
    certificate = certificate.model_copy(update={"utility": _size(model, domain)})
    facts = {
        "certificate": certificate.model_dump(mode="json"),
        "budget": _named(account.to_json(), domain.names),
    }
    return PView(domain, model, facts)


def _refuse(
    table: object, requirement: object, method: str, parameters: dict[str, Any], ledger: object
) -> None:
    if not isinstance(table, Table):
        raise ParameterError(
            f"materialize needs a table that was read: sd.read(...). Got {type(table).__name__} instead."
        )
    if not isinstance(ledger, Ledger | None):
        raise ParameterError(
            f"'ledger' must be a ledger, such as sd.Ledger('releases.db'). Got {ledger!r} instead."
        )
    one_of(method, "method", "materialize", list(METHODS))
    if not isinstance(requirement, DifferentialPrivacy) or requirement.per != "table":
        raise ParameterError(
            f"A view needs differential privacy of the whole table, such as DifferentialPrivacy(1.0). Got {requirement} instead."
        )
    for name in parameters:
        if name not in PARAMETERS.get(method, ()):
            known = ", ".join(PARAMETERS.get(method, ())) or "none"
            raise ParameterError(f"The method '{method}' has no parameter '{name}'. Its parameters: {known}.")


def _undeclared(schema: Schema) -> list[str]:
    """List what is to be counted, but has neither a domain nor bounds."""
    counted = {name: one for name, one in schema.attributes.items() if one.role != Role.identifier}
    return [name for name, one in counted.items() if one.domain is None and one.bounds is None]


def _named(budget: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Name the attributes that shares were spent on, in quotes: methods only know their numbers."""

    def named(what: str) -> str:
        what = re.sub(r"^one-way table (\d+)$", lambda m: f"table of {names[int(m[1])]!r}", what)
        what = re.sub(r"^histogram (\d+)$", lambda m: f"table of {names[int(m[1]) - 1]!r}", what)
        return re.sub(
            r"^two-way table \((\d+), (\d+)\)$",
            lambda m: f"pair of {names[int(m[1])]!r} and {names[int(m[2])]!r}",
            what,
        )

    return budget | {"shares": {named(what): part for what, part in budget["shares"].items()}}


def _charging(
    ledger: Ledger, receiver: str | None, table: Table, certificate: Certificate, salt: str
) -> Callable[[], None]:
    """Return what records the view when its first share is spent, and is so even if something fails then.

    What the ledger would refuse it refuses at once, before anything is counted.
    """
    body = history.record(table, "a view", receiver, certificate, salt, neighbours="add or remove")
    ledger.refuse(body, table)

    def charge() -> None:
        ledger.record(body, table)

    return charge


def _size(model: Model, domain: Domain) -> dict[str, Any]:
    """Say how large the view is against the tensor of all counts."""
    rows: NDArray[np.int64] = np.array(model.frame().shape)
    return {
        "model": model.kind,
        "rows": int(rows[0]),
        "columns": int(rows[1]),
        "cells_of_domain": float(min(domain.cells, 10**300)),  # more could not be written as a number
    }
