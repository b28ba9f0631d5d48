"""The household attack: looking households up with all their members, and persons with all their rows.

Rows say that they belong together by the number of their household, where it is published; by what its members share, such as an
income; or by standing next to each other, in the order of a number that every row has. A group of such rows may have a household if
its members can be given rows of their own whose labels cover their values. Where one group may, all that it says is known of the
household, though every block has k rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sudare.attacks.knowing import certificate_of
from sudare.attacks.known_households import LookedUp, Tied
from sudare.attacks.published import Output, people_of, rows_of
from sudare.attacks.tied_rows import Grouped, guessed
from sudare.errors import InputError, ParameterError
from sudare.privacy.k_anonymity import KAnonymity
from sudare.privacy.promises import promise_from_json
from sudare.privacy.requirement import whole_number
from sudare.tables.attribute import Attribute, Role
from sudare.tables.given import kind_given
from sudare.tables.notebook import ShownFigures
from sudare.tables.schema import Schema
from sudare.tables.table import Table

RECORDED = 2_000  # households that are looked up when a release is made


# -- what the attack finds -------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Households(ShownFigures):
    """What a household attack finds, by what ties rows together, and which sensitive values it makes certain."""

    unit: str
    """What was looked up: households or persons."""
    known: int
    """How many of them."""
    k: int
    linked: bool
    """Whether the output says itself which rows belong together."""
    by_ties: dict[str, Tied]
    certain: dict[str, int]
    """Households of which some sensitive value is certain, by attribute."""

    @property
    def worst(self) -> Tied | None:
        """The way that finds most households; None where nothing could tie rows together."""
        return max(self.by_ties.values(), key=lambda tied: (tied.alone, tied.learned), default=None)

    @property
    def alone(self) -> int:
        """How many households' rows are found in the worst way."""
        return 0 if self.worst is None else self.worst.alone

    def summary(self) -> dict[str, Any]:
        """Return the numbers as plain data; nobody is named."""
        by_ties = {ties: tied.summary() for ties, tied in self.by_ties.items()}
        return {
            "unit": self.unit,
            "known": self.known,
            "k": self.k,
            "linked": self.linked,
            "by_ties": by_ties,
            "certain": self.certain,
        }

    def __str__(self) -> str:
        lines = [f"{self.unit.capitalize()}s looked up with all their rows: {self.known:,}."]
        lines += [self._sentence(ties, tied) for ties, tied in self.by_ties.items()]
        if not self.by_ties:
            lines.append("No column is published that could tie rows together.")
        for name, certain in self.certain.items():
            lines.append(f"{name}: of {certain:,} ({certain / self.known:.1%}) some value is certain.")
        return "\n".join(lines)

    def _sentence(self, ties: str, tied: Tied) -> str:
        found = (
            f"all rows of {tied.alone:,} ({tied.share:.1%}) are found"
            if tied.alone
            else "nobody's rows are found"
        )
        text = f"Tied by {ties}, {tied.groups:,} groups: {found}."
        if self.linked:
            text += f" {tied.below:,} have fewer than {self.k:,} groups that may be theirs; the fewest are {tied.least:,}."
        elif single := tied.candidates.get(1):
            text += f" To {single:,} one group is left, which is that of {tied.learned:,}."
        if nowhere := tied.candidates.get(0):
            text += f" {nowhere:,} are in no group."
        return f"{text} Who names a group for every {self.unit} is right for {tied.named:.2%}."


# -- the attack ------------------------------------------------------------------------------------


def known_to_belong_together(output: Output, table: Table, k: int) -> dict[str, Any] | None:
    """Look households of an original up in its release, as many as are enough for its record; None where it has none."""
    if table.schema.unit is None:
        return None
    return _households(output, table.schema, table, table.schema.unit, None, k, RECORDED).summary()


