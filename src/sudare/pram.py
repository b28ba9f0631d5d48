"""The transition matrices of PRAM, as papers have them, to look at or to give to `randomize(..., matrices=...)`.

>>> import sudare as sd
>>> sd.pram.conventional_pram(2, k=3, records=5).matrix.round(3).tolist()
[[0.586, 0.414], [0.414, 0.586]]
"""

from sudare.randomization.best import optimal
from sudare.randomization.distances import tree_distances
from sudare.randomization.invariant import invariant_pram, transitions
from sudare.randomization.pram import Pram, conventional_pram, optimal_pram

__all__ = [
    "Pram",
    "conventional_pram",
    "invariant_pram",
    "optimal",
    "optimal_pram",
    "transitions",
    "tree_distances",
]
