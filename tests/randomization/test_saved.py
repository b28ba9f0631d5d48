"""Plans as folders: what is opened draws as what was learned, and what was changed in between is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sudare as sd
from sudare.noise.keystream import Keystream
from sudare.randomization.learn import learn_plan
from sudare.randomization.plan import RandomizationPlan
from sudare.randomization.saved import HEAD, PROBABILITIES, SCHEMA
from tests.randomization.drawing import drawn_rows

TOWNS = ["Ayr", "Bath", "Cork", "Deal"]
GROUPS = {"Ayr": "north", "Bath": "south", "Cork": "west", "Deal": "south"}
K5 = sd.PkAnonymity(5)


def schema(**details: Any) -> sd.Schema:
    given: dict[str, Any] = {
        "identifier": ["name"],
        "quasi": ["age", "town", "born"],
        "sensitive": ["ill"],
        "bounds": {"age": (0, 120), "born": (1900.5, 2020.5)},
        "domains": {"ill": [True, False], "town": TOWNS},
        "types": {"age": "integer", "born": "number"},
        "weights": {"age": 2.0},
        "missing": "own value",
    }
    return sd.Schema.from_roles(**given | details)


def people(n: int = 300, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "name": [f"person {i}" for i in range(n)],
            "age": rng.integers(0, 100, n),
            "town": rng.choice(TOWNS, n, p=[0.6, 0.2, 0.1, 0.1]),
            "born": rng.uniform(1901, 2020, n),
            "ill": rng.random(n) < 0.3,
        }
    )


def table_of(declared: sd.Schema | None = None, n: int = 300, seed: int = 0) -> sd.Table:
    return sd.read(people(n, seed), declared or schema())


def plan_of(declared: sd.Schema | None = None, asked: Any = K5, **options: Any) -> RandomizationPlan:
    return learn_plan(table_of(declared), asked, Keystream.unsafe(0), **options)


NEAR = 0.97 / 5 + 0.03 * np.random.default_rng(1).dirichlet(np.ones(5), 5).T
OPTIONS: dict[str, dict[str, Any]] = {
    "usual": {},
    "reflect": {"after": "reflect"},
    "bits and bins": {"how": {"age": "bits", "born": "bins"}},
    "retain": {"how": {"age": "retain"}},
    "matrix": {"matrices": {"town": NEAR}},
    "private-estimate": {"how": {"town": "optimal"}},
    "true-histogram": {"how": {"town": "optimal"}, "histogram": "true-histogram"},
    "prior": {"priors": {"town": [5, 4, 3, 2, 1]}},
    "joint": {"joint": {"who": ["town", "ill"], "when": ["age", "born"]}, "how": {"who": "optimal"}},
    "tie": {"split": "tie"},
}


def assert_same(one: RandomizationPlan, other: RandomizationPlan, table: sd.Table) -> None:
    assert one.to_json() == other.to_json()
    assert (one.requirement, one.attributes, one.bins) == (other.requirement, other.attributes, other.bins)
    assert one.schema.to_toml() == other.schema.to_toml()
    drawn = [drawn_rows(plan, table, Keystream.unsafe(7)) for plan in (one, other)]
    assert drawn[0].equals(drawn[1])
    assert drawn[0].schema == drawn[1].schema


@pytest.mark.parametrize("asked", [K5, sd.DifferentialPrivacy(21.0, per="record")], ids=str)
@pytest.mark.parametrize("name", OPTIONS)
def test_an_opened_plan_draws_the_same(name: str, asked: Any, tmp_path: Path) -> None:
    plan = plan_of(asked=asked, **OPTIONS[name])
    opened = RandomizationPlan.open(plan.save(tmp_path / "plan"))
    assert_same(plan, opened, table_of())
    assert_same(opened, RandomizationPlan.open(opened.save(tmp_path / "again")), table_of(seed=1))


def test_hierarchies_travel_with_a_plan(tmp_path: Path) -> None:
    file = tmp_path / "towns.csv"
    file.write_text("".join(f"{town};{group};*\n" for town, group in GROUPS.items()))
    ready, recipe, named = sd.Hierarchy.groups(GROUPS), {"kind": "groups", "groups": GROUPS}, str(file)
    plans = []
    for number, hierarchy in enumerate((ready, recipe, named)):
        declared = schema(hierarchies={"town": hierarchy, "age": {"kind": "intervals", "width": 20}})
        plan = plan_of(declared, how={"town": "bins", "age": "bins"})
        plans.append(plan.save(tmp_path / str(number)))
    file.unlink()
    for folder in plans:
        opened = RandomizationPlan.open(folder)
        assert opened["town"].domain.labels() == ["north", "south", "west", "(missing)"]
        assert opened.bins == ["age", "town"]


def test_hierarchies_that_no_law_rests_on_stay_out(tmp_path: Path) -> None:
    folder = plan_of(schema(hierarchies={"town": sd.Hierarchy.groups(GROUPS)})).save(tmp_path / "plan")
    text = (folder / SCHEMA).read_text()
    assert "north" not in text
    assert "name" not in text
    assert "weight" not in text


def test_very_many_probabilities_stand_in_a_file_of_their_own(tmp_path: Path) -> None:
    values = [f"v{i}" for i in range(400)]
    declared = sd.Schema.from_roles(
        quasi=["a"], sensitive=["b"], domains={"a": values, "b": values}, missing="refuse"
    )
    table = sd.read(pl.DataFrame({"a": values, "b": values}), declared)
    near = 0.999 / 400 + 0.001 * np.eye(400)
    asked = sd.DifferentialPrivacy(5.0, per="record")
    for number, options in enumerate(({"matrices": {"a": near}}, {"joint": {"both": ["a", "b"]}})):
        plan = learn_plan(table, asked, Keystream.unsafe(0), **options)
        folder = plan.save(tmp_path / str(number))
        assert (folder / HEAD).stat().st_size < 200_000
        assert pl.read_parquet(folder / PROBABILITIES).height == 160_000
        assert_same(plan, RandomizationPlan.open(folder), table)
        for wrong in (
            lambda frame: frame.head(10),
            lambda frame: frame.with_columns(probability=2 * pl.col("probability")),
            lambda frame: frame.with_columns(law=pl.lit("other")),
            lambda frame: frame.with_columns(law=pl.lit(None, dtype=pl.String)),
            lambda frame: frame.rename({"law": "laws"}),
            lambda frame: frame.with_columns(probability=pl.lit("x")),
        ):
            whole = pl.read_parquet(folder / PROBABILITIES)
            wrong(whole).write_parquet(folder / PROBABILITIES)
            with pytest.raises(sd.InputError):
                RandomizationPlan.open(folder)
            whole.write_parquet(folder / PROBABILITIES)


# -- What is not as it was written ----------------------------------------------------------------------


def changed(folder: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    head = json.loads((folder / HEAD).read_text())
    change(head)
    (folder / HEAD).write_text(json.dumps(head))
    return folder


@pytest.mark.parametrize(
    "change",
    [
        lambda head: head.update(kind="recoding"),
        lambda head: head.update(version=2),
        lambda head: head.update(more=1),
        lambda head: head.pop("requirement"),
        lambda head: head.update(requirement={"requirement": "KAnonymity", "k": 5}),
        lambda head: head.update(requirement={"requirement": "PkAnonymity", "k": "5"}),
        lambda head: head.update(requirement={"requirement": "PkAnonymity", "k": 6}),
        lambda head: head.update(bins=["age"]),
        lambda head: head.update(bins="age"),
        lambda head: head.update(true_histograms=["age"]),
        lambda head: head.update(from_another="yes"),
        lambda head: head.update(in_parquet={"town": "retention"}),
        lambda head: head["law"].update(records=10),
        lambda head: head["law"].update(records=3000),
        lambda head: head["law"].update(epsilon=0.1),
        lambda head: head["law"].update(caveats=["all is well"]),
        lambda head: head["law"].update(estimates={"age": 0.1}),
        lambda head: head["law"]["attributes"].pop("town"),
        lambda head: head["law"]["attributes"]["town"].update(retention=[0.99] * 5),
        lambda head: head["law"]["attributes"]["town"]["values"].reverse(),
        lambda head: head["law"]["attributes"]["age"].update(scale="1"),
        lambda head: head["law"]["attributes"]["age"].update(steps=119),
        lambda head: head["law"]["attributes"]["age"].update(low=1.0),
    ],
)
def test_a_head_that_was_changed_is_refused(change: Any, tmp_path: Path) -> None:
    folder = plan_of().save(tmp_path / "plan")
    RandomizationPlan.open(folder)
    with pytest.raises(sd.InputError):
        RandomizationPlan.open(changed(folder, change))


@pytest.mark.parametrize(
    "change",
    [
        ("120]", "121]"),
        ('"Ayr", "Bath"', '"Bath", "Ayr"'),
        ('missing = "own value"', 'missing = "refuse"'),
        ('role = "sensitive"', 'role = "other"'),
        ('[attributes.ill]\nrole = "sensitive"', '[attributes.more]\nrole = "quasi"\n[attributes.ill]\nrole = "sensitive"'),
        ('[attributes.town]\n', '[attributes.town]\nhierarchy = "/etc/passwd"\n'),
        ("[attributes.town]", "[attributes.town"),
    ],
)  # fmt: skip
def test_a_schema_that_was_changed_is_refused(change: tuple[str, str], tmp_path: Path) -> None:
    folder = plan_of().save(tmp_path / "plan")
    text = (folder / SCHEMA).read_text()
    assert change[0] in text
    (folder / SCHEMA).write_text(text.replace(*change))
    with pytest.raises(sd.InputError):
        RandomizationPlan.open(folder)


def test_flipped_bytes_never_weaken_what_is_promised(tmp_path: Path) -> None:
    folder, rng, refused = (
        plan_of(how={"town": "optimal"}).save(tmp_path / "plan"),
        np.random.default_rng(0),
        0,
    )
    for _ in range(300):
        file = folder / str(rng.choice([HEAD, SCHEMA]))
        content = file.read_bytes()
        flipped = bytearray(content)
        flipped[rng.integers(len(content))] ^= 1 << int(rng.integers(8))
        file.write_bytes(flipped)
        try:
            opened = RandomizationPlan.open(folder)
        except sd.InputError:
            refused += 1
        else:
            table = sd.read(
                people(),
                opened.schema.model_copy(
                    update={"attributes": {**opened.schema.attributes, "name": schema()["name"]}}
                ),
            )
            law = opened.for_table(table).to_json()
            frame = drawn_rows(opened, table, Keystream.unsafe(1))
            assert sd.verify(frame, opened.requirement, table.schema, plan=law).holds
        file.write_bytes(content)
    assert refused > 200


def test_what_is_no_folder_of_a_plan(tmp_path: Path) -> None:
    with pytest.raises(sd.InputError, match=r"there is no plan\.json"):
        RandomizationPlan.open(tmp_path / "nowhere")
    folder = plan_of().save(tmp_path / "plan")
    with pytest.raises(sd.InputError, match="exists already"):
        plan_of().save(folder)
    assert plan_of().save(folder, force=True) == folder
    (folder / SCHEMA).unlink()
    with pytest.raises(sd.InputError, match=r"schema\.toml"):
        RandomizationPlan.open(folder)
