"""Compiled for an NVIDIA GPU: products of tiles, reduced to maxima while they are in registers."""
# mypy: ignore-errors
# ruff: noqa: RUF005

from __future__ import annotations

try:
    import triton.language as tl
    from triton import jit
except ImportError:  # `pairs` says so to whoever asks for a GPU
    tl = None

    def jit(**_):
        """Stand in for Triton's."""
        return lambda kernel: kernel


@jit(do_not_specialize=["marks"])
def _add_compared(likeness, compared, gains, marks, size, rows, columns):  # pragma: no cover
    """Add the gains of the marks that are compared pair by pair."""
    if marks > 0:  # it is, but Triton pipelines no loop with a loop right in it
        for mark in range(marks):
            mine, other = tl.load(compared + rows)[:, None], tl.load(compared + columns)[None, :]
            likeness += tl.where(mine == other, tl.load(gains + mark), 0)
            compared += size
    return likeness


@jit(do_not_specialize=["marks"])
def likest(
    near,
    far,
    compared,
    gains,
    marks,
    size,
    ends,
    owner,
    best,
    PARTS: tl.constexpr,
    COMPARES: tl.constexpr,
    PADDED: tl.constexpr,
    STAYS: tl.constexpr,
    PASSES: tl.constexpr,
    STAGES: tl.constexpr,
):  # pragma: no cover
    """Find the largest likenesses by value: a tile of columns stays, the rows of one value up to it pass.

    So each pair of tiles is met once and counts for both: the maximum of each column is kept until the end, that
    of each row goes out at once.
    """
    value = tl.program_id(1)
    column = tl.program_id(0) * STAYS
    first = tl.load(ends + value)
    last = tl.minimum(tl.load(ends + value + 1), column + STAYS)
    if first < last:
        PART: tl.constexpr = far.block_shape[1]
        columns = column + tl.arange(0, STAYS)
        to_rows = best + tl.load(owner + column // PADDED).to(tl.int64) * size
        staying = ()
        for part in tl.static_range(PARTS):
            staying = staying + (far.load([column, part * PART]),)
        highest = tl.full((PASSES, STAYS), -1, tl.int32)
        for row in tl.range(first, last, PASSES, num_stages=STAGES):
            rows = row + tl.arange(0, PASSES)
            likeness = tl.dot(near.load([row, 0]), staying[0].T, out_dtype=tl.int32)
            for part in tl.static_range(1, PARTS):
                passing = near.load([row, part * PART])
                likeness = tl.dot(passing, staying[part].T, likeness, out_dtype=tl.int32)
            if COMPARES:
                likeness = _add_compared(likeness, compared, gains, marks, size, rows, columns)
            highest = tl.maximum(highest, likeness)
            tl.atomic_max(to_rows + rows, tl.max(likeness, 1), sem="relaxed")
        tl.atomic_max(best + value.to(tl.int64) * size + columns, tl.max(highest, 0), sem="relaxed")


@jit(do_not_specialize=["marks", "kept"])
def most_alike(
    near,
    far,
    compared,
    gains,
    marks,
    size,
    weights,
    best,
    kept,
    PARTS: tl.constexpr,
    COMPARES: tl.constexpr,
    SLOTS: tl.constexpr,
    STAYS: tl.constexpr,
    PASSES: tl.constexpr,
    STAGES: tl.constexpr,
):  # pragma: no cover
    """Find the greatest likenesses of each row: a tile of rows stays, all columns pass, from its own place on.

    Where a tile has something for some row, its likenesses are taken from the highest down, all equal ones of a
    row at once, and replace the least that the row has, until no row gains. Near columns come first and leave
    little for the others to do.
    """
    PART: tl.constexpr = near.block_shape[1]
    row = tl.program_id(0) * STAYS
    rows = row + tl.arange(0, STAYS)
    slots = tl.arange(0, SLOTS)[None, :]
    staying = ()
    for part in tl.static_range(PARTS):
        staying = staying + (near.load([row, part * PART]),)
    greatest = tl.where(slots < kept, tl.full((STAYS, SLOTS), -1, tl.int32), 2147483647)
    least = tl.full((STAYS,), -1, tl.int32)
    for passed in tl.range(0, size, PASSES, num_stages=STAGES):
        column = (row + passed) % size
        columns = column + tl.arange(0, PASSES)
        likeness = tl.dot(staying[0], far.load([column, 0]).T, out_dtype=tl.int32)
        for part in tl.static_range(1, PARTS):
            passing = far.load([column, part * PART])
            likeness = tl.dot(staying[part], passing.T, likeness, out_dtype=tl.int32)
        if COMPARES:
            likeness = _add_compared(likeness, compared, gains, marks, size, rows, columns)
        most = tl.max(likeness, 1)
        if tl.max((most > least).to(tl.int32), 0) > 0:
            weight = tl.load(weights + columns)[None, :]
            more = 1
            while more > 0:
                equal = likeness == most[:, None]
                times = tl.sum(tl.where(equal, weight, 0), 1)
                for time in range(kept):
                    takes = ((most > least) & (time < times))[:, None]
                    greatest = tl.where(
                        takes & (slots == tl.argmin(greatest, 1)[:, None]), most[:, None], greatest
                    )
                    least = tl.min(greatest, 1)
                likeness = tl.where(equal, -1, likeness)
                most = tl.max(likeness, 1)
                more = tl.max((most > least).to(tl.int32), 0)
    tl.store(best + rows[:, None].to(tl.int64) * SLOTS + slots, greatest)
