"""An attribute of a schema: what a column is, who knows it, and how it may be generalized."""

from __future__ import annotations

import datetime as dt
import math
import sys
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    InstanceOf,
    Tag,
    field_validator,
    model_validator,
)

from sudare.errors import InputError
from sudare.tables.faults import no_truth_value, refusing
from sudare.tables.hierarchy import Hierarchy
from sudare.tables.numbers_beside import Numbers
from sudare.tables.recipes import Recipe
from sudare.tables.text import shown
from sudare.tables.toml import toml

Type = Literal["integer", "number", "text", "date", "datetime"]
Kind = Type | Literal["truth value"]
Outside = Literal["refuse", "clip"]
MAX_SHIFT = 3_660  # days
MAX_LABEL, MAX_CODES = 120, 10_000  # as many signs as SPSS shows
Label = Annotated[str, Field(min_length=1, max_length=MAX_LABEL)]
SHORT_FORMS = ("digits", "mask", "dates", "suppress")  # hierarchies that need no more than their name
KINDS = (*SHORT_FORMS, "intervals", "top_bottom", "ages", "groups", "tree", "rows")
Bound = int | float | dt.datetime | dt.date
Scalar = bool | int | float | str | dt.datetime | dt.date
# Ready-made, or a recipe that waits for the data. Told apart first, so that an error speaks of one of them.
HierarchyField = Annotated[
    Annotated[InstanceOf[Hierarchy], Tag("ready")] | Annotated[Recipe, Tag("recipe")],
    Discriminator(lambda value: "ready" if isinstance(value, Hierarchy) else "recipe"),
]


class Role(StrEnum):
    """Who knows an attribute, and what becomes of it."""

    identifier = "identifier"
    """Names a person; dropped from every release."""
    quasi = "quasi"
    """Known to outsiders; generalized or randomized."""
    sensitive = "sensitive"
    """To be kept from outsiders."""
    other = "other"
    """Passed on as it is."""
    weight = "weight"
    """How many people a record of a sample stands for; known to outsiders, unless declared unknown."""
    person = "person"
    """Says which rows are of one person, who is protected with all of them."""
    household = "household"
    """Says which rows are of one household, which is protected with all of them."""


UNITS = (Role.person, Role.household)
"""What says which rows are protected together; the last one that a schema has is the unit of protection."""
MAX_WEIGHT = 10**12
"""The most people that a record can stand for; a sum of larger numbers might be none."""


