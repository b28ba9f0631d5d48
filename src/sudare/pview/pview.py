"""The p-view: what analysts ask, and what its holder writes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from sudare.errors import InputError
from sudare.privacy.certificate import Certificate
from sudare.privacy.requirement import whole_number
from sudare.pview.boxes import Boxes
from sudare.pview.domain import Domain
from sudare.pview.saved import Layout
from sudare.pview.spending import Spending
from sudare.tables.notebook import Listing, Shown, written
from sudare.tables.typed import own_words, typed
from sudare.utility.intervals import REACH

MAX_BOXES = 512  # into which a query is taken apart for its error
MAX_ERRORS = 2**18  # of boxes, for all rows of an answer

Floats = NDArray[np.float64]
Codes = NDArray[Any]


class Model(Protocol):
    """What a method learned, and every p-view counts with."""

    @property
    def kind(self) -> str:
        """Under which name it is saved."""

    def counts(self, low: Codes, high: Codes) -> Floats:
        """Return how many records lie in each of some boxes of cells, both ends included."""

    def errors(self, low: Codes, high: Codes) -> Floats:
        """Return the standard errors of these counts."""

    def table(self, axes: Sequence[int], weights: Mapping[int, Floats]) -> Floats:
        """Count by all cells of some axes, where the cells of any axes weigh as much as is given."""

    def sample(self, n: int, rng: np.random.Generator) -> Codes:
        """Draw the cells of so many records."""

    @property
    def boxes(self) -> Boxes | None:
        """The weighted boxes or points that it counts with; None if it has none."""

    def frame(self) -> pl.DataFrame:
        """Return it as columns, for a file."""

    def extras(self) -> dict[str, Any]:
        """Return as plain data what is not in the columns."""

    @classmethod
    def layouts(cls, sizes: tuple[int, ...]) -> list[Layout]:
        """Return which columns and how many rows such a file may have, over axes of these sizes."""

    @classmethod
    def from_frame(cls, frame: pl.DataFrame, sizes: tuple[int, ...], extras: Mapping[str, Any]) -> Self:
        """Take it from such columns and extras, over axes of these sizes. This must be fast: the order is kept."""


class HeldBack(Protocol):
    """What stays with the holder, as it tells about the original. It is never saved with a p-view."""

    @property
    def design(self) -> Any:
        """What was decided without the data, as a `PViewDesign`."""

    def record(self, pview: PView) -> dict[str, Any]:
        """Make the holder's record."""

    def write(self, pview: PView, folder: Path, *, force: bool, ledger: Any, receiver: str | None) -> None:
        """Write what is handed over and what is kept into a new folder."""


