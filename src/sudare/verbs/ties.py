"""Ties: what joins the rows of a person or household beside its number, which is not published.

An outsider who knows the members of a household knows in which blocks its rows are, and looks among the rows of these for some that agree.
Four things are looked for, on what is to be published, with whose each row is:

- values that several rows of a unit share, and fewer than k units have, of one column or of those together in which most units agree:
  whoever sees them sees what belongs together;
- columns in which the rows of nearly all units agree, such as a household's region: k units must have each such value in every block;
- columns in whose order the rows of a unit stand side by side;
- and all columns together, as record linkage weighs them (`linkage.py`): how likely two rows agree by chance, and how likely if they are
  of one unit. Whoever takes the likeliest row for a member's must not be right more often than among k units.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.errors import RequirementError
from sudare.privacy.k_anonymity import KAnonymity
from sudare.privacy.requirement import BlockRequirement
from sudare.tables.attribute import Role
from sudare.tables.exact import exact
from sudare.tables.schema import Schema
from sudare.tables.text import listed
from sudare.verbs.linkage import Linkage, codes_of

AGREEING = 0.8
"""The share of units whose rows agree in a column, from which on it is taken to speak of units and not of rows."""
MOSTLY = 0.5
"""The share of units whose rows agree in a column, from which on it is looked at together with others."""
OWN_VALUES = 0.9
"""The share of rows with a value of their own, from which on the order of a column may be that of the source."""
SIDE_BY_SIDE = 0.01
"""The share of units whose rows stand side by side in an order, from which on whoever takes neighbours for one unit wins anything."""
BY_CHANCE = 8
"""Units whose rows are neighbours by chance in some order: with one expected, so many come once in a million."""
FAR = 4.0
"""Standard deviations that guesses are right more often than they may be: by chance, they are once in tens of thousands of releases."""


@dataclass(frozen=True)
class Tied:
    """Units whose rows are seen to belong together."""

    names: tuple[str, ...]
    """By values of these columns."""
    units: pl.Series
    """As the rows have them."""


class Ties:
    """Published rows with their unit, in which ties are looked for."""

    def __init__(self, rows: pl.DataFrame, schema: Schema, asked: Sequence[BlockRequirement]) -> None:
        self._rows, self._schema, self._unit = rows, schema, schema.unit or ""
        self._k = max([2, *(one.k for one in asked if isinstance(one, KAnonymity))])
        self._quasi = [*schema.names(Role.quasi), *schema.beside()]
        self._passed = [name for name in rows.columns if name not in (self._unit, *self._quasi)]
        # Columns go by their places: whatever they are called, no name of ours is one of theirs.
        self._key = {name: str(place) for place, name in enumerate(rows.columns)}
        self._keys = pl.DataFrame([exact(own).alias(self._key[own.name]) for own in rows.iter_columns()])
        sizes = self._keys.group_by(self._key[self._unit]).len("rows")
        self._units, self._several = sizes.height, sizes.filter(pl.col("rows") > 1)

    def tied(self) -> Tied | None:
        """Return the units that rare values tie together, of the first columns that do."""
        several, agreeing, mostly = self._several.height, [], []
        for name in self._passed if several else ():
            shared = self._shared([name])
            agree = shared.filter(pl.col("alike") == pl.col("rows")).height
            mostly += [name] * (agree > MOSTLY * several)
            if agree >= AGREEING * several:
                agreeing.append(name)
            elif tied := self._by_rare_values([name], shared):
                return tied
        if agreeing and (tied := self._alone(agreeing)):
            return tied
        # As an outsider would take them together.
        together = len(mostly) > max(1, len(agreeing))
        return self._by_rare_values(mostly, self._shared(mostly)) if together else None

    def refuse(self, known: pl.DataFrame | None = None) -> None:
        """Raise a RequirementError if rows of units are seen to belong together; `known` is what outsiders know of the units' members."""
        if not self._several.height:
            return
        for name in self._passed:
            near = _neighbours(self._keys[self._key[self._unit]], self._rows[name])
            if near > max(SIDE_BY_SIDE * self._several.height, BY_CHANCE):
                raise self._in_order(name, near)
        if tied := self.tied():
            raise self.refused(tied)
        self._refuse_guesses(known)

    def refused(self, tied: Tied, left_out: str = "") -> RequirementError:
        """Say which rows are seen to belong together, and what to do."""
        role, names = self._schema[self._unit].role, list(tied.names)
        return RequirementError(
            f"Rows of a {role} agree in {listed(names)}, and fewer than {self._k} {role}s are published alike with what {len(tied.units):,} of "
            f"{self._units:,} have there: whoever has the output sees which rows belong together. {left_out}"
            f"Make {'it' if len(names) == 1 else 'them'} quasi, or an identifier; or publish the {role}s as such: linked = true."
        )

    def _shared(self, names: Sequence[str]) -> pl.DataFrame:
        """Count, of each unit with several rows, those that are alike in some columns."""
        own = [self._key[name] for name in names]
        unit = self._key[self._unit]
        return self._keys.group_by(unit, *own).len("alike").join(self._several, on=unit)

    def _by_rare_values(self, names: Sequence[str], shared: pl.DataFrame) -> Tied | None:
        own, unit = [self._key[name] for name in names], self._key[self._unit]
        rare = (
            self._keys.group_by(own).agg(pl.n_unique(unit).alias("units")).filter(pl.col("units") < self._k)
        )
        tied = shared.filter(pl.col("alike") > 1).join(rare, on=own, nulls_equal=True)[unit].unique()
        return self._found(names, tied)

    def _alone(self, names: Sequence[str]) -> Tied | None:
        """Return the units that share a block and what nearly all agree in with fewer than k - 1 others."""
        unit = self._key[self._unit]
        cells = self._keys.group_by([self._key[name] for name in (*self._quasi, *names)]).agg(
            pl.col(unit).unique()
        )
        alone = cells.filter(pl.col(unit).list.len() < self._k)[unit].explode()
        return self._found(names, alone.unique()) if cells.height else None

    def _found(self, names: Sequence[str], keys: pl.Series) -> Tied | None:
        unit = self._key[self._unit]
        if not len(keys):
            return None
        at = self._keys.select(pl.col(unit).is_in(keys.drop_nulls().implode())).to_series()
        return Tied(tuple(names), self._rows[self._unit].filter(at).unique())

    def _in_order(self, name: str, near: int) -> RequirementError:
        role = self._schema[self._unit].role
        return RequirementError(
            f"In the order of '{name}', the rows of {near:,} of {self._several.height:,} {role}s with several stand next to each other: whoever has the "
            f"output sees which rows belong together. Leave '{name}' out, as an identifier; or publish the {role}s as such: linked = true."
        )

    def _numbered(self, known: pl.DataFrame | None, unit: NDArray[np.int64]) -> pl.DataFrame | None:
        """Return what is known with the numbers of the units that have published rows."""
        if known is None:
            return None
        numbers = pl.DataFrame({"unit": self._rows[self._unit], "number": unit}).unique()
        about = [own.alias(str(at)) for at, own in enumerate(known.drop(self._unit).iter_columns())]
        found = known.select(unit=self._unit).with_columns(about).join(numbers, on="unit", nulls_equal=True)
        return found.select("number", pl.exclude("number", "unit"))

    # -- All columns together -----------------------------------------------------------------------------

    def _refuse_guesses(self, known: pl.DataFrame | None) -> None:
        """Raise a RequirementError if the likeliest rows are a unit's own more often than one among k is."""
        if not self._passed:
            return
        unit = codes_of(self._keys, [self._key[self._unit]])
        block = codes_of(self._keys, [self._key[name] for name in self._quasi])
        linkage = Linkage(unit, block, self._rows.select(self._passed), self._numbered(known, unit))
        guesses = linkage.guesses()
        allowed = np.maximum(guesses.alone, 1 / (self._k - 0.5))  # as many as k is rounded to
        order = np.argsort(-guesses.confidence, kind="stable")
        right, allowed = np.cumsum(guesses.right[order]), allowed[order]
        far = (right - np.cumsum(allowed)) / np.sqrt(np.cumsum(allowed * (1 - allowed)) + 1e-12)
        if len(far) and far.max() > FAR:
            most = int(far.argmax()) + 1
            role, names = self._schema[self._unit].role, linkage.telling()
            raise RequirementError(
                f"Rows of a {role} agree in {listed(names)} so often that whoever knows its members guesses which rows are theirs: of the {most:,} guesses "
                f"that are surest, {right[most - 1] / most:.0%} are right, where one in {self._k} was promised. Make {'it' if len(names) == 1 else 'them'} "
                f"quasi, or an identifier; or publish the {role}s as such: linked = true."
            )


def refuse_ties(
    rows: pl.DataFrame,
    schema: Schema,
    asked: Sequence[BlockRequirement],
    known: pl.DataFrame | None = None,
) -> None:
    """Refuse values that are passed on as they are and tell which rows are of one unit.

    `rows` are published ones with their unit; `known` is what outsiders know of their members, with the unit, too.
    """
    Ties(rows, schema, asked).refuse(known)


def _neighbours(units: pl.Series, values: pl.Series) -> int:
    """Count the units whose rows stand next to each other in the order of a column that has a value for nearly every row.

    Of pairs of rows in any other order that is one at most, on average: n / 2 pairs, each with a chance of 2 / n.
    """
    if values.n_unique() < OWN_VALUES * len(values):
        return 0
    places = pl.DataFrame({"unit": units.gather(values.arg_sort())}).with_row_index("place")
    spans = places.group_by("unit").agg(pl.len().alias("rows"), span=pl.max("place") - pl.min("place") + 1)
    return spans.filter((pl.col("rows") > 1) & (pl.col("rows") == pl.col("span"))).height
