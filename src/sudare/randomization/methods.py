"""The methods by which attributes are randomized: what `how` of `randomize` may say of each.

The word in a method's `name` is short for the method with its defaults: `how={"age": "noise"}` says the same as
`how={"age": Noise()}`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from numpy.typing import ArrayLike

from sudare.errors import ParameterError
from sudare.privacy.requirement import number, one_of, refused
from sudare.randomization.distances import Distance

How = Literal["retain", "noise", "bins", "bits", "matrix", "optimal"]
"""The kind of a law, as it is published."""
After = Literal["clip", "reflect"]
"""What is done with noise that leaves the bounds."""
Histogram = Literal["private-estimate", "true-histogram"]
"""From what an optimal PRAM is made, if no public histogram is given."""

Loss = Literal["published", "record", "reconstruction", "worst case"]
"""What an optimal matrix is best for."""
LOSSES: tuple[Loss, ...] = ("published", "record", "reconstruction", "worst case")


@dataclass(frozen=True)
class Retain:
    """Every value is kept with one probability, and else replaced by any of the others, all alike (PRAM)."""

    name: ClassVar[How] = "retain"


@dataclass(frozen=True)
class Bins:
    """As `Retain`, after values are put into bins: the first level of the hierarchy, or ten between the bounds."""

    name: ClassVar[How] = "bins"


@dataclass(frozen=True)
class Bits:
    """The points of a grid between the bounds are numbered, and each bit of the number is flipped on its own."""

    name: ClassVar[How] = "bits"


@dataclass(frozen=True)
class Noise:
    """Laplace noise is added to a number or date, on a grid between its declared bounds.

    >>> Noise(after="wrap")
    Traceback (most recent call last):
    sudare.errors.ParameterError: The 'after' parameter of Noise must be one of 'clip', 'reflect'. Got 'wrap' instead.
    """

    after: After = "clip"
    """What leaves the bounds is clipped to the nearer one, or reflected back inside."""
    name: ClassVar[How] = "noise"

    def __post_init__(self) -> None:
        one_of(self.after, "after", "Noise", ("clip", "reflect"))


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


RandomizationMethod = Retain | Bins | Bits | Noise | Optimal | Matrix
METHODS = (Retain, Noise, Bins, Bits, Matrix, Optimal)
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
    {'age': Noise(after='reflect')}
    """
    by_word: dict[str, RandomizationMethod] = {
        "retain": Retain(),
        "bins": Bins(),
        "bits": Bits(),
        "noise": noise,
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
        one_of(chosen, f"how['{name}']", "randomize", HOWS)
        if chosen == "matrix" and name not in matrices:
            raise ParameterError(
                f"how['{name}'] is 'matrix', but no matrix of it is given: matrices={{'{name}': ...}}."
            )
        if chosen == "matrix":
            methods[name] = Matrix(matrices[name])
        elif chosen == "optimal":
            methods[name] = replace(optimal, prior=priors.get(name))
        else:
            methods[name] = by_word[chosen]
    return methods
