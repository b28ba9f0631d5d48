"""The risk in the population behind a sample: sdcMicro's published numbers, and populations that are known."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

import sudare as sd
from sudare.attacks.attack import attack
from sudare.attacks.population import individual_risk
from sudare.tables.recipes import DigitsRecipe

FRANCDAT = pl.DataFrame(
    {
        "key1": [1, 1, 1, 3, 4, 4, 6, 1],
        "key2": [2, 2, 2, 3, 3, 3, 2, 2],
        "key3": [5, 1, 1, 1, 1, 1, 1, 5],
        "key4": [1, 1, 1, 5, 4, 1, 5, 1],
        "w": [18.0, 45.5, 39.0, 17.0, 541.0, 8.0, 5.0, 92.0],
    }
)
KEYS = ["key1", "key2", "key3", "key4"]
UNKNOWN = {"w": False}
TESTDATA = {
    1: 157, 2: 62, 3: 31, 4: 21, 5: 12, 6: 13, 7: 9, 8: 8, 9: 2, 10: 6, 11: 5, 12: 4, 13: 4, 14: 1, 15: 2, 16: 3, 17: 6,
    18: 2, 19: 3, 20: 1, 21: 2, 22: 2, 23: 5, 25: 2, 26: 2, 27: 1, 28: 2, 30: 2, 31: 2, 33: 5, 34: 2, 35: 3, 43: 1, 44: 1,
    45: 3, 46: 1, 51: 1, 52: 1, 54: 1, 56: 1, 63: 2, 66: 1, 67: 1, 70: 1, 75: 2, 76: 1, 93: 1, 94: 1, 102: 1, 104: 1,
    105: 1, 107: 1, 122: 2, 126: 1, 134: 1, 150: 1, 176: 1,
}  # fmt: skip
"""How many blocks of each size sdcMicro's testdata has by urbrur, roof, walls, water, electcon, relat and sex; all weights are 100."""


def declared(quasi: list[str], **more: Any) -> sd.Schema:
    return sd.Schema.from_roles(quasi=quasi, weight=["w"], **more)


# -- sdcMicro ------------------------------------------------------------------------------------


def test_francdat() -> None:
    """sdcMicro's help page: indivRisk(freqCalc(francdat, keyVars=c(2,4,5,6), w=8))$rk, of sdcMicro 5.8.1."""
    rk = [
        0.0171442616,
        0.0220423262,
        0.0220423262,
        0.177075834,
        0.0116544802,
        0.2970630774,
        0.4023594781,
        0.0171442616,
    ]
    risk = attack(FRANCDAT, declared(KEYS, known=UNKNOWN), kind="population")
    assert risk.expected == pytest.approx(sum(rk), abs=1e-8)
    assert risk.individual.largest == pytest.approx(max(rk), abs=1e-9)
    assert (risk.individual.at_risk, risk.alone, risk.people) == (2, 4, 765.5)


def test_sdcmicros_own_tests() -> None:
    """tests/testthat/test_indivRisk.R, "data frame with weight, method = exact, qual = default, survey = TRUE"."""
    published = [0.01355297, 0.08579129, 0.17707583, 0.01877883, 0.03931625]
    assert individual_risk([3, 1, 1, 2, 1], [108, 45.5, 17, 100, 123.5]) == pytest.approx(published, abs=5e-9)


def test_the_example_of_the_practice_guide() -> None:
    """Table 4.1 of Statistical Disclosure Control: A Practice Guide (Benschop, Machingauta and Welch), made with sdcMicro."""
    published = [0.0054, 0.0251, 0.0126, 0.0282, 0.0290, 0.0074]
    sizes, people = [2, 1, 2, 1, 1, 2], [360, 215, 152, 186, 180, 262]
    assert individual_risk(sizes, people) == pytest.approx(published, abs=5.1e-5)


def test_the_global_risk_of_testdata() -> None:
    """sum(indivRisk(freqCalc(testdata, keyVars=..., w="sampling_weight"))$rk) is 10.778 in sdcMicro 5.8.1, printed 10.78 (0.24 %).

    It approximates the risk in blocks of three and more; its exact method fails there (NaN).
    """
    sizes, counts = np.array(list(TESTDATA)), np.array(list(TESTDATA.values()))
    expected = float(counts @ (sizes * individual_risk(sizes, 100 * sizes)))
    assert f"{expected:.2f} ({expected / (sizes @ counts):.2%})" == "10.78 (0.24%)"


