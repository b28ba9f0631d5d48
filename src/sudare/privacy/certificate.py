"""The certificate: what was promised and what was measured on the output. It is handed over with the output.

So it may reveal nothing more about the original than the output does. It is a function of what is handed over, of what
was declared, and of a salted commitment to the input: `certify` receives nothing else.
"""

from __future__ import annotations

import hashlib
import json
import platform
import secrets
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
)

from sudare.errors import InputError
from sudare.tables.attribute import UNITS, Attribute, Role, Type
from sudare.tables.faults import refusing
from sudare.tables.hierarchy import Hierarchy
from sudare.tables.notebook import Listing, Shown, figures_of, written
from sudare.tables.numbers_beside import Numbers
from sudare.tables.schema import Schema
from sudare.tables.text_files import parse_json, read_bytes
from sudare.tables.typed import typed

MAX_BYTES = 8 * 10**6
"""Of a certificate's file."""
LIBRARIES = ("sudare", "numpy", "numba", "polars", "scipy")
VERSIONED = (*LIBRARIES, "opendp", "pyreadstat")
"""What a certificate may name: also what older ones did."""


def versions() -> dict[str, str]:
    """Return the versions of everything that had a part in the result."""
    return dict(_versions())


@cache  # each takes a millisecond or more
def _versions() -> dict[str, str]:
    return {"python": platform.python_version()} | {name: version(name) for name in LIBRARIES}


