"""What the law of a randomized table leaves to outsiders, against every probability of its matrix."""

from __future__ import annotations

import json
import math
import shutil
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import sudare as sd
from sudare.attacks.randomized import by_law
from sudare.randomization.bits import BitChannel
from sudare.randomization.channel import MatrixChannel
from sudare.randomization.laplace import LaplaceChannel
from sudare.randomization.laws import reflecting

SCHEMA = sd.Schema.from_roles(
    quasi=["age", "town", "pay"],
    sensitive=["ill"],
    bounds={"age": (0, 100), "pay": (0, 15)},
    domains={"town": ["Ayr", "Bath", "Cork"], "ill": ["yes", "no"]},
    types={"age": "integer", "pay": "integer"},
    missing="refuse",
)
ROWS = 200
FRAME = pl.DataFrame({"x": [0] * ROWS})


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    people = pl.DataFrame(
        {
            "age": rng.integers(0, 101, ROWS),
            "town": rng.choice(["Ayr", "Bath", "Cork"], ROWS),
            "pay": rng.integers(0, 16, ROWS),
            "ill": rng.choice(["yes", "no"], ROWS),
        }
    )
    release = sd.randomize(
        sd.read(people, SCHEMA),
        sd.PkAnonymity(5),
        how={"pay": "bits"},
        matrices={"ill": [[0.6, 0.4], [0.4, 0.6]]},
    )
    return release.write(tmp_path_factory.mktemp("release") / "out")


def told(matrix: NDArray[np.float64]) -> tuple[float, float, float]:
    """Epsilon, spread and the surest guess, the slow and obvious way."""
    epsilon = spread = after = 0.0
    d = matrix.shape[1]
    for a in range(len(matrix)):
        after = max(after, matrix[a].max() / matrix[a].sum()) if matrix[a].any() else after
        for u in range(d):
            for v in range(d):
                if matrix[a, u] and matrix[a, v]:
                    epsilon = max(epsilon, math.log(matrix[a, u] / matrix[a, v]))
                for b in range(len(matrix)):
                    ways = matrix[a, u] * matrix[b, v], matrix[a, v] * matrix[b, u]
                    if all(ways):
                        spread = max(spread, math.log(ways[0] / ways[1]))
    return epsilon, spread, float(after)


def table_law(law: dict[str, Any]) -> dict[str, Any]:
    """The law of a table with one attribute, as it is published."""
    own = {"how": "retain", "epsilon": 1.0, "spread": 2.0, **law}
    told = {
        "method": "randomize",
        "records": ROWS,
        "epsilon": 1.0,
        "pk": 1.0,
        "split": "equal",
        "caveats": [],
    }
    return told | {"estimates": {}, "attributes": {"x": own}}


def checked(law: dict[str, Any], matrix: NDArray[np.float64], *, exactly: bool = True) -> None:
    learned = by_law(FRAME, law=table_law(law))
    epsilon, spread, after = told(matrix)
    k = 1 + (ROWS - 1) * math.exp(-spread)
    if exactly:
        assert learned.epsilon == pytest.approx(epsilon)
        assert learned.k == pytest.approx(k)
        assert learned.by_attribute["x"].after == pytest.approx(after)
    assert learned.epsilon >= epsilon * (1 - 1e-9)
    assert learned.k <= k * (1 + 1e-9)
    assert learned.by_attribute["x"].after >= after * (1 - 1e-9)
    assert learned.by_attribute["x"].before == 1 / matrix.shape[1]


@settings(max_examples=60)
@given(st.lists(st.floats(0.01, 0.99), min_size=2, max_size=6))
def test_retention(keep: list[float]) -> None:
    d = len(keep)
    matrix = np.tile((1 - np.array(keep)) / (d - 1), (d, 1))
    np.fill_diagonal(matrix, keep)
    checked({"values": list(map(str, range(d))), "retention": keep}, matrix)


@settings(max_examples=40)
@given(st.integers(1, 12), st.fractions(Fraction(1, 5), 50))
def test_noise(steps: int, scale: Fraction) -> None:
    law = {"low": 0, "step": 1, "steps": steps, "scale": str(scale), "after": "clip"}
    channel = LaplaceChannel(steps, scale)
    columns = [channel.expected(np.eye(steps + 1)[u]) for u in range(steps + 1)]
    checked(law, np.stack(columns, axis=1))
    checked(law | {"after": "reflect"}, reflecting(channel).matrix, exactly=False)


