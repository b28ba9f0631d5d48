"""Where the paper slips, and what is right. Every claim is checked before it is printed, by plain code on whole matrices."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray

import sudare as sd
from papers.optimal_pram.data import CELLS, ages, cases
from papers.optimal_pram.paper import KS, PAPER
from papers.optimal_pram.regions import corners
from papers.page import checked

Floats = NDArray[np.float64]


def differences() -> list[str]:
    """Return the claims in words; one that does not hold raises."""
    return [sentence for claim in CLAIMS for sentence in claim()]


# -- plain twins ---------------------------------------------------------------------------------------


def a_type(q: ArrayLike) -> Floats:
    """Write out the A-type matrix: column j has 1 - q_j on the diagonal and q_j / (d - 1) elsewhere."""
    leave = np.asarray(q, dtype=np.float64)
    d = len(leave)
    return np.array([[1 - leave[j] if i == j else leave[j] / (d - 1) for j in range(d)] for i in range(d)])


def plain_epsilon(matrix: Floats) -> float:
    """Return the epsilon of Lemma 3.2: in every row, the largest entry over the smallest."""
    return float(np.log(matrix.max(axis=1) / matrix.min(axis=1)).max())


def plain_spread(matrix: Floats) -> float:
    """Return ln of the largest P[a,u] P[b,w] / (P[a,w] P[b,u]), all quadruples tried."""
    d = range(len(matrix))
    logs = np.log(matrix)
    return max(float(logs[a, u] + logs[b, w] - logs[a, w] - logs[b, u]) for u, w, a, b in product(d, d, d, d))


def printed_t(v: Floats, e: float) -> float:
    """Return the t of Lemma 3.13 and Algorithm 1, line 8, for a falling histogram."""
    d = len(v)
    return float((d - 1) / e / (v[-1] / v[1] + (d - 1) / e * v[-1] / v[0]))


def other_t(v: Floats, e: float) -> float:
    """Return the least t by inequality (5) for q_1 and q_2: row 2 holds, (d - 1)(1 - q_2) <= e q_1."""
    d = len(v)
    return float((d - 1) / (e * v[-1] / v[0] + (d - 1) * v[-1] / v[1]))


# -- claims --------------------------------------------------------------------------------------------


def _the_same() -> Iterator[str]:
    case = cases()[2]
    for k in KS:
        e = math.sqrt((case.records - 1) / (k - 1))
        conventional = a_type(np.full(CELLS, (CELLS - 1) / (e + CELLS - 1)))
        optimal = a_type(sd.pram.optimal_pram(case.v, k=k).leave)
        assert plain_epsilon(optimal) <= math.log(e) + 1e-9
        for matrix, printed in zip((conventional, optimal), PAPER[3][k].opt, strict=True):
            off = float(np.linalg.norm(matrix @ case.v - case.v))
            assert abs(off - printed) < 0.06, (k, off, printed)
    yield (
        "Case 3: all six ||Pv - v|| come out as printed, to the first decimal, on adult.data's ages 17 to 90; whole matrices "
        "were multiplied to find them."
    )


def _definition() -> Iterator[str]:
    p = 1 - sd.pram.optimal_pram(ages(), k=10).leave
    d = len(p)
    printed = np.array([[p[i] if i == j else (1 - p[i]) / (d - 1) for j in range(d)] for i in range(d)])
    sums = printed.sum(axis=0)
    yield checked(
        abs(sums - 1).max() > 0.1 and abs(a_type(1 - p).sum(axis=0) - 1).max() < 1e-12,
        f"Definition of the A-type matrix: printed with the row's p_i beside the diagonal, the columns of Case 3's optimal "
        f"matrix (k = 10) would sum to between {sums.min():.2f} and {sums.max():.2f}, not to 1. The column's p_j is meant, as "
        "in the paper's own matrix of Pv - v.",
    )


def _range_of_p() -> Iterator[str]:
    d = CELLS
    p = 1 / d
    yield checked(
        math.isclose(p, (1 - p) / (d - 1)) and 0.9 / d < (1 - 0.9 / d) / (d - 1),
        "Definition 2.11: p in [d, 1] is empty. p in [1/d, 1] is meant: at 1/d a value is kept as often as it becomes any "
        "one of the others.",
    )


def _corners() -> Iterator[str]:
    d, e = 5, 3.0
    # (3) y >= (d-1)(1-x)/e and (5) y >= 1 - e x/(d-1), as lines; and (2) y = x/e with (4) y = e(d-1)(1-x)
    x, y = np.linalg.solve([[(d - 1) / e, 1], [e / (d - 1), 1]], [(d - 1) / e, 1])
    x2, y2 = np.linalg.solve([[-1 / e, 1], [e * (d - 1), 1]], [0, e * (d - 1)])
    right = (d - 1) / (e + d - 1)
    yield checked(
        math.isclose(x, right)
        and math.isclose(y, right)
        and not math.isclose(x, 1 / right)
        and math.isclose(x2, e * e * (d - 1) / (1 + e * e * (d - 1)))
        and not math.isclose(x2, d / (1 + e * e * (d - 1)))
        and math.isclose(y2, e * (d - 1) / (1 + e * e * (d - 1))),
        "Corners of Fig. 1, as our copy of the text has them: (3)-(5) is upside down, it is x = y = (d-1)/(e^ε + d-1); and "
        "the x of (2)-(4) is e^2ε (d-1)/(1 + e^2ε (d-1)).",
    )


def _lemma_3_5() -> Iterator[str]:
    tried, shapes = 0, {4: 0, 6: 0}
    for d in range(3, 13):
        edge = math.acosh(d / 2 - 1) if d > 4 else 0.0  # e + 1/e + 2 = d
        for epsilon in (0.1, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, edge - 0.01, edge + 0.01):
            if epsilon > 0:
                found = corners(math.exp(epsilon), d)
                assert len(found) == (6 if 2 * math.cosh(epsilon) + 2 > d else 4), (d, epsilon)
                tried, shapes[len(found)] = tried + 1, shapes[len(found)] + 1
    four = {name for *_, name in corners(math.exp(1.2), 8)}
    yield checked(
        shapes[4] > 10 and shapes[6] > 10 and "(4)-(5)" in four and "(3)-(6)" in four,
        f"Lemma 3.5 holds: the corners were computed for {tried} pairs of d and ε, also close to e^ε + e^-ε + 2 = d; {shapes[6]} "
        f"regions have six corners and {shapes[4]} four, as it says. The four are {', '.join(sorted(four))}; the paper's list of corners "
        "lacks (4)-(5), where the lines that bound the quadrilateral on the right meet. In a hexagon with e^ε > d - 1 the corner (2)-(5) is "
        "(2)-(3).",
    )


EXAMPLE = np.array([40.0, 20.0, 10.0, 10.0])


def _larger_t() -> Iterator[str]:
    v, e, d = EXAMPLE, 10.0, len(EXAMPLE)
    low, high = printed_t(v, e), other_t(v, e)
    broken, right = a_type(low * v[-1] / v), a_type(high * v[-1] / v)
    ours = sd.pram.optimal_pram(v, epsilon=math.log(e))
    fits = v[0] / v[-1] <= e and low <= e * (d - 1) / (e * (d - 1) + v[-1] / v[-2])  # Lemma 3.13 (ii)
    yield checked(
        fits
        and np.allclose(broken @ v, v)
        and np.allclose(right @ v, v)
        and math.isclose(math.exp(plain_epsilon(broken)), 17.0)
        and math.isclose(math.exp(plain_epsilon(right)), e)
        and np.allclose(ours.leave, high * v[-1] / v),
        f"Lemma 3.13 and Algorithm 1, line 8: the printed t satisfies inequality (3) for the two largest cells, but not always "
        f"(5). For v = (40, 20, 10, 10) and e^ε = 10 it is t = {low:.4f}, its matrix leaves v as it is, but in row 2 "
        f"probabilities differ by a factor of {math.exp(plain_epsilon(broken)):.0f}, not {e:.0f}: the promised ε is broken. The t of (5), (d-1) / (e^ε v_d/v_1 + (d-1) "
        f"v_d/v_2) = {high:.4f}, keeps it. The larger of the two is right; lines 5 and 8 both need it. `optimal_pram` takes it.",
    )
    rng = np.random.default_rng(1)
    when = broke = 0
    for _ in range(4000):
        d = int(rng.integers(3, 9))
        v = np.sort(rng.integers(1, 100, d))[::-1].astype(np.float64)
        e = float(np.exp(rng.uniform(0.1, 5)))
        t = printed_t(v, e)
        if v[0] > e * v[-1] or t > e * (d - 1) / (e * (d - 1) + v[-1] / v[-2]):
            continue
        breaks = plain_epsilon(a_type(t * v[-1] / v)) > math.log(e) + 1e-9
        assert breaks == (e > d - 1 and v[0] > v[1]), (v, e)
        when, broke = when + 1, broke + breaks
    first = sd.PkAnonymity(KS[0]).epsilon(cases()[0].records)
    yield checked(
        broke > 100 and math.exp(first) > CELLS - 1,
        f"When it breaks: exactly if e^ε > d - 1 and v_1 > v_2. Of {when:,} random histograms that pass the lemma's test, "
        f"the printed t broke ε in {broke:,}, and in all of these and no others that was so. The paper's own Case 1 at k = {KS[0]} is "
        f"of this kind (e^{first:.2f} = {math.exp(first):.0f} > {CELLS - 1}), unless its two largest counts are equal.",
    )


def _k_and_epsilon() -> Iterator[str]:
    v, e, n = np.array([90.0, 30.0, 10.0]), 10.0, 130
    matrix = a_type(sd.pram.optimal_pram(v, epsilon=math.log(e)).leave)
    k, said = 1 + (n - 1) * math.exp(-plain_spread(matrix)), 1 + (n - 1) / e**2
    more = [
        f"Case {case.number} at k = {asked} (where it is {got:.4g})"
        for case in cases()
        for asked in KS
        if (got := sd.pram.optimal_pram(case.v, k=asked).k(case.records)) > asked * (1 + 1e-6)
    ]
    yield checked(
        math.isclose(plain_epsilon(matrix), math.log(e)) and k > said + 1 and len(more) == 1,
        f"Theorem 2.13, k - 1 = (N-1) e^-2ε, is an equality for the conventional matrix; for others k can be larger, never "
        f"smaller. The optimal matrix for v = (90, 30, 10) and e^ε = 10 has k = {k:.2f}, where the theorem says {said:.2f}. So to "
        "ask for a k by way of ε is safe, and sometimes wasteful: a matrix that uses k in full could be better still. Of the "
        f"optimal matrices here, only that of {', '.join(more)} has more than was asked.",
    )


def _empty_cells() -> Iterator[str]:
    v = ages()
    q = sd.pram.optimal_pram(v, k=10).leave
    e = math.sqrt((v.sum() - 1) / 9)
    i = int(np.flatnonzero(v == 0)[0])
    free, caught = q.copy(), q.copy()
    free[i], caught[i] = q.max(), 0.0
    same = [float(np.linalg.norm(a_type(x) @ v - v)) for x in (q, free, caught)]
    yield checked(
        np.allclose(same, same[0])
        and plain_epsilon(a_type(q)) <= math.log(e) + 1e-9
        and math.isinf(_quiet(a_type(caught))),
        "Lemma 5.1 (empty cells): their q_i is indeed free for the error, but not for ε. With q_i = 0 for age 89, which nobody has, "
        "the error is the same and ε is infinite.",
    )


def _quiet(matrix: Floats) -> float:
    with np.errstate(divide="ignore", invalid="ignore"):
        return plain_epsilon(matrix)


def _leak() -> Iterator[str]:
    v = ages()
    matrix = np.tile((v / v.sum())[:, None], (1, len(v)))
    rows = matrix[v > 0]
    yield checked(
        plain_epsilon(rows) == 0 and np.allclose(matrix @ v, v),
        "Sections 5.2 and 5.3: a matrix that is made from the true v tells about v, whatever its ε. With more freedom than "
        "A-type the leak is total: P = v 1ᵀ / N has ε = 0 and Pv = v. That is why `randomize` makes an optimal PRAM from a "
        "public histogram or a private estimate, and calls the paper's setting by its name, 'true-histogram'.",
    )


CLAIMS: tuple[Callable[[], Iterator[str]], ...] = (
    _the_same,
    _definition,
    _range_of_p,
    _corners,
    _lemma_3_5,
    _larger_t,
    _k_and_epsilon,
    _empty_cells,
    _leak,
)