@refusing
class _CertificatePart(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class InputHash(_CertificatePart):
    """A commitment to the input: SHA-256 over a random salt and the table's digest.

    A plain hash would let an outsider who guesses the whole table confirm the guess, whatever the
    release protects. The salt stays with the holder, in the ledger; with it anybody can check.

    >>> commitment, salt = InputHash.commit("people.csv", "00" * 32)
    >>> commitment.matches("00" * 32, salt), commitment.matches("11" * 32, salt)
    (True, False)
    """

    source: str
    sha256_salted: str

    @classmethod
    def commit(cls, source: str, digest: str, salt: str | None = None) -> tuple[InputHash, str]:
        """Commit to a table's digest, with a salt of its own; also returns the salt, which must not be published."""
        salt = new_salt() if salt is None else salt
        return cls(source=source, sha256_salted=_salted(digest, salt)), salt

    def matches(self, digest: str, salt: str) -> bool:
        """Tell whether this commitment was made to that digest."""
        return secrets.compare_digest(self.sha256_salted, _salted(digest, salt))


def new_salt() -> str:
    """Return a salt that nobody can guess."""
    return secrets.token_hex(32)


def _salted(digest: str, salt: str) -> str:
    return hashlib.sha256(bytes.fromhex(salt) + bytes.fromhex(digest)).hexdigest()


class PublishedAttribute(_CertificatePart):
    """A published column, as a receiver needs it to count again: what it is, and of which type."""

    role: Role
    type: Type | None = None
    domain: list[bool | int | float | str] | None = None
    """The declared values in their order, where a promise measures distances in it."""
    hierarchy: list[list[str]] | None = None
    """The paths of the declared or published values up to the root, where a promise measures distances in the hierarchy."""

    numbers: Numbers | None = None
    """The numbers that are published beside its ranges, in columns that are named after it."""

    @model_serializer(mode="wrap")
    def _without_no_numbers(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        data: dict[str, Any] = write(self)
        return {key: value for key, value in data.items() if key != "numbers" or value is not None}

    def attribute(self, labels: PublishedLabels | None = None) -> Attribute:
        """Return the column as an attribute of a schema."""
        labels = labels or PublishedLabels()
        return Attribute(
            label=labels.label,
            codes=labels.codes or None,
            role=self.role,
            linked=self.role in UNITS,
            type=self.type,
            numbers=self.numbers,
            domain=None if self.domain is None else tuple(self.domain),
            hierarchy=None if self.hierarchy is None else Hierarchy.from_rows(self.hierarchy),
        )


def _unit_of_protection(role: Role) -> Role:
    if role not in UNITS:
        raise ValueError(f"{role} is no unit of protection")
    return role


class PublishedLabels(_CertificatePart):
    """What a published column, and the codes in it, are called in the copies for Stata and SPSS."""

    label: str | None = None
    codes: dict[str, str] = Field(default_factory=dict)


@typed
class Certificate(Shown, _CertificatePart):
    """What was promised, what was measured on the output alone, and to which input it is tied."""

    requirements: list[str]
    """What was promised, in words."""
    promises: list[dict[str, Any]]
    """The same as data, from which anybody can verify it again."""
    attributes: dict[str, PublishedAttribute]
    """The columns that are published; there must be no others."""
    missing_values: list[str] | None = None
    """The texts that mean "missing" in these columns."""
    unit: Annotated[Role, AfterValidator(_unit_of_protection)] | None = None
    """What is counted as one, if it is not a row: a person, or a household."""
    measured: dict[str, Any]
    method: str
    utility: dict[str, Any]
    """What the output is still good for, as far as the output alone shows it."""
    caveats: list[str] = Field(default_factory=list)
    """What the promise does not cover."""
    attacks: dict[str, Any] = Field(default_factory=dict)
    """What an outsider's attacks on the output reach."""
    records: dict[str, int]
    """How many records are published."""
    randomness: str
    input: InputHash
    output: dict[str, str] = Field(default_factory=dict)
    """SHA-256 of every other file that is handed over, by name; filled in when the release is written."""
    labels: dict[str, PublishedLabels] = Field(default_factory=dict)
    """Of the columns, where a copy that is handed over has them."""
    versions: dict[str, str] = Field(default_factory=versions)
    created: str = Field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))

    @model_serializer(mode="wrap")
    def _without_no_labels(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        data: dict[str, Any] = write(self)
        return {key: value for key, value in data.items() if key != "labels" or value}

    def _line(self) -> str:
        return f"{', '.join(self.requirements)} by {self.method}; {_figures(self.measured)}"

    def _listings(self) -> Iterable[Listing]:
        facts = {"method": self.method, "protected": self.unit, "randomness": self.randomness}
        yield Listing.of_facts(
            {"promised": ", ".join(self.requirements), **facts, "made from": self.input.source}
        )
        yield Listing.of_facts(dict(figures_of(self.measured)), "measured on what is published")
        yield Listing(
            "published columns", ("column", "role"), [(n, a.role) for n, a in self.attributes.items()]
        )
        yield Listing.of_facts(dict(figures_of(self.records)), "records")
        yield Listing.of_facts(dict(figures_of(self.utility)), "what is left")
        yield Listing.of_facts(dict(figures_of(self.attacks)), "what outsiders reach")
        yield Listing("what the promise does not cover", (), [(caveat,) for caveat in self.caveats])

    def write(self, path: str | Path) -> None:
        """Write the certificate, with a hash of itself at its end: what is damaged on its way is noticed."""
        Path(path).write_bytes(self._written())

    def _written(self) -> bytes:
        data = self.model_dump(mode="json")
        return _json(data | {"sha256": hashlib.sha256(_json(data)).hexdigest()})

    @classmethod
    def from_json(cls, data: object) -> Certificate:
        """Read a certificate from plain data. It is somebody's claim, and only its form is checked here."""
        try:
            return cls.model_validate(data)
        except ValidationError:
            raise InputError("The certificate is of no known form. Ask for the folder again.") from None

    @classmethod
    def open(cls, path: str | Path) -> Certificate:
        """Read a certificate that was handed over. It is somebody's claim, and only its form is checked here."""
        try:
            content = read_bytes(Path(path), "the certificate", MAX_BYTES)
            data = parse_json(content, str(path))
            data.pop("sha256")
            certificate = cls.model_validate(data)
            whole = content == certificate._written()
        except (ValueError, LookupError, TypeError, AttributeError):  # other JSON
            whole = False
        if not whole:
            raise InputError(
                f"{path} is not a certificate of this version of Sudare, or it is damaged. Ask for the folder again."
            )
        return certificate

    def schema_of_output(self) -> Schema:
        """Return the schema of what is published, as far as a receiver needs it."""
        missing = None if self.missing_values is None else tuple(self.missing_values)
        try:
            attributes = {name: own.attribute(self.labels.get(name)) for name, own in self.attributes.items()}
            return Schema(attributes=attributes, missing_values=missing)
        except ValueError as error:
            raise InputError(f"The certificate's columns cannot be what it says: {error}.") from None


def _figures(measured: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {written(value)}" for name, value in figures_of(measured))


def _json(data: Any) -> bytes:
    return (json.dumps(data, indent=2, ensure_ascii=False) + "\n").encode()