@settings(max_examples=20)
@given(st.integers(2, 12), st.floats(0.05, 0.95))
def test_bits(size: int, flip: float) -> None:
    """Putting what is beyond the grid at its end may tell less: the bound is that of all bits."""
    law = {"low": 0, "step": 1, "steps": size - 1, "flips": flip}
    channel = BitChannel(size, flip)
    matrix = np.stack([channel.expected(np.eye(size)[u]) for u in range(size)], axis=1)
    checked(law, matrix, exactly=False)
    learned = by_law(FRAME, law=table_law(law))
    assert learned.by_attribute["x"].after == pytest.approx(told(matrix)[2])


@settings(max_examples=40)
@given(st.integers(2, 5), st.integers(0, 2**32))
def test_matrices(size: int, seed: int) -> None:
    matrix = np.random.default_rng(seed).dirichlet(np.ones(size), size).T
    checked({"values": list(map(str, range(size))), "matrix": matrix.tolist()}, MatrixChannel(matrix).matrix)


def test_a_release_is_attacked_by_its_law(written: Path) -> None:
    certificate = json.loads((written / "hand-over" / "certificate.json").read_text())
    for output in (written, written / "hand-over", written / "hand-over" / "data.csv"):
        learned = sd.attack(output, SCHEMA)
        assert learned.k == pytest.approx(certificate["measured"]["pk"])
        assert learned.epsilon == pytest.approx(certificate["measured"]["epsilon"])
        assert sd.attack(output, kind="law") == learned
    assert list(learned.by_attribute) == ["age", "town", "pay", "ill"]
    assert learned.by_attribute["ill"].after == pytest.approx(0.6)
    text = str(learned)
    assert "finds a person's row with probability 20.00% at most" in text
    assert "ill: of 2 equally likely values, the most telling published one makes one 60.0% sure" in text
    law = json.loads((written / "hand-over" / "law.json").read_text())
    frame = pl.read_parquet(written / "hand-over" / "data.parquet")
    assert sd.attack(frame, law=law) == learned


@pytest.mark.parametrize("kind", ["homogeneity", "background", "reidentification", "skewness"])
def test_noise_is_never_read_as_truth(written: Path, kind: str) -> None:
    for output in (written, written / "hand-over" / "data.parquet", written / "hand-over" / "data.csv"):
        with pytest.raises(sd.ParameterError, match="would take noise for truth"):
            sd.attack(output, SCHEMA, kind=kind)
        with pytest.raises(sd.ParameterError, match="would take noise for truth"):
            sd.attack({"a": output}, SCHEMA, kind="intersection", known=FRAME)


def test_a_law_that_is_missing(written: Path, tmp_path: Path) -> None:
    for name in ("data.parquet", "certificate.json"):
        (tmp_path / name).write_bytes((written / "hand-over" / name).read_bytes())
    with pytest.raises(sd.InputError, match=r"randomized, but its law\.json is missing"):
        sd.attack(tmp_path, SCHEMA)
    with pytest.raises(sd.InputError, match="law of a randomized table is missing"):
        sd.attack(FRAME, kind="law")


def test_another_law_than_the_certified_one_is_refused(written: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(written, tmp_path / "out"))
    law = folder / "hand-over" / "law.json"
    told = json.loads(law.read_text())
    told["attributes"]["town"]["retention"] = [0.9, 0.9, 0.9]
    law.write_text(json.dumps(told, indent=2))
    for look in (
        sd.attack,
        lambda out: sd.reconstruct(out, "ill"),
        lambda out: sd.attack(out, kind="pk_game"),
    ):
        with pytest.raises(sd.InputError, match="not the file that was certified"):
            look(folder)
    (folder / "hand-over" / "certificate.json").unlink()
    assert (
        sd.attack(folder).epsilon > sd.attack(written).epsilon
    )  # with nothing to compare it with, it is believed


def test_a_law_speaks_of_every_column(written: Path) -> None:
    law = json.loads((written / "hand-over" / "law.json").read_text())
    frame = pl.read_parquet(written / "hand-over" / "data.parquet")
    fewer = {name: own for name, own in law["attributes"].items() if name != "town"}
    for kind in ("law", "pk_game"):
        with pytest.raises(sd.InputError, match="column 'town', for which no law is published"):
            sd.attack(frame, kind=kind, law=law | {"attributes": fewer})
        with pytest.raises(sd.InputError, match="column 'ill', which the output does not have"):
            sd.attack(frame.drop("ill"), kind=kind, law=law)


