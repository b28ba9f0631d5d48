from __future__ import annotations

import datetime as dt
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import sudare as sd

SCHEMA = sd.Schema.from_roles(
    identifier=["name"],
    quasi=["age", "town"],
    sensitive=["ill"],
    other=["note"],
    bounds={"age": (0, 120)},
    domains={"ill": ["yes", "no"], "town": ["Ayr", "Bath", "Cork", "Deal"]},
)


def people(n: int = 200) -> pl.DataFrame:
    rng = np.random.default_rng(n)
    return pl.DataFrame(
        {
            "name": [f"person {i}" for i in range(n)],
            "age": rng.integers(0, 100, n),
            "town": rng.choice(["Ayr", "Bath", "Cork"], n),
            "ill": ["yes", *rng.choice(["yes", "no", None], n - 1).tolist()],
            "note": [f"note {i}" for i in range(n)],
        }
    )


def changes(release: sd.Release) -> dict[str, Any]:
    return release.holder["utility"]["changes"]


@pytest.mark.usefixtures("reports")
def test_only_randomized_attributes_go_out() -> None:
    release = sd.randomize(sd.read(people(), SCHEMA), sd.PkAnonymity(5))
    assert release.frame().columns == ["age", "town", "ill"]
    assert release.frame().height == 200
    assert release.certificate.records == {"published": 200}
    text = json.dumps(release.plan.to_json()) + release.certificate.model_dump_json() + release.report
    assert "person 1" not in text
    assert "note 1" not in text


def test_the_promise_is_measured_and_certified() -> None:
    asked = sd.PkAnonymity(5)
    certificate = sd.randomize(sd.read(people(), SCHEMA), asked).certificate
    assert certificate.measured["pk"] == pytest.approx(5, rel=1e-4)
    assert certificate.measured["pk"] >= 5 * (1 - 1e-9)
    assert certificate.measured["epsilon"] == pytest.approx(asked.epsilon(200), rel=1e-4)
    assert certificate.requirements == ["Pk-anonymity with k = 5"]
    certificate = sd.randomize(
        sd.read(people(), SCHEMA), sd.DifferentialPrivacy(2.0, per="record")
    ).certificate
    assert certificate.measured["epsilon"] <= 2 * (1 + 1e-9)


def test_the_original_order_is_gone() -> None:
    """With an epsilon that keeps every value, the published rows are the original's, in the order of their values."""
    original = np.random.default_rng(0).permutation(1000)
    schema = sd.Schema.from_roles(quasi=["x"], bounds={"x": (0, 999)})
    table = sd.read(pl.DataFrame({"x": original}), schema)
    out = sd.randomize(table, sd.DifferentialPrivacy(1e5, per="record")).frame()["x"].to_list()
    assert out == list(range(1000))


def test_the_operating_systems_randomness_is_used_unless_asked_otherwise() -> None:
    table = sd.read(people(), SCHEMA)
    one, other = (sd.randomize(table, sd.PkAnonymity(5)) for _ in range(2))
    assert not one.frame().equals(other.frame())
    assert "operating system" in one.certificate.randomness
    seeded = [sd.randomize(table, sd.PkAnonymity(5), unsafe_seed=7) for _ in range(2)]
    assert seeded[0].frame().equals(seeded[1].frame())
    assert "UNSAFE" in seeded[0].certificate.randomness


def test_a_shuffled_index_of_pandas_changes_nothing() -> None:
    plain = people().drop("ill").to_pandas()
    schema = sd.Schema.from_roles(
        identifier=["name"],
        quasi=["age", "town"],
        other=["note"],
        bounds={"age": (0, 120)},
        domains={"town": ["Ayr", "Bath", "Cork"]},
    )
    shuffled = plain.set_index(pd.Index(np.random.default_rng(1).permutation(len(plain))))
    one, other = (
        sd.randomize(sd.read(frame, schema), sd.PkAnonymity(3), unsafe_seed=1) for frame in (plain, shuffled)
    )
    assert one.frame().equals(other.frame())
    assert one.frame().columns == ["age", "town"]


