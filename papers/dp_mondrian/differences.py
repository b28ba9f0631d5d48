"""Where the paper slips, and what is right. Every claim is checked before it is printed, by plain code on small blocks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import product

import numpy as np

from papers.dp_mondrian.data import ADULT
from papers.dp_mondrian.paper import EPSILON, TABLE_3, TABLE_5, in_bytes
from papers.page import checked
from sudare.pview.domain import Domain

TREE, BETA, GAMMA = 0.9, 1.2, 0.9
"""The paper's ε_r/ε, β and γ."""
BYTES = 4  # a cell of the table of all cells
MAX_IN_CELL = 3  # records in a cell of the small blocks
Block = tuple[int, ...]


def differences() -> list[str]:
    """Return the claims in words; one that does not hold raises."""
    return [sentence for claim in CLAIMS for sentence in claim()]


# -- plain twins ---------------------------------------------------------------------------------------


def aggregation_error(block: Sequence[int]) -> float:
    """Return AE: the sum of |x - mean|."""
    mean = sum(block) / len(block)
    return sum(abs(x - mean) for x in block)


def blocks(cells: int) -> Iterator[Block]:
    return product(range(MAX_IN_CELL + 1), repeat=cells)


def added(block: Block) -> Iterator[Block]:
    """Return all blocks with one record more."""
    return (tuple(x + (i == j) for i, x in enumerate(block)) for j in range(len(block)))


def replaced(block: Block) -> Iterator[Block]:
    """Return all blocks with one record in another cell."""
    for more in added(block):
        for j in range(len(block)):
            if more[j]:
                yield tuple(x - (i == j) for i, x in enumerate(more))


def largest_change(cells: int, others: Callable[[Block], Iterator[Block]]) -> float:
    return max(
        abs(aggregation_error(other) - aggregation_error(block))
        for block in blocks(cells)
        for other in others(block)
    )


def score(block: Block, at: int) -> float:
    return -aggregation_error(block[:at]) - aggregation_error(block[at:])


# -- claims --------------------------------------------------------------------------------------------


def _tables_3_and_5() -> list[str]:
    cells = {name: in_bytes(printed[0]) / BYTES for name, printed in TABLE_5.items()}
    ours = Domain.of(ADULT.schema).cells
    return [
        checked(
            math.isclose(cells["Adult"], ours, rel_tol=0.01) and TABLE_3["Adult"].cells > 10 * ours,
            f"Table 3 gives Adult 9 × 10^19 cells. Its attributes have {ours:.2g}, and Table 5's 30.99 EB are as many at {BYTES} bytes each. "
            f"Table 5's Phoneme has {cells['Phoneme']:,.0f} cells (10 bins for five numbers, two classes), Table 3's 2 × 10^6; its Electricity has "
            f"{cells['Electricity']:.1e}, Table 3's 10^15.",
        )
    ]


def _sensitivities() -> list[str]:
    sizes = (2, 3, 4, 5)
    add = {n: largest_change(n, added) for n in sizes}
    replace = {n: largest_change(n, replaced) for n in sizes}
    cuts = max(
        abs(score(other, at) - score(block, at))
        for block in blocks(5)
        for at in range(1, 5)
        for other in added(block)
    )
    return [
        checked(
            all(math.isclose(change, 2 * (1 - 1 / n)) for n, change in add.items())
            and all(change > add[n] + 0.1 for n, change in replace.items()),
            "Definition 1 counts records that are replaced, Theorem 3's Δ_AE = 2 (1 - 1/|B|) holds where one is added or removed: in all blocks of "
            f"{sizes[0]} to {sizes[-1]} cells with up to {MAX_IN_CELL} records each it is exact, and replacing one changes AE by up to {replace[5]:.1f}. Ours adds or removes.",
        ),
        checked(
            math.isclose(cuts, 2 * (1 - 1 / 4)),
            f"The score of a cut changes by {cuts:.2f} at most in blocks of five cells: 2 (1 - 1/4), that of the larger part, since one record lies in one "
            "part. The paper takes twice Δ_AE. Half of that is twice the signal; ours takes the half.",
        ),
    ]  # fmt: skip


def _budget() -> list[str]:
    depth = math.ceil(BETA * math.log2(TABLE_3["Adult"].cells / 10))
    converge = GAMMA * TREE * EPSILON
    loss = 2 * converge + (1 - GAMMA) * TREE * EPSILON + (1 - TREE) * EPSILON
    printed = depth * (1 - converge / depth)
    return [
        checked(
            1.8 < loss < 1.82,
            f"Algorithm 2 adds Lap(1/ε) to AE in line 7, where equation 9 has Lap(Δ_AE/ε). As printed the tests cost nearly twice as much, and all {loss:.2f} ε.",
        ),
        checked(
            printed > 70 * EPSILON,
            f"Line 12's ε_cut = 1 - ε_conv would spend {printed:.0f} on Adult's {depth} levels, almost whatever ε is. It must be (1 - γ) ε_r / κ. And κ must be a whole number.",
        ),
    ]


def _blind() -> list[str]:
    """At the root every cell has a mean below 1, so AE = 2 S (1 - occupied/cells)."""
    table = ADULT.table()
    domain = Domain.of(table.schema)
    counts = domain.counts(table)
    gains = []
    for axis, size in enumerate(domain.sizes):
        held = np.bincount(counts.codes[:, axis], counts.weights, minlength=size)
        occupied = np.bincount(counts.codes[:, axis], minlength=size)
        for at in range(1, size):
            parts = (slice(0, at), slice(at, size))
            shares = [(part.stop - part.start) / size * domain.cells for part in parts]
            gains.append(
                sum(2 * held[p].sum() * occupied[p].sum() / n for p, n in zip(parts, shares, strict=True))
            )
    depth = math.ceil(BETA * math.log2(domain.cells))
    temperature = 2 * 4 * depth / ((1 - GAMMA) * TREE * EPSILON)
    apart = max(gains) - min(gains)
    return [
        checked(
            apart < 1e-6 and temperature > 6_000,
            f"In a sparse tensor AE is almost 2 S wherever one cuts: at Adult's root the scores of all {len(gains)} cuts lie within {apart:.0e}, and the exponential "
            f"mechanism chooses by differences of {temperature:,.0f} (the paper's Δ_q; half with ours). So that cut is as good as random.",
        )
    ]


def _more_after() -> list[str]:
    worse = next(b for b in blocks(5) if any(_grows(b, at) for at in range(1, 5)))
    at = next(at for at in range(1, 5) if _grows(worse, at))
    return [
        checked(
            not any(_grows(b, at) for b in blocks(4) for at in range(1, 4)),
            f"A cut can raise the error that it should lower: {worse} has AE {aggregation_error(worse):.2f}, its parts {worse[:at]} and {worse[at:]} have "
            f"{-score(worse, at):.2f} together. (In blocks of four cells with up to {MAX_IN_CELL} records each none does.)",
        )
    ]


def _grows(block: Block, at: int) -> bool:
    return -score(block, at) > aggregation_error(block) + 1e-9


CLAIMS = (_tables_3_and_5, _sensitivities, _budget, _blind, _more_after)
