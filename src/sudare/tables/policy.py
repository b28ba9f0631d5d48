"""The policy of a schema: what to publish under, and what to do where that fits the table badly."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

Diversity = Literal["distinct", "entropy"]
Compromise = Literal["go ahead", "lower l", "distinct", "drop attribute", "suppress"]


class Policy(BaseModel):
    """What `publish` asks for. `accept` lists what may be done, the dearest wish first, if it fits badly.

    >>> Policy(l=4, accept=("lower l", "suppress")).diversity
    'distinct'
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    l: float = Field(ge=1, allow_inf_nan=False)
    k: int | None = Field(default=None, ge=1)
    diversity: Diversity = "distinct"
    accept: tuple[Compromise, ...] = ()

    @field_validator("l")
    @classmethod
    def _plain(cls, l: float) -> float:
        return int(l) if l.is_integer() else l  # 3.0 means 3, which distinct diversity insists on

    @model_validator(mode="after")
    def _countable(self) -> Policy:
        if self.diversity == "distinct" and not isinstance(self.l, int):
            raise ValueError(
                f'must have a whole number as l of distinct diversity, not {self.l:g}; or diversity = "entropy"'
            )
        return self