def test_a_single_row() -> None:
    table = sd.read(people(1), SCHEMA)
    assert sd.randomize(table, sd.DifferentialPrivacy(1.0, per="record")).frame().height == 1
    with pytest.raises(sd.RequirementError, match="k = 2 is impossible for 1 records"):
        sd.randomize(table, sd.PkAnonymity(2))
    with pytest.raises(sd.ParameterError, match="k = 1 promises nothing"):
        sd.randomize(table, sd.PkAnonymity(1))


def test_all_rows_equal() -> None:
    frame = pl.DataFrame({"age": [40] * 400, "town": ["Ayr"] * 400})
    schema = sd.Schema.from_roles(
        quasi=["age", "town"],
        bounds={"age": (0, 120)},
        domains={"town": ["Ayr", "Bath"]},
        missing="refuse",
    )
    release = sd.randomize(sd.read(frame, schema), sd.PkAnonymity(20), unsafe_seed=3)
    assert release.frame()["town"].n_unique() == 2  # nobody learns that all are from Ayr
    assert release.frame()["age"].n_unique() > 50
    answer = sd.reconstruct(release, "town", method="unbiased").count(town="Ayr")
    assert answer.low <= 400 <= answer.high + 1e-6


def test_values_that_nobody_declared_are_refused_with_the_lines_to_add() -> None:
    table = sd.read(pl.DataFrame({"town": ["Ayr"] * 40}), sd.Schema.from_roles(quasi=["town"]))
    with pytest.raises(sd.InputError) as refused:
        sd.randomize(table, sd.PkAnonymity(20))
    assert "the schema does not say what values 'town' can have" in str(refused.value)
    assert '[attributes.town]\n# domain = ["Ayr"]   # the data\'s own values' in str(refused.value)


def test_missing_values_are_a_value_like_any_other() -> None:
    release = sd.randomize(
        sd.read(people(2000), SCHEMA), sd.DifferentialPrivacy(20.0, per="record"), unsafe_seed=1
    )
    before, after = (Counter(frame["ill"].to_list()) for frame in (people(2000), release.frame()))
    assert set(after) == {"yes", "no", None}
    assert all(abs(after[value] - before[value]) < 120 for value in before)


# -- What the certificate tells must not tell about the data ---------------------------------------


def release_of(values: list[str], **options: Any) -> sd.Release:
    schema = sd.Schema.from_roles(quasi=["x"], domains={"x": ["a", "b"]}, missing="refuse")
    table = sd.read(pl.DataFrame({"x": values}), schema)
    return sd.randomize(table, sd.PkAnonymity(5), unsafe_seed=1, **options)


@pytest.mark.parametrize(
    "options",
    [{}, {"matrices": {"x": [[0.7, 0.4], [0.3, 0.6]]}}, {"priors": {"x": [30, 70]}}],
    ids=["retain", "matrix", "prior"],
)
def test_the_certificate_is_the_same_for_any_data(options: dict[str, Any]) -> None:
    """What is expected to change must not be an exact sum over the true records: it gives their histogram away."""
    one = release_of(["a"] * 50 + ["b"] * 50, **options)
    other = release_of(["a"] * 49 + ["b"] * 51, **options)
    assert changes(one) == changes(other)


def test_the_certificate_of_bits_is_the_same_for_any_data() -> None:
    tables = []
    for values in ([0] * 50 + [5] * 50, [0] * 20 + [5] * 80):
        table = sd.read(pl.DataFrame({"x": values}), sd.Schema.from_roles(quasi=["x"], bounds={"x": (0, 5)}))
        tables.append(changes(sd.randomize(table, sd.PkAnonymity(5), how={"x": "bits"}, unsafe_seed=1)))
    assert tables[0] == tables[1]


