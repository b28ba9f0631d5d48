"""What every requirement can do: measure the evidence of a release, and say whether it is enough."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sudare.errors import InputError, ParameterError
from sudare.privacy import _kernels
from sudare.privacy.blocks import Blocks
from sudare.tables.attribute import Role
from sudare.tables.schema import Schema
from sudare.tables.table import Table
from sudare.tables.text import listed

MAX_WHOLE = 2**63 - 1
Evidence = TypeVar("Evidence", contravariant=True)


@dataclass(frozen=True)
class Measure:
    """What a requirement measured: the value that holds, whether it is enough, and where it is worst."""

    name: str
    value: float
    holds: bool
    worst: int = 0
    """The first of the blocks, or of the persons, with the worst value; 0 where the evidence is of all records alike."""


@runtime_checkable
class Requirement(Protocol[Evidence]):
    """Something that must hold of what is published, and the evidence by which it is measured.

    That is blocks for k-anonymity, l-diversity, t-closeness and their like, what several views leave to everybody for multi-view
    diversity, the spread of a law for Pk-anonymity, and the privacy loss of a mechanism for differential privacy.
    """

    @property
    def name(self) -> str:
        """The name under which the measured value is certified, such as "k"."""

    @property
    def attribute(self) -> str | None:
        """The sensitive attribute it speaks of; None for the table's only one, or if it needs none."""

    @property
    def needs_sensitive(self) -> bool:
        """Whether it speaks of a sensitive attribute at all."""

    def measure(self, evidence: Evidence, /) -> Measure:
        """Return the strictest value that still holds, and whether it is enough."""

    def __str__(self) -> str: ...


@runtime_checkable
class BlockRequirement(Requirement[Blocks], Protocol):
    """A requirement that every block meets or fails by itself."""

    def failing(self, blocks: Blocks) -> NDArray[np.bool_]:
        """Tell of each block whether it fails."""

    def check(self, blocks: Blocks) -> None:
        """Raise an InputError if the blocks lack what the requirement speaks of."""

    def refuse_if_impossible(self, whole: Blocks, *, suppressing: bool = False) -> None:
        """Raise a RequirementError if no grouping of the table's records can meet it.

        `whole` has all records as one block; `suppressing` tells whether some may be left out.
        """


def sensitive_attribute(
    requirements: Requirement[Any] | Sequence[Requirement[Any]], table: Table
) -> str | None:
    """Return the one sensitive attribute that the requirements speak of; None if they need none.

    >>> import polars as pl, sudare as sd
    >>> from sudare.privacy.l_diversity import LDiversity
    >>> table = sd.read(pl.DataFrame({"age": [30, 40], "illness": ["flu", "cold"]}),
    ...                 sd.Schema.from_roles(quasi=["age"], sensitive=["illness"]))
    >>> sensitive_attribute(LDiversity(2), table), sensitive_attribute(sd.KAnonymity(2), table)
    ('illness', None)
    """
    asked = requirements if isinstance(requirements, Sequence) else [requirements]
    attributes = {attribute_of(requirement, table) for requirement in asked if requirement.needs_sensitive}
    if len(attributes) > 1:
        raise ParameterError(
            f"The requirements speak of several sensitive attributes: {listed(sorted(attributes))}. Ask for one at a time."
        )
    return attributes.pop() if attributes else None


def attribute_of(requirement: Requirement[Any], table: Table) -> str:
    """Return the sensitive attribute that a requirement speaks of."""
    sensitive = table.names(Role.sensitive)
    if requirement.attribute is not None:
        table[requirement.attribute]  # refused if there is none
        if requirement.attribute not in sensitive:
            role = table.schema[requirement.attribute].role
            raise InputError(
                f"{requirement}: the schema calls '{requirement.attribute}' {role}. Make its role sensitive."
            )
        return requirement.attribute
    if not sensitive:
        raise InputError(
            f"{requirement} needs a sensitive attribute, and the schema has none. Make a column's role sensitive."
        )
    if len(sensitive) > 1:
        raise InputError(
            f"{requirement}: there are several sensitive attributes, {listed(sensitive)}. "
            f"Name one: attribute='{sensitive[0]}' (--attribute '{sensitive[0]}' on the command line)."
        )
    return sensitive[0]


