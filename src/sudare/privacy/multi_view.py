"""Multi-view l-diversity: nobody's sensitive value can be told from all views of a table together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.errors import ParameterError, RequirementError
from sudare.privacy import _kernels, _views
from sudare.privacy.requirement import Measure, attribute_name, number, one_of, settled, whole_number
from sudare.tables.typed import typed

Kind = Literal["distinct", "entropy", "posterior"]
KINDS = ("distinct", "entropy", "posterior")

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Need(NamedTuple):
    """What everybody must keep, for compiled loops."""

    l: int
    """So many values."""
    entropy: float
    """So much entropy of the posterior."""
    largest: float
    """No value may be likelier."""
    by_counts: bool
    """Whether the posterior matters at all."""
    totals: Ints
    """How many records of the whole table have each value."""


@dataclass(frozen=True, eq=False)
class RemainingValues:
    """What all views together leave to everybody: which values, and how likely each is.

    A person is any group of records that are in the same blocks, `weights` says of how many.
    """

    sets: NDArray[np.uint64]
    """Which values each person may have, as far as the views tell, one bit each."""
    weighed: Floats
    """What the views make each value weigh."""
    candidates: Ints
    """How many values each person may have."""
    posterior: Floats
    """The probability of the likeliest value of each person."""
    entropy: Floats
    """The entropy of each person's posterior."""
    weights: Ints

    @classmethod
    def of(
        cls,
        block_of: Sequence[Ints],
        sensitive: NDArray[np.integer],
        weights: Ints,
        fixed: NDArray[np.uint64] | None = None,
        shares: Floats | None = None,
    ) -> RemainingValues:
        """Intersect the values of everybody's blocks, and multiply their shares. Block -1: the view leaves somebody out.

        A block in which n(s) of the N(s) records of value s are makes that value n(s) / N(s) times as likely: the
        posterior of s is proportional to N(s) times the product of these shares over all views. `fixed` and `shares`
        are what earlier releases leave: the values, one bit each, and the products of their shares.

        >>> remaining = RemainingValues.of([np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])], np.array([0, 1, 0, 1]), np.ones(4, int))
        >>> remaining.candidates.tolist(), remaining.posterior.tolist()
        ([1, 2, 2, 2], [1.0, 0.6666666666666666, 0.6666666666666666, 0.6666666666666666])
        """
        sensitive = np.array(
            sensitive, dtype=np.int64
        )  # one type and layout, for which alone kernels are compiled
        totals = np.bincount(sensitive, weights).astype(np.int64)
        words = -(-len(totals) // 64)
        everybody = np.zeros(len(sensitive), dtype=np.int64)
        left = np.repeat(_views.block_sets(everybody, sensitive, 1, words), len(sensitive), axis=0)
        if fixed is not None:
            left &= fixed[:, :words]
        weighed = np.ones((len(sensitive), len(totals)))
        if shares is not None and shares.size:
            weighed *= shares[:, : len(totals)]
        for given in block_of:
            blocks = np.array(given, dtype=np.int64)
            number_of = int(blocks.max()) + 1
            _views.keep_common(left, _views.block_sets(blocks, sensitive, number_of, words), blocks)
            inside = blocks >= 0
            counts = np.bincount(
                (blocks * len(totals) + sensitive)[inside], weights[inside], minlength=number_of * len(totals)
            ).reshape(number_of, len(totals))
            _views.weigh(weighed, counts, blocks, np.maximum(totals, 1))
        largest, entropy = np.empty(len(sensitive)), np.empty(len(sensitive))
        _views.posteriors(weighed, totals, largest, entropy)
        return cls(left, weighed, _views.set_sizes(left), largest, entropy, weights)

    def besides(self, codes: Ints, totals: Ints) -> RemainingValues:
        """Return what is left of other values than some, and how likely each of them is if it is none of these.

        Who is left with these alone is not among the persons any more. `totals` are the records of the table with each value.
        """
        allowed = np.full(self.sets.shape[1], np.iinfo(np.uint64).max, dtype=np.uint64)
        for code in codes.tolist():
            allowed[code >> 6] &= ~(np.uint64(1) << np.uint64(code & 63))
        left = self.sets & allowed
        some = _views.set_sizes(left) > 0
        left, weighed = left[some], self.weighed[some]
        weighed[:, codes] = 0
        largest, entropy = np.empty(len(left)), np.empty(len(left))
        _views.posteriors(weighed, totals, largest, entropy)
        return RemainingValues(left, weighed, _views.set_sizes(left), largest, entropy, self.weights[some])

    def distribution(self) -> dict[int, int]:
        """Return how many persons may have how many values."""
        sizes = np.bincount(self.candidates, self.weights).astype(np.int64)
        return {int(size): int(sizes[size]) for size in np.flatnonzero(sizes)}


@typed
@dataclass(frozen=True)
class MultiViewDiversity:
    """Whoever looks a person up in every view, and combines what they find, is left with enough sensitive values.

    - distinct: at least l values occur in all of the person's blocks (Takenouchi, Furukawa & Miyakawa);
    - entropy: weighed by how often they occur, their entropy is at least log l;
    - posterior: weighed so, none of them has a probability above 1/l.

    Of several sensitive attributes, `attribute` names the one that is meant. What is measured is the largest l that
    everybody has.

    >>> ages, heights = np.array([0, 0, 0, 1, 1, 2, 2]), np.array([2, 2, 1, 0, 2, 1, 0])
    >>> illness = np.array([0, 1, 0, 2, 1, 2, 0])
    >>> seen = RemainingValues.of([ages, heights], illness, np.ones(7, int))
    >>> MultiViewDiversity(2).measure(seen)    # the fourth is given away, though each view has 2 values in every block
    Measure(name='l_multiview', value=1, holds=False, worst=2)
    """

    l: float
    kind: Kind = "distinct"
    attribute: str | None = None
    needs_sensitive: ClassVar[bool] = True

    def __post_init__(self) -> None:
        one_of(self.kind, "kind", "MultiViewDiversity", KINDS)
        attribute_name(self.attribute, "MultiViewDiversity")
        if self.kind == "distinct":
            whole_number(self.l, "l", "MultiViewDiversity", least=1)
        else:
            number(self.l, "l", "MultiViewDiversity", "a number of 1 or more", low=1)

    @property
    def name(self) -> str:
        """The name under which the measured value is certified."""
        return "l_multiview" if self.kind == "distinct" else f"l_multiview_{self.kind}"

    def measure(self, seen: RemainingValues) -> Measure:
        """Return the largest l that everybody has."""
        if self.kind == "distinct":
            worst = int(seen.candidates.argmin())
            least = int(seen.candidates[worst])
            return Measure(self.name, least, least >= self.l, worst)
        worst = int(seen.entropy.argmin() if self.kind == "entropy" else seen.posterior.argmax())
        if self.kind == "entropy":
            entropy = float(seen.entropy[worst])
            holds = entropy >= math.log(self.l) - _kernels.TOLERANCE
            return Measure(self.name, settled(math.exp(entropy)), holds, worst)
        largest = float(seen.posterior[worst])
        holds = largest <= 1 / self.l + _kernels.TOLERANCE
        return Measure(self.name, settled(1 / largest), holds, worst)

    def need(self, totals: Ints) -> Need:
        """Return what everybody must keep, given how many records have each value."""
        return Need(
            l=int(self.l) if self.kind == "distinct" else 1,
            entropy=math.log(self.l) if self.kind == "entropy" else 0.0,
            largest=1 / self.l if self.kind == "posterior" else 1.0,
            by_counts=self.kind != "distinct",
            totals=np.maximum(totals, 1),
        )

    def refuse_if_impossible(self, totals: Ints, sensitive: str) -> None:
        """Raise a RequirementError if not even one block for everybody would do."""
        everybody = np.zeros(len(totals), dtype=np.int64)
        present = np.flatnonzero(totals)
        seen = RemainingValues.of([everybody[present]], present, totals[present])
        measured = self.measure(seen)
        if not measured.holds:
            reason = {
                "distinct": f"the table has only {measured.value:,} distinct "
                f"{'value' if measured.value == 1 else 'values'} of '{sensitive}'",
                "entropy": f"the table's own entropy is log {math.floor(100 * measured.value) / 100:g}",
                "posterior": f"{seen.posterior.max():.1%} of the records have the most frequent value of '{sensitive}'",
            }[self.kind]
            raise RequirementError(f"{self} is impossible: {reason}. Ask for less.")

    def __str__(self) -> str:
        l = int(self.l) if float(self.l).is_integer() else self.l
        words = {
            "distinct": f"multi-view {l}-diversity",
            "entropy": f"multi-view entropy {l}-diversity",
            "posterior": f"multi-view {l}-diversity of the posterior",
        }[self.kind]
        return words if self.attribute is None else f"{words} of '{self.attribute}'"


def refuse_other_requirements(requirement: object) -> MultiViewDiversity:
    """Return the requirement if it speaks of several views, or say which one does."""
    if not isinstance(requirement, MultiViewDiversity):
        raise ParameterError(
            f"Several views need MultiViewDiversity, such as MultiViewDiversity(4). Got {requirement} instead."
        )
    return requirement
