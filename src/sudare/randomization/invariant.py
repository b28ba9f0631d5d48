"""Invariant PRAM, as statistical offices use it: what is expected to come out is what went in."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from sudare.errors import ParameterError
from sudare.privacy.requirement import number
from sudare.randomization.channel import MatrixChannel
from sudare.randomization.pram import Pram
from sudare.tables.typed import typed


@typed
def invariant_pram(histogram: ArrayLike, *, pd: float = 0.8, alpha: float = 0.5) -> MatrixChannel:
    """Return a matrix R with R v = v, by two stages (Gouweleeuw and others 1998).

    The names are sdcMicro's. The first stage P keeps every value with probability `pd` (sdcMicro draws the diagonal at random
    between pd and 1; here it is pd) and else takes any other; the second goes back by Bayes' rule, Q[i, j] = P[j, i] v_i /
    (P v)_j, so that Q P v = v. Of the records, the share 1 - alpha is left alone: R = alpha Q P + (1 - alpha) I.

    Its price is shown by `epsilon`, and it is not all of it: R is made from the histogram, and tells about it.

    >>> r = invariant_pram([60, 30, 10], pd=0.8, alpha=0.5)
    >>> r.expected([60, 30, 10]).round(9).tolist()
    [60.0, 30.0, 10.0]
    >>> bool(r.epsilon > 2)
    True
    """
    number(pd, "pd", "invariant_pram", "a probability from 0 to 1", low=0, high=1)
    number(alpha, "alpha", "invariant_pram", "a share from 0 to 1", low=0, high=1)
    v = np.asarray(histogram, dtype=np.float64)
    if v.ndim != 1 or not v.size or not np.isfinite(v).all() or (v <= 0).any():
        raise ParameterError(
            "The 'histogram' parameter of invariant_pram must be numbers above 0: no record could come back to an empty cell."
        )
    first = Pram(np.full(len(v), 1 - pd)).matrix
    back = (first * v).T / (first @ v)
    return MatrixChannel(alpha * (back @ first) + (1 - alpha) * np.eye(len(v)))


@typed
def transitions(before: pl.Series, after: pl.Series) -> pl.DataFrame:
    """Count how often each value became which: for the holder, who has both columns in the same order.

    >>> transitions(pl.Series("sex", ["f", "f", "m"]), pl.Series("sex", ["f", "m", "m"])).rows()
    [('f', 'f', 1), ('f', 'm', 1), ('m', 'm', 1)]
    """
    if len(before) != len(after):
        raise ParameterError(
            f"transitions needs two columns of one length. Got {len(before):,} and {len(after):,}."
        )
    both = pl.DataFrame({"from": before, "to": after})
    return both.group_by("from", "to").len("records").sort("from", "to", nulls_last=True)
