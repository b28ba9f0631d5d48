"""What the entries of a ledger say: one strict form for each kind.

Whoever can write to a ledger's file can write entries of any content and hash them. So every body is checked when it
is read, before anything uses it; what does not have the form is refused, and never guessed at.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from sudare.errors import InputError, ParameterError
from sudare.ledger.blocks import BlocksForm
from sudare.privacy.multi_view import MultiViewDiversity
from sudare.tables.faults import first_fault
from sudare.tables.text import shown

Neighbours = Literal["replace", "add or remove"]
NEIGHBOURS = ("replace", "add or remove")

MAX_CHARACTERS = 4_000  # of a name, a path or a promise's words
MAX_RECEIVERS = 1_000  # that one entry declares apart
MAX_L = 10**9  # of a promise of l-diversity
MAX_HARMLESS = 10_000  # values of a promise
MAX_PERIODS = 1_000  # that a budget is dealt out to
MAX_DIGITS = 30  # of an epsilon or delta
# The least float above 0 is 5e-324: every epsilon and delta that can be promised can also be written down.
MIN_EXPONENT, MAX_EXPONENT = -330, 30


def exact(number: object) -> Fraction:
    """Return a number of 0 or more exactly as it is written, so that 0.1 + 0.2 is 0.3.

    A few characters can mean a number of a billion digits: only numbers of 30 digits with a small exponent are taken.

    >>> exact(0.1) + exact("0.2"), exact("3/2"), exact("1e-9")
    (Fraction(3, 10), Fraction(3, 2), Fraction(1, 1000000000))
    """
    try:
        text = str(number)
    except ValueError:  # Python does not write whole numbers of more than some thousand digits
        text = "a number that is too long to write"
    if len(text) <= 2 * MAX_DIGITS + 10:
        whole = re.fullmatch(r"([0-9]+)/([0-9]+)", text)
        parts = re.fullmatch(r"([0-9]+)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]+))?", text)
        if whole and max(map(len, whole.groups())) <= MAX_DIGITS and int(whole[2]):
            return Fraction(text)
        if parts and len(parts[1] + (parts[2] or "")) <= MAX_DIGITS:
            exponent = int(parts[3] or 0)
            if MIN_EXPONENT <= exponent <= MAX_EXPONENT:
                return Fraction(text)
    raise InputError(
        f"An epsilon or delta must be a number of 0 or more such as 1.5, 3/2 or 1e-9, with at most {MAX_DIGITS} digits and an "
        f"exponent from {MIN_EXPONENT} to {MAX_EXPONENT}. Got {shown(text)} instead."
    )


def _readable(text: str) -> str:
    try:
        exact(text)
    except InputError as error:
        raise ValueError(str(error)) from None
    return text


Text = Annotated[str, Field(max_length=MAX_CHARACTERS)]
Name = Annotated[str, Field(min_length=1, max_length=MAX_CHARACTERS)]
Number = Annotated[str, AfterValidator(_readable)]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class RecordedNoise(_Body):
    """What the noise of a release promises, and between which tables."""

    epsilon: Number
    delta: Number = "0"
    neighbours: Neighbours


class RecordedView(_Body):
    """The columns of a table that was published, by what outsiders may know, and the block of every row."""

    quasi: list[Text]
    others: list[Text]
    means: list[Text] = []
    """The quasi columns that have the mean of each block beside them."""
    blocks: BlocksForm | None = None
    """None where there are no blocks."""


class RecordedPromise(_Body):
    """What was promised about an attribute; only sets and counts of values can be followed (`measure`)."""

    attribute: Text
    text: Text
    measure: Literal["distinct", "entropy", "posterior"] | None = None
    l: Annotated[float, Field(ge=1, le=MAX_L, allow_inf_nan=False)] | None = None
    harmless: Annotated[list[Text], Field(max_length=MAX_HARMLESS)] = []
    """The values that may be known: the others, by themselves, must be as many or as likely as promised."""

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        try:
            _ = self.requirement
        except ParameterError as error:
            raise ValueError(str(error)) from None
        return self

    @property
    def requirement(self) -> MultiViewDiversity | None:
        """What must hold of everything that is put together, the harmless values aside; None where no rule is known."""
        if self.measure is None:
            return None
        l = self.l if self.l is None or self.measure != "distinct" or not self.l.is_integer() else int(self.l)
        return MultiViewDiversity(l, self.measure)  # type: ignore[arg-type]

    @property
    def implied_by(self) -> MultiViewDiversity | None:
        """What, if it holds of all values, implies the promise; None where no rule is known.

        Let h values be harmless. Of l + h values that are left, l or more are not. And if none has a posterior above
        1 / (l + h), the harmless have h / (l + h) at most together, so that of the rest none has more than
        1 / (l + h) : l / (l + h) = 1 / l of it. Then its entropy is at least log l, too.
        """
        own, h = self.requirement, len(self.harmless)
        if own is None or not h:
            return own
        return MultiViewDiversity(own.l + h, "distinct" if own.kind == "distinct" else "posterior")


class RecordedCertificate(_Body):
    """A certificate as it was written; of its fields, only those that are read from here are checked."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)

    requirements: list[Text]
    unit: Literal["person", "household"] | None = None
    """What is counted as one, if it is not a row."""


