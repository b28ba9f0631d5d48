"""Noise on several numbers in an area: its width beside brute force, and all that becomes of its law."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare as sd
from sudare.attacks.randomized import by_law
from sudare.plans.law import LawForm
from sudare.plans.polytopes import Axis, corners, width
from sudare.randomization.areas import Area, AreaChannel, area_of, faces_of
from sudare.randomization.grids import Grid
from sudare.verification.recount_laws import _epsilon_and_spread

TOWN = [(0.0, 4.0), (4.0, 0.0), (10.0, 6.0), (6.0, 10.0), (5.0, 5.0)]  # the last corner lies inside
WHERE = {"where": ["x", "y"]}
SCHEMA = sd.Schema.from_roles(
    quasi=["x", "y"],
    sensitive=["ill"],
    types={"x": "number", "y": "number"},
    bounds={"x": (0, 10), "y": (0, 10)},
    domains={"ill": ["no", "yes"]},
    missing="refuse",
)
N = 3000


def people(seed: int = 0) -> pl.DataFrame:
    """People in the town, in two clouds."""
    rng = np.random.default_rng(seed)
    along, across = rng.uniform(0, 1, N) ** 2, rng.uniform(0, 1, N)
    x, y = 4 * across + 6 * along, 4 - 4 * across + 6 * along
    return pl.DataFrame({"x": x, "y": y, "ill": rng.choice(["no", "yes"], N)})


def town(**options: Any) -> dict[str, Any]:
    return {"joint": WHERE, "how": {"where": sd.methods.Area(polygon=TOWN)}, **options}


def release(seed: int = 0, k: float = 5) -> sd.Release:
    return sd.randomize(sd.read(people(seed), SCHEMA), sd.PkAnonymity(k), unsafe_seed=seed, **town())


# -- Its width ----------------------------------------------------------------------------------------------


def small_area(size: int, polygon: list[tuple[int, int]]) -> Area:
    grids = [Grid(name, pl.Float64(), 0.0, 1.0, size) for name in "xy"]
    return Area("where", tuple(grids), tuple(faces_of(polygon)))


corner = st.tuples(st.integers(0, 9), st.integers(0, 9))


@settings(max_examples=40, deadline=None)
@given(st.lists(corner, min_size=3, max_size=6, unique=True), st.integers(1, 9), st.integers(1, 9))
def test_the_width_is_that_of_all_pairs_of_points(polygon: list[tuple[int, int]], a: int, b: int) -> None:
    try:
        area = small_area(9, polygon)
    except sd.InputError:
        return  # all on one line
    points = [
        p
        for p in itertools.product(range(10), repeat=2)
        if area.inside([np.array([p[0]]), np.array([p[1]])])[0]
    ]
    assert set(polygon) <= set(points)
    apart = max(abs(p[0] - q[0]) / a + abs(p[1] - q[1]) / b for p in points for q in points)
    own = float(width(area.corners, [Fraction(a), Fraction(b)]))
    true = max(abs(p[0] - q[0]) / a + abs(p[1] - q[1]) / b for p in polygon for q in polygon)
    assert apart <= own * (1 + 1e-12)
    # Rounding moves faces outwards by half a step of each axis, and a sharp corner by more; a box ends them.
    assert true <= own <= 9 / a + 9 / b


def test_the_law_has_the_epsilon_and_spread_of_its_whole_matrix() -> None:
    area = small_area(6, [(0, 3), (3, 0), (6, 3), (3, 6)])
    channel = AreaChannel(area, (Fraction(4), Fraction(5)))
    inside = np.flatnonzero(channel._inside)
    matrix = np.stack([channel.expected(np.eye(49)[j]) for j in inside], axis=1)
    assert matrix.sum(axis=0) == pytest.approx(1.0)
    logs = np.log(matrix)
    pairs = list(itertools.product(range(len(inside)), repeat=2))
    epsilon = max(float((logs[:, u] - logs[:, v]).max()) for u, v in pairs)
    spread = max(float(np.ptp(logs[:, u] - logs[:, v])) for u, v in pairs)
    assert epsilon <= channel.epsilon * (1 + 1e-12)
    assert spread <= channel.spread * (1 + 1e-12)
    assert spread == pytest.approx(
        2 * max(abs(p // 7 - q // 7) / 4 + abs(p % 7 - q % 7) / 5 for p in inside for q in inside)
    )


def test_three_dimensions_by_inequalities() -> None:
    faces = [(1.0, 1.0, 1.0, 10.0)]  # a corner of the cube is cut off
    axes = [Axis(0.0, 0.01, 1000)] * 3
    found = corners(faces, axes)
    scales = [Fraction(1000)] * 3
    assert float(width(found, scales)) == pytest.approx(
        2.0, rel=0.01
    )  # from (10, 0, 0) to (0, 10, 0), instead of 3


def test_a_town_needs_less_noise_than_its_box() -> None:
    table = sd.read(people(), SCHEMA)
    boxed = sd.randomize(table, sd.PkAnonymity(5), how={"ill": "retain"})
    area = release().plan["where"].channel
    assert isinstance(area, AreaChannel)
    # Both axes have half of the budget of x and y, and the town is 12 wide in all, not 20.
    spread = boxed.plan["x"].channel.spread + boxed.plan["y"].channel.spread
    assert area.spread == pytest.approx(spread, rel=1e-4)
    scale = float(area.scales[0]) / float(boxed.plan["x"].channel.scale)
    assert scale == pytest.approx(12 / 20, rel=1e-3)


# -- What becomes of it -------------------------------------------------------------------------------------


@pytest.mark.usefixtures("reports")
def test_a_release_with_an_area(tmp_path: Path) -> None:
    made = release()
    assert made.plan.k == pytest.approx(5, rel=1e-4)
    out = made.write(tmp_path / "out")
    assert sd.verify(out).holds
    assert by_law(out).k == pytest.approx(made.plan.k)
    law = LawForm.of("where", json.loads((out / "hand-over" / "law.json").read_text())["attributes"]["where"])
    assert _epsilon_and_spread(law) == pytest.approx(
        (made.plan["where"].channel.epsilon, made.plan["where"].channel.spread)
    )
    opened = sd.Plan.open(made.plan.save(tmp_path / "plan"))
    assert opened.to_json() == made.plan.to_json()
    assert "get Laplace noise together" in made.report
    game = made.holder["attacks"]["output"]["pk_game"]
    assert game["largest"] <= game["bound"] <= game["limit"] * (1 + 1e-9)
    for known in (None, people()):
        played = sd.attack(out, SCHEMA, kind="pk_game", known=known)
        assert played.largest <= played.bound <= played.limit * (1 + 1e-9)


def test_noise_is_drawn_by_the_law() -> None:
    channel = AreaChannel(small_area(4, [(0, 2), (2, 0), (4, 2), (2, 4)]), (Fraction(2), Fraction(3)))
    from sudare.noise.keystream import Keystream
    from sudare.randomization.laws import Law

    law = Law("where", "area", channel.area, channel)
    drawn = law.sample(np.full(40_000, 2 * 5 + 2, dtype=np.uint64), Keystream.unsafe(1))
    one = np.zeros(25)
    one[12] = 1.0
    shares = np.bincount(drawn.astype(int), minlength=25) / 40_000
    assert np.abs(shares - channel.expected(one)).max() < 5 * math.sqrt(0.1 / 40_000)


def test_counts_are_reconstructed_in_the_area() -> None:
    covered(2)


@pytest.mark.slow
def test_counts_are_reconstructed_in_the_area_of_many_tables() -> None:
    covered(20)


def covered(seeds: int) -> None:
    missed = asked = 0
    for seed in range(seeds):
        frame = people(seed)
        estimate = sd.reconstruct(release(seed, k=1.05), ["x", "y"])
        xs, ys = (np.array(one.values) for one in estimate.attributes)
        half = (xs[1] - xs[0]) / 2
        for i in (4, 8, 14):
            for j in (6, 12):
                answer = estimate.count(x=(xs[0], xs[i]), y=(ys[0], ys[j]))
                truth = ((frame["x"] <= xs[i] + half) & (frame["y"] <= ys[j] + half)).sum()
                missed += not answer.low <= truth <= answer.high
                asked += 1
        assert estimate.likely.sum() == pytest.approx(N)
    assert missed <= 0.05 * asked + 4 * math.sqrt(0.05 * 0.95 * asked)


# -- What is refused ----------------------------------------------------------------------------------------


def test_who_is_outside_the_area_is_refused() -> None:
    table = sd.read(pl.DataFrame({"x": [5.0, 0.0], "y": [5.0, 0.0], "ill": ["no", "no"]}), SCHEMA)
    with pytest.raises(sd.InputError, match="'where': a record lies outside the declared area"):
        sd.randomize(table, sd.PkAnonymity(1.5), **town())


@pytest.mark.parametrize(
    ("method", "error", "message"),
    [
        (lambda: sd.methods.Area(), sd.ParameterError, "either a polygon or inequalities"),
        (lambda: sd.methods.Area(polygon=[(0, 0), (1, 1), (2, 2)]), sd.InputError, "three corners"),
        (
            lambda: sd.methods.Area(polygon=[(0, 0), (1, math.nan), (2, 2)]),
            sd.ParameterError,
            "numbers from -1e\\+100 to 1e\\+100",
        ),
        (
            lambda: sd.methods.Area(polygon=[(0, 0), (1e308, 0), (0, 1e308)]),
            sd.ParameterError,
            "numbers from -1e\\+100 to 1e\\+100",
        ),
        (
            lambda: sd.methods.Area(polygon=[(0, 0, 1), (1, 1, 1), (2, 0, 1)]),
            sd.ParameterError,
            "pairs of numbers",
        ),
    ],
)
def test_areas_that_are_none(method: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        method()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (town(how={"where": "area"}), sd.ParameterError, "but which is not said"),
        ({"how": {"x": sd.methods.Area(polygon=TOWN)}}, sd.ParameterError, "an area has several"),
        (
            town(how={"where": sd.methods.Area(inequalities=[(1, 2, 3, 4)])}),
            sd.ParameterError,
            "for each of its 2",
        ),
        (town(how={"where": sd.methods.Area(inequalities=[(1, 1, -9)])}), sd.InputError, "no area is left"),
        (
            town(how={"where": sd.methods.Area(inequalities=[(1, i, 99) for i in range(99)])}),
            sd.ParameterError,
            "too many",
        ),
    ],
    ids=str,
)
def test_areas_that_do_not_fit(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        sd.randomize(sd.read(people(), SCHEMA), sd.PkAnonymity(2), **options)


AXIS = {"low": 0.0, "step": 1.0, "steps": 10, "scale": "5"}
FORM = {
    "how": "area",
    "epsilon": 4.0,
    "spread": 8.0,
    "axes": {"x": AXIS, "y": AXIS},
    "faces": [[1.0, 1.0, 12.0]],
}


@pytest.mark.parametrize(
    "change",
    [
        {"axes": {"x": AXIS}},
        {"axes": None},
        {"faces": None},
        {"faces": [[1.0, 1.0]]},
        {"faces": [[0.0, 0.0, 1.0]]},
        {"faces": [[1.0, math.inf, 1.0]]},
        {"faces": [[1.0, 1.0, 1.0]] * 65},
        {"faces": [["1", 1.0, 1.0]]},
        {"how": "noise"},
        {"scale": "3"},
        {"values": ["a"]},
        {"axes": {"x": AXIS, "y": AXIS | {"steps": 2**41}}},
        {"axes": {"x": AXIS, "y": AXIS | {"scale": "1/0"}}},
        {"axes": {"x": AXIS | {"steps": 2**40}, "y": AXIS | {"steps": 2**40}}},
        {"axes": {"x": AXIS, "y": AXIS | {"more": 1}}},
    ],
    ids=str,
)
def test_a_law_of_an_area_is_read_strictly(change: dict[str, Any]) -> None:
    assert LawForm.of("where", FORM).size == 121
    with pytest.raises(sd.InputError):
        LawForm.of("where", {key: value for key, value in (FORM | change).items() if value is not None})


def test_an_area_that_is_empty_is_refused_by_whoever_computes_with_it() -> None:
    empty = LawForm.of("where", FORM | {"faces": [[1.0, 1.0, -5.0]]})
    with pytest.raises(sd.InputError, match="no point"):
        _epsilon_and_spread(empty)
    table = {
        "method": "randomize",
        "records": 1,
        "epsilon": 4.0,
        "pk": 1.0,
        "split": "equal",
        "caveats": [],
        "estimates": {},
    }
    law = table | {"attributes": {"where": FORM | {"faces": [[1.0, 1.0, -5.0]]}}}
    points = pl.DataFrame({"x": [1.0], "y": [1.0]})
    with pytest.raises(sd.InputError, match="no point"):
        by_law(points, law=law)
    with pytest.raises(sd.InputError, match="no area is left"):
        sd.reconstruct(points, "where", law=law)


def test_what_a_published_point_tells_is_told_of_the_points_of_the_area() -> None:
    """The box around it has more of them, where nobody is: the town has 48% of its box."""
    made = release()
    sure = by_law(made.frame(), law=made.plan.to_json()).by_attribute["where"]
    assert sure.values == pytest.approx(0.48 * len(made.plan["where"].domain), rel=1e-3)
    assert sure.before == 1 / sure.values


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(*[st.floats(-3, 3)] * 3), max_size=5), st.integers(1, 40), st.integers(1, 40))
def test_the_recount_finds_the_same_width_by_other_means(
    faces: list[tuple[float, ...]], a: int, b: int
) -> None:
    faces = [
        (x, y, x * 5 + y * 5 + abs(z)) for x, y, z in faces if abs(x) + abs(y) > 0.1
    ]  # the middle is inside
    form = FORM | {
        "faces": [list(face) for face in faces],
        "axes": {"x": AXIS | {"scale": str(a)}, "y": AXIS | {"scale": str(b)}},
    }
    found = corners(faces, [Axis(0.0, 1.0, 10)] * 2)
    own = float(width(found, [Fraction(a), Fraction(b)]))
    assert _epsilon_and_spread(LawForm.of("where", form))[0] == pytest.approx(own, rel=1e-7, abs=1e-9)


def test_faces_that_cannot_be_computed_with_are_refused() -> None:
    far = {"x": AXIS | {"low": 1e300}, "y": AXIS}
    for form in (
        FORM | {"axes": far, "faces": [[1e300, 1.0, 1.0]]},
        FORM | {"faces": [[1e-300, 0.0, 1e300]]},
    ):
        with pytest.raises(sd.InputError, match="too steep"):
            _epsilon_and_spread(LawForm.of("where", form))


def test_a_face_with_a_small_slope_counts_for_the_recount_too() -> None:
    """Along an axis of very many steps, a slope that a solver would take for 0 cuts it in half."""
    axes = {"x": AXIS | {"steps": 2**38, "scale": str(2**38)}, "y": AXIS | {"scale": "10"}}
    form = FORM | {"axes": axes, "faces": [[1e-11, 1.0, 1e-11 * 2**37 + 10]]}
    found = corners([(1e-11, 1.0, 1e-11 * 2**37 + 10)], [Axis(0.0, 1.0, 2**38), Axis(0.0, 1.0, 10)])
    own = float(width(found, [Fraction(2**38), Fraction(10)]))
    assert _epsilon_and_spread(LawForm.of("where", form))[0] == pytest.approx(own, rel=1e-6)


def test_grids_of_many_axes_are_coarser() -> None:
    grids = [Grid(str(i), pl.Float64(), 0.0, 1.0, 2**20) for i in range(4)]
    area = area_of("where", grids, [(1.0, 1.0, 1.0, 1.0, 2.0**21)])
    assert len(area) <= 2**60
    assert all(part.width == 2**20 for part in area.parts)
