"""Roles that are weighed: the sums are those of the weights' file, families stay together, and doubt stays on the safe side."""

from __future__ import annotations

import math
import tomllib

import polars as pl
import pytest

import sudare as sd
from sudare.drafting import scored
from sudare.drafting.guess import guess_roles
from sudare.drafting.scored import WEIGHTS, likely, weights
from sudare.drafting.seen import Seen
from sudare.drafting.traits import traits_of
from sudare.tables.attribute import Role


def seen_of(columns: dict[str, list]) -> list[Seen]:
    table = sd.read(pl.DataFrame(columns))
    return [Seen.of(table[name], len(table)) for name in table.columns]


CLINIC = {
    "age": [30, 40, 50, 60] * 20,
    "blood pressure": [120, 130, 140, 150] * 20,
    "diabetes": [0, 1] * 40,
    "cholesterol": [180, 200, 220, 240] * 20,
    "qzx": [1.5, 2.5, 30.25, 99.5] * 20,
}


def test_shares_are_those_of_the_sums_in_the_file() -> None:
    traits = traits_of(seen_of(CLINIC))
    written = tomllib.loads(WEIGHTS.read_text(encoding="utf-8"))
    powers = {}
    for role in ("quasi", "sensitive", "other"):
        total = 0.0
        for trait, much in traits["qzx"].items():
            total += written.get(role, {}).get(trait, 0) * much
        powers[role] = math.exp(total)
    found = likely(traits)["qzx"]
    for role, power in powers.items():
        assert found.shares[Role(role)] == pytest.approx(power / sum(powers.values()))
    assert found.role == "sensitive"


def test_every_weight_is_of_a_trait_that_is_said_in_words() -> None:
    assert weights()[Role.sensitive]["its name means something sensitive"] > 1
    for own in weights().values():
        assert all(" " in trait for trait in own)


def test_columns_of_one_stem_have_one_role() -> None:
    columns = {f"zq{i}": [1, 2, 3, 4 + i] * 20 for i in range(6)}
    traits = traits_of(seen_of(CLINIC | columns))
    traits["zq3"]["its name means something quasi"] = 1.0  # one of them alone would be
    found = likely(traits)
    assert len({found[name].role for name in columns}) == 1


def test_what_is_somebodys_is_never_passed_on_in_doubt(monkeypatch: pytest.MonkeyPatch) -> None:
    own = {Role.quasi: {}, Role.sensitive: {"a trait": 0.5}, Role.other: {"a trait": 0.7}}
    monkeypatch.setattr(scored, "weights", lambda: own)
    found = likely({"x": {"a trait": 1.0}})["x"]
    assert found.shares[Role.other] == max(found.shares.values())
    assert found.role == "sensitive"
    assert found.doubt == "other"


@pytest.mark.parametrize(("weight", "role"), [(0.4, "quasi"), (0.5, "sensitive")])
def test_in_doubt_outsiders_know_it(weight: float, role: str, monkeypatch: pytest.MonkeyPatch) -> None:
    own = {Role.quasi: {}, Role.sensitive: {"a trait": weight}, Role.other: {"a trait": -9.0}}
    monkeypatch.setattr(scored, "weights", lambda: own)
    found = likely({"x": {"a trait": 1.0}})["x"]
    assert found.shares[Role.sensitive] > found.shares[Role.quasi]
    assert found.role == role
    assert found.doubt == ("sensitive" if role == "quasi" else "quasi")
    assert found.reason == ("little tells whether outsiders know it" if role == "quasi" else "a trait")


def test_likert_batteries_stand_out() -> None:
    battery = {f"c{80 + i}cop{i}": [1, 2, 3, 4] * 20 for i in range(5)}
    traits = traits_of(seen_of({"age": [30, 40, 50, 60] * 20} | battery))
    assert "it stands among columns with the same values" in traits["c81cop1"]
    assert "it stands among columns with the same values" not in traits["age"]


def test_answers_are_read() -> None:
    columns = {"talk_to_boss_about_it": ["Very likely", "Somewhat likely", "Never", "Don't know"] * 20}
    own = traits_of(seen_of(columns))["talk_to_boss_about_it"]
    assert "its values are answers to a question" in own
    assert "it is a question with answers" in own


