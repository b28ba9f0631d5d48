"""The tables as text and as Markdown, and what they say in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from papers.page import Grid
from papers.pk_numeric.measure import BITS, COLUMNS, CONVENTIONAL, NOISE, RECORDS, TEN, Row
from papers.pk_numeric.theorems import Line, N
from sudare.randomization.bins import BINS

AT = 10.0


def theorem_grid(lines: Sequence[Line]) -> Grid:
    """Show what the theorems say beside what was counted."""
    headers = ["theorem", "", "k, by the theorem", "k, counted"]
    return Grid(
        f"The theorems in numbers, N = {N:,}",
        headers,
        [[line.theorem, line.words, _k(line.said), _k(line.counted)] for line in lines],
    )


def error_grids(rows: Sequence[Row]) -> list[Grid]:
    """Show the errors, one table per column of Adult."""
    headers = [
        "mechanism", "k", "kept", "moved by", "ten bins,\nraw", "ten bins,\nml", "ten bins,\nunbiased", "values,\nml",
        "mean,\nraw", "mean,\nml",
    ]  # fmt: skip
    tables = []
    for name in dict.fromkeys(row.column for row in rows):
        mine = [row for row in rows if row.column == name]
        lines = [
            [
                row.mechanism,
                f"{row.k:g}",
                f"{row.kept.mean():.1%}",
                f"{row.moved.mean():.1f}",
                *(f"{x.mean():.1%}" for x in (row.raw, row.ml, row.unbiased)),
                "-" if np.isnan(row.fine).any() else f"{row.fine.mean():.1%}",
                *(f"{x.mean():.2f}" for x in (row.raw_mean, row.ml_mean)),
            ]
            for row in mine
        ]
        tables.append(Grid(f"{name}: errors at equal k, means over {len(mine[0].raw)} seeds", headers, lines))
    return tables


def _k(k: float) -> str:
    return f"{k:.1f}" if k >= 10 else f"{k:.4f}"


def how_to_read() -> str:
    """Say what was measured, and what the columns are."""
    columns = " and ".join(f"{one.name} ({one.low} to {one.high})" for one in COLUMNS)
    return (
        f"How to read the errors below: {columns} of Adult (`adult.data`, {RECORDS:,} records), one attribute alone, every mechanism with the same k. "
        "*Kept*: records that came out unchanged. *Moved by*: how far a record moved on average, in years or hours, a bin counting as its middle. "
        f"*{BINS} bins*: the share of records that a histogram of {BINS} bins puts into a wrong one, *raw* and reconstructed (*ml*, *unbiased*; above 100% "
        "where an estimate has counts far below 0); *values*: the same for single years or hours, reconstructed. *Mean*: by how much the mean is off."
    )


def answers(rows: Sequence[Row]) -> list[str]:
    """Say what the figures say."""
    by = {(row.column, row.mechanism, row.k): row for row in rows}
    names, ks = list(dict.fromkeys(row.column for row in rows)), sorted({row.k for row in rows})
    said = [how_to_read()]
    wins = [
        (name, k)
        for name in names
        for k in ks
        if by[name, TEN, k].ml.mean()
        == min(by[name, m, k].ml.mean() for m in (CONVENTIONAL, TEN, BITS, NOISE))
    ]
    every = len(wins) == len(names) * len(ks)
    age = {m: by[names[0], m, AT] for m in (CONVENTIONAL, TEN, BITS, NOISE)}
    said.append(
        f"**For a histogram, use bins and reconstruct.** On {names[0]} at k = {AT:g}, retain-replace on ten bins misplaces "
        f"{age[TEN].ml.mean():.1%} of the records after reconstruction (ml), retain-replace on every value "
        f"{age[CONVENTIONAL].ml.mean():.1%}, Laplace noise {age[NOISE].ml.mean():.1%}, bits {age[BITS].ml.mean():.1%}. "
        + (
            "It is so on both columns at every k here."
            if every
            else f"Ten bins are best in {len(wins)} of {len(names) * len(ks)} pairs of a column and a k."
        )
    )
    said.append(
        "The paper expects Laplace noise to suit numbers better than retain-replace, because far values are rarely hit. At one "
        f"attribute and a k like these it is not so: records move by {age[NOISE].moved.mean():.1f} years on average with noise, "
        f"{age[CONVENTIONAL].moved.mean():.1f} with retain-replace on every value and {age[TEN].moved.mean():.1f} on ten bins; and "
        f"undoing a known replacement is easy, while undoing noise (deconvolution) is not: the unbiased estimate from noise misplaces "
        f"{age[NOISE].unbiased.mean():.0%}, which is useless."
    )
    better = [
        (name, k)
        for name in names
        for k in ks
        if by[name, NOISE, k].ml_mean.mean() < by[name, CONVENTIONAL, k].ml_mean.mean()
    ]
    less = [
        (name, k)
        for name in names
        for k in ks
        if by[name, NOISE, k].moved.mean() < by[name, CONVENTIONAL, k].moved.mean()
    ]
    said.append(
        "What noise is good for: the mean, and whatever else is nearly linear. Its reconstructed mean is nearer the truth than that of "
        f"retain-replace on every value {_where(better, names, ks)}, and records move less {_where(less, names, ks)}. Reconstructed means from bins carry "
        "the error of calling every bin by its middle."
    )
    raw = [age[m] for m in (CONVENTIONAL, TEN, NOISE)]
    said.append(
        "Raw output misleads whatever the mechanism: the mean of the published ages is off by "
        f"{', '.join(f'{row.raw_mean.mean():.1f}' for row in raw)} years (every value, ten bins, noise), since replacement and clipping "
        "both pull to the middle of the bounds. Reconstruct."
    )
    worst, ages = by[names[0], BITS, AT], COLUMNS[0]
    values = ages.high - ages.low + 1
    bits = (values - 1).bit_length()
    said.append(
        f"Bits (the paper's Proposal 0) are the worst here: {bits} bits share the budget, so that {worst.kept.mean():.1%} of the records "
        f"come out unchanged and a flipped high bit moves one by half the range ({worst.moved.mean():.1f} years on average). Of the {2**bits} numbers "
        f"that {bits} bits can make {2**bits - values} are no age, and clipping counts them all as {ages.high}."
    )
    stuck = [row for row in rows if row.stuck.any()]
    if stuck:
        runs = sum(int(row.stuck.sum()) for row in stuck)
        where = "; ".join(
            f"{row.column}, {row.mechanism}, k = {row.k:g}: {int(row.stuck.sum())}" for row in stuck
        )
        said.append(
            f"A fault in the library, detected here: in {runs} of {sum(len(row.stuck) for row in rows)} runs `most_likely` ended at counts that "
            "are less likely than those of plain EM, because its long steps set counts to 0, from which EM never returns. In these runs "
            f"plain EM's counts are shown. ({where}.)"
        )
    return said


def _where(pairs: Sequence[tuple[str, float]], names: Sequence[str], ks: Sequence[float]) -> str:
    if len(pairs) == len(names) * len(ks):
        return "on both columns at every k here"
    by = {name: [f"{k:g}" for other, k in pairs if other == name] for name in names}
    said = [f"on {name} at k = {', '.join(ks_there)}" for name, ks_there in by.items() if ks_there]
    return " and ".join(said) if said else "nowhere here"
