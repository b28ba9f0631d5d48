"""What every method of a p-view is: fields that are decided without the data, and how it learns from counts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar, Self

from sudare.errors import InputError, ParameterError
from sudare.privacy.requirement import refused
from sudare.pview.account import Account
from sudare.pview.domain import Domain
from sudare.pview.interest import Interest
from sudare.pview.pview import Model
from sudare.pview.spending import FRACTION
from sudare.tables.counts import Counts
from sudare.tables.text import shown
from sudare.tables.typed import typed


@typed
@dataclass(frozen=True)
class Method(ABC):
    """A way to learn a p-view from counts over the cells of a domain, within a budget."""

    name: ClassVar[str]
    """Its short name: in certificates, on the command line, and where a string stands for it."""

    @abstractmethod
    def learn(self, counts: Counts, domain: Domain, account: Account) -> Model:
        """Learn what a p-view counts with. Whatever it learns of the counts, it spends of the account."""

    def to_json(self) -> dict[str, Any]:
        """Return the method with its fields as plain data; fractions are texts."""
        own = {field.name: getattr(self, field.name) for field in fields(self)}
        return {"name": self.name} | {
            name: str(value) if isinstance(value, Fraction) else value for name, value in own.items()
        }

    @classmethod
    def from_fields(cls, data: Mapping[str, Any]) -> Self:
        """Read the fields that `to_json` wrote, and refuse everything else."""
        names = [field.name for field in fields(cls)]
        if sorted(data) != sorted(names):
            raise InputError(
                f"The method '{cls.name}' has the fields {', '.join(names) or '(none)'}. Got {shown(', '.join(map(str, data)))} "
                "instead."
            )
        try:
            return cls(**{name: _read(value) for name, value in data.items()})
        except ParameterError as error:
            raise InputError(f"The method '{cls.name}' cannot be what it says. {error}") from None


@typed
class WorkloadMethod(Method):
    """A method that can let its budget follow what will be asked."""

    @abstractmethod
    def learn_for(self, interest: Interest, counts: Counts, domain: Domain, account: Account) -> Model:
        """Learn as `learn` does, and best what will be asked. What is promised is the same."""


def _read(value: object) -> object:
    """Read a fraction that was written as text; checks are the method's own."""
    return Fraction(value) if isinstance(value, str) and FRACTION.fullmatch(value) else value


def exact_share(value: object, name: str, owner: str, *, ends: bool = False) -> Fraction:
    """Return a share between 0 and 1 exactly as it is written: 0.9 is nine tenths. With `ends`, 0 and 1 are shares, too."""
    fits = isinstance(value, int | float | Fraction) and not isinstance(value, bool)
    if not fits or not (0 <= value <= 1 if ends else 0 < value < 1):  # type: ignore[operator]
        included = "both included" if ends else "neither included"
        raise refused(value, name, owner, f"a number between 0 and 1, {included}")
    return Fraction(str(value))
