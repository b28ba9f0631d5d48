"""Releases of randomized tables that somebody tampered with."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sudare as sd
from tests.release.hand_over import forged

SCHEMA = sd.Schema.from_roles(
    quasi=["age", "town", "pay"],
    sensitive=["ill"],
    bounds={"age": (0, 100), "pay": (0, 15)},
    domains={"town": ["Ayr", "Bath", "Cork"], "ill": ["yes", "no"]},
    missing="refuse",
)
K5 = sd.PkAnonymity(5)
OPTIONS: dict[str, Any] = {
    "how": {"pay": "bits"},
    "matrices": {"ill": [[0.6, 0.4], [0.4, 0.6]]},
}


def people(n: int = 300) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    return pl.DataFrame(
        {
            "age": rng.integers(0, 101, n),
            "town": rng.choice(["Ayr", "Bath", "Cork"], n),
            "pay": rng.integers(0, 16, n),
            "ill": rng.choice(["yes", "no"], n),
        }
    )


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    release = sd.randomize(sd.read(people(), SCHEMA), K5, unsafe_seed=1, **OPTIONS)
    return release.write(tmp_path_factory.mktemp("release") / "out") / "hand-over"


def tampered(written: Path, folder: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """Change the law of a release whose certificate, which would not fit it, was taken away."""
    shutil.copytree(written, folder / "out", ignore=shutil.ignore_patterns("certificate.json", "data.csv"))
    law = json.loads((written / "law.json").read_text())
    change(law)
    (folder / "out" / "law.json").write_text(json.dumps(law))
    return folder / "out"


def test_a_release_on_disk_verifies(written: Path) -> None:
    verification = sd.verify(written, K5, SCHEMA)
    assert verification.holds
    assert set(verification.measured) == {"pk", "epsilon"}
    assert verification.measured["pk"] >= 5 * (1 - 1e-9)
    certificate = json.loads((written / "certificate.json").read_text())
    assert certificate["measured"] == verification.measured
    for name in ("data.parquet", "data.csv"):
        assert sd.verify(written / name, K5, SCHEMA).measured == verification.measured
    assert sd.verify(written, sd.DifferentialPrivacy(2.2, per="record"), SCHEMA).holds
    assert not sd.verify(written, sd.DifferentialPrivacy(2.1, per="record"), SCHEMA).holds
    assert not sd.verify(written, sd.PkAnonymity(5.1), SCHEMA).holds
    assert sd.verify(written, [K5, sd.DifferentialPrivacy(2.2, per="record")], SCHEMA).holds
    assert sd.verify(written) == sd.verify(written, K5) == verification


def test_a_law_that_is_not_the_certified_one_is_refused(written: Path, tmp_path: Path) -> None:
    folder = tampered(written, tmp_path, more_retention)
    for name in ("certificate.json", "data.csv"):
        shutil.copy(written / name, folder / name)
    with pytest.raises(sd.RequirementError, match=r"law\.json is not the file that was certified"):
        sd.verify(folder)
    forged(folder, lambda certificate: None)
    with pytest.raises(sd.RequirementError, match="claims pk = "):
        sd.verify(folder)


def test_what_is_measured_is_what_a_receiver_would_compute(written: Path) -> None:
    laws = json.loads((written / "law.json").read_text())["attributes"]
    age = float(2 * 100 / Fraction(laws["age"]["scale"]))
    town = 2 * math.log(laws["town"]["retention"][0] / ((1 - laws["town"]["retention"][0]) / 2))
    pay = 2 * 4 * math.log((1 - laws["pay"]["flips"]) / laws["pay"]["flips"])
    ill = 2 * math.log(0.6 / 0.4)
    k = 1 + 299 * math.exp(-(age + town + pay + ill))
    assert sd.verify(written, K5, SCHEMA).measured["pk"] == pytest.approx(k)


def more_retention(plan: dict[str, Any]) -> None:
    plan["attributes"]["town"]["retention"] = [0.99] * 3


def one_more_retained(plan: dict[str, Any]) -> None:
    plan["attributes"]["town"]["retention"][1] += 0.05


def smaller_scale(plan: dict[str, Any]) -> None:
    plan["attributes"]["age"]["scale"] = "1/2"


def fewer_flips(plan: dict[str, Any]) -> None:
    plan["attributes"]["pay"]["flips"] = 0.01


def sharper_matrix(plan: dict[str, Any]) -> None:
    plan["attributes"]["ill"]["matrix"] = [[1.0, 0.0], [0.0, 1.0]]


def an_estimate(plan: dict[str, Any]) -> None:
    plan["estimates"]["town"] = 0.5


def fewer_steps(plan: dict[str, Any]) -> None:
    """A narrower grid would promise more; but the output has values beyond it."""
    plan["attributes"]["age"]["steps"] = 1


def fewer_values(plan: dict[str, Any]) -> None:
    plan["attributes"]["town"] |= {"values": ["Ayr"], "retention": [1.0]}


def retention_of_one(plan: dict[str, Any]) -> None:
    """As if there were one value only, though three are named."""
    plan["attributes"]["town"]["retention"] = [1.0]


def negative_scale(plan: dict[str, Any]) -> None:
    plan["attributes"]["age"]["scale"] = "-1"


def negative_estimate(plan: dict[str, Any]) -> None:
    plan["estimates"]["town"] = -3.0


def impossible_retention(plan: dict[str, Any]) -> None:
    plan["attributes"]["town"]["retention"] = [1.5, 1.5, 1.5]


def no_retention(plan: dict[str, Any]) -> None:
    plan["attributes"]["town"]["retention"] = [math.nan] * 3


def no_matrix(plan: dict[str, Any]) -> None:
    plan["attributes"]["ill"]["matrix"] = [[math.nan, math.nan], [math.nan, math.nan]]


def no_matrix_to_speak_of(plan: dict[str, Any]) -> None:
    plan["attributes"]["ill"]["matrix"] = [[0.6, 0.6], [0.6, 0.6]]


def impossible_flips(plan: dict[str, Any]) -> None:
    plan["attributes"]["pay"]["flips"] = 0.0


def no_law(plan: dict[str, Any]) -> None:
    del plan["attributes"]["town"]


def unknown_law(plan: dict[str, Any]) -> None:
    plan["attributes"]["town"] = {"how": "magic"}


@pytest.mark.parametrize(
    "change",
    [
        more_retention,
        one_more_retained,
        smaller_scale,
        fewer_flips,
        sharper_matrix,
        an_estimate,
        fewer_steps,
        fewer_values,
        retention_of_one,
        negative_scale,
        negative_estimate,
        impossible_retention,
        no_retention,
        no_matrix,
        no_matrix_to_speak_of,
        impossible_flips,
        no_law,
        unknown_law,
    ],
)
def test_a_tampered_law_is_caught(
    written: Path, tmp_path: Path, change: Callable[[dict[str, Any]], None]
) -> None:
    """It is refused as no law, or does not promise enough."""
    folder = tampered(written, tmp_path, change)
    try:
        verification = sd.verify(folder, K5, SCHEMA)
    except (sd.InputError, sd.RequirementError):
        return
    assert not verification.holds, verification.measured


def test_a_law_that_promises_more_is_fine(written: Path, tmp_path: Path) -> None:
    def change(plan: dict[str, Any]) -> None:
        plan["attributes"]["town"]["retention"] = [1 / 3] * 3

    assert sd.verify(tampered(written, tmp_path, change), K5, SCHEMA).holds


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_a_column_without_a_law_is_caught(written: Path, tmp_path: Path, ending: str) -> None:
    folder = tampered(written, tmp_path, lambda plan: None)
    schema = sd.Schema(attributes=SCHEMA.attributes | {"row": sd.Attribute(role="other")})
    data = pl.read_parquet(folder / "data.parquet").with_columns(row=pl.int_range(300))
    data.write_parquet(folder / "data.parquet") if ending == "parquet" else data.write_csv(
        folder / "data.csv"
    )
    with pytest.raises(sd.InputError, match="'row', for which no law is published"):
        sd.verify(folder / f"data.{ending}", K5, schema)


@pytest.mark.parametrize(
    "change", [pl.lit("Hull").alias("town"), pl.lit(101).alias("age"), pl.lit(-1).alias("pay")]
)
def test_values_that_the_law_cannot_give_are_caught(written: Path, tmp_path: Path, change: pl.Expr) -> None:
    folder = tampered(written, tmp_path, lambda plan: None)
    pl.read_parquet(folder / "data.parquet").with_columns(change).write_parquet(folder / "data.parquet")
    with pytest.raises((sd.InputError, sd.RequirementError)):
        sd.verify(folder, K5, SCHEMA)


def test_fewer_rows_give_less_k(written: Path, tmp_path: Path) -> None:
    folder = tampered(written, tmp_path, lambda plan: None)
    pl.read_parquet(folder / "data.parquet").head(100).write_parquet(folder / "data.parquet")
    assert not sd.verify(folder, K5, SCHEMA).holds


def test_a_law_is_needed(written: Path, tmp_path: Path) -> None:
    data = pl.read_parquet(written / "data.parquet")
    with pytest.raises(sd.InputError, match="verified by its law"):
        sd.verify(data, K5, SCHEMA)
    data.write_parquet(tmp_path / "data.parquet")
    for output in (tmp_path, tmp_path / "data.parquet"):
        with pytest.raises(sd.InputError, match=r"verified by its law, and there is no law\.json"):
            sd.verify(output, K5, SCHEMA)
    for text, message in (
        ("[]", "not the law of a randomized table"),
        ("{", "not a valid JSON file"),
        ("[" * 10**5, "nested more than 64 deep"),
    ):
        (tmp_path / "law.json").write_text(text)
        with pytest.raises(sd.InputError, match=message):
            sd.verify(tmp_path, K5, SCHEMA)
    with pytest.raises(sd.ParameterError, match="either for what blocks have, or for what a randomized"):
        sd.verify(written, [K5, sd.KAnonymity(2)], SCHEMA)


# -- Laws of several columns --------------------------------------------------------------------------

JOINT: dict[str, Any] = {
    "how": {"pay": "bins", "age": "bins"},
    "joint": {"who": ["town", "ill"]},
}


@pytest.fixture(scope="module")
def joined(tmp_path_factory: pytest.TempPathFactory) -> Path:
    release = sd.randomize(sd.read(people(), SCHEMA), K5, unsafe_seed=1, **JOINT)
    return release.write(tmp_path_factory.mktemp("joint") / "out") / "hand-over"


def test_a_joint_release_on_disk_verifies(joined: Path) -> None:
    verification = sd.verify(joined, K5, SCHEMA)
    assert verification.holds
    laws = json.loads((joined / "law.json").read_text())["attributes"]
    assert set(laws) == {"who", "age", "pay"}
    spread = 0.0
    for law in laws.values():
        keep, others = law["retention"][0], len(law["retention"]) - 1
        spread += 2 * math.log(keep * others / (1 - keep))
    assert verification.measured["pk"] == pytest.approx(1 + 299 * math.exp(-spread))
    for name in ("data.parquet", "data.csv"):
        assert sd.verify(joined / name, K5, SCHEMA).measured == verification.measured


def who(plan: dict[str, Any]) -> dict[str, Any]:
    law: dict[str, Any] = plan["attributes"]["who"]
    return law


def a_second_law(plan: dict[str, Any]) -> None:
    plan["attributes"]["town"] = {
        "how": "retain",
        "epsilon": 1.0,
        "spread": 2.0,
        "values": ["Ayr", "Bath", "Cork"],
        "retention": [1 / 3] * 3,
    }


def a_second_joint_law(plan: dict[str, Any]) -> None:
    plan["attributes"]["whom"] = who(plan)


def a_column_less(plan: dict[str, Any]) -> None:
    del who(plan)["columns"]["town"]
    who(plan)["retention"] = who(plan)["retention"][:2]


def a_column_more(plan: dict[str, Any]) -> None:
    who(plan)["columns"]["height"] = {"values": ["1"]}


def a_law_of_what_is_not_there(plan: dict[str, Any]) -> None:
    plan["attributes"]["height"] = {
        "how": "retain",
        "epsilon": 0.0,
        "spread": 0.0,
        "values": ["1", "2"],
        "retention": [0.5, 0.5],
    }


def a_value_less(plan: dict[str, Any]) -> None:
    who(plan)["columns"]["town"]["values"].pop()
    who(plan)["retention"] = who(plan)["retention"][:4]


def retention_of_a_column_only(plan: dict[str, Any]) -> None:
    who(plan)["retention"] = who(plan)["retention"][:3]


def matrix_of_a_column_only(plan: dict[str, Any]) -> None:
    del who(plan)["retention"]
    who(plan)["matrix"] = np.full((3, 3), 1 / 3).tolist()


def noise_on_combinations(plan: dict[str, Any]) -> None:
    del who(plan)["retention"]
    who(plan)["scale"], who(plan)["steps"], who(plan)["low"], who(plan)["step"] = "100", 5, 0, 1


def a_grid_among_the_columns(plan: dict[str, Any]) -> None:
    who(plan)["columns"]["town"] = {"low": 0, "step": 1, "steps": 2}


def two_kinds_at_once(plan: dict[str, Any]) -> None:
    who(plan)["matrix"] = np.full((6, 6), 1 / 6).tolist()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (a_second_law, "Two laws speak of the column 'town'"),
        (a_second_joint_law, "Two laws speak of the column 'town'"),
        (a_column_less, "the column 'town', for which no law is published"),
        (a_column_more, "a law is published for the column 'height', which the output does not have"),
        (a_law_of_what_is_not_there, "column 'height', which the output does not have"),
        (a_value_less, "Column 'town' holds 'Cork', which its law cannot produce"),
        (retention_of_a_column_only, "a probability to be kept for each of its values"),
        (matrix_of_a_column_only, "a row and a column for each of its values"),
        (noise_on_combinations, "'who' is of no known kind"),
        (a_grid_among_the_columns, "'who': 'columns.town.values' is missing"),
        (two_kinds_at_once, "'who' is of no known kind"),
    ],
)
def test_a_tampered_joint_law_is_refused(
    joined: Path, tmp_path: Path, change: Callable[[dict[str, Any]], None], reason: str
) -> None:
    with pytest.raises(sd.InputError, match=f"(?i){reason}"):
        sd.verify(tampered(joined, tmp_path, change), K5, SCHEMA)


def test_more_retention_of_combinations_is_found(joined: Path, tmp_path: Path) -> None:
    def change(plan: dict[str, Any]) -> None:
        who(plan)["retention"][2] += 0.1

    assert not sd.verify(tampered(joined, tmp_path, change), K5, SCHEMA).holds


def test_a_missing_value_that_the_law_does_not_know_is_caught(joined: Path, tmp_path: Path) -> None:
    folder = tampered(joined, tmp_path, lambda plan: None)
    data = pl.read_parquet(folder / "data.parquet")
    data.with_columns(pl.lit(None, dtype=pl.String).alias("ill")).write_parquet(folder / "data.parquet")
    with pytest.raises(sd.InputError, match="'ill' holds a missing value, which its law cannot produce"):
        sd.verify(folder, K5, SCHEMA)
    with pytest.raises(sd.InputError, match="'ill' holds a missing value, which its law does not know"):
        sd.reconstruct(folder, "town")


def test_nothing_is_written_if_the_law_was_changed_in_memory(tmp_path: Path) -> None:
    release = sd.randomize(sd.read(people(), SCHEMA), K5, unsafe_seed=1)
    law = json.loads(json.dumps(release.handed_over.law))
    law["attributes"]["town"]["retention"] = [0.99] * 3
    broken = replace(release, handed_over=replace(release.handed_over, law=law))
    with pytest.raises(sd.RequirementError, match="The output does not have Pk-anonymity"):
        broken.write(tmp_path / "out")
    # The files are read again, whatever was verified before.
    broken.__dict__.update(certificate=release.certificate, holder=release.holder, report=release.report)
    with pytest.raises(sd.RequirementError, match="The certificate claims pk = "):
        broken.write(tmp_path / "out")
    assert not (tmp_path / "out").exists()
