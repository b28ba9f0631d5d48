"""The schema: what each column of a table is, and how the table is written."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError, field_validator

from sudare.errors import InputError
from sudare.tables.attribute import (
    UNITS,
    Attribute,
    Bound,
    Outside,
    Role,
    Scalar,
    SchemaPart,
    Type,
    attribute_lines,
)
from sudare.tables.faults import problems_of, told
from sudare.tables.given import kind_given
from sudare.tables.hierarchy import Hierarchy
from sudare.tables.lookalikes import skeleton
from sudare.tables.notebook import Listing, Shown
from sudare.tables.numbers_beside import Numbers, columns_beside
from sudare.tables.policy import Policy
from sudare.tables.recipes import RECIPE_KEYS, Recipe
from sudare.tables.text import PATTERN, is_pattern, listed
from sudare.tables.text_files import read_toml
from sudare.tables.toml import toml, toml_key
from sudare.tables.typed import own_words, typed

Missing = Literal["own value", "refuse"]
MAX_NAME_LENGTH = 255  # of a source's name; as long as a file's
MAX_ATTRIBUTES = 10_000
LEAST_SHARE = 1e-12  # of a population, that a sample may be
MAX_PROBLEMS_SHOWN = 20  # that are told at once


class CsvFormat(SchemaPart):
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


@typed
class Schema(Shown, SchemaPart):
    """What each column of a table is. Every column must have a role.

    `missing` says what becomes of missing values: they are an own value, apart from every real one,
    or they are refused. `missing_values` lists the texts that mean "missing" in text columns; if it
    is not given, an empty field of a CSV file is missing, and nothing else. `publish` is what the verb of that
    name asks for. `sheet` is which sheet of a workbook, or file of a zip archive, is read. `source` is what the table is called in certificates and ledgers, whichever file it is read from. `sampling_fraction` is which
    share of a population the table's people are, who were drawn at random.

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
    sheet: str | None = None
    publish: Policy | None = None
    source: str | None = Field(default=None, min_length=1, max_length=MAX_NAME_LENGTH)
    sampling_fraction: float | None = Field(default=None, ge=LEAST_SHARE, le=1)

    @field_validator("attributes")
    @classmethod
    def _no_patterns(cls, attributes: dict[str, Attribute]) -> dict[str, Attribute]:
        if patterns := [name for name in attributes if is_pattern(name)]:
            raise ValueError(f"cannot be called {listed(patterns)}: {PATTERN}")
        return attributes

    @field_validator("attributes")
    @classmethod
    def _one_of_each_unit(cls, attributes: dict[str, Attribute]) -> dict[str, Attribute]:
        for unit in UNITS:
            names = [name for name, attribute in attributes.items() if attribute.role == unit]
            if len(names) > 1:
                raise ValueError(f"have the role {unit} more than once: {listed(names)}. Keep one")
        roles = {own.role: (name, own) for name, own in attributes.items()}
        if Role.household in roles and Role.person in roles and roles[Role.person][1].linked:
            raise ValueError(
                f"link the rows of a person, '{roles[Role.person][0]}', where households are protected: persons would be told apart "
                f"within them. Link '{roles[Role.household][0]}' instead"
            )
        return attributes

    @field_validator("attributes")
    @classmethod
    def _no_other_beside(cls, attributes: dict[str, Attribute]) -> dict[str, Attribute]:
        alike = {skeleton(name): name for name in attributes}
        for column in _numbers_beside(attributes):
            if (other := alike.setdefault(skeleton(column), column)) != column or column in attributes:
                raise ValueError(
                    f"would have the numbers {column!r} beside a range, and {other!r} is called so. Rename one"
                )
        return attributes

    @field_validator("source")
    @classmethod
    def _printable(cls, value: str | None) -> str | None:
        if value is not None and not value.isprintable():
            raise ValueError(f"must be printable text. Got {value!r} instead")
        return value

    @classmethod
    @own_words("source")
    def from_roles(
        cls,
        *,
        quasi: str | Iterable[str] = (),
        sensitive: str | Iterable[str] = (),
        identifier: str | Iterable[str] = (),
        other: str | Iterable[str] = (),
        weight: str | Iterable[str] = (),
        person: str | None = None,
        household: str | None = None,
        types: Mapping[str, Type] | None = None,
        hierarchies: Mapping[str, Hierarchy | Recipe] | None = None,
        domains: Mapping[str, Sequence[Scalar]] | None = None,
        bounds: Mapping[str, tuple[Bound, Bound]] | None = None,
        bins: Mapping[str, int] | None = None,
        outside: Mapping[str, Outside] | None = None,
        weights: Mapping[str, float] | None = None,
        known: Mapping[str, bool] | None = None,
        linked: Mapping[str, bool] | None = None,
        most_rows: Mapping[str, int] | None = None,
        shifts: Mapping[str, int] | None = None,
        numbers: Mapping[str, Numbers] | None = None,
        missing: Missing = "own value",
        missing_values: Sequence[str] | None = None,
        source: str | None = None,
        sampling_fraction: float | None = None,
    ) -> Schema:
        """Make a schema from lists of column names by role, and what is known of some of them.

        >>> Schema.from_roles(household="hid", quasi=["age"], linked={"hid": True}).unit
        'hid'
        """
        fields: dict[str, dict[str, Any]] = {}
        units = (() if name is None else (name,) for name in (person, household))
        for role, names in zip(Role, (identifier, quasi, sensitive, other, weight, *units), strict=True):
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
            "known": known,
            "linked": linked,
            "most_rows": most_rows,
            "shift": shifts,
            "numbers": numbers,
        }
        for key, given in details.items():
            for name, value in (given or {}).items():
                if name not in fields:
                    raise InputError(
                        f"Schema: {key} given for '{name}', which has no role{_closest(name, fields)}. "
                        "Add it to quasi, sensitive, identifier or other."
                    )
                fields[name][key] = value
        known_of_all = {"missing": missing, "missing_values": missing_values, "source": source}
        return cls.from_dict({"attributes": fields, **known_of_all, "sampling_fraction": sampling_fraction})

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, where: str = "Schema", text: str = "") -> Schema:
        """Make a schema from plain data, with errors that name the attribute (and the line in `text`)."""
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            problems = problems_of(error)
            said = [_explained(problem, where, text) for problem in problems[:MAX_PROBLEMS_SHOWN]]
            if len(problems) > MAX_PROBLEMS_SHOWN:
                said.append(f"{where}: and {len(problems) - MAX_PROBLEMS_SHOWN:,} problems more.")
            raise InputError("\n".join(said)) from None

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
        if self.sampling_fraction is not None:
            lines.append(f"sampling_fraction = {toml(self.sampling_fraction)}")
        lines.append(f"missing = {toml(self.missing)}")
        if self.missing_values is not None:
            lines.append(f"missing_values = {toml(self.missing_values)}")
        if self.sheet is not None:
            lines.append(f"sheet = {toml(self.sheet)}")
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
        """List the attributes that have a role, or are treated as if they had, in the schema's order."""
        return [name for name, own in self.attributes.items() if role in (own.role, own.treated_as)]

    @property
    def unit(self) -> str | None:
        """The attribute whose rows are protected together: households if there are any, else persons; None for single rows."""
        return next((name for role in reversed(UNITS) for name in self.names(role)), None)

    def beside(self) -> dict[str, str]:
        """Return the columns of numbers that are published beside ranges, each with the attribute that it stands beside.

        >>> Schema.from_roles(quasi=["age"], numbers={"age": "ends"}).beside()
        {'age_low': 'age', 'age_high': 'age'}
        """
        return _numbers_beside(self.attributes)

    def _line(self) -> str:
        roles = {role: [name for name, own in self.attributes.items() if own.role == role] for role in Role}
        return "; ".join(f"{role}: {', '.join(names)}" for role, names in roles.items() if names)

    def _listings(self) -> Iterable[Listing]:
        """Return what is declared, but no values: hierarchies and domains may be those of a table."""
        head = ("attribute", "role", "type", "bounds", "domain", "hierarchy")
        yield Listing("", head, [(name, own.role, *_declared(own)) for name, own in self.attributes.items()])

    def __getitem__(self, name: str) -> Attribute:
        if name not in self.attributes:
            if name in self.beside():
                return Attribute(role=Role.quasi, type="number")
            raise InputError(
                f"Schema: there is no attribute '{name}'{_closest(name, self.attributes)}. "
                f"There are {listed(list(self.attributes))}."
            )
        return self.attributes[name]

    def __contains__(self, name: object) -> bool:
        return name in self.attributes or name in self.beside()


