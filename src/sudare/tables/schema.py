"""The schema: what each column is, who knows it, and how it may be generalized."""

from __future__ import annotations

import datetime as dt
import difflib
import math
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    InstanceOf,
    Tag,
    ValidationError,
    field_validator,
    model_validator,
)

from sudare.errors import InputError
from sudare.tables.hierarchy import Hierarchy
from sudare.tables.policy import Policy
from sudare.tables.recipes import RECIPE_KEYS, Recipe
from sudare.tables.text import listed, shown
from sudare.tables.text_files import read_toml
from sudare.tables.toml import toml, toml_key

Type = Literal["integer", "number", "text", "date", "datetime"]
Kind = Type | Literal["truth value"]
Missing = Literal["own value", "refuse"]
Outside = Literal["refuse", "clip"]
MAX_NAME_LENGTH = 255  # of a source's name; as long as a file's
SHORT_FORMS = ("mask", "dates", "suppress")  # hierarchies that need no more than their name
KINDS = (*SHORT_FORMS, "intervals", "groups", "tree", "rows")
MAX_ATTRIBUTES = 10_000
MAX_PROBLEMS_SHOWN = 20  # that are told at once
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


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


class Attribute(_Part):
    """One column: its role, type, hierarchy, domain or bounds, and its weight in the distortion.

    >>> Attribute(role="quasi", type="integer", bounds=(0, 120)).role
    <Role.quasi: 'quasi'>
    """

    role: Role
    type: Type | None = None
    hierarchy: HierarchyField | None = None
    domain: tuple[Scalar, ...] | None = None
    bounds: tuple[Bound, Bound] | None = None
    bins: int | None = Field(default=None, ge=1, le=10_000)
    """Into how many equal bins a differentially private view puts what lies between the bounds."""
    outside: Outside = "refuse"
    """What becomes of values outside the bounds: they are refused, or clipped to the nearer bound."""
    weight: float = Field(default=1.0, ge=0, allow_inf_nan=False)

    @field_validator("domain", mode="before")
    @classmethod
    def _domain_from_range(cls, value: Any) -> Any:
        return tuple(value) if isinstance(value, range) else value

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

    @model_validator(mode="after")
    def _coherent(self) -> Self:
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


class CsvFormat(_Part):
    """How a CSV file is written. What is None is detected from the file itself.

    >>> CsvFormat(delimiter=";", decimal=",").encoding is None
    True
    """

    delimiter: str | None = None
    quote: str = '"'
    encoding: str | None = None
    decimal: Literal[".", ","] | None = None
    trim: bool | None = None

    @field_validator("delimiter", "quote")
    @classmethod
    def _one_byte(cls, value: str | None) -> str | None:
        if value is not None and (len(value) != 1 or not value.isascii() or value in "\r\n"):
            raise ValueError(f"must be one ASCII character. Got {value!r} instead")
        return value


