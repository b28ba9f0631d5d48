"""The plan of a randomized table: a law for every attribute, or for several together, within one budget.

It is plain data: no table, no rows. It can be saved, opened and drawn by again (`draw`), for the table that it was learned
from or for another one of the same schema (`for_table`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, cast

import polars as pl
from numpy.typing import NDArray

from sudare.errors import InputError, RequirementError, SudareError
from sudare.plans.law import LawForm, TableLaw
from sudare.plans.plan import Plan
from sudare.privacy.differential_privacy import DifferentialPrivacy
from sudare.privacy.pk_anonymity import PkAnonymity, k_of
from sudare.privacy.promises import promise_from_json, promise_to_json
from sudare.randomization.bins import whole_hierarchy
from sudare.randomization.budget import Split
from sudare.randomization.choices import area, domain_of, published
from sudare.randomization.domains import Joint
from sudare.randomization.grids import Grid
from sudare.randomization.laws import Law, LawDomain, law_of
from sudare.randomization.methods import Histogram as Histogram  # the command line takes it from here
from sudare.randomization.saved import SavedPlan, plan_files, read_plan
from sudare.tables.attribute import Attribute, attribute_lines
from sudare.tables.notebook import Listing, written
from sudare.tables.recipes import FileRecipe
from sudare.tables.schema import Schema, rows_together
from sudare.tables.table import Table
from sudare.tables.text import listed, shown
from sudare.tables.types import declared_values, lists_values

TOLERANCE = 1e-9  # relative: k and epsilon are sums of many floats
TOGETHER = (
    "Up to {:,} rows of one person or household are protected together: epsilon is of all of them, and k of whose a row is. How many rows each has is "
    "not hidden; of one with more, so many were drawn at random, and the others left out."
)


@dataclass(frozen=True, eq=False, repr=False)
class RandomizationPlan(Plan):
    """A law for every attribute that is published, or for several together, and what they promise in all."""

    kind: ClassVar[str] = "randomization"
    method: ClassVar[str] = "randomize"

    laws: tuple[Law, ...]
    schema: Schema
    """What is declared of the published attributes, as far as the laws rest on it."""
    requirement: PkAnonymity | DifferentialPrivacy
    """What was asked for."""
    records: int
    """How many there are in the table that it is for."""
    split: Split
    estimates: Mapping[str, float] = field(default_factory=dict)
    """The epsilon spent on private estimates of histograms, by law."""
    true_histograms: tuple[str, ...] = ()
    """The laws that were made from the true histogram."""
    from_another: bool = False
    """Whether it may have been learned from another table than the one that it is for."""
    rows: int = 1
    """How many records of one person or household are protected together."""

    @property
    def attributes(self) -> list[str]:
        """All that is published, in order."""
        return published(self.schema)

    @property
    def epsilon(self) -> float:
        """The epsilon of one record: those of its attributes and of the estimates together; of several of one person, their sum."""
        return self.rows * (sum(law.channel.epsilon for law in self.laws) + sum(self.estimates.values()))

    @property
    def spread(self) -> float:
        """The spread of a record. An estimate of epsilon e adds 2 e: two records are exchanged."""
        return sum(law.channel.spread for law in self.laws) + 2 * sum(self.estimates.values())

    @property
    def k(self) -> float:
        """The k of Pk-anonymity. A row is one record's with 1 / k_of at most, and so one of several of a person with their sum."""
        return max(1.0, k_of(self.spread, self.records) / self.rows)

    @property
    def caveats(self) -> list[str]:
        """What the promise does not cover, in words."""
        learned = " of the table that it was learned from" if self.from_another else ""
        told = [
            f"The matrix of '{name}' was made from the true histogram{learned}: epsilon and k cover the randomization of "
            "the records only, not what the matrix itself tells about the histogram."
            for name in self.true_histograms
        ]
        if self.rows > 1:
            told.append(TOGETHER.format(self.rows))
        if self.from_another:
            told += [
                f"The matrix of '{name}' was made from a private estimate of a histogram. If that was another table's, it took "
                f"epsilon {spent:.4g} of the budget of the people in that table: it counts there, too."
                for name, spent in self.estimates.items()
            ]
        return told

    def _line(self) -> str:
        promised = f"{self.requirement}, k = {written(self.k)}, epsilon = {written(self.epsilon)}"
        return f"{promised}; {', '.join(self.attributes)}"

    def _listings(self) -> Iterable[Listing]:
        rows = [(law.name, law.how, law.channel.epsilon) for law in self.laws]
        yield Listing("", ("law of", "how", "epsilon"), rows)

    def __getitem__(self, name: str) -> Law:
        for law in self.laws:
            if law.name == name:
                return law
        raise InputError(f"'{name}' was not randomized. There are {listed([law.name for law in self.laws])}.")

    def for_table(self, table: Table) -> RandomizationPlan:
        """Return the plan for another table of the same schema, or for the same one again.

        The laws stay as they are. k depends on the number of records: a plan that gives too small a k for this table is
        refused, with a RequirementError.

        What was learned privately about one table's histogram is part of the laws, and is handed over with another
        table's output. For the people of the first table that is the estimate that was paid for there, and
        nothing is added if that release is recorded. For the people of the second it is counted again, as if they were
        in both tables, so that the promise holds whoever is in which. A matrix made from a true histogram tells it
        to the receivers of both; caveats say so. And how many records the first table has can be computed from
        laws that were made for its k.
        """
        if (rows := rows_together(table.schema)) != self.rows:
            raise InputError(
                f"{table.source.name}: the plan protects {self.rows:,} rows of one person or household together, and by the schema it is {rows:,} "
                f"(most_rows). {SAME_SCHEMA}"
            )
        plan = replace(self, records=len(table), from_another=True)
        plan.refuse_other_schema(table)
        plan.refuse_if_broken(f" It was learned for {self.records:,} records. Learn a plan from this table.")
        return plan

    def refuse_if_broken(self, advice: str = "") -> None:
        """Raise a RequirementError if the laws do not give what was asked for."""
        if isinstance(self.requirement, PkAnonymity):
            if self.k < self.requirement.k * (1 - TOLERANCE):
                raise RequirementError(
                    f"The plan does not give {self.requirement}: with {self.records:,} records, k = {self.k:.4g}.{advice}"
                )
        elif self.epsilon > self.requirement.epsilon * (1 + TOLERANCE):
            raise RequirementError(
                f"The plan does not give {self.requirement}: it has epsilon = {self.epsilon:.4g}.{advice}"
            )

    def refuse_other_schema(self, table: Table) -> None:
        """Raise an InputError if a table's schema does not declare what the plan rests on."""
        own = plan_schema(table.schema, self.bins)
        if own.missing != self.schema.missing:
            raise InputError(
                f'{table.source.name}: the schema says missing = "{own.missing}", where the plan was learned with '
                f'"{self.schema.missing}". {SAME_SCHEMA}'
            )
        names = dict.fromkeys((*self.schema.attributes, *own.attributes))
        for name in names:
            declared = [_declared(schema, name) for schema in (self.schema, own)]
            if declared[0] != declared[1]:
                raise InputError(
                    f"{table.source.name}: the schema does not declare '{name}' as it was when the plan was learned. {SAME_SCHEMA}"
                )

    @property
    def bins(self) -> list[str]:
        """The attributes whose values are put into bins."""
        return [part.name for law in self.laws for part in law.domain.parts if part.binning is not None]

    def places(self, table: Table) -> dict[str, NDArray[Any]]:
        """Return which value of its domain each value of a column's dictionary is, by column."""
        parts = [part for law in self.laws for part in law.domain.parts]
        return {part.name: part.places(table, part.name) for part in parts}

    def decode(self, codes: Mapping[str, NDArray[Any]]) -> pl.DataFrame:
        """Return the rows that output codes stand for."""
        columns = {values.name: values for law in self.laws for values in law.decode(codes[law.name])}
        return pl.DataFrame([columns[name] for name in self.attributes])

    def to_json(self) -> dict[str, Any]:
        """Return the law as plain data. It is made to be published: estimating the truth needs it."""
        return {
            "method": "randomize",
            "records": self.records,
            **({"rows": self.rows} if self.rows > 1 else {}),
            "epsilon": self.epsilon,
            "pk": self.k,
            "split": self.split,
            "estimates": dict(self.estimates),
            "caveats": self.caveats,
            "attributes": {law.name: law.to_json() for law in self.laws},
        }

    def files(self) -> dict[str, Callable[[Path], object]]:
        """Return what writes each of its files, by name.

        >>> import tempfile, sudare as sd
        >>> table = sd.read(pl.DataFrame({"ill": ["yes", "no", "no"] * 100}), sd.Schema.from_roles(
        ...     sensitive=["ill"], domains={"ill": ["yes", "no"]}))
        >>> plan = sd.randomize(table, sd.PkAnonymity(5)).plan
        >>> folder = plan.save(Path(tempfile.mkdtemp()) / "ill.plan")
        >>> sd.Plan.open(folder).to_json() == plan.to_json()
        True
        """
        head = {
            "requirement": promise_to_json(self.requirement),
            "bins": self.bins,
            "true_histograms": self.true_histograms,
            "from_another": self.from_another,
        }
        return plan_files(head, self.to_json(), self.schema)

    @classmethod
    def opened(cls, folder: Path, data: dict[str, Any]) -> RandomizationPlan:
        """Make a plan from its files, if nothing in them is out of place."""
        try:
            return _opened(read_plan(folder, data))
        except SudareError as error:
            raise InputError(
                f"{folder} is not a plan that can be opened: {error} Save the plan again."
            ) from None