@pytest.mark.parametrize(
    ("keys", "alone", "expected"),
    [
        (["db040", "hsize", "pb220a", "rb090", "pl030", "age"], 3830, 52.3128921778),
        (["db040", "hsize", "pb220a", "rb090", "pl030"], 294, 5.40451478925),
    ],
)
def test_the_global_risk_of_eusilc(data_folder: Path, keys: list[str], alone: int, expected: float) -> None:
    """sum(indivRisk(freqCalc(eusilc, keyVars=keys, w="rb050"))$rk) of sdcMicro 5.8.1, rows without missing keys.

    sdcMicro prints two decimals; ours differs in the third, being exact for blocks of three and more.
    """
    frame = pl.read_csv(
        data_folder / "eusilc" / "eusilc.csv", infer_schema_length=None, null_values=["NA", ""]
    )
    schema = sd.Schema.from_roles(quasi=keys, weight=["rb050"], known={"rb050": False})
    risk = attack(frame.drop_nulls(keys).select(*keys, "rb050"), schema, kind="population")
    assert risk.alone == alone
    assert f"{risk.expected:.2f}" == f"{expected:.2f}"


# -- twins ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 3, 7, 29, 30, 31, 400, 20_000])
@pytest.mark.parametrize("p", [1e-7, 1e-3, 0.2, 0.4999, 0.5, 0.9, 1.0])
def test_individual_risk_is_its_integral(size: int, p: float) -> None:
    """By quadrature, of the integral over s = x^(1 / f)."""
    integral = quad(lambda x: p / (p + (1 - p) * x ** (1 / size)) / size, 0, 1, epsabs=0, limit=2000)[0]
    assert individual_risk(size, size / p).item() == pytest.approx(integral, rel=1e-6)


@pytest.mark.parametrize(("size", "p"), [(1, 0.1), (2, 0.05), (5, 0.3)])
def test_individual_risk_is_the_mean_of_one_over_the_people(size: int, p: float) -> None:
    people = size + np.random.default_rng(0).negative_binomial(size, p, 10**6)
    assert individual_risk(size, size / p).item() == pytest.approx((1 / people).mean(), rel=0.01)


@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.sampled_from("xyz"), st.floats(0, 1000)), min_size=1, max_size=30
    ),
    st.booleans(),
)
def test_population_risk_by_counting(rows: list[tuple[str, str, float]], known: bool) -> None:
    blocks: dict[Any, list[float]] = {}
    for a, b, w in rows:
        blocks.setdefault((a, b, w) if known else (a, b), []).append(w)
    frame = pl.DataFrame(rows, schema={"a": pl.String, "b": pl.String, "w": pl.Float64}, orient="row")
    risk = attack(frame, declared(["a", "b"], known={"w": known}), kind="population")
    people = {key: max(math.fsum(own), len(own)) for key, own in blocks.items()}
    risks = [individual_risk(len(own), people[key]).item() for key, own in blocks.items() for _ in own]
    assert risk.records == len(rows)
    assert risk.alone == sum(len(own) == 1 for own in blocks.values())
    assert risk.people == pytest.approx(sum(people.values()))
    assert risk.expected == pytest.approx(sum(risks))
    assert risk.individual.largest == pytest.approx(max(risks))
    assert risk.sampling_fraction == pytest.approx(len(rows) / risk.people)


@pytest.mark.parametrize("fraction", [0.05, 0.2, 0.5])
def test_samples_tell_how_many_re_identifications_to_expect(fraction: float) -> None:
    """A population whose blocks have F people in proportion to 1 / F, as the estimate takes it; an outsider names 1 in F rightly."""
    rng = np.random.default_rng(0)
    sizes = np.arange(1, 2000)
    blocks = rng.choice(sizes, 4000, p=(1 / sizes) / (1 / sizes).sum())
    schema = sd.Schema.from_roles(quasi=["block"])
    truth, found = [], []
    for _ in range(5):
        drawn = rng.binomial(blocks, fraction)
        truth.append((drawn / blocks).sum())
        frame = pl.DataFrame({"block": np.repeat(np.arange(len(blocks)), drawn)})
        found.append(attack(frame, schema, kind="population", sampling_fraction=fraction).expected)
    assert np.mean(found) == pytest.approx(np.mean(truth), rel=0.05)


# -- weights that are told, or not ---------------------------------------------------------------


