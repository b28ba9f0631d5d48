import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from sudare.errors import ParameterError
from sudare.noise.keystream import Keystream
from sudare.privacy.differential_privacy import DifferentialPrivacy
from sudare.pview.account import Account
from sudare.pview.privbayes import (
    FOR_TOTAL,
    R_SENSITIVITY,
    Network,
    Node,
    PrivBayes,
    conditional,
    dependence,
    draw,
    learn_privbayes,
    maximal_sets,
    table_of,
)
from tests.pview.counted import counted


def account(epsilon=1.0, seed=1, delta=0.0):
    return Account(DifferentialPrivacy(epsilon, delta), Keystream.unsafe(seed))


def plain_dependence(table):
    """R as the paper has it, times the number of records."""
    n = table.sum()
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / max(n, 1)
    return 0.5 * np.abs(table - expected).sum()


def some(n=20_000, sizes=(4, 6, 3, 5)):
    """Each attribute follows the one before it."""
    rng = np.random.default_rng(2)
    codes = np.zeros((n, len(sizes)), dtype=np.int32)
    for a, size in enumerate(sizes):
        before = codes[:, a - 1] / sizes[a - 1] if a else 0.0
        codes[:, a] = np.where(rng.random(n) < 0.7, before * size, rng.integers(0, size, n))
    return codes, sizes


# -- Sensitivity ----------------------------------------------------------------------------------------


def test_one_record_changes_the_dependence_by_2_at_most():
    largest = 0.0
    for cells in itertools.product(range(3), repeat=6):
        table = np.array(cells).reshape(2, 3)
        for at in np.ndindex(2, 3):
            more = table.copy()
            more[at] += 1
            assert abs(plain_dependence(more) - plain_dependence(table)) < R_SENSITIVITY
            assert abs(dependence(more) - dependence(table)) <= R_SENSITIVITY
            largest = max(largest, abs(dependence(more) - dependence(table)))
    assert largest >= 1


def test_the_bound_of_2_is_reached():
    rare, one = np.array([[10, 0], [0, 990]]), np.array([[1, 0], [0, 0]])
    assert dependence(rare + one) - dependence(rare) == R_SENSITIVITY
    change = plain_dependence(rare * 100 + one) - plain_dependence(rare * 100)
    n, a = 100_000, 1_000
    assert change == pytest.approx(2 * (n - a) ** 2 / (n * (n + 1)), rel=1e-6)  # 2 q


def test_the_dependence_is_rounded_down_and_exact_for_many_records():
    rng = np.random.default_rng(1)
    for shape in ((1, 4), (3, 3), (5, 2)):
        table = rng.poisson(rng.gamma(0.4, 20.0, shape))
        assert dependence(table) == math.floor(plain_dependence(table) + 1e-9)
    assert dependence(np.array([[2**33, 0], [0, 2**33]])) == 2**33
    assert dependence(np.zeros((2, 2), dtype=np.int64)) == 0


# -- Networks -------------------------------------------------------------------------------------------


def test_parents_are_maximal_and_useful():
    rng = np.random.default_rng(3)
    for _ in range(60):
        sizes, limit = rng.integers(1, 9, rng.integers(0, 6)).tolist(), float(rng.uniform(0.5, 90))
        every = [s for k in range(len(sizes) + 1) for s in itertools.combinations(range(len(sizes)), k)]
        fit = [set(s) for s in every if math.prod(sizes[a] for a in s) <= limit]
        largest = sorted(tuple(sorted(s)) for s in fit if not any(s < other for other in fit))
        assert maximal_sets(sizes, limit, rng) == (largest or [()])


def test_of_many_attributes_maximal_sets_are_drawn():
    sizes, rng = [2, 3, 5] * 7, np.random.default_rng(1)
    for chosen in maximal_sets(sizes, 40, rng):
        product = math.prod(sizes[a] for a in chosen)
        assert product <= 40 < product * min(size for a, size in enumerate(sizes) if a not in chosen)


def test_a_strong_dependence_is_found():
    codes, sizes = some()
    network = Network(counted(codes, sizes), 40.0, np.random.default_rng(1))
    budget = account(50.0)
    for _ in sizes:
        network.grow(budget, Fraction(1, 4))
    assert sorted(node.attribute for node in network.nodes) == [0, 1, 2, 3]
    for i, node in enumerate(network.nodes):
        assert set(node.parents) <= {other.attribute for other in network.nodes[:i]}
        assert sizes[node.attribute] * math.prod(sizes[a] for a in node.parents) <= 40
    assert sum(1 in np.abs(np.array(n.parents) - n.attribute) for n in network.nodes if n.parents) == 3


def test_tables_and_draws_are_those_of_the_records():
    codes, sizes = some(3000)
    counts = counted(codes, sizes)
    nodes = [Node(2, ()), Node(0, (2,)), Node(3, (2, 0)), Node(1, (0, 3))]
    tables = [table_of(counts, node) for node in nodes]
    for node, table in zip(nodes, tables, strict=True):
        wanted = np.zeros((*(sizes[a] for a in node.parents), sizes[node.attribute]), dtype=int)
        np.add.at(wanted, tuple(codes[:, a] for a in (*node.parents, node.attribute)), 1)
        assert np.array_equal(table, wanted.reshape(table.shape))
    drawn = draw(nodes, tables, sizes, 300_000, np.random.default_rng(1))
    for node, table in zip(nodes, tables, strict=True):
        again = table_of(counted(drawn, sizes), node)
        if node.attribute != 1:  # the last one's parents are not exact together
            assert np.abs(again / 300_000 - table / 3000).max() < 0.005
        shares = again / np.maximum(again.sum(axis=1, keepdims=True), 1)
        seen = again.sum(axis=1) > 3000
        assert np.abs(shares - conditional(table))[seen].max() < 0.06


# -- The whole ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("sizes", [(7,), (4, 6, 3, 5), (1, 9), (2,) * 14])
def test_everything_is_spent_and_points_are_in_the_domain(sizes, delta):
    rng, budget = np.random.default_rng(1), account(2.0, delta=delta)
    codes = (rng.random((2000, len(sizes))) ** 2 * sizes).astype(np.int32)
    cloud = learn_privbayes(counted(codes, sizes), budget, PrivBayes(), points=2000)
    assert budget.remaining == 0
    kinds = [share.kind for share in budget.spent]
    d = len(sizes)
    assert kinds == ["total", *["choice"] * (d - 1), *["counts"] * d]
    assert budget.spent[0].amount == FOR_TOTAL * budget.whole
    assert (cloud.points < sizes).all()
    assert cloud.total == pytest.approx(2000, abs=300)


def test_a_large_budget_finds_the_counts():
    codes, sizes = some()
    cloud = learn_privbayes(counted(codes, sizes), account(100.0), PrivBayes())
    true = np.zeros(sizes)
    np.add.at(true, tuple(codes.T), 1)
    assert np.abs(cloud.table([0, 1, 2, 3], {}) - true).max() < 120  # the chance of 200,000 draws
    assert (np.abs(cloud.table([2], {}) - true.sum(axis=(0, 1, 3))) < 250).all()


def test_nobody_is_no_matter():
    cloud = learn_privbayes(counted([], (4, 3)), account(), PrivBayes(), points=100)
    assert 0 <= cloud.total < 300


@pytest.mark.parametrize(
    "wrong", [{"theta": 0}, {"theta": math.inf}, {"beta": 0}, {"beta": 1}, {"beta": "a"}]
)
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises(ParameterError, match=f"'{next(iter(wrong))}' parameter of privbayes"):
        PrivBayes(**wrong)
