"""All pairs of tuples on an NVIDIA GPU, with PyTorch and Triton. `pairs` is the way in."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.errors import ParameterError
from sudare.similarity import _tiles
from sudare.similarity._product import Encoded, encode

try:
    import torch
except ImportError:  # `pairs` says so to whoever asks for a GPU
    torch = None

DEVICE = "cuda"
PADDING = 256
"""The rows of each value are filled up to a multiple of this, which is a multiple of every tile's."""
MAX_KEPT = 32
"""The likenesses that a kernel keeps for each row."""


class Shape(NamedTuple):
    """How many rows stay in a multiprocessor's memory, how many pass at once, and how many such are on their way."""

    stays: int
    passes: int
    stages: int
    warps: int

    def fits(self, width: int) -> bool:
        """Say whether rows of this width fit, beside the little that kernels need for themselves."""
        return width * (self.stays + self.stages * self.passes) + 2048 <= _memory()

    def constants(self) -> dict[str, int]:
        """Return what a kernel is compiled for."""
        return {"STAYS": self.stays, "PASSES": self.passes, "STAGES": self.stages, "num_warps": self.warps}


SHAPES = (Shape(256, 64, 3, 8), Shape(128, 64, 3, 4), Shape(128, 64, 2, 4), Shape(64, 64, 2, 4))
"""The fastest that fits is taken."""


def _memory() -> int:
    return int(torch.cuda.get_device_properties(DEVICE).shared_memory_per_block_optin)


def _encode(codes: NDArray[np.int32], gains: NDArray[np.int64], tuples: Any) -> tuple[Encoded, Shape]:
    widest = max(width for width in range(128, 2048, 128) if SHAPES[-1].fits(width))
    encoded = encode(codes, gains, tuples, widest)
    return encoded, next(shape for shape in SHAPES if shape.fits(encoded.width))


# -- What is called from pairs -----------------------------------------------------------------------


def likest_by_value(
    codes: NDArray[np.int32], gains: NDArray[np.int64], value: NDArray[np.int64], values: int
) -> NDArray[np.int32]:
    """Return the largest likeness of each tuple to those of each value; see `pairs`."""
    padded = _pad(torch.from_numpy(np.require(value, requirements="W")).to(DEVICE), values)
    encoded, shape = _encode(codes, gains, padded.tuples)
    size = len(padded.tuples)
    best = torch.full((values, size), -1, dtype=torch.int32, device=DEVICE)
    _tiles.likest[(size // shape.stays, values)](
        *encoded.arguments(rows=shape.passes, columns=shape.stays),
        padded.ends,
        padded.owner,
        best,
        PADDED=PADDING,
        **encoded.constants(),
        **shape.constants(),
    )
    return encoded.likenesses(best[:, padded.place].T)


def most_alike(
    codes: NDArray[np.int32], gains: NDArray[np.int64], weights: NDArray[np.int64], kept: int
) -> NDArray[np.int32]:
    """Return the greatest likenesses, falling, of each tuple to all records; see `pairs`."""
    if kept > MAX_KEPT:
        raise ParameterError(
            f"The 'k' parameter of kth_likeness must be at most {MAX_KEPT} on a GPU. Got {kept} instead: "
            "use device='cpu'."
        )
    padded = _pad(torch.zeros(len(codes), dtype=torch.int64, device=DEVICE), 1)
    encoded, shape = _encode(codes, gains, padded.tuples)
    size = len(padded.tuples)
    counts = torch.zeros(size, dtype=torch.int32, device=DEVICE)
    counts[padded.place] = torch.from_numpy(np.minimum(weights, kept)).to(DEVICE, torch.int32)
    slots = max(2, 1 << (kept - 1).bit_length())
    best = torch.empty((size, slots), dtype=torch.int32, device=DEVICE)
    _tiles.most_alike[(size // shape.stays,)](
        *encoded.arguments(rows=shape.stays, columns=shape.passes),
        counts,
        best,
        kept,
        SLOTS=slots,
        **encoded.constants(),
        **shape.constants(),
    )
    return encoded.likenesses(best[padded.place, :kept].sort(dim=1, descending=True).values)


# -- Where the tuples stand --------------------------------------------------------------------------


class PaddedRows(NamedTuple):
    """The tuples in rows, value by value, each value's filled up with its last tuple to whole tiles of PADDING.

    A tuple more often than once changes no maximum, so that the kernels need not know.
    """

    tuples: Any
    """The tuple in each row."""
    place: Any
    """The row of each tuple."""
    ends: Any
    """The row where each value starts, and the end."""
    owner: Any
    """The value of each PADDING rows."""


def _pad(value: Any, values: int) -> PaddedRows:
    order = torch.argsort(value, stable=True)
    counts = torch.bincount(value, minlength=values)
    tiles = -(-counts // PADDING)
    ends = torch.nn.functional.pad(tiles.cumsum(0) * PADDING, (1, 0))
    owner = torch.repeat_interleave(torch.arange(values, device=DEVICE), tiles)
    row_value = owner.repeat_interleave(PADDING)
    within = torch.arange(len(row_value), device=DEVICE) - ends[row_value]
    start = counts.cumsum(0) - counts
    tuples = order[start[row_value] + torch.minimum(within, counts[row_value] - 1)]
    place = torch.empty_like(order)
    place[order] = torch.nonzero(within < counts[row_value]).squeeze(1)
    return PaddedRows(tuples, place, ends.to(torch.int32), owner.to(torch.int32))
