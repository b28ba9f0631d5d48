"""Randomizing at the source: one record at a time, before anybody collects it.

The laws are made from a schema alone. Whoever asks publishes them; a phone or a form draws an answer by them, and sends nothing else. What
is collected is a randomized table like any other, and is reconstructed by the same laws.

**Asked again.** Each fresh answer costs its epsilon once more: T answers have T times epsilon, and their noise can be averaged away. With a key
of the device, answers are remembered without being stored: the draw for a value is made from the key, the law and the value, so
that the same value always gets the same answer. Then nothing is told twice. Two people whose values change at the same times are
told apart by e^(sum over the laws of epsilon times the number of different values) at most, however often they are asked
(`epsilon_after`): all their answers are made from so many independent draws. What this does not hide is *that* a value
changed: an answer that differs from the last one comes from another value, for certain.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import polars as pl

from sudare.engines.memory import Memory
from sudare.engines.read import read
from sudare.errors import InputError, ParameterError
from sudare.noise.keystream import Keystream
from sudare.plans.law import TableLaw
from sudare.privacy.differential_privacy import DifferentialPrivacy
from sudare.privacy.pk_anonymity import PkAnonymity
from sudare.privacy.requirement import refused, whole_number
from sudare.randomization.bins import whole_hierarchy
from sudare.randomization.draw import input_codes
from sudare.randomization.grids import Codes
from sudare.randomization.laws import Law
from sudare.randomization.learn import learn_plan
from sudare.randomization.plan import RandomizationPlan
from sudare.randomization.published import PublishedCounts
from sudare.randomization.respondents import Respondents
from sudare.tables.attribute import Attribute
from sudare.tables.given import kind_given
from sudare.tables.notebook import Listing, Shown
from sudare.tables.schema import Schema, schema_given
from sudare.tables.text import listed
from sudare.tables.typed import own_words, typed

KEY_BYTES = 32


@typed
@dataclass(frozen=True, eq=False, repr=False)
class Randomizer(Shown):
    """Draws answers by laws that were made from a schema.

    >>> import sudare as sd
    >>> schema = sd.Schema.from_roles(sensitive=["ill"], domains={"ill": ["yes", "no"]}, missing="refuse")
    >>> randomizer = Randomizer.from_schema(schema, sd.DifferentialPrivacy(1.0, per="record"))
    >>> key = Randomizer.new_key()  # kept on the device
    >>> first = randomizer.answer({"ill": "yes"}, key=key)
    >>> first == randomizer.answer({"ill": "yes"}, key=key), round(randomizer.epsilon, 6)
    (True, 1.0)
    """

    plan: RandomizationPlan

    def _line(self) -> str:
        return self.plan._line()

    def _listings(self) -> Iterable[Listing]:
        return self.plan._listings()

    @classmethod
    def from_schema(
        cls,
        schema: Schema,
        requirement: PkAnonymity | DifferentialPrivacy,
        *,
        records: int | None = None,
        **options: Any,
    ) -> Randomizer:
        """Make laws for what a schema declares, so that each answer meets the requirement; options are those of `randomize`.

        k of Pk-anonymity depends on how many people will have answered: `records`, of which there must then be as many.
        """
        schema_given(schema, "Randomizer.from_schema")
        if isinstance(requirement, PkAnonymity) and records is None:
            raise ParameterError(
                "k depends on how many people answer. Say how many there will be at least, records=..., or ask for an epsilon."
            )
        asked = Respondents(
            schema, 1 if records is None else whole_number(records, "records", "Randomizer", least=1)
        )
        return cls(learn_plan(asked, requirement, Keystream(), **options))

    @staticmethod
    def new_key() -> bytes:
        """Return a key for a device, which should never leave it."""
        return secrets.token_bytes(KEY_BYTES)

    @property
    def law(self) -> dict[str, Any]:
        """The laws as plain data, to be published."""
        return self.plan.to_json()

    @property
    def epsilon(self) -> float:
        """What one answer costs."""
        return self.plan.epsilon

    @own_words("values")
    def epsilon_after(self, values: Mapping[str, int] | int) -> float:
        """Return what all answers with a key cost together, however many, if a person had so many different values.

        A number for each law, or one for all.
        """
        names = [law.name for law in self.plan.laws]
        counts = values if isinstance(values, Mapping) else dict.fromkeys(names, values)
        if missing := [name for name in names if name not in counts]:
            raise ParameterError(f"Say how many different values '{missing[0]}' had.")
        if unknown := [name for name in counts if name not in names]:
            raise ParameterError(f"There is no law of '{unknown[0]}'. There are laws of {listed(names)}.")
        return sum(
            law.channel.epsilon * whole_number(counts[law.name], "values", "epsilon_after", least=1)
            for law in self.plan.laws
        )

    @own_words("record", "key")
    def answer(self, record: Mapping[str, Any], *, key: bytes | None = None) -> dict[str, Any]:
        """Draw an answer for one person's record: afresh, or with a key always the same for the same values."""
        if key is not None and (not isinstance(key, bytes) or len(key) < KEY_BYTES):
            raise refused(
                "a shorter one",
                "key",
                "answer",
                f"{KEY_BYTES} secret bytes, as Randomizer.new_key() makes them",
            )
        kind_given(record, Mapping, "record", "answer", "a dict of values by attribute")
        if absent := [name for name in self.plan.attributes if name not in record]:
            raise InputError(
                f"The record has no '{absent[0]}'. An answer has {listed(self.plan.attributes)}; a missing value is None."
            )
        inputs = self._codes(record)
        drawn = {law.name: _drawn(law, inputs[law.name], key) for law in self.plan.laws}
        return self.plan.decode(drawn).row(0, named=True)

    def _codes(self, record: Mapping[str, Any]) -> dict[str, Codes]:
        """Return what goes into each law; the record is checked as every table is that is read."""
        schema, names = self.plan.schema, self.plan.attributes
        # A column without any value would be refused: a second row, which nobody has, gives it one.
        rows = {
            name: [record[name], _some_value(name, schema[name])] for name in names if record[name] is None
        }
        height = 2 if rows else 1
        frame = pl.DataFrame({name: rows.get(name, [record[name]] * height) for name in names}, strict=False)
        table = read(frame, schema)
        engine = cast(Memory, table.rows)
        codes = {name: engine.column(name).codes[:1] for name in names}
        return input_codes(self.plan, self.plan.places(table), codes)

    def collected(self, answers: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
        """Put answers into a table, in the order of their values: `reconstruct(table, ..., law=randomizer.law)`."""
        dtypes = self.plan.decode({law.name: np.zeros(1, dtype=np.int64) for law in self.plan.laws}).schema
        given = list(answers)
        for answer in given:
            if not isinstance(answer, Mapping) or set(answer) != set(dtypes):
                raise InputError(f"Every answer must have {listed(list(dtypes))}, and nothing else.")
        frame = pl.DataFrame([_typed(name, dtypes[name], [one[name] for one in given]) for name in dtypes])
        for name, form in TableLaw.of(self.law).attributes.items() if given else ():
            PublishedCounts.of(frame, {name: form})  # refused if a value cannot come from the law
        return frame.sort(frame.columns, nulls_last=True)

    def for_records(self, records: int) -> Randomizer:
        """Return the same laws for so many people as answered; refused if k is then too small."""
        plan = replace(self.plan, records=whole_number(records, "records", "for_records", least=1))
        plan.refuse_if_broken(" More people must answer.")
        return Randomizer(plan)


def _typed(name: str, dtype: pl.DataType, values: list[Any]) -> pl.Series:
    """Return a column of answers; they come from outside, and may be anything."""
    try:
        return pl.Series(name, values, dtype=dtype, strict=True)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        raise InputError(f"An answer has a value of '{name}' that is not of its type, {dtype}.") from None


def _some_value(name: str, attribute: Attribute) -> Any:
    """Return a value that an attribute can have."""
    if attribute.domain is not None:
        return attribute.domain[0]
    if attribute.bounds is not None:
        return attribute.bounds[0]
    hierarchy = whole_hierarchy(name, attribute)
    return None if hierarchy is None else hierarchy.labels[0][0]


def _drawn(law: Law, code: Codes, key: bytes | None) -> Codes:
    """Draw what one value becomes: afresh, or from the key, the whole law, and the value."""
    if key is None:
        return law.sample(code, Keystream())
    purpose = json.dumps(["sudare answer", law.name, law.to_json(), int(code[0])], sort_keys=True)
    return law.sample(code, Keystream.of_secret(key, purpose))
