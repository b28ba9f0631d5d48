"""Likeness as a product of small integers, for matrix units.

A factor (a mark, or neighbouring marks of which one refines the other) says how alike two of its codes are: T(x, y).
With the code 0 as a reference, T(x, y) = e(x) · (T(·, y) - T(0, y)) + T(0, y), where e(x) is the x-th unit vector and
e(0) is 0, so that c codes take c - 1 columns. The last term depends on y alone: it is a product with a constant. So
the likeness of u and v is near(u) · far(v), of 8-bit integers summed in 32 bits, and exact. Marks that would need too
many columns are left to be compared pair by pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

try:
    import torch
    from triton.tools.tensor_descriptor import TensorDescriptor
except ImportError:  # `pairs` says so to whoever asks for a GPU
    torch = TensorDescriptor = None

COSTLY = 64
"""The columns from which comparing a mark pair by pair is cheaper."""
MANY = 1024
"""The codes from which a mark is not worth a closer look: it is compared."""
DIGIT = 127
"""The base in which a number beyond 8 bits is split over columns: the largest number of 8 bits."""


class Encoded(NamedTuple):
    """Rows whose products are the likenesses, but for what is compared pair by pair and what all have in common."""

    near: Any
    far: Any
    compared: Any
    """The codes of each mark that is compared: one row per mark."""
    compared_gains: Any
    common: int
    """What all tuples share."""
    unit: int
    """What all gains are multiples of."""

    @property
    def width(self) -> int:
        """The columns of either side."""
        return int(self.near.shape[1])

    @property
    def part(self) -> int:
        """The columns in one load and product, which must be a power of two."""
        return min(self.width & -self.width, 512)

    def arguments(self, rows: int, columns: int) -> tuple[Any, ...]:
        """Return a kernel's first arguments, for tiles of so many rows and columns."""
        near = TensorDescriptor.from_tensor(self.near, [rows, self.part])
        far = TensorDescriptor.from_tensor(self.far, [columns, self.part])
        return near, far, self.compared, self.compared_gains, len(self.compared), len(self.near)

    def constants(self) -> dict[str, int]:
        """Return what a kernel is compiled for."""
        return {"PARTS": self.width // self.part, "COMPARES": len(self.compared) > 0}

    def likenesses(self, products: Any) -> NDArray[np.int32]:
        """Return the largest products of a kernel in the gains' own units; -1 stays what it is."""
        whole = torch.where(products < 0, products, (products + self.common) * self.unit)
        result: NDArray[np.int32] = whole.contiguous().cpu().numpy()
        return result


def encode(codes: NDArray[np.int32], gains: NDArray[np.int64], tuples: Any, widest: int) -> Encoded:
    """Return the marks of the given tuples, in this order, as rows of either side on their device."""
    device, size = tuples.device, len(tuples)
    unit = max(int(np.gcd.reduce(gains)), 1)
    by_mark = torch.from_numpy(np.require(codes, requirements=["C", "W"])).to(device).T.contiguous()
    factors, compared, common = _factors(by_mark[:, tuples], (gains // unit).tolist(), widest)
    constants, width = _widths(factors)
    near = torch.zeros((size, width), dtype=torch.int8, device=device)
    far = torch.zeros_like(near)
    reference = torch.zeros(size, dtype=torch.int64, device=device)
    at = constants
    for factor in factors:
        end = at + factor.width
        for side, table in zip((near, far), factor.columns(), strict=True):
            side[:, at:end] = torch.from_numpy(table).to(device)[factor.codes]
        reference += torch.from_numpy(factor.alike[0]).to(device)[factor.codes]
        at = end
    near[:, 0], near[:, 1:constants] = 1, DIGIT
    far[:, 0] = reference % DIGIT
    for i in range(1, constants):
        far[:, i] = (reference // DIGIT - (i - 1) * DIGIT).clamp(0, DIGIT)
    compared_codes = torch.empty((len(compared), size), dtype=torch.int32, device=device)
    for i, (of_mark, _) in enumerate(compared):
        compared_codes[i] = of_mark
    compared_gains = torch.tensor([gain for _, gain in compared], dtype=torch.int32, device=device)
    return Encoded(near, far, compared_codes, compared_gains, common, unit)


@dataclass(frozen=True)
class Factor:
    """Marks as one: the joint code of each row, and how alike any two codes are."""

    codes: Any
    alike: NDArray[np.int64]
    marks: list[tuple[Any, int]]
    """The codes and the gain of each mark in it."""

    @classmethod
    def of(cls, codes: Any, gain: int) -> Factor:
        """Return one mark, its codes numbered anew without gaps."""
        occurs = torch.bincount(codes) > 0
        return cls(
            (occurs.cumsum(0) - 1)[codes], gain * np.eye(int(occurs.sum()), dtype=np.int64), [(codes, gain)]
        )

    @property
    def width(self) -> int:
        """The columns that it takes: none for one code; too many if two digits do not hold its gains."""
        most = int(self.alike.max())
        digits = 1 if most <= DIGIT else 2 if most <= DIGIT * DIGIT else COSTLY
        return (len(self.alike) - 1) * digits

    def joined(self, other: Factor) -> Factor | None:
        """Return both as one, of the pairs of codes that occur, if that takes fewer columns."""
        size, apart = len(other.alike), self.width + other.width
        pairs = self.codes * size + other.codes
        occurs = torch.bincount(pairs) > 0
        mine, others = np.divmod(torch.nonzero(occurs).squeeze(1).cpu().numpy(), size)
        if len(mine) > apart:
            return None
        alike = self.alike[np.ix_(mine, mine)] + other.alike[np.ix_(others, others)]
        joint = Factor((occurs.cumsum(0) - 1)[pairs], alike, self.marks + other.marks)
        return joint if joint.width < min(apart, COSTLY) else None

    def columns(self) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
        """Return what stands in its columns for each code: the near side, the far side."""
        near = np.eye(len(self.alike), dtype=np.int64)[:, 1:]
        far = self.alike[:, 1:] - self.alike[:, :1]
        if self.alike.max() > DIGIT:
            high = np.sign(far) * (abs(far) // DIGIT)
            near, far = np.hstack([near, DIGIT * near]), np.hstack([far - DIGIT * high, high])
        return near.astype(np.int8), far.astype(np.int8)


def _factors(
    codes: Any, gains: Sequence[int], widest: int
) -> tuple[list[Factor], list[tuple[Any, int]], int]:
    """Return the factors to multiply, the marks to compare pair by pair, and what all rows share."""
    factors: list[Factor] = []
    compared: list[tuple[Any, int]] = []
    common = 0
    for of_mark, highest, gain in zip(codes, codes.amax(dim=1).tolist(), gains, strict=True):
        if gain == 0:
            continue
        factor = Factor.of(of_mark.long(), gain) if highest < MANY else None
        if factor is None or factor.width >= COSTLY:
            compared.append((of_mark, gain))
        elif factor.width == 0:
            common += gain
        elif factors and (joint := factors[-1].joined(factor)):
            factors[-1] = joint
        else:
            factors.append(factor)
    factors.sort(key=lambda factor: factor.width / len(factor.marks))
    while _widths(factors)[1] > widest:
        compared += factors.pop().marks
    return factors, compared, common


def _widths(factors: list[Factor]) -> tuple[int, int]:
    """Return the columns for the reference terms, and all columns: a power of two, or several times 128."""
    most = sum(int(factor.alike[0].max()) for factor in factors)
    constants = 1 + -(-(most // DIGIT) // DIGIT)
    width = constants + sum(factor.width for factor in factors)
    return constants, max(64, 1 << (width - 1).bit_length()) if width <= 512 else -(-width // 128) * 128