def rows_together(schema: Schema) -> int:
    """Return how many rows of one person or household differential privacy protects together; 1 where rows are people.

    >>> rows_together(Schema.from_roles(person="pid", quasi=["age"], most_rows={"pid": 4}))
    4
    """
    if schema.unit is None:
        return 1
    unit = schema[schema.unit]
    if unit.most_rows is None:
        raise InputError(
            f"Schema: '{schema.unit}' says which rows are of one {unit.role}, and not how many of them noise must hide. Declare "
            f"most_rows for it; of a {unit.role} with more rows, so many are drawn."
        )
    return unit.most_rows


def _numbers_beside(attributes: Mapping[str, Attribute]) -> dict[str, str]:
    """Return the columns of numbers beside attributes; one that is dropped has none."""
    return {
        column: name
        for name, own in attributes.items()
        if own.numbers is not None and own.role == Role.quasi
        for column in columns_beside(name, own.numbers)
    }


def _declared(own: Attribute) -> tuple[str, str, str, str]:
    tree = own.hierarchy
    return (
        own.type or "",
        "" if own.bounds is None else f"{own.bounds[0]} to {own.bounds[1]}",
        "" if own.domain is None else f"{len(own.domain):,} values",
        "" if tree is None else f"{tree.height} levels" if isinstance(tree, Hierarchy) else tree.kind,
    )


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
    return told(problem, where, path, known=f"{_closest(path[-1], keys) if path else ''}.")


def _line_of(text: str, attribute: str) -> str:
    """Say on which line an attribute's table starts, where exactly one line looks like it."""
    name = re.escape(attribute)
    header = rf"\s*\[\s*attributes\s*\.\s*({name}|\"{name}\"|'{name}')\s*\]"
    lines = [i for i, line in enumerate(text.splitlines(), 1) if re.match(header, line)]
    return f", line {lines[0]}" if len(lines) == 1 else ""


def schema_given(schema: object, verb: str) -> None:
    """Refuse what is no schema.

    >>> schema_given("sudare.toml", "attack")
    Traceback (most recent call last):
    sudare.errors.ParameterError: The 'schema' parameter of attack must be a Schema, such as Schema.from_toml('sudare.toml'). Got str instead.
    """
    kind_given(schema, Schema, "schema", verb, "a Schema, such as Schema.from_toml('sudare.toml')")
