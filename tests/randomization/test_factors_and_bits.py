"""Random factors on positive numbers, and bits of any declared precision: their k, by brute force, and what is got back."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import sudare as sd
from sudare.attacks.randomized import by_law
from sudare.plans.law import LawForm
from sudare.randomization.bits import BitChannel
from sudare.randomization.published import MAX_FLIPPED, MAX_STEPS, PublishedLaw

N = 4000
PAY = sd.Schema.from_roles(
    quasi=["pay"], types={"pay": "number"}, bounds={"pay": (1, 1000)}, missing="refuse"
)


def pays(seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame({"pay": np.clip(np.exp(rng.normal(3.0, 1.0, N)), 1, 1000)})


# -- Factors ----------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("reports")
@pytest.mark.parametrize("after", ["clip", "reflect"])
def test_a_factor_has_the_k_of_noise_on_the_logarithm(after: str, tmp_path: Path) -> None:
    release = sd.randomize(sd.read(pays(), PAY), sd.PkAnonymity(10), how={"pay": sd.methods.Factor(after)})  # type: ignore[arg-type]
    law = release.plan["pay"]
    scale = float(law.channel.scale) * law.domain.step
    k = 1 + (N - 1) * (1 / 1000) ** (2 / scale)
    assert release.plan.k == pytest.approx(k, rel=1e-6)
    assert release.plan.k == pytest.approx(10, rel=1e-4)
    assert release.frame()["pay"].is_between(1, 1000).all()
    out = release.write(tmp_path / "out")
    assert sd.verify(out, sd.PkAnonymity(9.99)).holds
    assert by_law(out).k == pytest.approx(release.plan.k)
    folder = release.plan.save(tmp_path / "plan")
    assert sd.Plan.open(folder).to_json() == release.plan.to_json()
    assert "multiplied or divided by more than" in release.report
    assert release.holder["utility"]["changes"]["pay"]["factor"] > 1


@pytest.mark.parametrize("seeds", [4, pytest.param(30, marks=pytest.mark.slow)])
def test_counts_are_reconstructed_from_factors(seeds: int) -> None:
    """Of a hundred intervals, on several conditions, about five miss."""
    missed, asked = 0, 0
    for seed in range(seeds):
        people = pays(seed)
        release = sd.randomize(
            sd.read(people, PAY),
            sd.DifferentialPrivacy(6.0, per="record"),
            how={"pay": "factor"},
            unsafe_seed=seed,
        )
        estimate = sd.reconstruct(release, "pay")
        edges = estimate.attributes[0].values
        for start, end in (
            (0, 40),
            (41, 60),
            (61, 128),
        ):  # whole cells: from the middle of one to that of another
            answer = estimate.count(pay=(edges[start], edges[end]))
            half = math.sqrt(edges[1] / edges[0])
            truth = people["pay"].is_between(edges[start] / half, edges[end] * half).sum()
            missed += not answer.low <= truth <= answer.high
            asked += 1
    assert missed <= 0.05 * asked + 3 * math.sqrt(0.05 * 0.95 * asked)


@pytest.mark.parametrize(
    ("bounds", "kind"), [((0.0, 10.0), "number"), ((-1.0, 10.0), "number"), ((1, 10), "integer")]
)
def test_a_factor_needs_positive_numbers(bounds: tuple[float, float], kind: str) -> None:
    schema = sd.Schema.from_roles(quasi=["pay"], types={"pay": kind}, bounds={"pay": bounds})
    frame = pl.DataFrame({"pay": [2, 3]}).cast(pl.Float64 if kind == "number" else pl.Int64)
    with pytest.raises(sd.InputError, match="factor is for positive numbers"):
        sd.randomize(sd.read(frame, schema), sd.PkAnonymity(1.5), how={"pay": "factor"})


@pytest.mark.parametrize(
    "change",
    [
        {"logarithm": False},
        {"logarithm": "yes"},
        {"low": 691.0},
        {"low": -700.0},
        {"step": 1e300},
        {"scale": None, "after": None, "flips": 0.1},
        {"scale": None, "after": None},
    ],
    ids=str,
)
def test_a_law_of_factors_is_read_strictly(change: dict[str, object]) -> None:
    law = {
        "how": "factor",
        "epsilon": 1.0,
        "spread": 2.0,
        "low": 0.0,
        "step": 0.01,
        "steps": 100,
        "logarithm": True,
    }
    law |= {"scale": "5", "after": "clip"}
    assert LawForm.of("pay", law).grid.high == pytest.approx(1.0)  # type: ignore[union-attr]
    wrong = {key: value for key, value in (law | change).items() if value is not None}
    with pytest.raises(sd.InputError):
        LawForm.of("pay", wrong)


# -- Bits -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("precision", "bits"),
    [
        (0.5, 11),
        (1e-6, 30),
        *(pytest.param(*own, marks=pytest.mark.slow) for own in ((None, 16), (0.01, 17))),
    ],
)
def test_bits_of_any_precision(precision: float | None, bits: int, tmp_path: Path) -> None:
    method = sd.methods.Bits(precision)
    release = sd.randomize(sd.read(pays(), PAY), sd.PkAnonymity(5), how={"pay": method})
    law = release.plan["pay"]
    assert isinstance(law.channel, BitChannel)
    assert law.channel.bits == bits
    assert release.plan.k == pytest.approx(5, rel=1e-6)
    out = release.write(tmp_path / "out")
    assert sd.verify(out, sd.PkAnonymity(4.99)).holds
    assert by_law(out).k == pytest.approx(release.plan.k)
    assert sd.Plan.open(release.plan.save(tmp_path / "plan")).to_json() == release.plan.to_json()
    assert sd.reconstruct(out, "pay").counts.sum() == pytest.approx(N)


@pytest.mark.parametrize("size", [MAX_FLIPPED + 1, 5000, 3 * 2**12, 2**13])
def test_the_highest_bits_are_a_law_of_their_own(size: int) -> None:
    """Beside the whole matrix, of which the points with equal highest bits are taken together."""
    whole = BitChannel(size, 0.2)
    coarse, together = whole.coarser(MAX_STEPS)
    assert coarse.size <= MAX_STEPS
    for code in (0, 7, size // 2, size - 1):
        one = np.zeros(size)
        one[code] = 1.0
        summed = np.bincount(np.arange(size) // together, whole.expected(one))
        own = np.zeros(coarse.size)
        own[code // together] = 1.0
        assert summed == pytest.approx(coarse.expected(own))


def test_runs_of_points_are_coded_as_they_are_estimated() -> None:
    form = {
        "how": "bits",
        "epsilon": 1.0,
        "spread": 2.0,
        "low": 10.0,
        "step": 0.25,
        "steps": 9999,
        "flips": 0.2,
    }
    law = PublishedLaw.of("x", LawForm.of("x", form), {"x": pl.Float64()})
    points = 10 + 0.25 * np.arange(10_000)
    _, together = BitChannel(10_000, 0.2).coarser(MAX_STEPS)
    assert (law.codes(pl.DataFrame({"x": points})) == np.arange(10_000) // together).all()


@pytest.mark.parametrize("size", [2, 3, 5, 8, 11, 100])
def test_how_often_a_point_changes(size: int) -> None:
    channel = BitChannel(size, 0.3)
    stays = np.diag(channel.expected(np.eye(size)))
    assert channel.expected_change() == pytest.approx(1 - stays.mean())


@pytest.mark.parametrize("size", [2, 3, 5, 8, 11, 100, 128, 200])
@pytest.mark.parametrize("flip", [0.02, 0.3, 0.8])
def test_the_bound_on_the_surest_guess_holds(size: int, flip: float, monkeypatch: pytest.MonkeyPatch) -> None:
    from sudare.attacks import randomized

    exact = randomized._flips(size, flip).after
    monkeypatch.setattr(randomized, "MAX_LISTED", 0)
    assert exact <= randomized._flips(size, flip).after * (1 + 1e-9)


def test_a_precision_that_cannot_be() -> None:
    with pytest.raises(sd.ParameterError, match="'precision' parameter of Bits"):
        sd.methods.Bits(0)
    for too_fine in (1e-12, math.ulp(0.0)):
        with pytest.raises(sd.InputError, match="Declare a coarser one"):
            sd.randomize(sd.read(pays(), PAY), sd.PkAnonymity(5), how={"pay": sd.methods.Bits(too_fine)})
    whole = sd.Schema.from_roles(quasi=["x"], bounds={"x": (0, 9)}, missing="refuse")
    table = sd.read(pl.DataFrame({"x": [0, 5, 9] * 10}), whole)
    with pytest.raises(sd.InputError, match="published as the same whole number"):
        sd.randomize(table, sd.PkAnonymity(5), how={"x": sd.methods.Bits(0.5)})
    coarse = sd.randomize(table, sd.DifferentialPrivacy(60, per="record"), how={"x": sd.methods.Bits(4)})
    assert sd.reconstruct(coarse, "x").frame()["x"].to_list() == [0, 3, 6, 9]


def test_another_precision_than_the_law_says_is_refused(tmp_path: Path) -> None:
    release = sd.randomize(sd.read(pays(), PAY), sd.PkAnonymity(5), how={"pay": sd.methods.Bits(0.5)})
    folder = release.plan.save(tmp_path / "plan")
    plan = json.loads((folder / "plan.json").read_text())
    plan["law"]["attributes"]["pay"]["low"] = 2.0
    (folder / "plan.json").write_text(json.dumps(plan))
    with pytest.raises(sd.InputError, match="over other values than its schema declares"):
        sd.Plan.open(folder)