@dataclass(frozen=True)
class Answer:
    """A count, and an interval that covers the true one in 95 of 100 answers."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:,.0f} (95%: {self.low:,.0f} to {self.high:,.0f})"


@typed
@dataclass(frozen=True, eq=False, repr=False)
class PView(Shown):
    """A differentially private stand-in for a table. Whatever is asked of it costs no further budget.

    >>> import sudare as sd
    >>> table = sd.read(sd.datasets.health_survey(2000).select("age", "sex"), sd.Schema.from_roles(
    ...     quasi=["age", "sex"], bounds={"age": (18, 95)}, domains={"sex": ["Female", "Male"]}))
    >>> pview = sd.materialize(table, sd.DifferentialPrivacy(1.0), unsafe_seed=1)
    >>> answer = pview.count(age=(20, 39), sex="Female")
    >>> answer.low < 350 < answer.high, pview.holder["records"]
    (True, {'read': 2000})
    """

    domain: Domain
    model: Model = field(repr=False)
    facts: dict[str, Any] = field(default_factory=dict, repr=False)
    """What it promises (`certificate`), and on what the budget was spent (`budget`), as plain data; of one that was
    combined, also those of its `parts`."""
    kept: HeldBack | None = field(default=None, repr=False)
    """What stays with its holder; one that was opened has it only from the holder's own folder."""

    @property
    def total(self) -> float:
        """How many records there are, as far as the p-view tells."""
        return float(self.model.table([], {}))

    @property
    def spending(self) -> Spending:
        """What the budget was spent on, exactly."""
        return Spending.from_json(self.facts.get("budget"))

    @cached_property
    def certificate(self) -> Certificate:
        """What is promised. It goes with the p-view wherever that goes; `sd.verify` holds the files against it."""
        if "certificate" not in self.facts:
            raise InputError("This p-view has no certificate: it was not made by `materialize`.")
        return Certificate.from_json(self.facts["certificate"])

    # -- For the holder ----------------------------------------------------------------------------

    @property
    def design(self) -> Any:
        """What was decided without the data, as a `PViewDesign`: a plan for p-views of other rows.

        It is in `keep/`: one that was opened has it if the holder's folder was given, and not what was handed over of it.
        """
        return self._kept.design

    @cached_property
    def holder(self) -> dict[str, Any]:
        """The holder's record: what only the holder may know. It is made when it is first asked for, and is in `keep/`."""
        return self._kept.record(self)

    def write(
        self, path: str | Path, *, force: bool = False, ledger: Any = None, receiver: str | None = None
    ) -> Path:
        """Write the p-view into a new folder, whole or not at all: `hand-over` for the receiver, `keep` for you.

        A p-view costs its budget once, when it is materialized, however often it is written or asked. If the ledger
        was charged then, writing only records the folder and who gets it. If it was not, it is charged now, and if the
        budget does not allow that, nothing is written; but what was measured was measured, and what you have seen of
        it is spent: let `materialize` charge the ledger, which then refuses before anything is measured. The very same
        p-view for another receiver, or for all, costs nothing more, but the ledger knows who has it. Without a receiver,
        it is who it was materialized for. A folder of a release is replaced only with `force`.
        """
        self._kept.write(self, Path(path), force=force, ledger=ledger, receiver=receiver)
        return Path(path)

    def _line(self) -> str:
        names = ", ".join(self.domain.names)
        promised = self.facts.get("certificate", {}).get("requirements", [])
        return f"{', '.join(map(str, promised)) or 'no certificate'}; {names}"

    def _listings(self) -> Iterable[Listing]:
        """Return what is handed over: all of it was measured with noise, or declared."""
        yield Listing.of_facts({"records, with noise": self.total})
        if "budget" in self.facts:
            budget = self.spending
            spent = [(share, float(share.amount)) for share in budget.shares]
            title = f"{budget.unit} of {written(float(budget.whole))}, spent on"
            yield Listing(title, ("what", "amount"), spent)
        yield self.domain.listing()

    @property
    def _kept(self) -> HeldBack:
        if self.kept is None:
            raise InputError(
                "This p-view has only what is handed over, since it was copied, combined, or opened without its `keep` folder. "
                "The holder's record and the design are there, and with the p-view that was materialized."
            )
        return self.kept

    def __getstate__(self) -> dict[str, Any]:
        """Leave behind what the holder keeps: a pickled p-view may go wherever a saved one may."""
        return {"domain": self.domain, "model": self.model, "facts": self.facts, "kept": None}

    # -- Counting ----------------------------------------------------------------------------------

    def count(self, **conditions: Any) -> Answer:
        """Count the records with some values: one value, a list of them, or a pair (low, high), both included."""
        return self.where(conditions)

    def where(self, conditions: Mapping[str, Any]) -> Answer:
        """Count as `count` does, for attributes whose names are no Python names."""
        weights = {self.domain.place(name): self._wanted(name, given) for name, given in conditions.items()}
        return self._answer(float(self.model.table([], weights)), self._error(weights))

    def counts(self, low: ArrayLike, high: ArrayLike) -> Floats:
        """Return the counts of many boxes: coded bounds, both included, one row per query and one column per attribute."""
        return self.model.counts(*self.domain.boxes(low, high))

    def errors(self, low: ArrayLike, high: ArrayLike) -> Floats:
        """Return the standard errors of these counts; twice as much to either side is about a 95% interval."""
        return self.model.errors(*self.domain.boxes(low, high))

    def marginal(self, names: str | Sequence[str]) -> pl.DataFrame:
        """Count by all combinations of the values of some attributes."""
        if not isinstance(names, str | Sequence):
            raise InputError(f"A marginal needs the names of attributes. Got {names!r} instead.")
        chosen = [names] if isinstance(names, str) else list(names)
        axes = [self.domain.place(name) for name in chosen]
        if not axes or len(set(axes)) < len(axes):
            raise InputError("A marginal needs one attribute or several different ones.")
        counts = self.model.table(axes, {})
        places = np.unravel_index(np.arange(counts.size), counts.shape)
        columns = [
            pl.Series(name, self.domain.axes[axis].labels()).gather(place)
            for name, axis, place in zip(chosen, axes, places, strict=True)
        ]
        return pl.DataFrame([*columns, pl.Series("count", counts.ravel())])

    def sql(self, query: str) -> pl.DataFrame:
        """Answer a SELECT with COUNT(*) FROM view, with WHERE, GROUP BY, HAVING, ORDER BY and LIMIT."""
        from sudare.pview.sql import answer  # sqlglot takes long to load

        return answer(self, query)

    def _wanted(self, name: str, condition: Any) -> Floats:
        return self.domain.axes[self.domain.place(name)].wanted(condition)

    def _answer(self, value: float, error: float) -> Answer:
        return Answer(max(value, 0.0), max(value - REACH * error, 0.0), max(value + REACH * error, 0.0))

    def _error(self, weights: Mapping[int, Floats]) -> float:
        return float(self.cell_errors([weights], [], np.zeros((1, 0), np.int32))[0])

    def cell_errors(self, parts: Sequence[Mapping[int, Floats]], axes: Sequence[int], cells: Codes) -> Floats:
        """Return the standard errors of counts in some cells of some axes (one row each), added up over disjoint parts.

        A count has the error of the boxes it is made of, as if each erred on its own. Of bins that are asked for in part
        nobody knows where in them the records are: that is left to chance, and density may rise evenly from nothing.
        """
        variances = np.zeros(len(cells))
        most = min(MAX_BOXES, MAX_ERRORS // max(len(cells), 1) + 1)
        for weights in parts:
            others = {axis: own for axis, own in weights.items() if axis not in axes}
            low, high, share = _boxes_of(others, self.domain.sizes, most)
            lows, highs = (np.repeat(ends[None], len(cells), axis=0) for ends in (low, high))
            lows[:, :, axes] = highs[:, :, axes] = cells[:, None, :]
            shape = (-1, len(self.domain.sizes))
            errors = self.model.errors(lows.reshape(shape), highs.reshape(shape)).reshape(lows.shape[:2])
            if (share < 1).any():
                held = self.model.counts(lows.reshape(shape), highs.reshape(shape)).reshape(lows.shape[:2])
                cut = share * (1 - share) * np.maximum(held, 0.0)
                errors = np.sqrt(errors**2 + (cut + cut**2) / share**2)
            within = [weights[axis][cells[:, i]] for i, axis in enumerate(axes) if axis in weights]
            variances += ((errors * share) ** 2).sum(axis=1) * np.prod(within, axis=0) ** 2
        return np.sqrt(variances)

    # -- Rows and files ----------------------------------------------------------------------------

    @own_words("n", "seed")
    def sample(self, n: int, *, seed: int | None = None) -> pl.DataFrame:
        """Draw synthetic rows in the table's own types: as many as wanted, at no cost."""
        whole_number(n, "n", "sample", least=0)
        if seed is not None:
            whole_number(seed, "seed", "sample", least=0, most=2**128)
        rng = np.random.default_rng(seed)  # it draws from what is public, and protects nobody
        return self.domain.decode(self.model.sample(n, rng), rng)

    def save(self, path: str | Path, *, force: bool = False) -> Path:
        """Write what may be handed over into a new folder, whole or not at all: a Parquet file and a manifest."""
        from sudare.pview.files import save

        return save(self, Path(path), force=force)

    @classmethod
    def open(cls, path: str | Path) -> PView:
        """Open a p-view that was saved or written: its folder, or what was handed over of it."""
        from sudare.pview.files import open_pview

        return open_pview(Path(path))


def _boxes_of(weights: Mapping[int, Floats], sizes: Sequence[int], most: int) -> tuple[Codes, Codes, Floats]:
    """Take a product of weighed cells apart into boxes of equal weight; if there are too many, take the box around them."""
    runs = {axis: _runs(cells) for axis, cells in weights.items()}
    if any(not own for own in runs.values()):
        return np.empty((0, len(sizes)), np.int32), np.empty((0, len(sizes)), np.int32), np.empty(0)
    if np.prod([len(own) for own in runs.values()], dtype=float) > most:
        runs = {
            axis: [(own[0][0], own[-1][1], max(share for *_, share in own))] for axis, own in runs.items()
        }
    low, high, share = [np.zeros(len(sizes), np.int32)], [np.array(sizes, np.int32) - 1], [1.0]
    for axis, own in runs.items():
        several = [(i, run) for i in range(len(low)) for run in own]
        low, high, share = (
            [_with(low[i], axis, run[0]) for i, run in several],
            [_with(high[i], axis, run[1]) for i, run in several],
            [share[i] * run[2] for i, run in several],
        )
    return np.array(low), np.array(high), np.array(share)


def _with(ends: Codes, axis: int, value: int) -> Codes:
    changed = ends.copy()
    changed[axis] = value
    return changed


def _runs(cells: Floats) -> list[tuple[int, int, float]]:
    """Return the runs of neighbouring cells of equal weight above 0: first, last, weight."""
    starts = np.flatnonzero(np.diff(cells, prepend=np.nan) != 0)
    stops = np.append(starts[1:], len(cells)) - 1
    return [(int(a), int(b), float(cells[a])) for a, b in zip(starts, stops, strict=True) if cells[a] > 0]