# -- Modes of the optimal PRAM ----------------------------------------------------------------------


def test_the_three_modes_in_the_certificate() -> None:
    table, asked = sd.read(people(), SCHEMA), sd.PkAnonymity(5)
    private = sd.randomize(table, asked, how={"town": "optimal"})
    true = sd.randomize(table, asked, how={"town": "optimal"}, histogram="true-histogram")
    public = sd.randomize(table, asked, priors={"town": [50, 30, 20, 10, 0]})
    for release in (private, true, public):
        assert release.certificate.measured["pk"] >= 5 * (1 - 1e-9)
        assert release.plan.to_json()["attributes"]["town"]["how"] == "optimal"
    spent = private.plan.to_json()["estimates"]["town"]
    laws = sum(law["epsilon"] for law in private.plan.to_json()["attributes"].values())
    assert spent > 0
    assert private.certificate.measured["epsilon"] == pytest.approx(laws + spent)
    assert not any("true histogram" in caveat for caveat in private.certificate.caveats)
    assert any("true histogram" in caveat for caveat in true.certificate.caveats)
    assert true.plan.to_json()["estimates"] == {}
    assert not any("'town'" in caveat for caveat in public.certificate.caveats)
    assert public.plan.to_json()["estimates"] == {}


# -- Kinds of attributes, start to finish -----------------------------------------------------------


def test_all_kinds_are_written_verified_and_reconstructed(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    n = 300
    frame = pl.DataFrame(
        {
            "age": rng.integers(0, 64, n),
            "pay": rng.uniform(0, 10, n),
            "born": [dt.date(1980, 1, 1) + dt.timedelta(days=int(d)) for d in rng.integers(0, 90, n)],
            "smokes": rng.random(n) < 0.3,
            "town": rng.choice(["Ayr", "Bath"], n),
        }
    )
    schema = sd.Schema.from_roles(
        quasi=["age", "pay", "born"],
        sensitive=["smokes", "town"],
        bounds={
            "age": (0, 63),
            "pay": (0.0, 10.0),
            "born": (dt.date(1980, 1, 1), dt.date(1980, 4, 1)),
        },
        domains={"smokes": [True, False], "town": ["Ayr", "Bath"]},
    )
    asked = sd.DifferentialPrivacy(30.0, per="record")
    for number, how in enumerate([{}, {"age": "bits", "born": "bins"}, {"pay": "bins", "age": "bins"}]):
        release = sd.randomize(sd.read(frame, schema), asked, how=how, unsafe_seed=number)
        folder = release.write(tmp_path / str(number))
        assert sd.verify(folder, asked, schema).holds
        for name in frame.columns:
            if how.get(name) is None and name == "pay":
                continue  # a long grid; see test_estimate
            for source in (release, folder):
                estimate = sd.reconstruct(source, name, method="unbiased")
                assert estimate.counts.sum() == pytest.approx(n, rel=1e-6)


def test_an_attribute_that_gets_no_budget_does_not_take_for_ever() -> None:
    """A date of birth within 110 years has 40,000 values. With no weight it becomes any of them, all alike."""
    script = """
import datetime as dt, polars as pl, sudare as sd
bounds = {"born": (dt.date(1915, 1, 1), dt.date(2024, 12, 31)), "age": (0, 110)}
schema = sd.Schema.from_roles(quasi=["born", "age"], bounds=bounds, weights={"born": 0})
frame = pl.DataFrame({"born": [dt.date(1980, 1, 1)] * 50, "age": [44] * 50})
sd.randomize(sd.read(frame, schema), sd.PkAnonymity(5))
"""
    try:
        done = subprocess.run([sys.executable, "-c", script], timeout=120, capture_output=True, text=True)
    except subprocess.TimeoutExpired:
        pytest.fail("not done after two minutes")
    assert done.returncode == 0, done.stderr
