"""What the paper leaves open (sections 5.2.1, 5.2.2, 5.2.3 and 5.3), as tables and in words; every number is computed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

import sudare as sd
from papers.optimal_pram.beyond import K, Measured, histograms, subsets_error
from papers.optimal_pram.data import CELLS, Case
from papers.optimal_pram.system import SHARES, System, one_record_moves
from papers.page import Grid, checked
from sudare.randomization import _optimal
from sudare.randomization.explicit import high_lines, low_lines

# -- 5.2.1: the explicit solution ----------------------------------------------------------------------


class Piece(NamedTuple):
    """In which piece of the explicit solution a case lies."""

    case: int
    k: int
    first: float
    last: float
    level: float
    at_low: int
    on_level: int
    at_high: int
    empty: int


def piece(case: Case, k: int) -> Piece:
    """Look at the optimal q of a case, and check the formula of its level."""
    v, q = case.v, sd.pram.optimal_pram(case.v, k=k).leave
    e, d = math.exp(sd.PkAnonymity(k).epsilon(case.records)), len(v)
    full = np.flatnonzero(v > 0)
    first, last = int(full[v[full].argmax()]), int(full[q[full].argmax()])
    low, high = _optimal.low(q[first], d, e), _optimal.high(q[last], d, e)
    middle = np.setdiff1d(full, [first, last])
    level = float((v * q).mean())
    near = 1e-9
    on_level = middle[np.abs(v[middle] * q[middle] - level) <= near * max(level, 1.0)]
    rest = np.setdiff1d(middle, on_level)
    at_low, at_high = (rest[np.abs(q[rest] - end) <= near] for end in (low, high))
    assert len(at_low) + len(at_high) == len(rest), (case.number, k)
    total = v[first] * q[first] + v[last] * q[last] + low * v[at_low].sum() + high * v[at_high].sum()
    cells = 2 + len(at_low) + len(at_high) + d - len(full)
    assert math.isclose(total / cells, level, rel_tol=1e-9), (case.number, k)
    return Piece(
        case.number, k, q[first], q[last], level, len(at_low), len(on_level), len(at_high), d - len(full)
    )


def pieces_grid(pieces: Sequence[Piece]) -> Grid:
    """Show the pieces."""
    headers = [
        "case",
        "k",
        "q of the first",
        "q of the last",
        "level s",
        "at lo",
        "on the level",
        "at hi",
        "empty",
    ]
    lines = [
        [str(p.case), str(p.k), f"{p.first:.6f}", f"{p.last:.6f}", f"{p.level:.4f}"]
        + [str(n) for n in (p.at_low, p.on_level, p.at_high, p.empty)]
        for p in pieces
    ]
    return Grid("5.2.1: the explicit solution of every case", headers, lines)


def explicit_words(pieces: Sequence[Piece]) -> list[str]:
    """State the explicit solution."""
    for d, epsilon in ((5, 0.7), (74, 4.1), (4, 3.0)):
        e = math.exp(epsilon)
        (_, *low), (_, *high) = low_lines(d, e), high_lines(d, e)
        for x in np.linspace(0.01, 1, 100):
            assert math.isclose(max(line.at + line.by * x for line in low), _optimal.low(x, d, e))
            assert math.isclose(
                min(line.at + line.by * x for line in high), _optimal.high(x, d, e), abs_tol=1e-12
            )
    free = sum(p.on_level > 0 for p in pieces)
    return [
        "**Statement.** Let v fall, d > 2, e = e^ε, u = e (d-1); a is the q of the most frequent cell, c the largest q, of the cell that stands last. With "
        "lo(a) = max(a, a\\* + t (a\\* - a)), a\\* = (d-1)/(e+d-1), t = max(e/(d-1), (d-1)/e), and hi(c) = min(c, c\\* - u (c - c\\*)), "
        "c\\* = u/(1+u), the optimum is q_i = s/v_i, cut off at lo(a) and hi(c), for all other cells: the frequent ones L lie at "
        "lo(a), the rare ones H at hi(c), those between on one level, v_i q_i = s = (v_1 a + v_last c + lo(a) Σ_L v + hi(c) Σ_H v) "
        "/ (2 + |L| + |H| + number of empty cells). For given L, H and lines of lo and hi, (a, c, s) solves three linear equations, or "
        "lies on an edge a = a\\*, c = c\\*, c = e a, lo(a) = hi(c), where it solves fewer.",
        "**Proof, piece by piece.** (o) *The most frequent cell has the least q.* All constraints are symmetric in the cells and convex, so that two "
        "q may always be moved towards each other. At the optimum v_1 q_1 ≥ s: else some v_j q_j > s with q_j > q_1, and moving both "
        "towards each other would bring both products nearer to s. If then q_i < q_1 for some i, moving both towards each other changes the "
        "squares at the rate 2 (q_1 - q_i) (v_i (v_i q_i - s) - v_1 (v_1 q_1 - s)), which is not above 0. *Only one cell can "
        "exceed c\\*,* as y ≤ u (1-x) for both; the one with the largest q stands last. (i) *lo.* For a cell beside the first, inequalities (1), (3) and (5) of the pair are y ≥ a (as q rises "
        "from the first), y ≥ (d-1)(1-a)/e and y ≥ 1 - e a/(d-1). All three lines pass through (a\\*, a\\*); right of it the rising one "
        "is largest, left of it the steeper of the two falling ones, whose slope is -t. (ii) *hi.* In the same way y ≤ c, y ≤ u (1-c) and "
        "y ≤ 1 - c/u meet in (c\\*, c\\*), and beyond it the steepest, of slope -u, is least. (iii) All other pairs follow: both of their q lie "
        "between lo(a) and hi(c), and each inequality is monotone in either. (iv) Given (a, c, s), every other cell has a square "
        "(v_i q_i - s)² of its own, least at s/v_i cut off. (v) The derivative by s vanishes where s is the mean of all v_i q_i; the cells on the "
        "level drop out of it, which gives the formula. (vi) In a piece the sum of squares is a quadratic form in (1, a, c, s), and "
        "convex as a whole, being the least over q of a convex function on a convex set: a point that is least in its piece and "
        "its neighbours is least of all.",
        f"The code searches for the piece and then solves its equations (`randomization/explicit.py`). In all {len(pieces)} pairs of a "
        f"case and a k the formula of s was checked; cells on the level occur in {free} of them. Where no error is left all cells are.",
    ]


# -- 5.2.2 and 5.2.3: the whole system -----------------------------------------------------------------


def system_grid(systems: Sequence[System]) -> Grid:
    """Show what the system promises, and how near each way of making P comes."""
    headers = [
        "case", "k", "ε asked", "P secret:\nε at least", "the same,\nflat histogram", "conventional", "true\nhistogram",
        "noise on v\n(default)", "noise on v", "noise on\nthe objective", "noise on P",
    ]  # fmt: skip
    lines = [
        [str(s.case), str(s.k), f"{s.epsilon:.2f}", f"{s.secret:.1f}", f"{s.secret_flat:.1f}"]
        + [f"{x:,.0f}" for x in (s.conventional, s.true, s.by_default, s.inputs, s.objective, s.output)]
        for s in systems
    ]
    shares = ", ".join(f"{share:.0%}" for share in SHARES)
    return Grid(
        f"5.2.2 and 5.2.3: the whole system; ||Pv - v||, each with the best of the shares {shares}",
        headers,
        lines,
    )


def _flat(epsilon: float) -> float:
    e = math.exp(epsilon)
    return epsilon + CELLS * max(e, CELLS - 1) / (e + CELLS - 1)


def system_words(systems: Sequence[System]) -> list[str]:
    """Say what the figures say."""
    worst = max(systems, key=lambda s: s.secret_flat / s.epsilon)
    best_objective = [s for s in systems if s.objective < s.inputs]
    moved, most = one_record_moves(10, 1.0)
    return [
        checked(
            all(math.isclose(s.secret_flat, _flat(s.epsilon), rel_tol=0.05) for s in systems),
            "**Keeping P secret is refused.** If P is made from the true v, one record's change changes the probabilities of all "
            "records. The output in which all have one value i has the probability Π_j P(v)[i, j]^v_j in whatever order its rows are; "
            "comparing it for neighbouring v gives a lower bound on the system's ε. For a flat histogram it is about "
            "ε + d max(e^ε, d-1)/(e^ε + d-1), however many records there are: one value becomes the most frequent, and all q follow. With as "
            f"many records as Case {worst.case} has, spread evenly, and k = {worst.k}, ε = {worst.epsilon:.2f} becomes at least {worst.secret_flat:.1f}. The ε of "
            "the matrix would not be the system's, and so `randomize` does not offer it: it takes a public histogram, or a private estimate that is paid for.",
        ),
        checked(
            all(s.output > s.conventional for s in systems),
            "**Noise on P itself (output perturbation)** must hide what one record can do to all q. In a flat histogram of 10 cells and 20 "
            f"records at ε = 1, one record moves them by {moved:.2f} together, where {most:.2f} is promised: "
            f"noise could be {most / moved:.1f} times smaller at best. It is worse than the conventional PRAM in all cases.",
        ),
        "**Noise on the objective** (on the coefficients of f_v², whose sensitivity is 2 N; proof in `system.py`) is "
        + (
            "worse than noise on v in all cases."
            if not best_objective
            else f"worse than noise on v but for {len(best_objective)} of {len(systems)} cases ("
            + ", ".join(
                f"Case {s.case} at k = {s.k}: {s.objective:,.0f} against {s.inputs:,.0f}, conventional {s.conventional:,.0f}"
                for s in best_objective
            )
            + ")."
        )
        + " Noise on v has the least sensitivity, 2, and everything after it is free: that is what `randomize` does.",
    ]


# -- 5.3: beyond A-type --------------------------------------------------------------------------------


def beyond_grid(all_measured: Sequence[Measured]) -> Grid:
    """Show all mechanisms by every loss."""
    headers = [
        "histogram", "mechanism", "ε", "changed", "places\nmoved", "worst value\nchanged", "||Pv - v||", "unbiased", "EM",
    ]  # fmt: skip
    lines = [
        [
            m.histogram,
            m.mechanism,
            f"{m.epsilon:.2f}",
            f"{m.changed:.1%}",
            f"{m.moved:.2f}",
            f"{m.worst:.1%}",
            f"{m.published:,.0f}",
            "-" if math.isinf(m.unbiased) else f"{m.unbiased:,.0f}",
            f"{m.likely:,.0f}",
        ]
        for m in all_measured
    ]
    return Grid(
        f"5.3: beyond A-type; Adult at k = {K}, matrices made for the histogram itself", headers, lines
    )


def beyond_words(all_measured: Sequence[Measured]) -> list[str]:
    """Say which wins, by the loss that is named."""
    at = {(m.histogram, m.mechanism): m for m in all_measured}
    names = list(dict.fromkeys(m.histogram for m in all_measured))
    plain, by_k = "randomized response (conventional)", "general, reconstruction, by k"
    gains = [f"{name} {at[name, plain].unbiased:,.0f} to {at[name, by_k].unbiased:,.0f}" for name in names]
    published = [
        f"{name} {at[name, 'A-type, published'].published:,.0f} and {at[name, by_k].published:,.0f}"
        for name in names
    ]
    kept = [
        f"{name} {1 - at[name, 'A-type, record'].changed:.1%}, {1 - at[name, 'general, record, by ε'].changed:.1%}, "
        f"{1 - at[name, 'general, record, by k'].changed:.1%}"
        for name in names
    ]
    moved = [
        f"{name} {at[name, 'geometric'].moved:.1f}, {at[name, plain].moved:.1f}, "
        f"{at[name, 'general, order, by ε'].moved:.1f}, {at[name, 'general, order, by k'].moved:.1f}"
        for name in names
    ]
    sets = [
        f"{name} {subsets_error(v, math.sqrt((v.sum() - 1) / (K - 1))):,.0f}"
        for name, v in histograms().items()
        if name in names
    ]
    collapsed = ages_collapse()
    return [
        collapsed,
        checked(
            all(
                at[n, by_k].unbiased
                < min(m.unbiased for m in all_measured if m.histogram == n and "by k" not in m.mechanism)
                and math.isclose(
                    at[n, "general, reconstruction, by ε"].unbiased, at[n, plain].unbiased, rel_tol=1e-6
                )
                for n in names
            ),
            "**For an analyst who reconstructs, the winner is the general matrix under k itself**: the error of the unbiased estimate falls from "
            f"conventional ({'; '.join(gains)}). Its raw histogram is near, too: ||Pv - v|| of the best A-type and of this one are "
            f"{'; '.join(published)}. Under ε nothing better than conventional was found for these ε; the subset mechanism itself, which publishes "
            f"sets, has {'; '.join(sets)}.",
        ),
        checked(
            all(
                at[n, "general, record, by k"].changed
                <= at[n, "general, record, by ε"].changed
                <= at[n, "A-type, record"].changed + 1e-9
                for n in names
            ),
            f"**For single records**, as many are kept by the A-type, by the general under ε and under k: {'; '.join(kept)}. Under ε the best is in closed "
            "form: the n most frequent values answer by randomized response, all others take one of these. Under k it is a law of square "
            "roots: the weight of row j is c √v_j - 1. Rare values are given up; what is counted afterwards must be what is frequent.",
        ),
        f"**For ordered values**, records move by so many places on average, geometric noise, conventional, general under ε and under k: {'; '.join(moved)}.",
        "**Why k itself allows more**: Pk-anonymity bounds P[a,u] P[b,w] / (P[a,w] P[b,u]), in which a factor on a row or a column "
        "cancels. So frequent values can have heavier rows, which ε forbids. (The proof that this is the exact condition, and what can be kept "
        "under it, is in `randomization/under_k.py`.) The price is named in the table: such a matrix has a larger ε.",
    ]


def ages_collapse() -> str:
    """Show the degenerate optimum."""
    name, v = next(iter(histograms().items()))
    share = v / v.sum()
    matrix = np.tile(share[:, None], (1, len(v)))
    return checked(
        bool(np.allclose(matrix @ v, v)) and bool((matrix == matrix[:, :1]).all()),
        f"**The loss must look at records.** For ||Pv - v|| alone the best matrix of all is P = v 1ᵀ/N: on {name} its error is "
        f"{np.linalg.norm(matrix @ v - v):.1f} and its ε is {0.0:.1f}, but only {share @ share:.1%} of the records keep their value, by chance. It publishes the "
        "histogram that it was made for, not the data. `sd.pram.optimal` refuses that loss for general matrices, and says so.",
    )
