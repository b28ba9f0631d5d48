"""The design of a p-view: all that is decided without the data. It is a plan, by which p-views of other rows are made."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field

from sudare.errors import InputError, ParameterError
from sudare.plans.plan import VERSION, Plan
from sudare.privacy.differential_privacy import DifferentialPrivacy
from sudare.pview.account import Account
from sudare.pview.domain import Domain
from sudare.pview.interest import GivenWorkload, Interest
from sudare.pview.method import Method, WorkloadMethod
from sudare.pview.methods import METHODS, method_from_json, method_of
from sudare.pview.pview import Model
from sudare.pview.saved import MAX_AXES, Form
from sudare.pview.spending import MAX_ROWS
from sudare.tables.counts import Counts
from sudare.tables.faults import checked
from sudare.tables.folders import PLAN
from sudare.tables.notebook import Listing
from sudare.tables.schema import Schema, rows_together
from sudare.tables.table import Table
from sudare.tables.text import listed
from sudare.tables.typed import own_words, typed

NEIGHBOURS: Literal["add or remove"] = "add or remove"
"""What the promise is about: tables that differ in one record, added or removed."""


@typed
@dataclass(frozen=True, eq=False, repr=False)
class PViewDesign(Plan):
    """What a p-view is to count, how, and within which budget. Each p-view that is made by it costs that budget anew.

    >>> import sudare as sd
    >>> schema = sd.Schema.from_roles(sensitive=["ill"], domains={"ill": ["yes", "no"]}, missing="refuse")
    >>> design = PViewDesign.of(schema, sd.DifferentialPrivacy(1.0), "independent")
    >>> PViewDesign.from_json(design.to_json()).to_json() == design.to_json()
    True
    """

    kind: ClassVar[str] = "p-view design"

    domain: Domain
    """The cells that are counted: a function of the schema alone."""
    requirement: DifferentialPrivacy
    """The whole budget, and with a delta in which unit it is counted: epsilon or rho."""
    method: Method
    """How it is learned, and which shares of the budget its parts get."""
    interest: Interest | None = None
    """What will be asked, if that is known: the budget follows it."""
    rows: int = 1
    """How many rows of one person or household are protected together, at most; any more are left out."""

    def __post_init__(self) -> None:
        if not isinstance(self.requirement, DifferentialPrivacy) or self.requirement.per != "table":
            raise ParameterError(
                "A p-view needs differential privacy of the whole table, such as DifferentialPrivacy(1.0). Got "
                f"{self.requirement} instead."
            )
        if self.interest is not None and not isinstance(self.method, WorkloadMethod):
            others = [name for name, one in METHODS.items() if issubclass(one, WorkloadMethod)]
            instead = f", or use {listed(others)}" if others else ""
            raise ParameterError(
                f"The method '{self.method.name}' spends its budget alike, whatever will be asked. Leave the workload "
                f"out{instead}."
            )

    def _line(self) -> str:
        return f"{self.requirement} by {self.method.name}; {', '.join(self.domain.names)}"

    def _listings(self) -> Iterable[Listing]:
        yield self.domain.listing()

    @classmethod
    @own_words("requirement", "workload")
    def of(
        cls,
        schema: Schema,
        requirement: DifferentialPrivacy,
        method: str | Method = "pairs",
        workload: GivenWorkload | None = None,
        **parameters: Any,
    ) -> PViewDesign:
        """Take the domain from the schema, and the method as an object or by its short name."""
        domain = Domain.of(schema)
        interest = None if workload is None else Interest.of(workload, domain)
        return cls(domain, requirement, method_of(method, parameters), interest, rows_together(schema))

    def learn(self, counts: Counts, account: Account) -> Model:
        """Learn from counts over the domain's cells, within an account's budget."""
        if self.interest is not None and isinstance(self.method, WorkloadMethod):
            return self.method.learn_for(self.interest, counts, self.domain, account)
        return self.method.learn(counts, self.domain, account)

    def refuse_other(self, table: Table) -> None:
        """Refuse a table that does not have the design's attributes, calls one of them an identifier, or protects other rows together."""
        if rows_together(table.schema) != self.rows:
            raise InputError(
                f"{table.source.name}: by its schema {rows_together(table.schema)} rows are protected together at most, and by the design "
                f"{self.rows}. Read it by the schema of the p-view, or design another."
            )
        for name in self.domain.names:
            if name not in table.columns:
                raise InputError(
                    f"{table.source.name} has no column '{name}', which the p-view counts. Read a table of the same schema."
                )
            if not table.schema[name].is_measured:
                raise InputError(
                    f"{table.source.name}: '{name}' is an identifier by its schema, and the p-view would count it. Read it by "
                    "the schema of the p-view, or design a p-view without it."
                )

    def to_json(self) -> dict[str, Any]:
        """Return the design as plain data."""
        return {
            "kind": self.kind,
            "version": VERSION,
            "neighbours": NEIGHBOURS,
            "epsilon": self.requirement.epsilon,
            "delta": self.requirement.delta,
            "method": self.method.to_json(),
            "domain": self.domain.to_json(),
            **({} if self.interest is None else {"interest": self.interest.to_json()}),
            **({} if self.rows == 1 else {"rows": self.rows}),
        }

    @classmethod
    def from_json(cls, data: object) -> PViewDesign:
        """Read what `to_json` wrote, and refuse everything else."""
        form = checked(DesignForm, data, "The design of a p-view")
        domain, method = Domain.from_json(form.domain), method_from_json(form.method)
        interest = None if form.interest is None else Interest.from_json(form.interest, domain)
        try:
            return cls(domain, DifferentialPrivacy(form.epsilon, form.delta), method, interest, form.rows)
        except ParameterError as error:
            raise InputError(f"The design of a p-view cannot be what it says. {error}") from None

    def files(self) -> Mapping[str, Callable[[Path], object]]:
        """Return what writes its one file."""
        text = json.dumps(self.to_json(), indent=2, ensure_ascii=False) + "\n"
        return {PLAN: lambda path: path.write_text(text, encoding="utf-8")}

    @classmethod
    def opened(cls, folder: Path, data: dict[str, Any]) -> PViewDesign:
        """Make a design from its file."""
        return cls.from_json(data)


class DesignForm(Form):
    """A design, as it stands in a file."""

    kind: Literal["p-view design"]
    version: int = Field(ge=VERSION, le=VERSION)
    neighbours: Literal["add or remove"]
    epsilon: float
    delta: float
    method: dict[str, Any]
    domain: list[dict[str, Any]] = Field(min_length=1, max_length=MAX_AXES)
    interest: list[dict[str, Any]] | None = None
    rows: int = Field(default=1, ge=1, le=MAX_ROWS)