def test_a_known_weight_is_a_quasi_attribute_here_too() -> None:
    frame = pl.DataFrame({"a": ["x"] * 4, "w": [10, 10, 20, 20]})
    known, unknown = (
        attack(frame, declared(["a"], known={"w": one}), kind="population") for one in (True, False)
    )
    assert known.expected == pytest.approx(
        2 * individual_risk(2, 20).item() + 2 * individual_risk(2, 40).item()
    )
    assert unknown.expected == pytest.approx(4 * individual_risk(4, 60).item())
    assert known.people == unknown.people == 60


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("hidden", ["*", "[10, 20)", None])
def test_a_weight_that_is_not_told_is_taken_to_be_the_mean(hidden: str | None, *, known: bool) -> None:
    frame = pl.DataFrame({"a": ["x", "x", "y", "y"], "w": ["10", "30", "5e1", hidden]})
    risk = attack(frame, declared(["a"], known={"w": known}), kind="population")
    assert (risk.people, risk.weights_told) == (120, 0.75)
    assert "The weight of 75.0% of them is told; the others are taken to stand for 30.0 people each." in str(
        risk
    )
    given = attack(frame, declared(["a"], known={"w": known}), kind="population", sampling_fraction=0.1)
    assert given.people == 100


def test_a_release_is_measured_by_the_weights_that_it_publishes() -> None:
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"age": rng.integers(20, 60, 300), "w": rng.integers(20, 400, 300)})
    rounded = DigitsRecipe(kind="digits", root=210)  # about their mean
    table = sd.read(frame, declared(["age"], hierarchies={"w": rounded}))
    release = sd.generalize(table, sd.KAnonymity(5))
    before, after = (attack(one, table.schema, kind="population") for one in (table, release.frame()))
    assert after.expected < before.expected
    assert after.people == pytest.approx(before.people, rel=0.1)
    assert after.uniques.estimate == 0
    assert str(after).endswith("No record is the only one with its quasi values.")
    written = str(before)
    assert f"{before.alone:,} records are the only ones with their quasi values" in written
    assert set(before.summary()) >= {"individual", "expected", "uniques", "estimated_uniques"}


def test_a_table_in_a_database_has_the_same_risk(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"a": rng.integers(0, 50, 500), "w": rng.integers(1, 40, 500)})
    frame.write_parquet(tmp_path / "people.parquet")
    schema = declared(["a"], known=UNKNOWN)
    here = attack(sd.read(frame, schema), schema, kind="population")
    there = attack(sd.read(tmp_path / "people.parquet", schema, engine="duckdb"), schema, kind="population")
    assert there.expected == pytest.approx(here.expected)
    assert there.uniques.zayatz == pytest.approx(here.uniques.zayatz)


@pytest.mark.parametrize(
    ("frame", "schema", "options", "message"),
    [
        (
            {"a": ["x"]},
            {"quasi": ["a"]},
            {},
            "needs an attribute with the role weight, or the option 'sampling_fraction'",
        ),
        (
            {"a": ["x"]},
            {"quasi": ["a"]},
            {"sampling_fraction": 0},
            "must be a number above 0, and at most 1. Got 0",
        ),
        (
            {"a": ["x"]},
            {"quasi": ["a"]},
            {"sampling_fraction": 2},
            "must be a number above 0, and at most 1. Got 2",
        ),
        ({"a": ["x"]}, {"quasi": ["a"]}, {"sampling_fraction": 0.5, "threshold": 2}, "'threshold' parameter"),
        ({"a": ["x"], "w": ["-1"]}, {"quasi": ["a"], "weight": ["w"]}, {}, "Column 'w': '-1' is no weight"),
        (
            {"a": ["x"], "w": ["1e308"]},
            {"quasi": ["a"], "weight": ["w"]},
            {},
            "Column 'w': '1e308' is no weight",
        ),
        ({"a": ["x"], "w": ["nan"]}, {"quasi": ["a"], "weight": ["w"]}, {}, "Column 'w': 'nan' is no weight"),
        ({"a": ["x"], "w": ["inf"]}, {"quasi": ["a"], "weight": ["w"]}, {}, "Column 'w': 'inf' is no weight"),
        ({"a": ["x"], "w": ["*"]}, {"quasi": ["a"], "weight": ["w"]}, {}, "Column 'w': no weight is told"),
        (
            {"a": ["x"], "w": [1]},
            {"quasi": ["a"], "weight": ["w"], "person": "p"},
            {},
            "by 'p' a person may have several",
        ),
    ],
)
def test_what_cannot_be_estimated_is_refused(
    frame: dict[str, Any], schema: dict[str, Any], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(sd.SudareError, match=message):
        attack(pl.DataFrame(frame), sd.Schema.from_roles(**schema), kind="population", **options)
