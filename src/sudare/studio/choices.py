"""What a person chose: how to publish, and by which numbers. Plain data that a project file keeps."""

from __future__ import annotations

from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from sudare.privacy.beta_likeness import Likeness
from sudare.privacy.delta_disclosure import LEAST_DELTA
from sudare.tables.policy import Diversity

Way = Literal["generalize", "views", "randomize", "pview"]
WAYS: tuple[Way, ...] = get_args(Way)
GeneralizationMethod = Literal["minimal", "mondrian", "blind", "full-domain", "mdav"]
SUPPRESSING: tuple[GeneralizationMethod, ...] = ("minimal", "blind", "full-domain")
"""Methods that can leave records out."""
Effort = Literal["quick", "normal", "thorough"]
Closeness = Literal["equal", "ordered", "hierarchical"]
MultiViewKind = Literal["distinct", "entropy", "posterior"]
MOST = 10**9


class Chosen(BaseModel):
    """A part of what was chosen."""

    model_config = ConfigDict(extra="ignore")


class Generalizing(Chosen):
    """Coarser values: which requirements, and by which method."""

    k: int | None = Field(default=5, ge=1, le=MOST)
    k_map: int | None = Field(default=None, ge=1, le=MOST)
    population: str | None = None
    """A file of the people among whom k-map and delta-presence are counted."""
    d_max: float | None = Field(default=None, gt=0, le=1)
    d_min: float = Field(default=0.0, ge=0, le=1)
    l: float | None = Field(default=None, ge=1, le=MOST)
    diversity: Diversity = "distinct"
    c: float | None = Field(default=None, gt=0, le=MOST)
    t: float | None = Field(default=None, ge=0, le=1)
    distance: Closeness = "equal"
    beta: float | None = Field(default=None, ge=0, le=MOST)
    likeness: Likeness = "enhanced"
    disclosure: float | None = Field(default=None, ge=LEAST_DELTA, le=700)
    attribute: str | None = None
    harmless: list[str] = []
    within: float | None = Field(default=None, gt=0, le=MOST)
    relative: bool = False
    suppress: float = Field(default=0.0, ge=0, le=1)
    method: GeneralizationMethod = "minimal"
    levels: dict[str, int] | None = None
    """The level of each column, where these were taken from the lattice; the method finds them otherwise."""
    effort: Effort = "quick"
    predict: str | None = None
    """A column of which it is measured how well models still predict it."""

    @property
    def asks_of_values(self) -> bool:
        """Whether something is asked of the values of a sensitive column."""
        return any(one is not None for one in (self.l, self.t, self.beta, self.disclosure))

    @property
    def taken(self) -> dict[str, int] | None:
        """The levels that were taken, by a method that can."""
        return self.levels if self.method == "full-domain" else None

    @property
    def of_blocks(self) -> Generalizing:
        """What is asked of blocks alone, and not of a population."""
        return self.model_copy(update={"k_map": None, "d_max": None})

    @property
    def may_suppress(self) -> float:
        """Which share may be left out, by methods that can."""
        return self.suppress if self.method in SUPPRESSING else 0.0


class Viewing(Chosen):
    """Several views: which columns each of them has."""

    views: dict[str, list[str]] = {}
    l: float = Field(default=3, ge=1, le=MOST)
    kind: MultiViewKind = "distinct"
    attribute: str | None = None


class Randomizing(Chosen):
    """A known law: by k of Pk-anonymity, or by epsilon."""

    promise: Literal["pk", "epsilon"] = "pk"
    k: float = Field(default=5, gt=1, le=MOST)
    epsilon: float = Field(default=2.0, gt=0, le=1000)
    bins: list[str] = []
    """Numbers and dates of which some are missing: no noise can be added to these."""


class Materializing(Chosen):
    """A p-view: its budget."""

    epsilon: float = Field(default=1.0, gt=0, le=1000)
    delta: float = Field(default=0.0, ge=0, lt=1)


class Choice(Chosen):
    """All of it; `way` says which part counts."""

    way: Way = "generalize"
    generalize: Generalizing = Generalizing()
    views: Viewing = Viewing()
    randomize: Randomizing = Randomizing()
    pview: Materializing = Materializing()

    def of_way(self) -> dict[str, Any]:
        """Return what counts, as plain data: what a run rests on."""
        return {"way": self.way, **getattr(self, self.way).model_dump(mode="json")}
