"""Columns that number people, households, records or things: by what their names say, and by how many numbers they give."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from sudare.drafting.names import Numbered, called_number
from sudare.drafting.seen import FEW_ROWS, MANY_ROWS, Seen
from sudare.tables.attribute import Role

FEW_KINDS = 0.02  # distinct values, of all rows: what is numbered are kinds
MOST_RELATIVES = 130  # more than anybody has of them, or than they are old
MANY_UNITS = 50  # persons or households that a word for them, without more, may number
SOME_UNITS = 12  # that it may number where the numbers are 1, 2, 3 and so on
MOST_ROWS_OF_ONE = 100  # on average, of a person or a household that such a word numbers
MANY_IN_ORDER = (
    200  # numbers 1, 2, 3 and so on: more than there are ages, days of a month, or items of a test
)
ROWS_OF_A_PLACE = 2  # on average, at least: what has fewer of one number does not number places
FAMILY = "family and household"
MEASURED = ("health", "money")
FEW_CODES = 10  # of answers, that a number of persons would not be


@dataclass(frozen=True)
class Guess:
    """The role that a column seems to have, and why."""

    role: Role
    reason: str
    kind: str | None = None
    """What its name means, if it is understood: columns of one kind may follow from each other."""
    doubt: Role | None = None
    """What it may be instead, if that is not unlikely."""


def by_number(seen: Seen) -> Guess | None:
    """What numbers people, households, records or things."""
    numbers = seen.numbers
    if numbers is None or isinstance(seen.column.values.dtype, pl.Date | pl.Datetime) or seen.has_decimals:
        return None
    said = f"'{numbers.word}' in its name"
    means = _meant_otherwise(seen, numbers)
    if means == Role.sensitive and seen.rows > MANY_ROWS and seen.distinct <= FEW_CODES:
        return None  # `pid` is also a party
    if numbers.staff and numbers.sure and seen.distinct > 2:
        return Guess(Role.identifier, f"{said}: it tells each {numbers.staff} apart")
    if not numbers.sure and (numbers.person or numbers.household) and seen.rows > FEW_ROWS:
        if not _may_be_units(seen):
            return None
        means = None if means == Role.quasi else means
    if seen.is_unique() and (numbers.sure or means is None):
        return Guess(Role.identifier, f"{said}, {seen.share}: the number of a record")
    if numbers.household and seen.distinct > 1:
        hit = seen.hit
        if hit and hit.meaning.what == "a place" and not numbers.person:
            return Guess(Role.quasi, hit.reason, hit.meaning.what)  # the zone of a home
        return Guess(
            Role.household, f"{said}, {seen.share}: the rows of one household, which are protected together"
        )
    if numbers.person and (numbers.sure or means is None):
        return Guess(
            Role.person, f"{said}, {seen.share}: the rows of one person, which are protected together"
        )
    if not numbers.sure:
        return None
    if means and seen.distinct < seen.rows / ROWS_OF_A_PLACE:
        return None
    if seen.distinct <= max(2, FEW_KINDS * seen.rows) and seen.rows > FEW_ROWS:
        return Guess(Role.other, f"{said}, {seen.share}: it numbers kinds of things")
    return Guess(Role.identifier, f"{said}: the number of a record")


def _meant_otherwise(seen: Seen, numbers: Numbered) -> Role | None:
    """Return the role that its name speaks for beside the number, if that is another one than an identifier's."""
    hit = seen.hit
    if hit is None or hit.meaning.role == Role.identifier:
        return None
    return None if hit.word == numbers.word and _may_be_units(seen) else hit.meaning.role


def _may_be_units(seen: Seen) -> bool:
    """Tell whether there are as many values as persons or households could be, with as few rows of each."""
    if seen.distinct * MOST_ROWS_OF_ONE < seen.rows:
        return False
    return seen.distinct >= MANY_UNITS or (
        seen.distinct >= SOME_UNITS and (_in_order(seen) or seen.is_unique())
    )


def _in_order(seen: Seen) -> bool:
    """Tell whether the values are 0 or 1, 2, 3 and so on, without a gap."""
    values = seen.column.values
    return values.dtype.is_integer() and values.min() in (0, 1) and spread(values) == seen.distinct - 1


def by_relatives(seen: Seen) -> Guess | None:
    """A word for relatives, with more and larger numbers than anybody has of them, numbers families."""
    values = seen.column.values
    if seen.hit is None or seen.hit.meaning.what != FAMILY or not values.dtype.is_integer():
        return None
    if seen.distinct < MANY_UNITS or int(values.max()) < MOST_RELATIVES:  # type: ignore[arg-type]
        return None
    if seen.is_unique():
        return Guess(Role.identifier, f"{seen.hit.said}, {seen.share}: the number of a record")
    if spread(values) > 3 * seen.distinct:
        return None
    return Guess(Role.household, f"{seen.hit.said}, {seen.share}: it tells families apart")


def by_serial(seen: Seen) -> Guess | None:
    """Numbers that are given one after the other are those of records, whatever they are called."""
    values = seen.column.values
    if seen.rows <= MANY_ROWS or not values.dtype.is_integer():
        return None
    if seen.is_unique() and spread(values) < 2 * seen.distinct:
        return Guess(Role.identifier, f"{seen.share}, one after the other: the number of a record")
    if seen.hit is None and seen.distinct >= MANY_IN_ORDER and _in_order(seen):
        return Guess(
            Role.person,
            f"{seen.share}, one after the other: the rows of one person, which are protected together",
        )
    return None


def by_unlike_numbers(seen: Seen) -> Guess | None:
    """A name that ends as those of numbers do, with a whole number of its own for nearly everybody, numbers records."""
    word = called_number(seen.column.name)
    if word is None or not (seen.is_text or seen.column.values.dtype.is_integer()):
        return None
    if seen.hit and seen.hit.meaning.what in MEASURED:
        return None
    if seen.rows > FEW_ROWS and seen.distinct > seen.rows / ROWS_OF_A_PLACE:
        return Guess(Role.identifier, f"'{word}' in its name, {seen.share}: the number of a record")
    return None


def spread(values: pl.Series) -> int:
    """Return how far whole numbers lie apart."""
    return int(values.max()) - int(values.min())  # type: ignore[arg-type]