@refusing
class SchemaPart(BaseModel):
    """A part of a schema: it knows all its keys, and does not change."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


class Attribute(SchemaPart):
    """One column: its role, type, hierarchy, domain or bounds, and its weight in the distortion.

    >>> Attribute(role="quasi", type="integer", bounds=(0, 120)).role
    <Role.quasi: 'quasi'>
    """

    role: Role
    type: Type | None = None
    format: str | None = Field(default=None, max_length=100)
    """How a date, or a date and time, is written in texts, such as "%d/%m/%Y"; None for YYYY-MM-DD."""
    hierarchy: HierarchyField | None = None
    domain: tuple[Scalar, ...] | None = None
    bounds: tuple[Bound, Bound] | None = None
    bins: int | None = Field(default=None, ge=1, le=10_000)
    """Into how many equal bins a p-view, or `randomize` in bins, puts what lies between the bounds."""
    outside: Outside = "refuse"
    """What becomes of values outside the bounds: they are refused, or clipped to the nearer bound."""
    weight: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    known: bool = True
    """Of a weight: whether outsiders may know it."""
    linked: bool = False
    """Of a person or household: whether published rows say, by a number of their own, which of them belong together."""
    most_rows: int | None = Field(default=None, ge=1, le=1_000_000)
    """Of a person or household: with how many rows differential privacy protects them; any more are left out at random."""
    shift: int | None = Field(default=None, ge=1, le=MAX_SHIFT)
    """Of dates that are passed on: by up to how many days those of each person are moved, all by as many."""
    numbers: Numbers | None = None
    """Of ranges: the numbers that are published beside them, in columns of their own."""
    label: Label | None = None
    """What the column is called in files of Stata and SPSS, beside its name."""
    codes: dict[str, Label] | None = Field(default=None, max_length=MAX_CODES)
    """What its codes mean there: those that are published are written with these labels."""

    @model_validator(mode="before")
    @classmethod
    def _weights_stay_numbers(cls, data: Any) -> Any:
        """Analysts compute with a weight: where it must be coarser, it is a number of fewer digits, and no range."""
        coarser = isinstance(data, dict) and data.get("role") == Role.weight and data.get("known", True)
        return data | {"hierarchy": "digits"} if coarser and data.get("hierarchy") is None else data

    @property
    def treated_as(self) -> Role:
        """What becomes of it: a weight is quasi or other, and what is not linked is dropped.

        >>> Attribute(role="weight").treated_as, Attribute(role="household").treated_as
        (<Role.quasi: 'quasi'>, <Role.identifier: 'identifier'>)
        """
        if self.role == Role.weight:
            return Role.quasi if self.known else Role.other
        return Role.identifier if self.role in UNITS and not self.linked else self.role

    @property
    def is_measured(self) -> bool:
        """Whether it says something of people: it names nobody, and does not only say which rows belong together."""
        return self.role not in (Role.identifier, *UNITS)

    _numbers = field_validator("bins", "weight", "most_rows", "shift", mode="before")(no_truth_value)

    @field_validator("domain", mode="before")
    @classmethod
    def _domain_from_range(cls, value: Any) -> Any:
        return tuple(value) if isinstance(value, range) else value

    @field_validator("format")
    @classmethod
    def _reads_what_it_writes(cls, value: str | None) -> str | None:
        if value is None:
            return None
        moment = dt.datetime(2001, 12, 23, 4, 5, 6)
        try:
            day = dt.datetime.strptime(moment.strftime(value), value).date()
        except ValueError:
            day = None
        if day != moment.date():
            raise ValueError(f"must say day, month and year, such as '%d/%m/%Y'. Got {shown(value)} instead")
        return value

    @field_validator("hierarchy", mode="before")
    @classmethod
    def _short_forms(cls, value: Any) -> Any:
        if isinstance(value, str):  # hierarchy = "mask", or the name of a file
            return {"kind": value} if value in KINDS else {"kind": "file", "path": value}
        if not (isinstance(value, dict) and value.get("kind") == "rows"):
            return value
        rows = value.get("rows", [])
        if value.keys() - {"kind", "rows"} or not (
            isinstance(rows, Sequence) and all(isinstance(row, list | tuple) for row in rows)
        ):
            raise ValueError("of the kind 'rows' must have rows: lists of a value, its parent, ..., the root")
        try:
            return Hierarchy.from_rows(rows)
        except InputError as error:
            raise ValueError(str(error).removesuffix(".")) from None

    @property
    def kind(self) -> Kind | None:
        """What its values are: the declared type, or else what its declared values or bounds are, if there are any.

        >>> Attribute(role="quasi", bounds=(0, 120)).kind, Attribute(role="quasi", bounds=(0, 0.5)).kind
        ('integer', 'number')
        """
        if self.type is not None:
            return self.type
        kinds = {_kind_of(value) for value in self.domain or self.bounds or ()}
        return next((kind for kind in WIDEST_FIRST if kind in kinds), None)

    @field_validator("label", "codes")
    @classmethod
    def _printable(cls, value: Any) -> Any:
        for text in value.values() if isinstance(value, dict) else [value]:
            if text is not None and not (text.isprintable() and text == text.strip()):
                raise ValueError(f"must be printable text, without blanks around it. Got {text!r} instead")
        return value

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        if not self.known and self.role != Role.weight:
            raise ValueError(f"is {self.role}, and only a weight can be declared unknown to outsiders")
        if (self.linked or self.most_rows is not None) and self.role not in UNITS:
            raise ValueError(
                f"is {self.role}, and only rows of a person or household can be linked, or be at most so many"
            )
        if self.numbers is not None and (
            self.role != Role.quasi or self.type not in (None, "integer", "number")
        ):
            what = self.role if self.role != Role.quasi else f"of type '{self.type}'"
            raise ValueError(
                f"is {what}, and only ranges of a quasi attribute's numbers have numbers beside them"
            )
        if self.shift is not None and (
            self.role != Role.other or self.type not in (None, "date", "datetime")
        ):
            what = self.role if self.role != Role.other else f"of type '{self.type}'"
            raise ValueError(
                f"is {what}, and only dates that are passed on can be moved: those of the role other"
            )
        if self.format is not None and self.type not in ("date", "datetime"):
            raise ValueError("has a format, and is not of type 'date' or 'datetime'. Declare one of these")
        if self.domain is not None:
            if self.bounds is not None:
                raise ValueError("has both a domain and bounds. Keep one")
            if not self.domain:
                raise ValueError("has an empty domain")
            kinds = {_kind(value) for value in self.domain}
            if len(kinds) > 1:
                raise ValueError(f"has a domain that mixes {' and '.join(sorted(kinds))}")
            if len(set(self.domain)) < len(self.domain):
                raise ValueError("has a domain that lists a value twice")
        if self.bounds is None and (self.bins is not None or self.outside == "clip"):
            raise ValueError(
                "has bins, or clips what is outside, but no bounds. Declare bounds that are public"
            )
        if self.bounds is not None:
            low, high = self.bounds
            if not all(_has_order(end) for end in self.bounds):
                raise ValueError(
                    f"has bounds [{shown(low)}, {shown(high)}] of which one is not a number, or too large for one"
                )
            if isinstance(low, dt.date) != isinstance(high, dt.date):
                raise ValueError("has bounds that mix a date and a number")
            try:
                rising = bool(low <= high)  # type: ignore[operator]
            except TypeError as error:
                raise ValueError(f"has bounds [{low}, {high}] that cannot be compared: {error}") from None
            if not rising:
                raise ValueError(f"has bounds [{low}, {high}] whose lower end is not the smaller one")
        return self


# Whole numbers among others are numbers, and days among times are times.
WIDEST_FIRST: tuple[Kind, ...] = ("truth value", "text", "number", "integer", "datetime", "date")


def _kind_of(value: Scalar) -> Kind:
    if isinstance(value, bool):
        return "truth value"
    if isinstance(value, int | float):
        return "integer" if isinstance(value, int) else "number"
    if isinstance(value, str):
        return "text"
    return "datetime" if isinstance(value, dt.datetime) else "date"


def _kind(value: Scalar) -> str:
    if isinstance(value, bool):
        return "truth values"
    return {int: "numbers", float: "numbers", str: "text"}.get(type(value), "dates")


def _has_order(bound: Bound) -> bool:
    """Tell NaN, and whole numbers beyond all floats, from other bounds."""
    return isinstance(bound, dt.date) or abs(bound) <= sys.float_info.max or bound in (math.inf, -math.inf)


def attribute_lines(attribute: Attribute) -> Iterator[str]:
    """Write an attribute as the lines under its TOML header."""
    yield f"role = {toml(str(attribute.role))}"
    if attribute.type is not None:
        yield f"type = {toml(attribute.type)}"
    if attribute.format is not None:
        yield f"format = {toml(attribute.format)}"
    if attribute.domain is not None:
        yield f"domain = {toml(attribute.domain)}"
    if attribute.bounds is not None:
        yield f"bounds = {toml(attribute.bounds)}"
    if attribute.bins is not None:
        yield f"bins = {attribute.bins}"
    if attribute.outside != "refuse":
        yield f'outside = "{attribute.outside}"'
    if attribute.weight != 1.0:
        yield f"weight = {toml(attribute.weight)}"
    if not attribute.known:
        yield "known = false"
    if attribute.linked:
        yield "linked = true"
    if attribute.most_rows is not None:
        yield f"most_rows = {attribute.most_rows}"
    if attribute.shift is not None:
        yield f"shift = {attribute.shift}"
    if attribute.numbers is not None:
        yield f'numbers = "{attribute.numbers}"'
    if attribute.label is not None:
        yield f"label = {toml(attribute.label)}"
    if attribute.codes is not None:
        yield f"codes = {toml(attribute.codes)}"
    if isinstance(attribute.hierarchy, Hierarchy):
        yield f"hierarchy = {toml({'kind': 'rows', 'rows': attribute.hierarchy.rows()})}"
    elif attribute.hierarchy is not None:
        fields = attribute.hierarchy.model_dump(exclude_defaults=True)
        short = fields["kind"] in SHORT_FORMS and len(fields) == 1
        yield f"hierarchy = {toml(fields['kind'] if short else fields)}"