def households(
    output: Output,
    schema: Schema,
    *,
    known: Any,
    unit: str | None = None,
    ties: Sequence[str] | None = None,
    k: int | None = None,
) -> Households:
    """Look households up with all their members; `known` are these people, with their quasi values and their household.

    Their column `unit` says who belongs together; it is the household or person of the schema, if not given. `ties` are columns of
    the output in which rows that belong together agree. Without them these are the number that a linked release has, or else every
    column that is passed on, by itself, and all of them that most known households agree in, together; rows are also taken to
    belong together that stand next to each other by a number or text of which each row has its own, up to 2**15 rows. Where the known people have
    these columns too, that is for scoring: only what is true of a household is learned. Fewer groups than `k` are too
    few; it is what the certificate beside the output promises, or else 2.

    A sensitive value is certain of a household if all groups that may be it have the value. Where rows are not tied together, it is
    certain if so many rows have it, among those that may be of some alike members, that the rest are fewer than these members.

    >>> import polars as pl, sudare as sd
    >>> out = pl.DataFrame({"hid": [1, 1, 2, 2, 3], "age": ["[30, 39]", "[0, 9]", "[30, 39]", "[30, 39]", "*"]})
    >>> people = pl.DataFrame({"hid": [7, 7, 8, 8, 9], "age": [31, 4, 38, 35, 8]})
    >>> schema = sd.Schema.from_roles(household="hid", quasi=["age"], linked={"hid": True})
    >>> found = households(out, schema, known=people).worst
    >>> found.candidates, found.alone
    ({1: 3}, 3)
    """
    if unit is not None:
        kind_given(unit, str, "unit", "the households attack", "the name of a column")
    if ties is not None:
        ties = _names(ties)
    unit = schema.unit if unit is None else unit
    if unit is None:
        raise ParameterError(
            "The households attack needs to know who belongs together: a household or person in the schema, or the option "
            "'unit', a column of the known people."
        )
    k = _promised(output) if k is None else whole_number(k, "k", "the households attack", 1)
    return _households(output, schema, people_of(known, with_unit(schema, unit)), unit, ties, k, None)


def _households(
    output: Output,
    schema: Schema,
    people: Table,
    unit: str,
    ties: Sequence[str] | None,
    k: int,
    most: int | None,
) -> Households:
    rows = rows_of(output)
    if absent := [name for name in ties or () if name not in rows.columns]:
        raise InputError(f"The output has no column '{absent[0]}', which is said to tie rows together.")
    looked_up = LookedUp.of(rows, schema, people, unit, most)
    linked = ties is None and unit in rows.columns
    if linked or ties:
        grouped = [Grouped.agreeing(looked_up.published, ties or [unit], exact=linked)]
    else:
        grouped = list(guessed(looked_up.published, people, unit, looked_up.sizes))
    sensitive = [name for name in schema.names(Role.sensitive) if name in rows.columns and name != unit]
    return Households(
        unit=str(Role.person if unit in schema and schema[unit].role == Role.person else Role.household),
        known=len(looked_up.sizes),
        k=k,
        linked=linked,
        by_ties={one.name: looked_up.tied(one, k) for one in grouped},
        certain={
            name: looked_up.certain_by_groups(grouped[0], name)
            if linked
            else looked_up.certain_by_counting(name)
            for name in sensitive
        },
    )


def _names(ties: object) -> list[str]:
    """Return the columns that tie rows together, each once, or refuse what names none."""
    names = [ties] if isinstance(ties, str) else list(ties) if isinstance(ties, list | tuple) else []
    if not names or not all(isinstance(name, str) for name in names):
        raise ParameterError(
            f"The 'ties' parameter of the households attack must be the names of columns. Got {ties!r} instead."
        )
    return list(dict.fromkeys(names))


def _promised(output: Output) -> int:
    """Return the k that the certificate beside the output promises."""
    certificate = certificate_of(output)
    promises = [] if certificate is None else [promise_from_json(one) for one in certificate.promises]
    return max((one.k for one in promises if isinstance(one, KAnonymity)), default=2)


def with_unit(schema: Schema, unit: str | None) -> Schema:
    """Let known people have a column that says who belongs together, though no release has it.

    >>> with_unit(Schema.from_roles(quasi=["age"]), "hid").unit
    'hid'
    """
    if unit is None or unit in schema:
        return schema
    return schema.model_copy(
        update={"attributes": schema.attributes | {unit: Attribute(role=Role.household)}}
    )