SAME_SCHEMA = "Apply a plan with the schema that it was learned with, or learn another plan."


def plan_schema(schema: Schema, bins: Collection[str]) -> Schema:
    """Return what a schema declares of the published attributes, as far as laws rest on it.

    A hierarchy, or a number of bins, matters only to what is put into bins; a hierarchy in a file is taken out of it.
    """

    def reduced(name: str, attribute: Attribute) -> Attribute:
        hierarchy = attribute.hierarchy if name in bins else None
        if isinstance(hierarchy, FileRecipe):
            hierarchy = whole_hierarchy(name, attribute)
        return Attribute(
            role=attribute.treated_as,
            type=attribute.type,
            domain=_listed(name, attribute) if hierarchy is None else attribute.domain,
            bounds=attribute.bounds,
            bins=attribute.bins if name in bins else None,
            hierarchy=hierarchy,
        )

    def _listed(name: str, attribute: Attribute) -> tuple[Any, ...] | None:
        return tuple(declared_values(name, attribute)) if lists_values(attribute) else None

    return Schema(
        attributes={name: reduced(name, schema[name]) for name in published(schema)}, missing=schema.missing
    )


def _declared(schema: Schema, name: str) -> list[str] | None:
    return list(attribute_lines(schema[name])) if name in schema else None


