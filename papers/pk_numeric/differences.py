"""Where the paper slips, and what is right. Every claim is checked before it is printed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

import sudare as sd
from papers.page import checked
from papers.pk_numeric.theorems import N, factor, laplace, laplace_k, normal, normal_k
from sudare.randomization.budget import SplitAttribute, split_spread


def differences() -> list[str]:
    """Return the claims in words; one that does not hold raises."""
    return [sentence for claim in CLAIMS for sentence in claim()]


def _square() -> Iterator[str]:
    d, kept = 5, 0.4
    law = np.full((d, d), (1 - kept) / d) + kept * np.eye(d)
    counted, fraction = factor(law), (1 - kept) / (1 + (d - 1) * kept)
    printed = (1 - kept) / (1 + (d - 1) * kept) ** 2
    yield checked(
        math.isclose(counted, fraction**2) and printed > 1.5 * counted,
        f"The factor of retain-replace is ((1-ρ) / (1 + (|V|-1) ρ))²: the square is over the whole fraction. With 5 values and "
        f"ρ = 0.4 trying all pairs gives {counted:.4f}; the printed form has {printed:.4f} and would promise a k that does not hold.",
    )


def printed_search(wanted: float, steps: int = 60) -> float | None:
    """Follow the printed step 2: stop once k <= wanted, else double σ; None if it never stops."""
    sigma = 1.0
    for _ in range(steps):
        if laplace_k(sigma, 1) <= wanted:
            return sigma
        sigma *= 2
    return None


def closed_form(k: float, widths: float, records: int = N) -> float:
    """Return the σ that gives k."""
    return 2 * widths / math.log((records - 1) / (k - 1))


def _backwards() -> Iterator[str]:
    large = printed_search(500)
    assert large is not None
    sigma = closed_form(10, 1)
    yield checked(
        printed_search(10) is None
        and laplace_k(large, 1) < 500
        and math.isclose(laplace_k(sigma, 1), 10)
        and math.isclose(1 + (N - 1) * math.exp(-2 * 3 / closed_form(10, 3)), 10),
        f"Step 2 of the noise search has the comparison backwards. k grows with σ: with N = 1,000 and width 1, k(1) = "
        f"{laplace_k(1, 1):.0f}, so for k = 10 the printed step doubles σ without end, and for k = 500 it stops at σ = {large:g}, "
        f"below every σ that would do. Double until k is at least what is wanted. Or do not search: σ = 2 ΣD / ln((N-1)/(k-1)), "
        f"which is {sigma:.4f} for k = 10.",
    )


def _variance() -> Iterator[str]:
    x = np.linspace(-60, 60, 2_400_001)
    variance = float((x**2 * laplace(1.0)(x)).sum() * (x[1] - x[0]))
    yield checked(
        math.isclose(variance, 2.0, rel_tol=1e-6),
        "Theorem 6.1 says variance σ². The density it uses, e^(-|x|/σ) / 2σ, has the scale σ and the variance 2σ².",
    )


def _tie() -> Iterator[str]:
    most = {n: 1 + (N - 1) * math.exp(-2 * n) for n in (1, 3)}
    attributes = [SplitAttribute(f"x{i}", 1.0, lambda spread: 0.0, None) for i in range(3)]
    spread = sd.PkAnonymity(10).spread(N)
    try:
        split_spread(spread, attributes, "paper-tie")
        refused = False
    except sd.RequirementError:
        refused = True
    reached = sum(split_spread(spread, attributes, "tie"))
    yield checked(
        refused and math.isclose(reached, spread, rel_tol=1e-6) and most[3] < 10,
        f"The tie σ = tan(π/4 (1-ρ)) stops at σ = 1, so that in a mixed table with n numbers scaled to [0, 1] no k above "
        f"1 + (N-1) e^(-2n) can be had: with N = 1,000, {most[1]:.0f} for one number and {most[3]:.2f} for three. tan(π/2 (1-ρ)) "
        "reaches every k; `randomize` has both, as 'paper-tie' and 'tie'.",
    )


def _clipped() -> Iterator[str]:
    steps, scale = 10, 5.0
    i = np.arange(steps + 1)
    a = math.exp(-1 / scale)
    wide = np.arange(-400, steps + 401)
    law = (1 - a) / (1 + a) * a ** np.abs(wide[None, :] - i[:, None])
    clipped = np.stack([law[:, np.clip(wide, 0, steps) == j].sum(axis=1) for j in i], axis=1)
    yield checked(
        math.isclose(factor(law), factor(clipped))
        and math.isclose(factor(law), math.exp(-2 * steps / scale)),
        "Not a slip, but left out: noise on a grid has the same factor as the continuous one, and clipping it to the bounds "
        f"changes nothing (both {factor(law):.4f} for 11 points and scale 5, counted).",
    )


def _misprints() -> Iterator[str]:
    l, r, s = 1.0, 2.0, 4.0
    law = normal(s)(np.array([[-r, l + r], [-r - l, r]]))  # u = 0, v = l; u' = -r, v' = l + r
    printed = math.exp(-(2 * (l + r) ** 2 - 2 * r**2) / s**2)
    yield checked(
        math.isclose(1 + (N - 1) * factor(law), normal_k(s, l, r)) and not math.isclose(factor(law), printed),
        "Harmless misprints in proofs: 5.3 has σ² for 2σ² in the line before the last (its end, e^(-(l² + 2rl)/σ²), is right); "
        "5.1 has u' = u + f(x) for u + x and 4f(x̂) for 4f(x̂)²; 6.1 has ‖v' + v‖ for ‖v' - v‖, and 1/2σ for (1/2σ)^n.",
    )


CLAIMS: tuple[Callable[[], Iterator[str]], ...] = (
    _square,
    _backwards,
    _variance,
    _tie,
    _clipped,
    _misprints,
)
