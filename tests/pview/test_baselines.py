import numpy as np
import pytest

from sudare.errors import InputError, ParameterError
from sudare.noise.keystream import Keystream
from sudare.privacy.differential_privacy import DifferentialPrivacy
from sudare.pview.account import Account
from sudare.pview.baselines import learn_identity, learn_independent
from sudare.pview.noisy_counts import NoisyProduct, project
from tests.pview.counted import counted


def account(epsilon=1.0, seed=1, delta=0.0):
    return Account(DifferentialPrivacy(epsilon, delta), Keystream.unsafe(seed))


def some(n=20_000, sizes=(4, 6, 3)):
    rng = np.random.default_rng(2)
    return (rng.random((n, len(sizes))) ** 2 * sizes).astype(np.int32), sizes


def boxes(sizes, n=50):
    rng = np.random.default_rng(3)
    ends = np.sort(rng.integers(0, sizes, (2, n, len(sizes)), dtype=np.int32), axis=0)
    return ends[0], ends[1]


def true_counts(codes, low, high):
    return np.array([((codes >= a) & (codes <= b)).all(axis=1).sum() for a, b in zip(low, high, strict=True)])


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("learn", [learn_identity, learn_independent])
def test_counts_are_within_their_errors(learn, delta):
    codes, sizes = some()
    budget = account(delta=delta)
    model = learn(counted(codes, sizes), budget)
    assert budget.remaining == 0
    low, high = boxes(sizes)
    off = model.counts(low, high) - true_counts(codes, low, high)
    # The columns are independent, up to chance of about the square root of the count.
    assert (
        np.abs(off) <= 6 * np.hypot(model.errors(low, high), np.sqrt(true_counts(codes, low, high)) + 1)
    ).all()


@pytest.mark.parametrize("learn", [learn_identity, learn_independent])
def test_errors_are_those_of_many_runs(learn):
    codes, sizes = some(5000)
    low, high = boxes(sizes, 8)
    runs = [learn(counted(codes, sizes), account(0.5, seed)) for seed in range(400)]
    spread = np.std([model.counts(low, high) for model in runs], axis=0)
    assert np.allclose(spread, runs[0].errors(low, high), rtol=0.25, atol=1)


@pytest.mark.parametrize("learn", [learn_identity, learn_independent])
def test_samples_have_the_counts_of_the_model(learn):
    codes, sizes = some()
    model = learn(counted(codes, sizes), account())
    drawn = model.sample(100_000, np.random.default_rng(1))
    assert drawn.shape == (100_000, 3)
    low, high = boxes(sizes)
    shares = true_counts(drawn, low, high) / 100_000
    assert np.allclose(shares, model.counts(low, high) / 20_000, atol=0.01)


def test_the_same_seed_gives_the_same():
    codes, sizes = some(100)
    first, second = (learn_identity(counted(codes, sizes), account(seed=9)).table for _ in range(2))
    assert np.array_equal(first, second)


def test_histograms_are_nonnegative_and_share_one_total():
    codes, sizes = some(30, sizes=(50, 2, 9))
    model = learn_independent(counted(codes, sizes), account(0.3))
    assert all((m >= 0).all() for m in model.marginals)
    assert np.allclose([m.sum() for m in model.marginals], model.total)


def test_an_empty_model_counts_nobody():
    model = NoisyProduct((np.zeros(2), np.zeros(3)), 1.0)
    assert model.counts(*boxes((2, 3))).tolist() == [0.0] * 50
    with pytest.raises(InputError, match="nobody"):
        model.sample(3, np.random.default_rng(1))


def test_a_large_domain_is_refused_for_cells():
    with pytest.raises(ParameterError, match="10,000,000 cells at most"):
        learn_identity(counted(np.zeros((1, 3), dtype=np.int32), (1000, 1000, 1000)), account())


def test_projection_is_the_nearest_point():
    rng = np.random.default_rng(4)
    for total in (0.5, 3.0, 40.0):
        noisy = rng.normal(1, 3, 8)
        projected = project(noisy, total)
        assert projected.min() >= 0
        assert projected.sum() == pytest.approx(total)
        for other in rng.dirichlet(np.ones(8), 500) * total:
            assert ((projected - noisy) ** 2).sum() <= ((other - noisy) ** 2).sum() + 1e-9
    assert project(noisy, -1.0).tolist() == [0.0] * 8
