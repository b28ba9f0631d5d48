"""What the paper leaves to the future, in numbers: the game that its adversary plays, Pl-diversity, factors, and areas."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from papers.page import Grid
from papers.pk_numeric.theorems import counted_k, laplace
from sudare.attacks.chances import Chances
from sudare.attacks.pk_game import SETS, best_pair, table_bound
from sudare.attacks.pl_game import believed
from sudare.attacks.randomized import _tells
from sudare.plans.law import LawForm
from sudare.plans.polytopes import width
from sudare.privacy.pk_anonymity import k_of, spread_for
from sudare.privacy.pl_diversity import l_of
from sudare.randomization.areas import area_of, faces_of
from sudare.randomization.grids import Grid as Points
from sudare.randomization.laws import Law, channel_for

PERSONS = 12
VALUES = 12
TABLES = 200
KS = (2.0, 3.0, 6.0)
Codes = NDArray[np.int64]


class Played(NamedTuple):
    """The game on one table, over many outputs."""

    how: str
    people: str
    k: float
    mean: float
    largest: float
    bound: float
    random: float
    """The chance to find a person who is drawn at random, in their likeliest row."""


def law(how: str, size: int, k: float, persons: int) -> LawForm:
    """Return a law of a kind that gives k among so many persons."""
    channel = channel_for(how, size, spread_for(k, persons))  # type: ignore[arg-type]
    values = pl.Series([str(i) for i in range(size)])
    grid = {"low": 0.0, "step": 1.0, "steps": size - 1}
    made = Law("x", how, Points("x", pl.Float64(), 0.0, 1.0, size - 1), channel)  # type: ignore[arg-type]
    form = {key: value for key, value in made.to_json().items() if key not in grid}
    return LawForm.of("x", form | ({"values": values.to_list()} if how == "retain" else grid))


PEOPLE: dict[str, Codes] = {
    "all different": np.arange(PERSONS) * (VALUES - 1) // (PERSONS - 1),
    "one stands out": np.array([*[2] * (PERSONS - 1), VALUES - 1]),
    "two halves": np.repeat([3, 8], PERSONS // 2),
}


def games(tables: int) -> Iterator[Played]:
    """Play on small tables, by all matchings of persons and rows."""
    for how in ("noise", "retain", "bits"):
        for words, people in PEOPLE.items():
            for k in KS:
                chances = {"x": Chances.of(law(how, VALUES, k, PERSONS))}
                rng, best, anybody = np.random.default_rng(0), [], []
                for _ in range(tables):
                    rows = chances["x"].draw(people, rng)
                    best.append(best_pair({"x": people}, {"x": rows}, chances, SETS) or 0.0)
                    logs = chances["x"].likelihood(people[:, None], rows)
                    likely = logs >= logs.max(axis=1, keepdims=True) - 1e-9
                    anybody.append(float((np.diag(likely) / likely.sum(axis=1)).mean()))
                bound = table_bound({"x": people}, chances)
                yield Played(how, words, k, float(np.mean(best)), max(best), bound, float(np.mean(anybody)))


def game_grid(played: list[Played], tables: int) -> Grid:
    """Show how likely the best pair is right."""
    headers = [
        "law",
        f"{PERSONS} people",
        "1/k",
        "random person",
        "best pair, mean",
        "largest",
        "bound for this table",
    ]
    lines = [
        [
            one.how,
            one.people,
            *(f"{x:.1%}" for x in (1 / one.k, one.random, one.mean, one.largest, one.bound)),
        ]
        for one in played
    ]
    return Grid(f"The game as the paper has it, over {tables} outputs each", headers, lines)


class Diverse(NamedTuple):
    """Pl-diversity of one law: by the theorem, from its probabilities, and on a small table."""

    how: str
    epsilon: float
    by_theorem: float
    of_law: float
    played: float


def diversities(tables: int) -> Iterator[Diverse]:
    """Measure l for each law, for values that are equally likely."""
    for how in ("retain", "noise", "bits"):
        for k in KS:
            form = law(how, VALUES, k, PERSONS)
            chances, prior = {"x": Chances.of(form)}, np.full(VALUES, 1 / VALUES)
            rng, most = np.random.default_rng(0), 0.0
            people = PEOPLE["all different"][:6]
            for _ in range(tables):
                rows = chances["x"].draw(people, rng)
                most = max(most, float(believed({"x": people}, {"x": rows}, chances, "x", prior).max()))
            tells = _tells(form)
            yield Diverse(how, tells.epsilon, l_of(tells.epsilon, 1 / VALUES), 1 / tells.after, 1 / most)


def diversity_grid(diverse: list[Diverse]) -> Grid:
    """Show l."""
    headers = ["law", "epsilon", "l, by the theorem", "l of the law", "l, least on small tables"]
    lines = [[one.how, *(f"{x:.3f}" for x in one[1:])] for one in diverse]
    return Grid(f"Pl-diversity, {VALUES} equally likely values", headers, lines)


class Shape(NamedTuple):
    """An area: how wide it is beside its box."""

    name: str
    corners: list[tuple[float, float]]
    share: float


def shapes() -> Iterator[Shape]:
    """Return how much smaller noise is in an area than in the box around it."""
    round_town = [
        (0.5 + 0.5 * math.cos(t * math.pi / 8), 0.5 + 0.5 * math.sin(t * math.pi / 8)) for t in range(16)
    ]
    known = {
        "the box itself": [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)],
        "a round town (sixteen corners)": round_town,
        "a diamond": [(0.5, 0.0), (1.0, 0.5), (0.5, 1.0), (0.0, 0.5)],
        "along a river, rising": [(0.0, 0.0), (0.1, 0.0), (1.0, 0.9), (1.0, 1.0), (0.9, 1.0), (0.0, 0.1)],
        "a triangle": [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)],
    }
    grids = [Points(name, pl.Float64(), 0.0, 2.0**-14, 2**14) for name in "xy"]
    for name, corners in known.items():
        area = area_of("where", grids, faces_of(corners))
        wide = float(width(area.corners, [Fraction(2**14)] * 2))
        yield Shape(name, corners, wide / 2)


def area_grid(found: list[Shape]) -> Grid:
    """Show the noise that an area needs, in that of its box."""
    lines = [[shape.name, str(len(shape.corners)), f"{shape.share:.1%}"] for shape in found]
    return Grid(
        "Noise in an area, at equal k: its scale in that of the box", ["area", "corners", "scale"], lines
    )


def factor_lines(records: int) -> Iterator[tuple[str, float, float]]:
    """Return k for noise on logarithms: by the formula, and counted on a grid of logarithms by all pairs."""
    for low, high in ((1.0, 10.0), (1.0, 100.0), (1000.0, 1e6)):
        for scale in (1.0, 4.0):
            said = k_of(2 * math.log(high / low) / scale, records)
            yield (
                f"from {low:g} to {high:g}, s = {scale:g}",
                said,
                counted_k(laplace(scale), math.log(high / low), 5, records),
            )


def factor_grid(records: int) -> Grid:
    """Show k of random factors."""
    lines = [[words, f"{said:.4f}", f"{counted:.4f}"] for words, said, counted in factor_lines(records)]
    return Grid(
        f"Random factors: k = 1 + (N - 1) (a / b)^(2 / s), N = {records:,}",
        ["bounds, scale", "k", "k, counted"],
        lines,
    )


def beyond_answers(played: list[Played], diverse: list[Diverse], found: list[Shape]) -> list[str]:
    """Say what the figures say."""
    worst = max(played, key=lambda one: one.largest * one.k)
    gap = max(played, key=lambda one: one.mean / one.random)
    tight = min(diverse, key=lambda one: one.played / one.by_theorem)
    loose = max(diverse, key=lambda one: one.of_law / one.by_theorem)
    diamond = next(shape for shape in found if "diamond" in shape.name)
    return [
        f"**The adversary picks the pair.** Looking for a random person understates it: with {gap.how} on {PERSONS} people ({gap.people}, k = {gap.k:g}) such a one is found "
        f"in {gap.random:.1%}, and the best pair is right in {gap.mean:.1%}. Over all tables here it is never above 1/k; nearest with {worst.how} ({worst.people}, k = {worst.k:g}): "
        f"{worst.largest:.1%} of {1 / worst.k:.1%}.",
        f"**Pl-diversity** holds with the theorem's l for every law here, and no less is found by playing: nearest with {tight.how} at epsilon {tight.epsilon:.2f}, {tight.played:.3f} and {tight.by_theorem:.3f}. Where "
        f"a law tells values apart that are far from each other, and not those that are near, the theorem gives away most: {loose.how} has l = {loose.of_law:.2f} where it says {loose.by_theorem:.2f}.",
        f"**Areas** need the noise of their width: a diamond {diamond.share:.0%} of its box's.",
    ]
