from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

import sudare.threads
from sudare.errors import ParameterError
from sudare.noise import _categories, _chacha, _exponential
from sudare.noise.keystream import PIECE, Keystream
from sudare.noise.sampling import (
    choose,
    realized,
    realized_matrix,
    sample_below,
    sample_discrete_gaussian,
    sample_discrete_laplace,
    sample_matrix,
    sample_retention,
)

N = 1_000_000
TINY = 1e-6
"""Seeds are fixed, so that a test that passes once passes always; a p-value this low would tell of a fault."""
ALL = 2**64


@pytest.fixture(scope="module")
def dp() -> Any:
    """OpenDP, which takes long to load."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    return dp


def assert_fits(seen: np.ndarray, probabilities: np.ndarray) -> None:
    """Chi-square, with what is expected fewer than ten times put together; what is impossible must not occur."""
    assert not seen[probabilities == 0].any()
    expected = probabilities * seen.sum()
    rare = expected < 10
    seen = np.append(seen[~rare], seen[rare].sum())
    expected = np.append(expected[~rare], expected[rare].sum())
    possible = expected > 0
    if possible.sum() > 1:
        expected = expected[possible] * seen.sum() / expected.sum()
        assert stats.chisquare(seen[possible], expected).pvalue > TINY


def codes_of(d: int, dtype: Any = np.uint8) -> np.ndarray:
    return (np.arange(N) % d).astype(dtype)


# -- The slow twins: the same words, Python's own numbers -----------------------------------------------


def plain_words(seed: int, stream: int) -> Iterator[int]:
    key = np.frombuffer(hashlib.sha256(str(seed).encode()).digest(), dtype="<u4").astype(np.uint32)
    out = np.empty(2_000_000, dtype=np.uint64)
    _chacha.fill_words(key, np.uint64(stream), out)
    return (word for some in np.split(out, 1000) for word in some.tolist())


def plain_below(words: Iterator[int], n: int) -> int:
    while (product := next(words) * n) % ALL < ALL % n:
        pass
    return product // ALL


def plain_run(words: Iterator[int]) -> int:
    x = plain_below(words, math.factorial(20))
    return next(k for k in range(1, 21) if x >= math.factorial(20) // math.factorial(k))


def plain_laplace(words: Iterator[int], t: int, s: int) -> int:
    def exp_minus(u: int, t: int) -> bool:
        run = plain_run(words)
        k = 1
        while k < run and (u == t or plain_below(words, t) < u):
            k += 1
        return k % 2 == 1

    while True:
        u = plain_below(words, t) if t > 1 else 0
        if u and not exp_minus(u, t):
            continue
        v = 0
        while exp_minus(1, 1):
            v += 1
        y, negative = (u + t * v) // s, next(words) % 2
        if y or not negative:
            return -y if negative else y


def plain_retention(words: Iterator[int], j: int, leave: float, d: int) -> int:
    share = math.ceil(Fraction(leave) * ALL / (d - 1))
    word = next(words)
    if word >= share * (d - 1):
        return j
    return [i for i in range(d) if i != j][word // share]


@pytest.mark.parametrize("n", [1, 2, 3, 100, 2**32, 3 * 2**61, 2**63 - 1, 2**63])
def test_below_is_its_twin(n: int) -> None:
    words = plain_words(5, 0)
    assert sample_below(1000, n, Keystream.unsafe(5)).tolist() == [plain_below(words, n) for _ in range(1000)]


SCALES = [0.1, 1.0, 50.0, Fraction(1000, 3), Fraction(1, 2**62), 2.0**56, Fraction(2**63 - 1, 2**63 - 5)]


@pytest.mark.parametrize("scale", SCALES)
def test_laplace_is_its_twin(scale: Fraction | float) -> None:
    words, (t, s) = plain_words(6, 0), Fraction(scale).as_integer_ratio()
    drawn = sample_discrete_laplace(5000, scale, Keystream.unsafe(6))
    assert drawn.tolist() == [plain_laplace(words, t, s) for _ in range(5000)]


@pytest.mark.parametrize("d", [2, 100, *(pytest.param(d, marks=pytest.mark.slow) for d in (3, 8))])
def test_retention_is_its_twin(d: int) -> None:
    leave = np.linspace(0, 0.99, d)
    codes, source = codes_of(d)[: PIECE + 1000], Keystream.unsafe(7)
    source.words(1)  # takes stream 0
    drawn = sample_retention(codes, leave, source)
    words = plain_words(7, 1)
    plain = [plain_retention(words, int(j), float(leave[j]), d) for j in codes[:PIECE]]
    words = plain_words(7, 2)
    plain += [plain_retention(words, int(j), float(leave[j]), d) for j in codes[PIECE:]]
    assert drawn.tolist() == plain


# -- Retention -------------------------------------------------------------------------------------------

LEAVES = [
    pytest.param([0.3, 0.6], np.uint8, id="two codes"),
    pytest.param([1.0, 1.0], np.uint8, id="two codes, always"),
    pytest.param([0.0, 0.0, 0.0], np.uint8, id="never"),
    pytest.param([1.0] * 4, np.uint16, id="always"),
    pytest.param([1e-4, 0.5, 0.0, 1.0, 0.8, 1e-300, 1 - 2**-53], np.uint32, id="mixed"),
    pytest.param(np.linspace(0.01, 0.99, 100), np.uint8, id="a hundred"),
    pytest.param(np.full(700, 0.9), np.uint16, id="seven hundred"),
]


@pytest.mark.parametrize(("leave", "dtype"), LEAVES)
def test_retention_fits(leave: Any, dtype: Any) -> None:
    leave = np.asarray(leave)
    d, codes = len(leave), codes_of(len(leave), dtype)
    drawn = sample_retention(codes, leave, Keystream.unsafe(1))
    assert drawn.dtype == dtype
    for j in range(d):
        law = np.full(d, leave[j] / (d - 1))
        law[j] = 1 - leave[j]
        assert_fits(np.bincount(drawn[codes == j], minlength=d), law)


def test_realized_is_rounded_up_to_shares() -> None:
    leave = np.array([0.0, 5e-324, 0.1, 0.5, 1 - 2**-53, 1.0, 2**-64])
    exact = realized(leave)
    for asked, real in zip(leave, exact, strict=True):
        assert 0 <= real - Fraction(asked) * ALL < len(leave) - 1
        assert real % (len(leave) - 1) == 0 or asked == 1
    assert (exact[0], exact[1], exact[5]) == (0, 6, ALL)


@pytest.mark.parametrize("d", [2, 3, 5, 257, 2**16 + 1])
def test_always_is_always(d: int) -> None:
    assert set(realized(np.ones(d))) == {ALL}
    assert set(realized(np.zeros(d))) == {0}
    assert set(realized(np.full(d, 0.25))) == {(2**62 + d - 2) // (d - 1) * (d - 1)}


# -- Matrices --------------------------------------------------------------------------------------------


def matrices() -> dict[str, np.ndarray]:
    near = np.full((2, 2), 0.25) + np.eye(2) * 0.5
    zeros = np.array([[0.5, 0.0, 0.0], [0.0, 0.0, 1 / 3], [0.5, 1.0, 1 / 3], [0.0, 0.0, 1 / 3]])
    steep = 2.0 ** -np.arange(1, 70)[:, None] * np.ones(3)
    steep[0] += 1 - steep.sum(axis=0)
    many = (np.outer(np.arange(1, 101), np.ones(100)) + 50 * np.eye(100)) ** 2
    wide = np.abs(np.sin(np.arange(300 * 5) ** 2)).reshape(300, 5)
    one = np.ones((1, 4))
    return {
        "two": near,
        "zeros": zeros,
        "steep": steep,
        "many": many / many.sum(axis=0),
        "wide": wide / wide.sum(axis=0),
        "one": one,
        "same": np.eye(6),
    }


@pytest.mark.parametrize("name", matrices())
def test_matrix_fits(name: str) -> None:
    matrix = matrices()[name]
    codes = codes_of(matrix.shape[1])
    drawn = sample_matrix(codes, matrix, Keystream.unsafe(2))
    assert drawn.dtype == (np.uint16 if len(matrix) > 256 else np.uint8)
    for j in range(matrix.shape[1]):
        assert_fits(np.bincount(drawn[codes == j], minlength=len(matrix)), matrix[:, j])


@pytest.mark.parametrize("name", matrices())
def test_realized_matrix_is_what_was_asked_to_the_last_word(name: str) -> None:
    matrix = matrices()[name]
    exact = realized_matrix(matrix)
    assert set(exact.sum(axis=0)) == {ALL}
    assert np.array_equal(exact > 0, matrix > 0)
    for j, i in enumerate(matrix.argmax(axis=0)):
        others = [k for k in range(len(matrix)) if k != i]
        assert all(exact[k, j] == math.ceil(Fraction(matrix[k, j]) * ALL) for k in others)


@pytest.mark.parametrize("name", matrices())
def test_alias_tables_hold_exactly_the_realized_matrix(name: str) -> None:
    exact = realized_matrix(matrices()[name])
    weights = np.array([[int(w) % ALL for w in row] for row in exact], dtype=np.uint64)
    bits = max((len(exact) - 1).bit_length(), 1)
    own, other = _categories.alias_tables(weights, matrices()[name].argmax(axis=0), bits)
    held = np.zeros((2**bits, exact.shape[1]), dtype=object)
    for j, c in np.ndindex(own.shape):
        held[c, j] += int(own[j, c])
        held[other[j, c], j] += 2 ** (64 - bits) - int(own[j, c])
    assert (held[: len(exact)] == exact).all()
    assert not held[len(exact) :].any()


# -- Numbers ---------------------------------------------------------------------------------------------


def laplace_law(scale: float, reach: int) -> np.ndarray:
    """The probabilities of -reach, ..., reach, the ends with all that is beyond."""
    p = math.exp(-1 / scale)
    law = (1 - p) / (1 + p) * p ** np.abs(np.arange(-reach, reach + 1))
    law[[0, -1]] = p**reach / (1 + p)
    return law


@pytest.mark.parametrize(
    "scale",
    [
        0.1,
        Fraction(1000, 3),
        0.7,
        *(pytest.param(own, marks=pytest.mark.slow) for own in (1, 50, Fraction(7, 2))),
    ],
)
def test_laplace_fits(scale: Fraction | float) -> None:
    reach = max(2, int(15 * scale))
    drawn = sample_discrete_laplace(N, scale, Keystream.unsafe(3))
    seen = np.bincount(np.clip(drawn, -reach, reach) + reach, minlength=2 * reach + 1)
    assert_fits_laplace(seen, laplace_law(float(scale), reach))


def assert_fits_laplace(seen: np.ndarray, law: np.ndarray) -> None:
    """Value by value; and in few groups, which shows smaller faults: of the sign, of zero, of the scale."""
    reach = len(law) // 2
    assert_fits(seen, law)
    assert_fits(np.add.reduceat(seen, [0, reach, reach + 1]), np.add.reduceat(law, [0, reach, reach + 1]))
    tenths = np.unique(np.floor(law.cumsum() * 10), return_index=True)[1]
    assert_fits(np.add.reduceat(seen, tenths), np.add.reduceat(law, tenths))


@pytest.mark.parametrize("wrong", [49.5, 50.5])
def test_the_test_would_find_a_wrong_scale_and_a_wrong_zero(wrong: float) -> None:
    drawn = sample_discrete_laplace(N, wrong, Keystream.unsafe(3))
    seen = np.bincount(np.clip(drawn, -750, 750) + 750, minlength=1501)
    with pytest.raises(AssertionError):
        assert_fits_laplace(seen, laplace_law(50, 750))
    zeros = np.where(np.arange(-750, 751) == 0, 1000, 0)
    with pytest.raises(AssertionError):
        assert_fits_laplace(seen + zeros, laplace_law(wrong, 750))


@pytest.mark.parametrize(
    "scale", [0.5, 1000 / 3, *(pytest.param(scale, marks=pytest.mark.slow) for scale in (1.0, 50.0))]
)
def test_laplace_is_like_that_of_opendp(scale: float, dp: Any) -> None:
    """OpenDP's draws cannot be seeded: the limit is so low that chance crosses it once in 10^9 runs."""
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    theirs = np.array(dp.m.make_laplace(*space, scale)([0] * 50_000))
    ours = sample_discrete_laplace(N, scale, Keystream.unsafe(4))
    edges = np.unique(np.quantile(ours, np.linspace(0, 1, 60)))[1:-1]
    table = [np.bincount(np.searchsorted(edges, z), minlength=len(edges) + 1) for z in (ours, theirs)]
    assert stats.chi2_contingency(np.array(table)).pvalue > 1e-9


