"""The methods by which attributes are randomized: what `how` of `randomize` may say of each.

The word in a method's `name` is short for the method with its defaults: `how={"age": "noise"}` says the same as
`how={"age": Noise()}`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, TypeGuard

import numpy as np
from numpy.typing import ArrayLike

from sudare.errors import ParameterError
from sudare.plans.polytopes import Face
from sudare.privacy.requirement import number, one_of, refused
from sudare.randomization.areas import faces_of
from sudare.randomization.distances import Distance
from sudare.randomization.refusals import refuse_noise
from sudare.tables.typed import typed

How = Literal["retain", "noise", "factor", "area", "bins", "bits", "matrix", "optimal"]
"""The kind of a law, as it is published."""
After = Literal["clip", "reflect"]
"""What is done with noise that leaves the bounds."""
Histogram = Literal["private-estimate", "true-histogram"]
"""From what an optimal PRAM is made, if no public histogram is given."""

Loss = Literal["published", "record", "reconstruction", "worst case"]
"""What an optimal matrix is best for."""
MAX_COORDINATE = 1e100
"""Of an area: their products are still numbers."""
LOSSES: tuple[Loss, ...] = ("published", "record", "reconstruction", "worst case")


@dataclass(frozen=True)
class Retain:
    """Every value is kept with one probability, and else replaced by any of the others, all alike (PRAM)."""

    name: ClassVar[How] = "retain"


@dataclass(frozen=True)
class Bins:
    """As `Retain`, after values are put into bins: the first level of the hierarchy, or between the bounds ten, or as many as the schema says."""

    name: ClassVar[How] = "bins"


@typed
@dataclass(frozen=True)
class Bits:
    """The points of a grid between the bounds are numbered, and each bit of the number is flipped on its own."""

    precision: float | None = None
    """How far two points are apart; else whole numbers and days are taken one by one, and other numbers on 2^16 points."""
    name: ClassVar[How] = "bits"

    def __post_init__(self) -> None:
        if self.precision is not None:
            number(self.precision, "precision", "Bits", "a number above 0", low=math.ulp(0.0))


@typed
@dataclass(frozen=True)
class Noise:
    """Laplace noise is added to a number or date, on a grid between its declared bounds.

    >>> Noise(after="wrap")
    Traceback (most recent call last):
    sudare.errors.ParameterError: The 'after' parameter of Noise must be one of 'clip', 'reflect'. Got 'wrap' instead.
    """

    after: After = "clip"
    """What leaves the bounds is clipped to the nearer one, or reflected back inside."""
    distribution: Literal["laplace"] = "laplace"
    """What the noise is drawn from. Others that are known are refused, with the reason."""
    name: ClassVar[How] = "noise"

    def __post_init__(self) -> None:
        one_of(self.after, "after", "Noise", ("clip", "reflect"))
        refuse_noise(self.distribution)
        one_of(self.distribution, "distribution", "Noise", ("laplace",))


@typed
@dataclass(frozen=True)
class Factor:
    """A positive number is multiplied by a random factor: Laplace noise is added to its logarithm, between those of its bounds.

    For bounds a and b, and a scale s of the noise on natural logarithms, k = 1 + (N - 1) (a / b)^(2 / s): Theorem 6.1 for an
    attribute of the width ln(b / a). What is small moves little, and what is large much.
    """

    after: After = "clip"
    """What leaves the bounds is clipped to the nearer one, or reflected back inside."""
    name: ClassVar[How] = "factor"

    def __post_init__(self) -> None:
        one_of(self.after, "after", "Factor", ("clip", "reflect"))


@typed
@dataclass(frozen=True)
class Area:
    """Laplace noise is added to several numbers together, which lie in an area: to longitude and latitude in a city, say.

    Two points of a city are nearer than two corners of the box around it, so that the noise is smaller. It is for a group:
    `joint={"where": ["lon", "lat"]}, how={"where": Area(polygon=[...])}`.

    >>> Area(polygon=[(0, 0), (2, 0), (0, 2)]).faces[-1]
    (2.0, 2.0, 4.0)
    """

    polygon: Sequence[Sequence[float]] | None = None
    """The corners of a polygon around all points, in any order; of two numbers only."""
    inequalities: Sequence[Sequence[float]] | None = None
    """Or (a_1, ..., a_n, b) for each: a_1 x_1 + ... + a_n x_n is b at most, in the order of the group."""
    name: ClassVar[How] = "area"

    def __post_init__(self) -> None:
        if (self.polygon is None) == (self.inequalities is None):
            raise ParameterError("Area needs either a polygon or inequalities.")
        name = "polygon" if self.polygon is not None else "inequalities"
        form = f"made of lists of numbers from {-MAX_COORDINATE:g} to {MAX_COORDINATE:g}"
        given = self.inequalities if self.polygon is None else self.polygon
        if not _is_list(given) or not all(map(_is_list, given)):
            raise refused(given, name, "Area", form)
        for numbers in given:
            for one in numbers:
                number(one, name, "Area", form, low=-MAX_COORDINATE, high=MAX_COORDINATE)
        if self.polygon is not None and any(len(corner) != 2 for corner in self.polygon):
            raise ParameterError("The 'polygon' parameter of Area must be made of pairs of numbers.")
        _ = self.faces

    @property
    def faces(self) -> list[Face]:
        """The inequalities."""
        if self.polygon is not None:
            return faces_of(self.polygon)
        return [tuple(float(one) for one in face) for face in self.inequalities or ()]


def _is_list(given: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(given, Sequence | np.ndarray) and not isinstance(given, str)


@dataclass(frozen=True, eq=False)
class Optimal:
    """The matrix that is best for a histogram and a loss.

    >>> Optimal(estimate_share=2)
    Traceback (most recent call last):
    sudare.errors.ParameterError: The 'estimate_share' parameter of Optimal must be a share between 0 and 1. Got 2 instead.
    """

    prior: ArrayLike | None = None
    """A public histogram to make it for: a count for each value, in their order."""
    histogram: Histogram = "private-estimate"
    """Without one: what it is made for. An estimate is paid for with the attribute's budget; the true histogram is told."""
    loss: Loss = "published"
    """What is to be small. "published": how far the expected histogram is off, with a probability to be kept for each value, and
    else any other value, all alike. The others are of `sd.pram.optimal`, and take any matrix."""
    distance: Distance | ArrayLike = "exact"
    """What a change costs, for the losses "record" and "worst case"."""
    within: ArrayLike | None = None
    """For the loss "worst case" and a public or true histogram: by how much its counts may be off; None: by anything."""
    estimate_share: float | None = None
    """Which share of the budget an estimate takes; None: as `derived_share` says."""
    name: ClassVar[How] = "optimal"

    def __post_init__(self) -> None:
        one_of(self.histogram, "histogram", "Optimal", ("private-estimate", "true-histogram"))
        one_of(self.loss, "loss", "Optimal", LOSSES)
        if self.estimate_share is not None:
            what = "a share between 0 and 1"
            number(self.estimate_share, "estimate_share", "Optimal", what, low=0, high=1)
            if self.estimate_share in (0, 1):
                raise refused(self.estimate_share, "estimate_share", "Optimal", what)


