"""Draws from a Keystream with exactly the probabilities they say: categories, noise and indices.

What is drawn is decided by comparing integers. Probabilities given as floats become integers over 2^64 first;
`realized` and `realized_matrix` return which, so that a promise can be computed for what is really done.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sudare.errors import ParameterError
from sudare.noise._categories import alias_tables, exchange, retain
from sudare.noise._chacha import fill_below, tap
from sudare.noise._exponential import choose as _choose
from sudare.noise._exponential import fill_gaussian, fill_laplace
from sudare.noise._exponential import permute_and_flip as _permute_and_flip
from sudare.noise.keystream import Keystream
from sudare.privacy.requirement import refused, whole_number

Code = TypeVar("Code", bound=np.unsignedinteger[Any])
Words = NDArray[np.uint64]

TOLERANCE = 1e-9
"""By how much a column of a matrix may miss 1; float sums of long columns do."""
MAX_INTEGER = 2**63
MAX_SCALE = 2**56
"""At this scale, noise beyond the 64 bits of the result has a probability of e^-128."""
ONE = np.uint64(1)
MAX_VARIANCE = 2**50
"""Up to it, no number that decides about a draw exceeds 64 bits."""
MAX_LOSS = 1e4
"""What is chosen with probability e^-10000 is as good as never chosen; a larger loss counts as this one."""


# -- A code is kept, or moves to any other ----------------------------------------------------------


def sample_retention(codes: NDArray[Code], leave: NDArray[np.float64], source: Keystream) -> NDArray[Code]:
    """Return the codes, each j kept with probability 1 - leave[j] or else moved to any of the others alike.

    >>> codes = np.array([0, 1, 2, 1], dtype=np.uint8)
    >>> sample_retention(codes, np.array([0.0, 1.0, 0.0]), Keystream())[[0, 2]].tolist()
    [0, 2]
    """
    _check_source(source, "sample_retention")
    last, share = _thresholds(leave, "sample_retention")
    codes = _checked_codes(codes, share.size, "sample_retention")
    out = np.empty_like(codes)

    def draw(key: NDArray[np.uint32], stream: np.uint64, part: slice) -> None:
        drawn = codes[part].astype(np.uint32)  # kernels are compiled for one type only
        retain(key, stream, drawn, last, share)
        out[part] = drawn

    source.draw(codes.size, draw)
    return out


def realized(leave: NDArray[np.float64]) -> NDArray[np.object_]:
    """Return the exact probabilities with which `sample_retention` moves each code, as integers over 2^64.

    None is below what was asked, nor above it by (d - 1)/2^64 or more. Each other code gets the same part of it.

    >>> realized(np.array([0.5, 0.0, 1.0])).tolist() == [2**63, 0, 2**64]
    True
    """
    last, share = _thresholds(leave, "realized")
    return np.where(share == 0, 0, last.astype(object) + 1)


def _thresholds(leave: NDArray[np.float64], owner: str) -> tuple[Words, Words]:
    """Return the last word that moves each code, and how many words each of the others gets of these.

    The words that move a code are rounded up to a multiple of the d - 1 others, so that one word both decides and
    chooses, exactly. Where that would be more than 2^64, every word moves it, and those beyond the last whole share
    are drawn again. A share of 0 means that none moves it.
    """
    asked = _probabilities(leave, "leave", owner, 1)
    if asked.size == 1 and asked[0] > 0:
        raise refused(
            float(asked[0]), "leave", owner, "0 where there is one code, which can move to no other"
        )
    others = max(asked.size - 1, 1)
    full = np.uint64(min(2**64 // others, 2**64 - 1))
    before = (_words(asked) - ONE) // np.uint64(others)  # shares before the one with the last word
    share = np.minimum(before, full - ONE) + ONE
    last = np.where(before < full, share * np.uint64(others), 0) - ONE
    return np.where(asked > 0, last, 0), np.where(asked > 0, share, 0)


# -- Any matrix -------------------------------------------------------------------------------------


def sample_matrix(codes: NDArray[Code], matrix: NDArray[np.float64], source: Keystream) -> NDArray[Any]:
    """Return for each code j an i drawn with probability matrix[i, j].

    They have the type of the codes, or the narrowest that holds every i.

    >>> codes = np.array([0, 1, 1], dtype=np.uint8)
    >>> sample_matrix(codes, np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), Keystream()).tolist()
    [1, 2, 2]
    """
    _check_source(source, "sample_matrix")
    weights, largest = _weights(matrix, "sample_matrix")
    codes = _checked_codes(codes, weights.shape[1], "sample_matrix")
    bits = max((len(weights) - 1).bit_length(), 1)
    own, other = alias_tables(weights, largest, bits)
    out = np.empty(codes.size, dtype=np.promote_types(codes.dtype, np.min_scalar_type(len(weights) - 1)))

    def draw(key: NDArray[np.uint32], stream: np.uint64, part: slice) -> None:
        drawn = codes[part].astype(np.uint32)
        exchange(key, stream, drawn, own, other, bits)
        out[part] = drawn

    source.draw(codes.size, draw)
    return out


def realized_matrix(matrix: NDArray[np.float64]) -> NDArray[np.object_]:
    """Return the exact probabilities with which `sample_matrix` draws, as integers over 2^64.

    Every column sums to 2^64. Every entry is rounded up, so that zero stays zero and what is possible stays
    possible; the largest of each column (the first of them) is what the others leave.

    >>> realized_matrix(np.array([[0.75, 0.0], [0.25, 1.0]])).tolist() == [[3 * 2**62, 0], [2**62, 2**64]]
    True
    """
    weights, largest = _weights(matrix, "realized_matrix")
    result = weights.astype(object)
    columns = np.arange(len(largest))
    result[largest, columns] = [int(w) or 2**64 for w in weights[largest, columns]]
    return result


def _weights(matrix: NDArray[np.float64], owner: str) -> tuple[Words, NDArray[np.int64]]:
    """Return how many words lead to each entry, and the largest entry of each column, where 0 stands for 2^64."""
    asked = _probabilities(matrix, "matrix", owner, 2)
    sums = asked.sum(axis=0)
    if not (np.abs(sums - 1) <= TOLERANCE).all():
        j = int(np.abs(sums - 1).argmax())
        raise ParameterError(
            f"The 'matrix' parameter of {owner} must have columns that sum to 1, as matrix[i, j] is the probability "
            f"of i given j. Got the sum {sums[j]} in column {j} instead."
        )
    largest, columns = asked.argmax(axis=0), np.arange(len(sums))
    weights = np.ascontiguousarray(_words(asked))
    weights[largest, columns] = 0
    weights[largest, columns] = np.uint64(0) - weights.sum(axis=0)
    return weights, largest


# -- Numbers ----------------------------------------------------------------------------------------


def sample_discrete_laplace(size: int, scale: Fraction | float, source: Keystream) -> NDArray[np.int64]:
    """Return so many integers z, each with a probability exactly proportional to exp(-|z| / scale).

    A float is taken for the fraction that it is. The scale must be a fraction of numbers below 2^63, and 2^56 at
    most; what would not fit the result's 64 bits (probability e^-128) is moved to their end.

    >>> sample_discrete_laplace(3, Fraction(1, 3), Keystream()).dtype
    dtype('int64')
    """
    owner = "sample_discrete_laplace"
    _check_source(source, owner)
    out = np.empty(whole_number(size, "size", owner, least=0), dtype=np.int64)
    t, s = _ratio(scale, owner)
    source.draw(size, lambda key, stream, part: fill_laplace(key, stream, t, s, out[part]))
    return out


def sample_discrete_gaussian(size: int, variance: int, source: Keystream) -> NDArray[np.int64]:
    """Return so many integers z, each with a probability exactly proportional to exp(-z^2 / (2 variance)).

    The variance is a whole number up to 2^50. (Its tails end at 16 deviations, beyond which lies less than e^-100.)

    >>> sample_discrete_gaussian(3, 100, Keystream()).dtype
    dtype('int64')
    """
    owner = "sample_discrete_gaussian"
    _check_source(source, owner)
    out = np.empty(whole_number(size, "size", owner, least=0), dtype=np.int64)
    if whole_number(variance, "variance", owner, least=1) > MAX_VARIANCE:
        raise refused(variance, "variance", owner, f"{MAX_VARIANCE:,} at most")
    source.draw(size, lambda key, stream, part: fill_gaussian(key, stream, np.uint64(variance), out[part]))
    return out


def choose(losses: NDArray[np.float64], source: Keystream) -> int:
    """Return i with a probability proportional to exp(-losses[i]); losses are 0 or more, rounded to 2^-32.

    The exponential mechanism: with losses epsilon (best - score) / (2 sensitivity), it is epsilon-differentially private
    up to that rounding.

    >>> choose(np.array([0.0, 900.0]), Keystream())
    0
    """
    return _chosen(losses, source, "choose", _choose)


def permute_and_flip(losses: NDArray[np.float64], source: Keystream) -> int:
    """Go through all candidates in random order, and choose the first that stays: with probability exp(-losses[i]).

    The least loss must be 0, so that one does. With the losses of the exponential mechanism it is as private, and chooses better
    (McKenna & Sheldon 2020, Theorems 1 and 2); but what holds of the former's rho does not hold of it.

    >>> permute_and_flip(np.array([0.0, 900.0]), Keystream())
    0
    """
    return _chosen(losses, source, "permute_and_flip", _permute_and_flip)


def _chosen(
    losses: NDArray[np.float64],
    source: Keystream,
    owner: str,
    kernel: Callable[[NDArray[np.uint32], NDArray[np.uint64]], int],
) -> int:
    _check_source(source, owner)
    if losses.ndim != 1 or not losses.size or not (losses >= 0).all() or losses.min() > 0:
        raise refused(losses, "losses", owner, "numbers of 0 or more, the least of them 0")
    rounded = np.rint(np.minimum(losses, MAX_LOSS) * 2.0**32).astype(np.uint64)
    chosen = np.empty(1, dtype=np.int64)

    def one(key: NDArray[np.uint32], stream: np.uint64, part: slice) -> None:
        chosen[0] = kernel(tap(key, stream), rounded)

    source.draw(1, one)
    return int(chosen[0])


def sample_below(size: int, n: int, source: Keystream) -> NDArray[np.int64]:
    """Return so many integers from 0 to n - 1, each exactly as likely as the other; n is 2^63 at most.

    >>> sample_below(3, 1, Keystream()).tolist()
    [0, 0, 0]
    """
    _check_source(source, "sample_below")
    out = np.empty(whole_number(size, "size", "sample_below", least=0), dtype=np.int64)
    if whole_number(n, "n", "sample_below", least=1, most=2**64) > MAX_INTEGER:
        raise refused(n, "n", "sample_below", "2^63 at most")
    source.draw(size, lambda key, stream, part: fill_below(key, stream, np.uint64(n), out[part]))
    return out


def _ratio(scale: Fraction | float, owner: str) -> tuple[np.uint64, np.uint64]:
    numeric = isinstance(scale, int | float | Fraction) and not isinstance(scale, bool)
    if not numeric or not 0 < scale <= MAX_SCALE:
        raise refused(scale, "scale", owner, "a number above 0, and 2^56 at most")
    t, s = Fraction(scale).as_integer_ratio()
    if max(t, s) >= MAX_INTEGER:
        raise refused(
            scale,
            "scale",
            owner,
            "a fraction of two numbers below 2^63, such as Fraction(1, 10**6); round it up",
        )
    return np.uint64(t), np.uint64(s)


# -- What all need ----------------------------------------------------------------------------------


def _words(probabilities: NDArray[np.float64]) -> Words:
    """Return the least number of words, of 2^64, that is no less likely; 2^64 itself wraps to 0."""
    words = np.ceil(np.ldexp(probabilities, 64))  # exact: it changes the exponent only
    return np.where(words < 2.0**64, words, 0).astype(np.uint64)


def _probabilities(given: NDArray[np.float64], name: str, owner: str, dimensions: int) -> NDArray[np.float64]:
    array = np.asarray(given, dtype=np.float64)
    if array.ndim != dimensions or array.size == 0:
        form = "a row of probabilities" if dimensions == 1 else "a matrix of probabilities"
        raise refused(array.shape, name, owner, form)
    wrong = array[~((array >= 0) & (array <= 1))]
    if wrong.size:
        raise refused(float(wrong[0]), name, owner, "made of probabilities from 0 to 1")
    return array


def _checked_codes(codes: NDArray[Code], size: int, owner: str) -> NDArray[Code]:
    if codes.ndim != 1 or codes.dtype.kind != "u":
        raise refused(codes, "codes", owner, "a one-dimensional array of unsigned integers")
    if codes.size and codes.max() >= size:
        raise refused(int(codes.max()), "codes", owner, f"below {size}, for which there are probabilities")
    return np.ascontiguousarray(codes)


def _check_source(source: Keystream, owner: str) -> None:
    if not isinstance(source, Keystream):
        raise refused(source, "source", owner, "a sudare Keystream, whose numbers nobody can foretell")
