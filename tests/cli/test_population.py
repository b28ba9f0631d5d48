"""What commands say of the population behind a sample."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import sudare as sd
from tests.cli.conftest import Run


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    people = pl.DataFrame({"age": rng.integers(20, 60, 4000), "zip": rng.integers(0, 9, 4000)})
    people.write_csv(tmp_path / "register.csv")
    drawn = people.sample(400, seed=1).with_columns(w=pl.Series(rng.integers(8, 13, 400)))
    drawn.write_csv(tmp_path / "people.csv")
    schema = sd.Schema.from_roles(quasi=["age", "zip"], weight=["w"])
    (tmp_path / "sudare.toml").write_text(schema.to_toml())
    return tmp_path / "people.csv"


@pytest.fixture
def released(sample: Path, run: Run, reports: None) -> Path:
    done = run("generalize", sample, "out", "-k", "4")
    assert done.code == 0, done.err
    return Path("out")


def test_check_tells_of_the_population(run: Run, sample: Path) -> None:
    result = run("check", sample)
    assert "The 400 records stand for about" in result.out
    assert "re-identifications are expected" in result.out
    assert 'To give w its mean instead: hierarchy = { kind = "digits", root = 10 }' in result.out
    told = json.loads(run("check", sample, "--json").out)["population"]
    assert told["records"] == 400
    assert 3000 < told["people"] < 5000
    assert told["uniques"]["rule"] in ("pitman", "zayatz", "snb")


def test_a_sampling_fraction_stands_in_for_weights(run: Run, sample: Path) -> None:
    Path("sudare.toml").write_text(sd.Schema.from_roles(quasi=["age", "zip"], other=["w"]).to_toml())
    assert "stand for" not in run("check", sample).out
    assert json.loads(run("check", sample, "--json").out)["population"] is None
    assert "stand for about 4,000 people" in run("check", sample, "--sampling-fraction", "0.1").out
    refused = run("check", sample, "--sampling-fraction", "1.5")
    assert refused.code != 0
    assert "must be a number above 0, and at most 1" in refused.err


def test_all_attacks_have_that_on_the_population_where_there_are_weights(run: Run, released: Path) -> None:
    told = json.loads(run("attack", released, "--json").out)
    assert list(told) == ["reidentification", "population"]
    alone = json.loads(
        run("attack", released, "--kind", "population", "--sampling-fraction", "0.1", "--json").out
    )
    assert alone["population"]["records"] == 400
    assert run("attack", released, "--sampling-fraction", "0.1").code == 0


def test_k_map(run: Run, released: Path) -> None:
    told = json.loads(
        run("attack", released, "--kind", "k_map", "--population", "register.csv", "--json").out
    )
    assert told["k_map"]["k"] >= 4
    assert told["k_map"]["unmatched"] == 0
    assert "-map)" in run("attack", released, "--kind", "k_map", "--population", "register.csv").out


def test_delta_presence(run: Run, released: Path) -> None:
    told = json.loads(
        run("attack", released, "--kind", "presence", "--population", "register.csv", "--json").out
    )["presence"]
    assert told["records"] == 400
    assert told["most"] >= 0.1
    made = run("generalize", "people.csv", "present", "--d-max", "0.3", "--population", "register.csv")
    assert made.code == 0, made.err
    again = ["--population", "register.csv", "--schema", "sudare.toml", "--json"]
    verified = json.loads(run("verify", "present", "--d-max", "0.3", *again).out)
    assert verified["holds"]
    assert verified["measured"]["presence"] <= 0.3
    assert run("verify", "present", "--d-max", "0.3", "--d-min", "0.29", *again).code == 1
    assert "is the lower end of --d-max" in run("generalize", "people.csv", "o", "--d-min", "0.1").err
    refused = run("generalize", "people.csv", "o", "-k", "3", "--population", "register.csv")
    assert "--population is counted for --k-map and --d-max" in refused.err
    ignored = run("verify", "present", "--population", "register.csv")  # which would seem to hold
    assert (ignored.code, "--population is counted for" in ignored.err) == (2, True)
    assert "is the lower end of --d-max" in run("verify", "present", "--d-min", "0.29").err


def test_shares_of_values(run: Run, sample: Path) -> None:
    schema = sd.Schema.from_roles(quasi=["age"], sensitive=["zip"])
    Path("sudare.toml").write_text(schema.to_toml())
    pl.read_csv(sample).drop("w").write_csv(sample)
    made = run("generalize", sample, "out", "--beta", "1.5", "--disclosure", "2", "--method", "mondrian")
    assert made.code == 0, made.err
    assert json.loads(run("verify", "out", "--json").out)["measured"]["beta"] <= 1.5
    asked = ["--beta", "1", "--likeness", "basic", "--schema", "sudare.toml"]
    assert run("verify", "out", "--beta", "1.5", "--schema", "sudare.toml").code == 0
    assert run("verify", "out", "--beta", "0", "--schema", "sudare.toml").code == 1
    pl.DataFrame({"age": [1, 1, 2, 2], "zip": [1, 1, 1, 2]}).write_csv("broken.csv")
    told = json.loads(run("verify", "broken.csv", "--disclosure", "1", *asked, "--json").out)
    assert told["holds"] is False
    assert told["measured"] == {"beta": 1.0, "disclosure": None}  # infinite: the first block lacks a value


def test_where_no_weight_is_told_the_other_attacks_are_tried(run: Run, sample: Path) -> None:
    schema = Path("sudare.toml")
    coarse = '[attributes.w]\nrole = "weight"\nhierarchy = "suppress"\n'
    schema.write_text(schema.read_text().split("[attributes.w]")[0] + coarse)
    pl.read_csv(sample).with_columns(w=pl.int_range(400)).write_csv(sample)
    assert run("generalize", sample, "out", "-k", "4", "--method", "mondrian").code == 0
    every = run("attack", "out")
    assert (every.code, "reidentification" in every.out) == (0, True)
    assert "Note: The attack on the population was not tried. Column 'w': no weight is told." in every.err
    asked = run("attack", "out", "--kind", "population")
    assert (asked.code, "(--sampling-fraction 0.01 on the command line)" in asked.err) == (2, True)


def test_the_holder_keeps_what_is_estimated(released: Path) -> None:
    """And nobody else: a certificate does not say how large the population is."""
    holder = json.loads(next((released / "keep").glob("*holder*.json")).read_text())
    before, after = (holder["population"][name] for name in ("input", "output"))
    assert after["expected"] < before["expected"]
    assert after["estimated_uniques"] == 0
    assert "population" not in json.loads((released / "hand-over" / "certificate.json").read_text())
    report = (released / "keep" / "report.html").read_text()
    assert f"stand for about {before['people']:,.0f} people" in report
    assert f"{before['expected']:,.2f}" in report