@dataclass(frozen=True, eq=False)
class Matrix:
    """Values are replaced by a transition matrix of your own."""

    probabilities: ArrayLike
    """One column for each input, which sums to 1."""
    name: ClassVar[How] = "matrix"


RandomizationMethod = Retain | Bins | Bits | Noise | Factor | Area | Optimal | Matrix
METHODS = (Retain, Noise, Factor, Area, Bins, Bits, Matrix, Optimal)
HOWS: tuple[How, ...] = tuple(method.name for method in METHODS)


def methods_of(
    how: Mapping[str, How | RandomizationMethod],
    *,
    noise: Noise,
    optimal: Optimal,
    priors: Mapping[str, ArrayLike],
    matrices: Mapping[str, ArrayLike],
) -> dict[str, RandomizationMethod]:
    """Return the method of every attribute, or group, that one is chosen for: by an object, a word, a prior or a matrix.

    >>> methods_of({"age": "noise"}, noise=Noise("reflect"), optimal=Optimal(), priors={}, matrices={})
    {'age': Noise(after='reflect', distribution='laplace')}
    """
    by_word: dict[str, RandomizationMethod] = {
        "retain": Retain(),
        "bins": Bins(),
        "bits": Bits(),
        "noise": noise,
        "factor": Factor(noise.after),
    }
    methods: dict[str, RandomizationMethod] = {}
    for name in dict.fromkeys((*how, *priors, *matrices)):
        chosen = "matrix" if name in matrices else how.get(name, "optimal")
        if name in priors and chosen != "optimal":
            raise ParameterError(
                f"A prior of '{name}' is given, but not used: how['{name}'] must be 'optimal'."
            )
        if isinstance(chosen, METHODS):
            methods[name] = chosen
            continue
        refuse_noise(chosen)
        one_of(chosen, f"how['{name}']", "randomize", HOWS)
        if chosen == "matrix" and name not in matrices:
            raise ParameterError(
                f"how['{name}'] is 'matrix', but no matrix of it is given: matrices={{'{name}': ...}}."
            )
        if chosen == "matrix":
            methods[name] = Matrix(matrices[name])
        elif chosen == "area":
            raise ParameterError(
                f"how['{name}'] is 'area', but which is not said: how={{'{name}': Area(polygon=...)}}."
            )
        elif chosen == "optimal":
            methods[name] = replace(optimal, prior=priors.get(name))
        else:
            methods[name] = by_word[chosen]
    return methods
