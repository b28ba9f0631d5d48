"""DP-GAN's accountant, and what one record can change of its gradients."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad

from papers.dp_mondrian.accountant import ORDERS, epsilon_of, renyi, sigma_for
from papers.dp_mondrian.data import uniform
from papers.dp_mondrian.dp_gan import CLIP, RATE, Layout, clipped_sum, noisy_gradients, rows_of_gan
from sudare.pview.domain import Domain

# -- The accountant -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("q", "sigma", "order"), [(0.01, 1.0, 2), (0.1, 1.5, 5), (0.5, 3.0, 8), (0.02, 0.8, 3)]
)
def test_the_divergence_is_that_of_the_two_densities(q: float, sigma: float, order: int) -> None:
    """Both ways: of the mixture from the Gaussian, and (which must not be more) of the Gaussian from the mixture."""

    def log_ratio(x: float) -> float:
        return float(np.logaddexp(math.log1p(-q), math.log(q) + (2 * x - 1) / (2 * sigma**2)))

    def moment(sign: int) -> float:
        power = order if sign > 0 else 1 - order

        def density(x: float) -> float:
            return math.exp(power * log_ratio(x) - x**2 / (2 * sigma**2)) / (sigma * math.sqrt(2 * math.pi))

        return quad(density, -30 * sigma, 30 * sigma + order, limit=400, points=[0.0, float(order)])[0]

    assert renyi(q, sigma, order) == pytest.approx(math.log(moment(1)) / (order - 1), rel=1e-6)
    assert math.log(moment(-1)) / (order - 1) <= renyi(q, sigma, order) + 1e-9


def test_known_values() -> None:
    # TensorFlow Privacy's: 60,000 records, batches of 256, noise 1.12, 60 epochs, delta 1e-5: epsilon 2.92, with the
    # older way to a delta. Ours is nearer.
    q, steps = 256 / 60_000, 14_063
    older = min(steps * renyi(q, 1.12, a) - math.log(1e-5) / (a - 1) for a in ORDERS)
    assert older == pytest.approx(2.92, abs=0.005)
    assert epsilon_of(q, 1.12, steps, 1e-5) < older


def test_without_sampling_it_is_the_gaussian_mechanism() -> None:
    for order in (2, 7, 40):
        assert renyi(1.0, 3.0, order) == pytest.approx(order / 18)
        assert renyi(1 - 1e-12, 3.0, order) == pytest.approx(order / 18, rel=1e-6)


def test_the_noise_is_as_small_as_it_may_be() -> None:
    sigma = sigma_for(0.02, 300, 2.0, 1e-5)
    assert epsilon_of(0.02, sigma, 300, 1e-5) <= 2.0 < epsilon_of(0.02, sigma - 0.01, 300, 1e-5)
    with pytest.raises(ValueError, match="No noise up to 1000"):
        sigma_for(1.0, 10**9, 1e-3, 1e-9)


# -- What one record changes ----------------------------------------------------------------------------


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch")


def difference(torch: Any, sums: Any, batch: Any, model: Any) -> float:
    values = {name: one.detach() for name, one in model.named_parameters()}
    with_all, without = (sums(torch, model, values, rows) for rows in (batch, batch[1:]))
    return math.sqrt(sum(float(((with_all[name] - without[name]) ** 2).sum()) for name in values))


def clipped_together(torch: Any, model: Any, values: Any, batch: Any) -> Any:
    """Broken: the batch's gradient is clipped as a whole, and not each record's."""
    told = torch.func.functional_call(model, values, (batch,))
    loss = torch.nn.functional.softplus(-told).sum()
    grads = torch.autograd.grad(loss, list(values.values()))
    length = math.sqrt(sum(float((g**2).sum()) for g in grads))
    return {name: g * min(1.0, len(batch) * CLIP / length) for name, g in zip(values, grads, strict=True)}


def test_one_record_changes_the_sum_by_the_clip_and_a_broken_one_is_caught(torch: Any) -> None:
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.LeakyReLU(0.2), torch.nn.Linear(8, 1))
    batch = torch.randn(20, 3)
    batch[0] *= 1e3
    assert difference(torch, clipped_sum, batch, model) == pytest.approx(CLIP, rel=1e-4)

    def broken(torch: Any, model: Any, values: Any, rows: Any) -> Any:
        return clipped_together(
            torch, model, {n: v.clone().requires_grad_() for n, v in values.items()}, rows
        )

    assert difference(torch, broken, batch, model) > 2 * CLIP


def test_noise_has_the_deviation_that_is_paid_for(torch: Any) -> None:
    torch.manual_seed(2)
    model = torch.nn.Linear(400, 25)
    drawn = noisy_gradients(torch, model, torch.empty(0, 400), 1.5)["weight"]
    assert float(drawn.std()) == pytest.approx(1.5 * CLIP, rel=0.05)


def test_rows_are_in_the_domain(torch: Any) -> None:
    table = uniform(300, 2)
    rows = rows_of_gan(table, 50, 1, 1.0, steps=5)
    assert rows.shape == (50, 2)
    assert rows.to_numpy().min() >= 0
    assert rows.to_numpy().max() < 100
    assert 0 < RATE < 1


def test_cells_are_numbers_and_back() -> None:
    layout = Layout((5, 3, 1), (True, False, True))
    codes = np.array([[0, 2, 0], [4, 0, 0], [2, 1, 0]])
    rows = layout.encoded(codes)
    assert rows.shape == (3, 5)
    assert np.array_equal(layout.decoded(rows, np.random.default_rng(1)), codes)
    assert Layout.of(Domain.of(uniform(10, 2).schema)).widths == [1, 1]
