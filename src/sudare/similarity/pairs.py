"""All pairs of tuples: how alike each is to those most like it."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sudare.errors import MissingExtraError, ParameterError
from sudare.similarity._kernels import LANES, UNROLLED, bundle, search
from sudare.threads import CORES, in_threads, pieces

Device = Literal["cpu", "gpu"]


@dataclass(frozen=True)
class Marks:
    """Distinct tuples, and what two of them are alike in.

    The mark d of a tuple is the node that it lies under at some level of some attribute's hierarchy. Two tuples
    that share it save `gains[d]`; what they save over all marks is their likeness.
    """

    codes: NDArray[np.int32]
    """The marks of each tuple: one row per tuple, one column per mark."""
    gains: NDArray[np.int64]

    def __post_init__(self) -> None:
        if self.codes.ndim != 2 or self.gains.shape != self.codes.shape[1:]:
            raise ParameterError(
                f"Marks need one column of codes per gain. Got codes {self.codes.shape}, gains {self.gains.shape}."
            )
        if (self.gains < 0).any() or self.gains.sum() > np.iinfo(np.int32).max:
            raise ParameterError(
                f"The gains of marks must not be negative and sum to less than 2^31. Got {self.gains.tolist()}."
            )
        if self.codes.size and self.codes.min() < 0:
            raise ParameterError(f"The codes of marks must not be negative. Got {self.codes.min()}.")

    def __len__(self) -> int:
        return len(self.codes)


def likest_by_value(
    marks: Marks, value: NDArray[np.integer[Any]], values: int, *, device: Device = "cpu"
) -> NDArray[np.int32]:
    """Return the largest likeness of each tuple to any tuple of each value: one row per tuple; -1 where no tuple has it.

    A tuple counts among those of its own value, so that the entry there is its likeness to itself.

    >>> marks = Marks(np.array([[0, 0], [0, 1], [1, 1]], dtype=np.int32), np.array([2, 3]))
    >>> likest_by_value(marks, np.array([0, 1, 1]), values=3).tolist()
    [[5, 2, -1], [2, 5, -1], [0, 5, -1]]
    """
    value = np.asarray(value, dtype=np.int64)
    if value.shape != (len(marks),) or (value.size and not 0 <= value.min() <= value.max() < values):
        raise ParameterError(f"Each of the {len(marks)} tuples needs a value from 0 to {values - 1}.")
    if device == "gpu" and len(marks) > 0:
        largest: NDArray[np.int32] = accelerator().likest_by_value(marks.codes, marks.gains, value, values)
        return largest
    return _most_alike(marks, value, values, np.ones(len(marks), dtype=np.int64), 1)[:, :, 0]


def kth_likeness(
    marks: Marks, weights: NDArray[np.int64], k: int | Sequence[int], *, device: Device = "cpu"
) -> NDArray[np.int32]:
    """Return the likeness of each tuple to the k-th record most alike to it, its own record being the first.

    The tuple v stands for `weights[v]` equal records. -1 if there are fewer than k records. Several k give one row
    each, for the work of the largest.

    >>> marks = Marks(np.array([[0, 0], [0, 1], [1, 1]], dtype=np.int32), np.array([2, 3]))
    >>> kth_likeness(marks, np.array([2, 1, 1]), [2, 3, 5]).tolist()
    [[5, 3, 3], [2, 2, 0], [-1, -1, -1]]
    """
    ks, weights = np.asarray(k, dtype=np.int64), np.asarray(weights, dtype=np.int64)
    if ks.size and ks.min() < 1:
        raise ParameterError(f"The 'k' parameter of kth_likeness must be at least 1. Got {k} instead.")
    if weights.shape != (len(marks),) or (weights < 1).any():
        raise ParameterError(f"Each of the {len(marks)} tuples needs a weight of at least 1.")
    kept = max(1, min(int(ks.max(initial=1)), int(weights.sum())))
    if device == "gpu" and len(marks) > 0:
        best = accelerator().most_alike(marks.codes, marks.gains, weights, kept)
    else:
        best = _most_alike(marks, np.zeros(len(marks), dtype=np.int64), 1, weights, kept)[:, 0]
    return np.where(ks[..., None] <= kept, best.T[np.minimum(ks, kept) - 1], np.int32(-1))


def accelerator_available() -> bool:
    """Say whether `device="gpu"` works here: PyTorch with Triton is installed, and finds an NVIDIA GPU."""
    try:
        importlib.import_module("triton")
        return bool(importlib.import_module("torch").cuda.is_available())
    except ImportError:
        return False


def accelerator() -> Any:
    """Return what works on a GPU, or say why there is none."""
    if importlib.util.find_spec("torch") is None or importlib.util.find_spec("triton") is None:
        raise MissingExtraError("Work on a GPU", "gpu")
    if not accelerator_available():
        raise ParameterError(
            "The 'device' parameter must be 'cpu' here: PyTorch finds no NVIDIA GPU. Got 'gpu'."
        )
    return importlib.import_module("sudare.similarity.accelerator")


def _most_alike(
    marks: Marks, value: NDArray[np.integer[Any]], values: int, weights: NDArray[np.int64], kept: int
) -> NDArray[np.int32]:
    """Return the greatest likenesses, falling, of each tuple to those of each value; -1 where there are fewer."""
    best = np.full((len(marks), values, kept), -1, dtype=np.int32)
    if len(marks) == 0:
        return best
    unit = max(int(np.gcd.reduce(marks.gains)), 1)  # in units, sums fit narrower numbers
    order = _neighbours(marks, value, values)
    start, size = _spans(value[order])
    bundles = bundle(*_narrow(marks.codes[order], marks.gains // unit), start, size)
    weights, value = weights[order], value[order[start]]

    def work(piece: slice) -> None:
        search(bundles, weights, value, piece.start, piece.stop, best)

    in_threads(work, pieces(len(marks), -(-len(marks) // (4 * CORES))), len(marks) ** 2)
    result = np.empty_like(best)
    result[order] = np.where(best > 0, best * np.int32(unit), best)
    return result


def _neighbours(marks: Marks, value: NDArray[np.integer[Any]], values: int) -> NDArray[np.int64]:
    """Return an order of the tuples by value, and then so that alike ones are near each other.

    By the marks that gain most, and of these the coarsest first, as far as they fit one number.
    """
    sizes = marks.codes.max(axis=0).astype(np.int64) + 1
    key, keys = value.astype(np.int64), values
    for d in np.lexsort((sizes, -marks.gains)).tolist():
        keys *= int(sizes[d])
        if keys >= 2**63:
            break
        key = key * sizes[d] + marks.codes[:, d]
    return np.argsort(key, kind="stable")


def _spans(value: NDArray[np.integer[Any]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Cut tuples sorted by value into bundles of one value each: where each starts, and its size."""
    ends = np.append(np.flatnonzero(np.diff(value)) + 1, len(value))
    starts = np.append(0, ends[:-1])
    start = np.concatenate([np.arange(low, high, LANES) for low, high in zip(starts, ends, strict=True)])
    return start, np.diff(np.append(start, len(value)))


def _narrow(codes: NDArray[np.int32], gains: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return codes and gains in the narrowest numbers that hold them, their sums, and one more code.

    Marks that gain nothing are left out; one such at least is put at the end, and as many as unrolled loops need.
    """
    gaining = np.flatnonzero(gains)
    most = max(codes.max(initial=0) + 1, gains.sum())
    narrow = next(t for t in (np.uint8, np.uint16, np.uint32) if most <= np.iinfo(t).max)
    width = -(-(len(gaining) + 1) // UNROLLED) * UNROLLED
    padded_codes, padded_gains = np.zeros((len(codes), width), narrow), np.zeros(width, narrow)
    padded_codes[:, : len(gaining)] = codes[:, gaining]
    padded_gains[: len(gaining)] = gains[gaining]
    return padded_codes, padded_gains