@pytest.mark.parametrize("n", [1, 2, 3, 10, 97, 1000])
def test_below_fits(n: int) -> None:
    assert_fits(np.bincount(sample_below(N, n, Keystream.unsafe(5)), minlength=n), np.full(n, 1 / n))


@pytest.mark.parametrize("n", [2**40 + 1, 3 * 2**61, 2**63])
def test_below_fits_large_numbers(n: int) -> None:
    drawn = sample_below(N, n, Keystream.unsafe(6))
    assert 0 <= drawn.min() <= drawn.max() < n
    hundredths = [drawn_part * 100 // n for drawn_part in drawn[:200_000].tolist()]
    assert_fits(np.bincount(hundredths, minlength=100), np.full(100, 0.01))


# -- What happens once in an age: the kernels uncompiled, with words made up ------------------------------


def poured(monkeypatch: pytest.MonkeyPatch, words: list[int]) -> Iterator[int]:
    """Let uncompiled kernels take these words. Return what is left of them."""
    left = iter(words)
    kernels = (_chacha, _categories, _exponential)
    stand_ins = {"tap": lambda key, stream: None, "take": lambda tap: np.uint64(next(left))}
    for module, name in itertools.product(kernels, stand_ins):
        monkeypatch.setattr(module, name, stand_ins[name])
    for module, name in itertools.product(kernels, ("below", "_high", "_run", "_exp_minus")):
        if hasattr(module, name):
            monkeypatch.setattr(module, name, getattr(module, name).py_func)
    return left


@pytest.mark.parametrize(("d", "word"), [(2, ALL - 1), (4, ALL - 1)])
def test_a_word_beyond_the_last_share_is_drawn_again(
    d: int, word: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = poured(monkeypatch, [word, 5, 6])
    full = np.full(d, (ALL - 1) // (d - 1), dtype=np.uint64)
    codes = np.array([1], dtype=np.uint32)
    _categories.retain.py_func(None, 0, codes, np.full(d, ALL - 1, dtype=np.uint64), full)
    assert (codes.tolist(), list(left)) == ([0], [6])


def test_a_word_that_would_favour_a_number_is_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    left = poured(monkeypatch, [0, ALL - 1, 7])
    with np.errstate(over="ignore"):
        assert _chacha.below(None, np.uint64(3)) == 2
    assert list(left) == [7]


def word_for(x: int) -> int:
    """A word that makes `below(20!)` be x."""
    return -(-(x + 1) * ALL // math.factorial(20)) - 1


@pytest.mark.parametrize(("x", "words", "run"), [(1, [], 20), (0, [ALL - 1], 21), (0, [2**50, ALL - 1], 22)])
def test_a_run_may_be_longer_than_twenty(
    x: int, words: list[int], run: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = poured(monkeypatch, [word_for(x), *words])
    with np.errstate(over="ignore"):
        assert _exponential._run(None) == run
    assert list(left) == []


def test_noise_beyond_64_bits_is_moved_to_their_end(monkeypatch: pytest.MonkeyPatch) -> None:
    again, enough = word_for(math.factorial(20) // 6), word_for(math.factorial(20) // 2)
    poured(monkeypatch, [0, *[again] * 200, enough, 1])
    out = np.zeros(1, dtype=np.int64)
    with np.errstate(over="ignore"):
        _exponential.fill_laplace.py_func(None, 0, np.uint64(2**56), np.uint64(1), out)
    assert out.tolist() == [1 - 2**63]


# -- All of them -----------------------------------------------------------------------------------------

SAMPLERS: list[Callable[[int, Keystream], np.ndarray]] = [
    lambda n, source: sample_retention(codes_of(9)[:n], np.full(9, 0.5), source),
    lambda n, source: sample_matrix(codes_of(100)[:n], matrices()["many"], source),
    lambda n, source: sample_discrete_laplace(n, Fraction(7, 3), source),
    lambda n, source: sample_below(n, 1000, source),
]
each_sampler = pytest.mark.parametrize("sample", SAMPLERS, ids=["retention", "matrix", "laplace", "below"])


@each_sampler
def test_threads_do_not_matter(
    sample: Callable[[int, Keystream], np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = sample(5 * PIECE + 7, Keystream.unsafe(8))
    for threads in (1, 2, 7):
        monkeypatch.setattr(sudare.threads, "CORES", threads)
        assert np.array_equal(sample(5 * PIECE + 7, Keystream.unsafe(8)), expected)


@each_sampler
def test_a_source_moves_on_and_another_differs(sample: Callable[[int, Keystream], np.ndarray]) -> None:
    source = Keystream.unsafe(9)
    first, second = sample(1000, source), sample(1000, source)
    assert not np.array_equal(first, second)
    assert np.array_equal(sample(1000, Keystream.unsafe(9)), first)
    assert not np.array_equal(sample(1000, Keystream()), sample(1000, Keystream()))


@each_sampler
def test_every_draw_has_streams_of_its_own(
    sample: Callable[[int, Keystream], np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    had: list[int] = []
    source, take = Keystream.unsafe(1), Keystream._take

    def watched(self: Keystream, streams: int) -> int:
        first = take(self, streams)
        had.extend(range(first, first + streams))
        return first

    monkeypatch.setattr(Keystream, "_take", watched)
    for n in (1, PIECE, PIECE + 1, 0, 5):
        sample(n, source)
    assert had == list(range(5))


@each_sampler
def test_nothing_from_nothing(sample: Callable[[int, Keystream], np.ndarray]) -> None:
    assert sample(0, Keystream()).shape == (0,)


def test_inputs_are_not_changed_nor_need_they_be_contiguous() -> None:
    table = codes_of(9)[:3000].reshape(1000, 3)
    leave, matrix = np.full(9, 0.5), np.full((9, 9), 1 / 9)
    for given in (table, leave, matrix):
        given.setflags(write=False)
    for column in table.T:
        for method, law in ((sample_retention, leave), (sample_matrix, matrix)):
            strided = method(column, law, Keystream.unsafe(1))
            assert np.array_equal(strided, method(column.copy(), law, Keystream.unsafe(1)))


CODES, HALF = np.zeros(3, dtype=np.uint8), np.array([0.5, 0.5])
REFUSED: list[tuple[Callable[[Keystream], object], str]] = [
    (lambda s: sample_retention(CODES, np.array([0.5, 1.5]), s), "'leave' .* from 0 to 1. Got 1.5"),
    (lambda s: sample_retention(CODES, np.array([-0.1, 0.5]), s), "'leave' .* from 0 to 1. Got -0.1"),
    (lambda s: sample_retention(CODES, np.array([np.nan, 0.5]), s), "'leave' .* from 0 to 1. Got nan"),
    (lambda s: sample_retention(CODES, np.array([]), s), r"'leave' .* a row .* Got \(0,\)"),
    (lambda s: sample_retention(CODES, np.array([0.5]), s), "'leave' .* can move to no other. Got 0.5"),
    (lambda s: sample_retention(CODES + np.uint8(2), HALF, s), "'codes' .* must be below 2.* Got 2"),
    (lambda s: sample_retention(CODES.astype(np.int64), HALF, s), "'codes' .* unsigned"),  # type: ignore[type-var]
    (lambda s: sample_retention(CODES.reshape(1, 3), HALF, s), "'codes' .* one-dimensional"),
    (lambda s: sample_matrix(CODES, np.array([[0.5, 1], [0.5, 0.1]]), s), "columns that sum to 1.*column 1"),
    (lambda s: sample_matrix(CODES, np.array([[1.5], [-0.5]]), s), "'matrix' .* from 0 to 1. Got 1.5"),
    (lambda s: sample_matrix(CODES, HALF, s), r"'matrix' .* a matrix of .* Got \(2,\)"),
    (lambda s: sample_matrix(CODES + np.uint8(9), np.eye(2), s), "'codes' .* must be below 2.* Got 9"),
    (lambda s: sample_discrete_laplace(3, -1, s), "'scale' .* a number above 0.* Got -1"),
    (lambda s: sample_discrete_laplace(3, 0, s), "'scale' .* a number above 0.* Got 0"),
    (lambda s: sample_discrete_laplace(3, math.nan, s), "'scale' .* a number above 0.* Got nan"),
    (lambda s: sample_discrete_laplace(3, math.inf, s), "'scale' .* 2.56 at most.* Got inf"),
    (lambda s: sample_discrete_laplace(3, 1e-30, s), "'scale' .* below 2.63, .* round it up. Got 1e-30"),
    (lambda s: sample_discrete_laplace(-3, 1, s), "'size' .* Got -3"),
    (lambda s: sample_below(3, 0, s), "'n' .* whole number of 1 or more. Got 0"),
    (lambda s: sample_below(3, 2**63 + 1, s), "'n' .* 2.63 at most"),
    (lambda s: sample_below(-1, 3, s), "'size' .* Got -1"),
    (lambda s: sample_below(1, 3, np.random.default_rng(1)), "'source' .* must be a sudare Keystream"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("draw", "words"), REFUSED)
def test_refused(draw: Callable[[Keystream], object], words: str) -> None:
    with pytest.raises(ParameterError, match=f"^The {words}" if words.startswith("'") else words):
        draw(Keystream())


# -- Gaussian noise, and choices ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "variance", [1, 400, 2 * 10**8, *(pytest.param(own, marks=pytest.mark.slow) for own in (2, 7, 90_000))]
)
def test_gaussian_fits(variance: int) -> None:
    drawn = sample_discrete_gaussian(N, variance, Keystream.unsafe(variance))
    reach = int(8 * math.sqrt(variance)) + 8
    places = np.arange(-reach, reach + 1)
    law = np.exp(-(places.astype(np.float64) ** 2) / (2 * variance))
    width = max(1, reach // 40)  # many values are put together, so that each is expected often
    seen = np.bincount((np.clip(drawn, -reach, reach) + reach) // width, minlength=2 * reach // width + 1)
    assert_fits(seen, np.bincount(np.arange(len(places)) // width, law / law.sum(), minlength=len(seen)))


@pytest.mark.parametrize("variance", [3 * 10**12 + 1, 2**50])
def test_a_wide_gaussian_is_hardly_discrete(variance: int) -> None:
    """Numbers that decide about a draw come close to 64 bits there; so many draws would tell a thousandth."""
    drawn = sample_discrete_gaussian(N, variance, Keystream.unsafe(variance)) / math.sqrt(variance)
    assert stats.kstest(drawn, "norm").pvalue > 1e-6


def test_gaussian_is_like_that_of_opendp(dp: Any) -> None:
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)
    theirs = np.array(dp.m.make_gaussian(*space, 20.0)([0] * 50_000))
    ours = sample_discrete_gaussian(N, 400, Keystream.unsafe(5))
    edges = np.unique(np.quantile(ours, np.linspace(0, 1, 60)))[1:-1]
    table = [np.bincount(np.searchsorted(edges, z), minlength=len(edges) + 1) for z in (ours, theirs)]
    assert stats.chi2_contingency(np.array(table)).pvalue > 1e-9


def test_gaussian_refuses() -> None:
    for wrong in (0, -1, 1.5, 2**50 + 1, True):
        with pytest.raises(ParameterError, match="'variance' parameter of sample_discrete_gaussian must be"):
            sample_discrete_gaussian(1, wrong, Keystream())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "losses", [[0.0], [0.0, 0.0, 0.0], [0.3, 0.0, 2.5, 7.0], [0.0, *np.linspace(1, 9, 40)]]
)
def test_choices_fit(losses: list[float]) -> None:
    source = Keystream.unsafe(len(losses))
    seen = np.bincount([choose(np.array(losses), source) for _ in range(10_000)], minlength=len(losses))
    law = np.exp(-np.array(losses))
    assert_fits(seen, law / law.sum())


def test_what_loses_too_much_is_never_chosen_and_bad_losses_are_refused() -> None:
    source = Keystream.unsafe(1)
    assert {choose(np.array([500.0, 0.0, math.inf]), source) for _ in range(100)} == {1}
    for wrong in ([], [1.0, 2.0], [0.0, -1.0], [0.0, math.nan]):
        with pytest.raises(ParameterError, match="'losses' parameter of choose must be"):
            choose(np.array(wrong), source)
