"""The policy of a schema: what to publish under, and what to do where that fits the table badly."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator, model_validator

from sudare.tables.faults import no_truth_value, refusing
from sudare.tables.text import listed, shown

Diversity = Literal["distinct", "entropy", "recursive", "proximity"]
Compromise = Literal[
    "go ahead", "lower l", "distinct", "harmless value", "drop attribute", "suppress", "k-anonymity", "retry"
]
HARMLESS = "harmless value"


def _accepted(text: str) -> str:
    """Check one thing that is accepted. Which values are harmless no table can tell, so they must be named."""
    name, _, value = text.partition(": ")
    if name == HARMLESS and not value:
        raise ValueError(
            f"must name the value that is harmless, as in '{HARMLESS}: No finding', which an assessment names; not '{text}'"
        )
    if text not in get_args(Compromise) and name != HARMLESS:
        raise ValueError(f"must be one of {listed(get_args(Compromise))}, not {shown(text)}")
    return text


Accepted = Annotated[str, AfterValidator(_accepted)]


@refusing
class Policy(BaseModel):
    """What `publish` asks for. `accept` lists what may be done, what is liked best first, if it fits badly.

    `harmless`, `c`, `within` and `relative` are those of LDiversity. A harmless value that is accepted is named:
    "harmless value: No finding"; it is called harmless only if l-diversity without that fits badly. "retry" stands beside the
    others: where what was published is far above the least possible distortion, it is tried again with more effort.

    >>> Policy(l=4, accept=("lower l", "suppress")).diversity
    'distinct'
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    l: float = Field(ge=1, allow_inf_nan=False)
    k: int | None = Field(default=None, ge=1)
    diversity: Diversity = "distinct"
    c: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    harmless: tuple[str | int | float | bool, ...] = ()
    within: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    relative: bool = False
    accept: tuple[Accepted, ...] = ()

    _numbers = field_validator("l", "k", "c", "within", mode="before")(no_truth_value)

    @field_validator("l")
    @classmethod
    def _plain(cls, l: float) -> float:
        return int(l) if l.is_integer() else l  # 3.0 means 3, which distinct diversity insists on

    @model_validator(mode="after")
    def _countable(self) -> Policy:
        if self.diversity in ("distinct", "recursive") and not isinstance(self.l, int):
            raise ValueError(
                f'must have a whole number as l of {self.diversity} diversity, not {self.l:g}; or diversity = "entropy"'
            )
        for name, diversity in (("c", "recursive"), ("within", "proximity")):
            if (getattr(self, name) is not None) != (self.diversity == diversity):
                raise ValueError(f'must have {name} if, and only if, diversity = "{diversity}"')
        if self.relative and self.diversity != "proximity":
            raise ValueError('must have relative only if diversity = "proximity"')
        return self