def test_labels_of_statistics_files_are_read_where_names_say_nothing() -> None:
    table = sd.read(pl.DataFrame({"v017": [20, 30, 40, 50] * 20, "sex": [1, 2] * 40}))
    columns = [table[name] for name in table.columns]
    guess = guess_roles(columns, len(table), {"v017": "Age in years", "sex": "Income"})
    assert guess["v017"].reason.endswith("in its label: age or birth")
    assert guess["sex"].reason == "'sex' in its name: sex"


def test_no_context_hides_who_somebody_is() -> None:
    emails = [f"p{i}@example.org" for i in range(80)]
    names = ["Ann Bo", "Cy Dee", "Eve Fox", "Gil Ho"] * 20
    guesses = guess_roles(
        (one.column for one in seen_of(CLINIC | {"mail of patient": emails, "nurse_name": names})), 80
    )
    assert guesses["mail of patient"].role == guesses["nurse_name"].role == "identifier"


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("idhogar", [i // 3 for i in range(600)], "household"),
        ("mom", [1 + i // 2 for i in range(600)], "household"),
        ("mom", [i % 3 for i in range(600)], "quasi"),
        ("empno", [i // 4 for i in range(600)], "person"),
        ("ManagerID", [i % 30 for i in range(600)], "identifier"),
        ("weight", [0.5 + (i % 70) / 64 for i in range(600)], "weight"),
        ("weight", [50.5 + (i % 70) / 2 for i in range(600)], "quasi"),
        ("address", ["U", "R"] * 300, "quasi"),
        ("address", ["Elm Road 1", "Oak Road 2"] * 300, "identifier"),
        ("telephone", ["yes", "none"] * 300, "quasi"),
        ("plate", [f"AB-C-{i}" for i in range(600)], "identifier"),
        ("onset", ["08:30", "11:45", "23:10"] * 200, "quasi"),
    ],
)
def test_units_weights_and_numbers_are_told_by_values_too(name: str, values: list, role: str) -> None:
    people = {"age": list(range(20, 80)) * 10, "sex": ["f", "m"] * 300}
    guesses = guess_roles((one.column for one in seen_of(people | {name: values})), 600)
    assert guesses[name].role == role


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("BirthWeightGm", [2500 + 7 * (i % 130) for i in range(600)], "quasi"),
        ("weight_gm", [2500 + 7 * (i % 130) for i in range(600)], "weight"),
        ("PID", [i % 7 for i in range(600)], "sensitive"),
        ("pid", [i // 3 for i in range(600)], "person"),
        ("cell", [i % 4 for i in range(600)], "sensitive"),
        ("cell", [f"+44 7700 {900000 + i}" for i in range(600)], "identifier"),
        ("onset_date", [30 + i % 90 for i in range(600)], "quasi"),
        ("onset.date", ["4/18", "4/19", "12/31"] * 200, "quasi"),
        ("home_zone_id", [i % 90 for i in range(600)], "quasi"),
        ("home_id", [i // 4 for i in range(600)], "household"),
        ("black", [0.0, 1.0, 0.18] * 200, "quasi"),
    ],
)
def test_what_names_share_is_told_apart_by_values(name: str, values: list, role: str) -> None:
    clinic = {
        "age": list(range(20, 80)) * 10,
        "blood pressure": [120, 130, 140] * 200,
        "diabetes": [0, 1] * 300,
    }
    guesses = guess_roles((one.column for one in seen_of(clinic | {name: values})), 600)
    assert guesses[name].role == role


def test_days_as_years_with_decimals_are_years() -> None:
    days = [1990 + i / 365 for i in range(80)]
    assert "its values are years" in traits_of(seen_of({"age": [30, 40] * 40, "zq": days}))["zq"]


def test_what_is_not_known_looks_like_words_that_are() -> None:
    own = traits_of(seen_of({"age": [30, 40] * 40, "cholestr": [150, 190] * 40, "zq": [1, 2] * 40}))
    assert own["cholestr"]["its name looks like words for something sensitive"] == 1
    assert not any("looks like" in trait for trait in own["zq"])
