"""Section 5.2: what the whole system promises if P is made from the data: P kept secret, or perturbed in three ways.

*Secret.* If P(v) is made from the true v and only the output is published, one record's change from v to v' changes the
probabilities of *all* records. The output in which everybody has the value i has the probability prod_j P(v)[i, j]^v_j, in any
order of its rows; so the epsilon of the system is at least |sum_j v_j ln P(v)[i, j] - v'_j ln P(v')[i, j]| for every i and v'.
`secret` finds that for some v'. For a flat v it is about epsilon + d max(e^epsilon, d-1) / (e^epsilon + d-1): the record that moves makes
one value the most frequent, and with v_1 or v_2 in the zero-error solution q_i = (d-1) / (e v_i / v_2 + (d-1) v_i / v_1), or with both
exchanged, all q_i change by about max(e, d-1) / (e + d-1) times 1/v_i of themselves, which v_i records feel.

*Input.* Noise of scale 2/e on every count of v, since one record's change moves two of them by 1: epsilon e. P is then made of what
is public. This is what `randomize` does.

*Objective.* f_v(q)^2 = sum_i v_i^2 q_i^2 - (sum_i v_i q_i)^2 / d is given by its coefficients, (1 - 1/d) v_i^2 and, for i < j,
-2 v_i v_j / d. If a record moves from j to l, with x = v_j + v_l, the squares change by 2 x at most, and so their coefficients by
2 x (1 - 1/d); the products with the others by 4 (N - x) / d together, the product of both by 2 x / d at most. The sum is
2 x (1 - 2/d) + 4 N / d, at most 2 N. So noise of scale 2 N / e on every coefficient has epsilon e. What is not convex in the noisy form
is cut away.

*Output.* The q that are found lie between a least one, L, and 1. One record can change all of them, by 1 - L each at
most: noise of scale d (1 - L) / e has epsilon e. The nearest q that the rest of epsilon allows is taken.

All of P's epsilon and of the randomization's add up.
"""

from __future__ import annotations

import math
from itertools import permutations
from typing import NamedTuple

import clarabel
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

import sudare as sd
from benchmarks.pram import problem
from papers.optimal_pram.data import CELLS, Case
from papers.optimal_pram.measure import from_estimate
from sudare.randomization._optimal import least_end
from sudare.randomization.made_for import derived_share
from sudare.randomization.pram import Pram

Floats = NDArray[np.float64]
SHARES = (0.02, 0.1, 0.3)


class System(NamedTuple):
    """A case and a k: what keeping P secret leaves, and ||P v - v|| of the three perturbations."""

    case: int
    k: int
    epsilon: float
    secret: float
    """The system's epsilon is at least this, if P is made from the true histogram and kept secret."""
    secret_flat: float
    """The same for as many records that are spread evenly: what is promised must hold for every table."""
    conventional: float
    true: float
    by_default: float
    """Noise on the input, with the share that `randomize` takes."""
    inputs: float
    """With the best of some shares, as the next two."""
    objective: float
    output: float


def system(case: Case, k: int, seeds: int, shares: tuple[float, ...] = SHARES) -> System:
    """Measure all of it, on one case."""
    epsilon, v = sd.PkAnonymity(k).epsilon(case.records), case.v
    own = derived_share(CELLS, case.records, epsilon)

    def best(made: str) -> float:
        return min(
            float(np.mean([MADE[made](v, epsilon, share, seed).bias(v) for seed in range(seeds)]))
            for share in shares
        )

    return System(
        case.number,
        k,
        epsilon,
        secret(v, epsilon),
        secret(np.full(CELLS, float(case.records // CELLS)), epsilon),
        sd.pram.conventional_pram(CELLS, epsilon=epsilon).bias(v),
        sd.pram.optimal_pram(v, epsilon=epsilon).bias(v),
        float(np.mean([from_estimate(v, epsilon, own, seed).bias(v) for seed in range(seeds)])),
        *(best(made) for made in MADE),
    )


def secret(v: Floats, epsilon: float) -> float:
    """Return what the system's epsilon is at least: one record moves between cells of any height, and all come out alike."""
    order = np.argsort(v)
    some = [int(order[place]) for place in (0, 1, len(v) // 2, -2, -1)]
    here = _all_alike(v, epsilon)
    largest = 0.0
    for j, other in permutations(some, 2):
        if v[j] > 0:
            near = v.copy()
            near[[j, other]] += -1, 1
            largest = max(largest, float(np.abs(here - _all_alike(near, epsilon)).max()))
    return largest


def _all_alike(v: Floats, epsilon: float) -> Floats:
    """Return the logarithm of the probability that everybody comes out with the value i, for every i."""
    return np.asarray(np.log(sd.pram.optimal_pram(v, epsilon=epsilon).matrix) @ v)


# -- three perturbations -------------------------------------------------------------------------------


def from_noisy_objective(v: Floats, epsilon: float, share: float, seed: int) -> Pram:
    """Make P from noisy coefficients of what is to be least."""
    d, scale = len(v), 2 * v.sum() / (share * epsilon)
    noise = np.triu(np.random.default_rng(seed).laplace(0, scale, (d, d)))
    form = np.diag(v**2) - np.outer(v, v) / d
    form += np.diag(noise.diagonal()) + (np.triu(noise, 1) + np.triu(noise, 1).T) / 2
    values, vectors = np.linalg.eigh(form)
    convex = (vectors * np.maximum(values, 0.0)) @ vectors.T
    return Pram(_least(convex / np.abs(convex).max(), np.zeros(d), (1 - share) * epsilon))


def from_noisy_output(v: Floats, epsilon: float, share: float, seed: int) -> Pram:
    """Make P from the true v, and perturb it."""
    d, rest = len(v), (1 - share) * epsilon
    scale = d * (1 - least_end(d, math.exp(rest))[0]) / (share * epsilon)
    noisy = sd.pram.optimal_pram(v, epsilon=rest).leave + np.random.default_rng(seed).laplace(0, scale, d)
    return Pram(_least(np.eye(d) / 2, -noisy, rest))


def _least(form: Floats, linear: Floats, epsilon: float) -> Floats:
    """Return the q that epsilon allows where q form q + linear q is least."""
    _, rows, limits = problem(np.ones(len(linear)), epsilon)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    cones = [clarabel.NonnegativeConeT(len(limits))]
    upper = sparse.csc_matrix(np.triu(2 * form))
    solution = clarabel.DefaultSolver(upper, linear, rows, limits, cones, settings).solve()
    return np.clip(np.array(solution.x), 0.0, 1.0)


MADE = {"inputs": from_estimate, "objective": from_noisy_objective, "output": from_noisy_output}


def one_record_moves(d: int, epsilon: float) -> tuple[float, float]:
    """Return by how much all q together change if one record of a flat histogram moves, and the most that is promised."""
    v = np.full(d, 2.0)
    near = v.copy()
    near[[0, 1]] += -1, 1
    change = np.abs(
        sd.pram.optimal_pram(v, epsilon=epsilon).leave - sd.pram.optimal_pram(near, epsilon=epsilon).leave
    )
    return float(change.sum()), d * (1 - least_end(d, math.exp(epsilon))[0])