def test_values_beyond_the_grid_of_a_law_are_refused(written: Path) -> None:
    law = json.loads((written / "hand-over" / "law.json").read_text())
    frame = pl.read_parquet(written / "hand-over" / "data.parquet")
    for column in ("age", "pay"):
        wrong = frame.with_columns(pl.lit(101).alias(column))
        with pytest.raises(sd.InputError, match=rf"outside \[0, 1.*'{column}'"):
            sd.attack(wrong, kind="pk_game", law=law)
        with pytest.raises(sd.InputError, match=rf"'{column}' holds a value outside \[0, 1"):
            sd.reconstruct(wrong, column, law=law)
    with pytest.raises(sd.InputError, match="no records to estimate from"):
        sd.reconstruct(frame.clear(), "ill", law=law)


@pytest.mark.parametrize(
    "law",
    [
        {},
        {"attributes": {}},
        {"attributes": []},
        {"attributes": {"x": 1}},
        {"attributes": {"x": {}}},
        {"attributes": {"x": {"steps": 4, "scale": "0"}}},
        {"attributes": {"x": {"steps": 4, "scale": "1/0"}}},
        {"attributes": {"x": {"steps": -4, "scale": "1"}}},
        {"attributes": {"x": {"steps": 2**40, "flips": 0.1}}},
        {"attributes": {"x": {"steps": 4, "flips": math.nan}}},
        {"attributes": {"x": {"retention": []}}},
        {"attributes": {"x": {"retention": [2.0, 0.5]}}},
        {"attributes": {"x": {"retention": [[0.5]]}}},
        {"attributes": {"x": {"matrix": [[0.5, 0.5]]}}},
        {"attributes": {"x": {"matrix": [[0.5, 0.5], [0.4, 0.5]]}}},
        {"attributes": {"x": {"retention": [0.5, 0.5]}}, "estimates": {"x": -1}},
        {"attributes": {"x": {"retention": [0.5, 0.5]}}, "estimates": {"x": math.inf}},
        {"attributes": {"x": {"retention": [0.5, 0.5]}}, "estimates": []},
    ],
    ids=str,
)
def test_what_is_no_law_is_refused(law: dict[str, Any]) -> None:
    with pytest.raises(sd.InputError, match="not the law of a randomized table"):
        by_law(FRAME, law=law)


def test_a_law_that_hides_nothing() -> None:
    learned = by_law(FRAME, law=table_law({"values": ["a", "b", "c"], "retention": [1.0, 1.0, 1.0]}))
    assert (learned.k, learned.epsilon, learned.by_attribute["x"].after) == (1, math.inf, 1)
    assert "100.00% at most" in str(learned)
    assert "infinitely many times" in str(learned)


def test_a_huge_grid_takes_no_memory() -> None:
    grid = {"how": "noise", "low": 0.0, "step": 1.0, "steps": 2**40, "scale": str(2**40), "after": "clip"}
    learned = by_law(FRAME, law=table_law(grid))
    assert learned.epsilon == 1.0
    assert learned.by_attribute["x"].after == pytest.approx(1 / (2**40 * -math.expm1(-1)))


def test_the_other_attacks_need_a_schema() -> None:
    with pytest.raises(sd.ParameterError, match="homogeneity attack needs the schema"):
        sd.attack(FRAME)


def test_what_is_told_of_somebody_with_several_rows_is_what_was_promised_of_them() -> None:
    schema = sd.Schema.from_roles(
        person="pid",
        sensitive=["ill"],
        domains={"ill": ["no", "yes"]},
        missing="refuse",
        most_rows={"pid": 4},
    )
    frame = pl.DataFrame({"pid": [row // 4 for row in range(100)], "ill": ["no", "yes"] * 50})
    release = sd.randomize(sd.read(frame, schema), sd.PkAnonymity(5))
    assert release.handed_over.law is not None
    learned = by_law(release.frame(), law=release.handed_over.law)
    assert learned.rows == 4
    assert learned.k == pytest.approx(release.certificate.measured["pk"])
    assert learned.epsilon == pytest.approx(release.certificate.measured["epsilon"])
    assert "Up to 4 rows are of one person or household" in str(learned)