def sensitive_in(requirement: Requirement[Any], schema: Schema) -> str:
    """Return the sensitive attribute that a requirement speaks of, which has been found to have one.

    >>> from sudare.privacy.l_diversity import LDiversity
    >>> sensitive_in(LDiversity(2), Schema.from_roles(quasi=["age"], sensitive=["illness"]))
    'illness'
    """
    return requirement.attribute or schema.names(Role.sensitive)[0]


def all_sensitive_in(requirements: Sequence[Requirement[Any]], schema: Schema) -> list[str]:
    """Return the sensitive attributes that requirements speak of, each once."""
    return list(dict.fromkeys(sensitive_in(one, schema) for one in requirements if one.needs_sensitive))


def check_sensitive(requirement: BlockRequirement, blocks: Blocks) -> None:
    """Refuse blocks that were counted without the sensitive attribute, or with another one."""
    if blocks.sensitive is None:
        raise InputError(f"{requirement} needs the sensitive attribute; the blocks were counted without one.")
    if requirement.attribute not in (None, blocks.sensitive):
        raise InputError(f"{requirement}: the blocks were counted by '{blocks.sensitive}' instead.")


def worst_block(values: NDArray[np.float64] | NDArray[np.int64], *, largest: bool = False) -> int:
    """Return the first block with the smallest (or largest) value."""
    if not len(values):
        raise InputError("There are no blocks to measure.")
    return int(values.argmax() if largest else values.argmin())


def settled(value: float) -> float:
    """Return the whole number that a value is, up to rounding; else the value."""
    return float(round(value)) if abs(value - round(value)) <= _kernels.TOLERANCE * value else value


def whole_number(value: object, name: str, owner: str, least: int, most: int = MAX_WHOLE) -> int:
    """Check a parameter that must be a whole number of at least `least`, and no larger than an array's."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise refused(value, name, owner, f"a whole number of {least} or more")
    if int(value) > most:
        raise ParameterError(f"The '{name}' parameter of {owner} must be a whole number up to {most:,}.")
    return int(value)


def number(
    value: object, name: str, owner: str, must_be: str, low: float, high: float = sys.float_info.max
) -> float:
    """Check a parameter that must be a finite number from `low` to `high`; `must_be` says so in words."""
    plain = value.item() if isinstance(value, np.number) else value
    if not isinstance(plain, int | float) or isinstance(plain, bool) or not low <= plain <= high:
        raise refused(value, name, owner, must_be)
    return plain


def one_of(value: object, name: str, owner: str, options: Sequence[str]) -> None:
    """Check a parameter that must be one of some words."""
    if not isinstance(value, str) or value not in options:
        raise refused(value, name, owner, f"one of {listed(list(options))}")


def attribute_name(value: object, owner: str) -> None:
    """Check the 'attribute' parameter: a column's name, or None."""
    if value is not None and not isinstance(value, str):
        raise refused(
            value, "attribute", owner, "the name of a sensitive attribute, or None for the only one"
        )


def refused(value: object, name: str, owner: str, must_be: str) -> ParameterError:
    """Word the error for a parameter in the one form that all have."""
    return ParameterError(f"The '{name}' parameter of {owner} must be {must_be}. Got {value!r} instead.")


def evidence_given(evidence: object, kind: type, owner: str) -> None:
    """Refuse what a requirement cannot be measured on."""
    if not isinstance(evidence, kind):
        raise ParameterError(f"{owner} is measured on {kind.__name__}(...). Got {evidence!r} instead.")
