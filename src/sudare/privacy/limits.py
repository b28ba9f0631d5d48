"""Limits: requirements on one sensitive attribute as plain numbers, for compiled loops."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.errors import ParameterError
from sudare.privacy._kernels import block_meets
from sudare.privacy.allowed import together
from sudare.privacy.beta_likeness import BetaLikeness
from sudare.privacy.blocks import Blocks
from sudare.privacy.delta_disclosure import DeltaDisclosure
from sudare.privacy.k_anonymity import KAnonymity
from sudare.privacy.l_diversity import LDiversity
from sudare.privacy.requirement import BlockRequirement
from sudare.privacy.t_closeness import DISTANCES, TCloseness
from sudare.privacy.tree import numbered_tree
from sudare.tables.text import listed

__all__ = ["ByTable", "Limits", "block_meets"]

ByTable = TCloseness | BetaLikeness | DeltaDisclosure
"""Requirements that compare blocks with the whole table."""


class Limits(NamedTuple):
    """What a block must meet. `block_meets(histogram, size, limits)` tells Python; compiled loops ask `_kernels.meets`.

    The histogram counts the records of the block by sensitive code; it may be empty if only k is asked.

    >>> import polars as pl, sudare as sd
    >>> blocks = Blocks.of(sd.read(pl.DataFrame({"illness": [0, 0, 1, 2]})).counts(["illness"]), "illness")
    >>> limits = Limits.of([KAnonymity(3), LDiversity(2)], blocks)
    >>> block_meets(np.array([2, 1, 0]), 3, limits), block_meets(np.array([3, 0, 0]), 3, limits)
    (True, False)
    """

    k: int
    distinct: int
    """How many sensitive values a block must have, the harmless ones not counted; 0 and 1 ask for nothing."""
    more: bool
    """Whether one of the following limits asks for something."""
    harmless: NDArray[np.int64]
    """The codes of the values that may be known: all that is asked of diversity is asked of the other records alone."""
    log_l: float
    """The least entropy; 0 asks for nothing."""
    recursive: NDArray[np.float64]
    """The recursive (c, l), one in each row, that must all hold: of two pairs, neither need be the stricter one."""
    near: NDArray[np.float64]
    windows: NDArray[np.int64]
    """The l of each proximity l-diversity that must hold, and its windows (`values.windows`): none has more than 1/l of the records."""
    t: tuple[float, float, float]
    """The largest distance of each kind (equal, ordered, hierarchical); 1 asks for nothing."""
    shares: NDArray[np.float64]
    tree: NDArray[np.int64]
    allowed: NDArray[np.float64]
    """The least and the largest share of a block that each value may have (`allowed.together`); empty if nothing is asked."""

    @classmethod
    def of(cls, requirements: Sequence[BlockRequirement], blocks: Blocks) -> Limits:
        """Combine requirements; `blocks` tells the sensitive attribute, its shares and its hierarchy.

        Of several of the same kind, the strictest counts.
        """
        _refuse_several_attributes(requirements, blocks)
        harmless = _harmless(requirements, blocks)
        k, distinct, log_l = 1, 0, 0.0
        recursive: list[tuple[float, int]] = []
        near: list[tuple[float, NDArray[np.int64]]] = []
        allowed: list[NDArray[np.float64]] = []
        t = np.ones(len(DISTANCES))
        for requirement in requirements:
            requirement.check(blocks)
            match requirement:
                case KAnonymity():
                    k = max(k, requirement.k)
                case LDiversity(kind="distinct"):
                    distinct = max(distinct, int(requirement.l))
                case LDiversity(kind="entropy"):
                    log_l = max(log_l, math.log(requirement.l))
                case LDiversity(kind="recursive"):
                    recursive.append((float(requirement.c or 0), int(requirement.l)))
                case LDiversity():
                    near.append((float(requirement.l), requirement.windows(blocks)))
                case TCloseness():
                    kind = DISTANCES.index(requirement.distance)
                    t[kind] = min(t[kind], requirement.t)
                case BetaLikeness() | DeltaDisclosure():
                    allowed.append(requirement.allowed(blocks.shares))
                case _:
                    raise ParameterError(f"{requirement} cannot be checked block by block.")
        more = bool(len(harmless) or log_l or recursive or near or allowed or (t < 1).any())
        equal, ordered, hierarchical = t.tolist()
        return cls(
            k=k,
            distinct=distinct,
            more=more,
            harmless=harmless,
            log_l=log_l,
            recursive=np.array(recursive, dtype=np.float64).reshape(-1, 2),
            near=np.array([l for l, _ in near], dtype=np.float64),
            windows=np.array([own for _, own in near], dtype=np.int64).reshape(len(near), 2, -1)
            if near
            else np.empty((0, 2, 0), dtype=np.int64),
            t=(equal, ordered, hierarchical),
            shares=blocks.shares,
            tree=numbered_tree(blocks.hierarchy),
            allowed=together(allowed),
        )

    @property
    def by_table(self) -> bool:
        """Whether blocks are compared with the whole table, of which then no record may be left out."""
        return min(self.t) < 1 or self.allowed.size > 0


def _harmless(requirements: Sequence[BlockRequirement], blocks: Blocks) -> NDArray[np.int64]:
    """Return the codes that all requirements of l-diversity call harmless."""
    asked = [requirement for requirement in requirements if isinstance(requirement, LDiversity)]
    if len({requirement.harmless for requirement in asked}) > 1:
        raise ParameterError(
            "The requirements call different values harmless. A value that may be known may be in all of them: give each the "
            "same 'harmless'."
        )
    return asked[0].harmless_codes(blocks) if asked else np.empty(0, dtype=np.int64)


def _refuse_several_attributes(requirements: Sequence[BlockRequirement], blocks: Blocks) -> None:
    named = {r.attribute for r in requirements if r.attribute is not None}
    names = sorted(named if blocks.sensitive is None else {*named, blocks.sensitive})
    if named and len(names) > 1:
        raise ParameterError(
            f"The requirements speak of several sensitive attributes: {listed(names)}. Ask for one at a time."
        )
