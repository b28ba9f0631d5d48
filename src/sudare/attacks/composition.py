"""Composition (Ganta, Kasiviswanathan & Smith 2008): two releases, each safe alone, that were made without each other.

Hospitals in one city publish their patients, each table k-anonymous or l-diverse. Who was at both is in a block of either;
their value is in both blocks, and often no other one is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sudare.attacks.intersection import Intersection, ValuesLeft, Views, intersection
from sudare.attacks.published import Output, people_of
from sudare.errors import InputError
from sudare.tables.notebook import ShownFigures
from sudare.tables.schema import Schema


@dataclass(frozen=True)
class Composed:
    """What releases leave of one sensitive attribute, each alone and all together."""

    alone: dict[str, ValuesLeft]
    """What each release leaves by itself."""
    together: ValuesLeft

    def summary(self) -> dict[str, Any]:
        """Return the numbers as plain data."""
        alone = {release: left.summary() for release, left in self.alone.items()}
        return {"alone": alone, "together": self.together.summary()}


@dataclass(frozen=True, repr=False)
class Composition(ShownFigures):
    """What releases that were made without each other reveal of people who are in all of them."""

    known: int
    """How many people were looked up."""
    by_attribute: dict[str, Composed]

    @property
    def share(self) -> float:
        """The largest share of the people who are left with one value, of any attribute."""
        return max(composed.together.share for composed in self.by_attribute.values())

    def summary(self) -> dict[str, Any]:
        """Return the numbers as plain data; nobody is named."""
        return {
            "known": self.known,
            "by_attribute": {name: composed.summary() for name, composed in self.by_attribute.items()},
        }

    def __str__(self) -> str:
        return "\n".join(
            f"{name}: of {self.known:,} people, {composed.together.given_away:,} ({composed.together.share:.1%}) are left "
            f"with one value by all releases together; "
            + ", ".join(f"{left.share:.1%} by '{release}' alone" for release, left in composed.alone.items())
            + "."
            for name, composed in self.by_attribute.items()
        )


def composition(frames: Views, schema: Schema, *, known: Any) -> Composition:
    """Look people up who are in all of several releases, and compare what is left with what each leaves alone.

    `frames` are releases by name, frames, files or folders; `known` are people who are in all of them, with their quasi values.

    >>> import polars as pl, sudare as sd
    >>> one = pl.DataFrame({"age": ["[20, 30]"] * 2, "ill": ["flu", "HIV"]})
    >>> two = pl.DataFrame({"age": ["[25, 35]"] * 2, "ill": ["cold", "HIV"]})
    >>> schema = sd.Schema.from_roles(quasi=["age"], sensitive=["ill"])
    >>> composition({"one": one, "two": two}, schema, known=pl.DataFrame({"age": [27]})).share
    1.0
    """
    outputs: Mapping[str, Output] = frames if isinstance(frames, Mapping) else {}
    if len(outputs) < 2:
        raise InputError("The composition attack takes two releases or more, by name.")
    people = people_of(known, schema)
    alone = {name: intersection({name: one}, schema, known=people) for name, one in outputs.items()}
    together: Intersection = intersection(outputs, schema, known=people)
    return Composition(
        together.known,
        {
            name: Composed({release: one.by_attribute[name] for release, one in alone.items()}, left)
            for name, left in together.by_attribute.items()
        },
    )
