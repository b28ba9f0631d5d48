"""Noise that protects nobody: k = 1 whatever its size, so that it is refused with the theorem that says why.

In all of them some output lies where one person's value can bring it and another's all but cannot. Whoever sees such an
output knows whose it is. (Clipped to bounds afterwards, wide noise has a k again; as a matrix, it is counted like any
other.) See "Noise that protects nobody" in docs/concepts.md.
"""

from __future__ import annotations

from sudare.errors import RequirementError
from sudare.randomization.channel import Channel

INSTEAD = "Use Laplace noise (how='noise'), whose k is chosen, or bins."
NORMAL = (
    "Normal noise gives Pk-anonymity with k = 1 only, that is none, however large it is (Theorem 5.3): the farther out a "
    f"published number lies, the surer it comes from the nearer of two people, without end. {INSTEAD}"
)
BOUNDED = (
    "Noise that ends somewhere gives Pk-anonymity with k = 1 only, that is none, however wide it is (Theorem 5.2): a published "
    f"number near the end of its reach can come from one person and not from another. {INSTEAD}"
)
REFUSED = {
    **dict.fromkeys(("normal", "gaussian"), NORMAL),
    **dict.fromkeys(("uniform", "triangular", "rounding", "bounded"), BOUNDED),
}


def refuse_noise(word: object) -> None:
    """Raise a RequirementError for noise of a kind that gives k = 1."""
    if isinstance(word, str) and word in REFUSED:
        raise RequirementError(REFUSED[word])


def refuse_bounded(name: str, channel: Channel) -> None:
    """Raise a RequirementError if some output can come from one value and cannot from another."""
    if channel.spread == float("inf"):
        raise RequirementError(
            f"The matrix of '{name}' gives Pk-anonymity with k = 1 only, that is none: some of its outputs can come from one value and not from "
            "another, and tell them apart for certain. Noise that ends somewhere is of this kind (Theorem 5.2). Give every "
            "output that is possible for one value a probability above 0 for all."
        )