class ReleaseBody(_Body):
    """A release: of which rows of which source, who got it, its columns, blocks and promises, and what noise it spent."""

    folder: Text
    receiver: Name | None
    source: Name
    digest: Sha256
    """Of what could be published of the table it was made from (`Table.digest`)."""
    whole_digest: Sha256
    """Of all columns of that table, whatever their roles."""
    columns: dict[Text, Sha256]
    """What could be published: each column's values, without its name (`Table.values_digest`)."""
    rows: int = Field(ge=1, lt=2**31)
    noise: RecordedNoise | None
    views: dict[Name, RecordedView]
    promises: list[RecordedPromise]
    certificate: RecordedCertificate
    certificate_sha256: Sha256 | None
    holder: dict[str, Any]
    """The holder's record, as it was made; nothing is read from it here."""
    input_salt: Sha256
    measurement: Sha256 | None = None
    """Of the files of a p-view, by which it is known where it goes out again; None for other releases."""

    @property
    def is_written(self) -> bool:
        """Whether its files were there when it was recorded. A p-view is charged before it is even measured."""
        return self.certificate_sha256 is not None

    @property
    def digests(self) -> frozenset[str]:
        """By which of its contents the source is known."""
        return frozenset({self.digest, self.whole_digest})


class BudgetBody(_Body):
    """How much all noisy releases of a source may spend together, and between which tables that is counted."""

    source: Name
    epsilon: Number
    delta: Number
    neighbours: Neighbours
    periods: Annotated[int, Field(ge=1, le=MAX_PERIODS)] | None = None
    """Over how many periods it is dealt out evenly."""
    decay: Number | None = None
    """Which part of a period's share the next one has, without end."""

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        if self.decay is not None and (self.periods is not None or not 0 < exact(self.decay) < 1):
            raise ValueError("a decay lies between 0 and 1, and stands without a number of periods")
        return self


class PeriodBody(_Body):
    """That the next period of a budget begins: what is measured from here on is paid from that period's share."""

    source: Name


class ApartBody(_Body):
    """Receivers who do not put together what they get."""

    receivers: list[Name] = Field(min_length=2, max_length=MAX_RECEIVERS)


BODIES: Mapping[str, type[_Body]] = {
    "release": ReleaseBody,
    "budget": BudgetBody,
    "period": PeriodBody,
    "apart": ApartBody,
}


def fault_of(kind: str, body: Mapping[str, Any]) -> str | None:
    """Say what is wrong with a body; None if nothing is.

    >>> fault_of("apart", {"receivers": ["hospital"]})
    "is not a valid 'apart' entry: 'receivers' must have at least 2 items, not 1"
    >>> fault_of("loan", {})
    "is of the kind 'loan', which Sudare does not write"
    """
    form = BODIES.get(kind)
    if form is None:
        return f"is of the kind {shown(kind)}, which Sudare does not write"
    try:
        form.model_validate(body)
    except ValidationError as error:
        return f"is not a valid {kind!r} entry: {first_fault(error)}"
    return None


def depth(value: Any) -> int:
    """Return how deep lists and dicts are nested, without going down into them.

    >>> depth({"a": [1, {"b": []}]}), depth(1)
    (4, 0)
    """
    level: Iterable[Any] = [value]
    levels = 0
    while level := [item for item in level if isinstance(item, list | dict)]:
        levels += 1
        level = [inner for item in level for inner in (item.values() if isinstance(item, dict) else item)]
    return levels