class Schema(_Part):
    """What each column of a table is. Every column must have a role.

    `missing` says what becomes of missing values: they are an own value, apart from every real one,
    or they are refused. `missing_values` lists the texts that mean "missing" in text columns; if it
    is not given, an empty field of a CSV file is missing, and nothing else. `publish` is what the verb of that
    name asks for. `source` is what the table is called in certificates and ledgers, whichever file it is read from.

    >>> schema = Schema.from_roles(quasi=["age", "sex"], sensitive=["illness"], bounds={"age": (0, 120)})
    >>> schema.names(Role.quasi)
    ['age', 'sex']
    >>> schema["age"].bounds
    (0, 120)
    """

    attributes: dict[str, Attribute] = Field(max_length=MAX_ATTRIBUTES)
    missing: Missing = "own value"
    missing_values: tuple[str, ...] | None = None
    csv: CsvFormat = CsvFormat()
    publish: Policy | None = None
    source: str | None = Field(default=None, min_length=1, max_length=MAX_NAME_LENGTH)

    @field_validator("source")
    @classmethod
    def _printable(cls, value: str | None) -> str | None:
        if value is not None and not value.isprintable():
            raise ValueError(f"must be printable text. Got {value!r} instead")
        return value

    @classmethod
    def from_roles(
        cls,
        *,
        quasi: Iterable[str] = (),
        sensitive: Iterable[str] = (),
        identifier: Iterable[str] = (),
        other: Iterable[str] = (),
        types: Mapping[str, Type] | None = None,
        hierarchies: Mapping[str, Hierarchy | Recipe] | None = None,
        domains: Mapping[str, Sequence[Scalar]] | None = None,
        bounds: Mapping[str, tuple[Bound, Bound]] | None = None,
        bins: Mapping[str, int] | None = None,
        outside: Mapping[str, Outside] | None = None,
        weights: Mapping[str, float] | None = None,
        missing: Missing = "own value",
        missing_values: Sequence[str] | None = None,
        source: str | None = None,
    ) -> Schema:
        """Make a schema from lists of column names by role, and what is known of some of them."""
        fields: dict[str, dict[str, Any]] = {}
        for role, names in zip(Role, (identifier, quasi, sensitive, other), strict=True):
            for name in [names] if isinstance(names, str) else names:
                if name in fields and fields[name]["role"] == role:
                    raise InputError(f"Schema: '{name}' is named twice in {role}.")
                if name in fields:
                    raise InputError(
                        f"Schema: '{name}' has two roles, {fields[name]['role']} and {role}. Keep one."
                    )
                fields[name] = {"role": role}
        details = {
            "type": types,
            "hierarchy": hierarchies,
            "domain": domains,
            "bounds": bounds,
            "bins": bins,
            "outside": outside,
            "weight": weights,
        }
        for key, given in details.items():
            for name, value in (given or {}).items():
                if name not in fields:
                    raise InputError(
                        f"Schema: {key} given for '{name}', which has no role{_closest(name, fields)}. "
                        "Add it to quasi, sensitive, identifier or other."
                    )
                fields[name][key] = value
        return cls.from_dict(
            {"attributes": fields, "missing": missing, "missing_values": missing_values, "source": source}
        )

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, where: str = "Schema", text: str = "") -> Schema:
        """Make a schema from plain data, with errors that name the attribute (and the line in `text`)."""
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            problems = error.errors(include_url=False)
            told = [_explained(problem, where, text) for problem in problems[:MAX_PROBLEMS_SHOWN]]
            if len(problems) > MAX_PROBLEMS_SHOWN:
                told.append(f"{where}: and {len(problems) - MAX_PROBLEMS_SHOWN:,} problems more.")
            raise InputError("\n".join(told)) from None

    @classmethod
    def from_toml(cls, path: str | Path) -> Schema:
        """Load a schema file. Files that it names are looked for beside it."""
        path = Path(path)
        data, text = read_toml(path, "the schema")
        schema = cls.from_dict(data, where=str(path), text=text)
        return schema._beside(path.parent)

    def _beside(self, folder: Path) -> Schema:
        """Read the paths of hierarchy files as relative to a folder."""

        def moved(attribute: Attribute) -> Attribute:
            recipe = attribute.hierarchy
            if recipe is None or isinstance(recipe, Hierarchy) or recipe.kind != "file":
                return attribute
            return attribute.model_copy(
                update={"hierarchy": recipe.model_copy(update={"path": (folder / recipe.path).absolute()})}
            )

        return self.model_copy(update={"attributes": {n: moved(a) for n, a in self.attributes.items()}})

    def to_toml(self) -> str:
        """Write the schema as TOML; `from_toml` gives the same schema back."""
        lines = [] if self.source is None else [f"source = {toml(self.source)}"]
        lines.append(f"missing = {toml(self.missing)}")
        if self.missing_values is not None:
            lines.append(f"missing_values = {toml(self.missing_values)}")
        if fields := self.csv.model_dump(exclude_defaults=True):
            lines += ["", "[csv]", *(f"{key} = {toml(value)}" for key, value in fields.items())]
        if self.publish is not None:
            fields = self.publish.model_dump(exclude_defaults=True)
            lines += ["", "[publish]", *(f"{key} = {toml(value)}" for key, value in fields.items())]
        if not self.attributes:
            lines += ["", "[attributes]"]
        for name, attribute in self.attributes.items():
            lines += ["", f"[attributes.{toml_key(name)}]", *attribute_lines(attribute)]
        return "\n".join(lines) + "\n"

    def names(self, role: Role | str) -> list[str]:
        """List the attributes that have a role, in the schema's order."""
        return [name for name, attribute in self.attributes.items() if attribute.role == role]

    def __getitem__(self, name: str) -> Attribute:
        if name not in self.attributes:
            raise InputError(
                f"Schema: there is no attribute '{name}'{_closest(name, self.attributes)}. "
                f"There are {listed(list(self.attributes))}."
            )
        return self.attributes[name]

    def __contains__(self, name: object) -> bool:
        return name in self.attributes


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
    if isinstance(attribute.hierarchy, Hierarchy):
        yield f"hierarchy = {toml({'kind': 'rows', 'rows': attribute.hierarchy.rows()})}"
    elif attribute.hierarchy is not None:
        fields = attribute.hierarchy.model_dump(exclude_defaults=True)
        short = fields["kind"] in SHORT_FORMS and len(fields) == 1
        yield f"hierarchy = {toml(fields['kind'] if short else fields)}"


def _closest(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(known), n=1)
    return f" (did you mean '{close[0]}'?)" if close else ""


def _explained(problem: Any, where: str, text: str) -> str:
    """Say a pydantic problem in our own voice: where, which attribute, what is allowed, what was got."""
    path = [str(part) for part in problem["loc"]]
    in_attribute = path[:1] == ["attributes"] and len(path) > 1
    parts: dict[str, Iterable[str]] = {"csv": CsvFormat.model_fields, "publish": Policy.model_fields}
    keys = parts.get(path[0] if len(path) > 1 else "", Schema.model_fields)
    if in_attribute:
        where = f"{where}{_line_of(text, path[1])}: attribute '{path[1]}'"
        path = [part for part in path[2:] if part not in ("ready", "recipe")]
        keys = RECIPE_KEYS if len(path) > 1 else Attribute.model_fields
    key = ".".join(path)
    kind, context = problem["type"], problem.get("ctx", {})
    if kind == "missing":
        return f"{where}: {key} is missing."
    if kind == "extra_forbidden":
        return f"{where}: '{key}' is not a known key{_closest(path[-1], keys)}."
    if kind == "union_tag_not_found":
        return f"{where}: {key}.kind is missing."
    if kind == "union_tag_invalid":
        return (
            f"{where}: {key}.kind must be one of {context['expected_tags']}. Got '{context['tag']}' instead."
        )
    if kind == "value_error":
        return f"{where}: {key + ' ' if key else ''}{context['error']}."
    message = problem["msg"].replace("Input should be", "must be")
    return f"{where}: {key} {message}. Got {shown(problem['input'])} instead."


def _line_of(text: str, attribute: str) -> str:
    """Say on which line an attribute's table starts, where exactly one line looks like it."""
    name = re.escape(attribute)
    header = rf"\s*\[\s*attributes\s*\.\s*({name}|\"{name}\"|'{name}')\s*\]"
    lines = [i for i, line in enumerate(text.splitlines(), 1) if re.match(header, line)]
    return f", line {lines[0]}" if len(lines) == 1 else ""