# -- Opening a saved plan -----------------------------------------------------------------------------


def _opened(saved: SavedPlan) -> RandomizationPlan:
    """Make a plan from what its files say, if they agree with each other and with what the plan promises."""
    head, law, schema = saved
    requirement = promise_from_json(head.requirement)
    if not isinstance(requirement, PkAnonymity | DifferentialPrivacy):
        raise InputError(f"A randomized table cannot promise {requirement}.")
    if set(law.columns()) != set(schema.attributes) or set(law.columns()) != set(published(schema)):
        raise InputError("Its laws are not of the attributes that its schema publishes.")
    plan = RandomizationPlan(
        laws=tuple(_law(name, form, schema, head.bins) for name, form in law.attributes.items()),
        schema=plan_schema(schema, head.bins),
        requirement=requirement,
        records=law.records,
        split=cast(Split, law.split.replace(" ", "-")),  # as it was spelled once
        estimates=dict(law.estimates),
        true_histograms=head.true_histograms,
        from_another=head.from_another,
        rows=law.rows,
    )
    _refuse_other_claims(plan, law)
    if sorted(head.bins) != sorted(plan.bins):
        raise InputError("Other attributes are put into bins than its laws say.")
    if not {*law.estimates, *head.true_histograms} <= {one.name for one in plan.laws if one.how == "optimal"}:
        raise InputError("A histogram was estimated or told for a law that needs none.")
    plan.refuse_if_broken()
    return plan


def _law(name: str, form: LawForm, schema: Schema, bins: Collection[str]) -> Law:
    """Return a law over the domain that the schema declares; the published form must name the same values."""
    domain: LawDomain
    if form.axes is not None:
        domain = area(schema, name, list(form.axes), form.faces or ())
    elif form.columns is None:
        domain = domain_of(schema, name, form.how, form.step)
    else:
        members = [domain_of(schema, one, "bins" if one in bins else "retain") for one in form.columns]
        domain = Joint(tuple(part for part in members if not isinstance(part, Grid)))
    if domain.to_json() != form.domain_to_json():
        raise InputError(f"The law of {shown(name)} is over other values than its schema declares.")
    return law_of(name, form, domain)


def _refuse_other_claims(plan: RandomizationPlan, law: TableLaw) -> None:
    """Refuse a law whose figures are not those of its probabilities."""
    figures = [(law.epsilon, plan.epsilon), (law.pk, plan.k)]
    figures += [(law.attributes[one.name].epsilon, one.channel.epsilon) for one in plan.laws]
    figures += [(law.attributes[one.name].spread, one.channel.spread) for one in plan.laws]
    if not all(math.isclose(claimed, own, rel_tol=TOLERANCE, abs_tol=TOLERANCE) for claimed, own in figures):
        raise InputError("Its law claims another epsilon, spread or k than its probabilities give.")
    if law.caveats != plan.caveats:
        raise InputError("Its law has other caveats than the plan.")
