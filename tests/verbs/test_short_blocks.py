"""A plan that is applied to fewer rows: blocks that these do not fill are left out where that is asked for, and nothing else is told of them."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sudare as sd
from sudare.ledger.several import LEFT_OUT

SCHEMA = sd.Schema.from_roles(
    quasi=["age", "sex"],
    sensitive=["ill"],
    other=["ward"],
    hierarchies={"age": sd.Hierarchy.intervals(range(80), width=10)},
)
ASKED: dict[str, list[Any]] = {
    "k": [sd.KAnonymity(3)],
    "l": [sd.KAnonymity(3), sd.LDiversity(2)],
    "t": [sd.KAnonymity(2), sd.TCloseness(0.6)],
}


def people(rows: int, seed: int) -> pl.DataFrame:
    numbers = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": numbers.integers(0, 80, rows),
            "sex": numbers.choice(["f", "m"], rows),
            "ill": numbers.choice(list("abc"), rows),
            "ward": numbers.integers(0, 5, rows),
        }
    )


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("method", ["minimal", "mondrian", "full-domain"])
@pytest.mark.parametrize("asked", ASKED)
def test_what_is_published_is_what_the_plan_makes_of_those_who_stay(
    method: str, asked: str, engine: Any
) -> None:
    everybody = people(120, 1)
    plan = sd.generalize(sd.read(everybody, SCHEMA), ASKED[asked], method).plan
    fewer = everybody.sample(50, seed=3)
    left = sd.apply(plan, sd.read(fewer, SCHEMA, engine=engine), unseen="suppress")
    rows = left.frame()
    sizes = Counter(rows.select("age", "sex").rows())
    assert min(sizes.values()) >= ASKED[asked][0].k
    if asked == "l":
        assert rows.group_by("age", "sex").agg(pl.n_unique("ill"))["ill"].min() >= 2  # type: ignore[operator]
    assert left.holder["records"] == {"read": 50, "published": rows.height, "suppressed": 50 - rows.height}
    assert left.certificate.records == {"published": rows.height}
    assert any("blocks that do not have what was asked for" in one for one in left.certificate.caveats)
    # Nobody was left out who could have stayed: without these rows, their block has no more.
    own = Counter(fewer.select("ill", "ward").rows())
    own.subtract(Counter(rows.select("ill", "ward").rows()))
    assert min(own.values(), default=0) >= 0


@pytest.mark.parametrize("method", ["minimal", "mondrian"])
def test_those_who_are_left_out_leave_no_trace(method: str) -> None:
    everybody = people(120, 1).with_columns(ward=pl.int_range(120))
    plan = sd.generalize(sd.read(everybody, SCHEMA), sd.KAnonymity(3), method).plan
    fewer = everybody.sample(50, seed=3)
    left = sd.apply(plan, sd.read(fewer, SCHEMA), unseen="suppress").frame()
    stay = fewer.filter(pl.col("ward").is_in(left["ward"].implode()))
    assert 0 < stay.height < 50
    assert sd.apply(plan, sd.read(stay, SCHEMA)).frame().equals(left)


def test_without_being_asked_for_a_short_block_is_refused() -> None:
    everybody = people(120, 1)
    plan = sd.generalize(sd.read(everybody, SCHEMA), sd.KAnonymity(3), "mondrian").plan
    with pytest.raises(sd.RequirementError, match="k = "):
        sd.apply(plan, sd.read(everybody.sample(50, seed=3), SCHEMA))
    with pytest.raises(sd.InputError, match="covers none of its records, or their blocks do not have"):
        sd.apply(plan, sd.read(everybody.head(2), SCHEMA), unseen="suppress")


def test_households_that_fall_short_or_are_tied_together_are_left_out() -> None:
    numbers = np.random.default_rng(5)
    homes = np.repeat(np.arange(60), 2)
    frame = pl.DataFrame(
        {
            "home": homes,
            "age": numbers.integers(0, 4, 120) * 10,
            "ill": numbers.choice(list("abc"), 120),
            "rent": numbers.random(120),
        }
    )
    schema = sd.Schema.from_roles(household="home", quasi=["age"], sensitive=["ill"], other=["rent"])
    plan = sd.generalize(sd.read(frame, schema), [sd.KAnonymity(3), sd.LDiversity(2)]).plan
    tied = frame.with_columns(rent=pl.when(pl.col("home") == 7).then(0.5).otherwise("rent"))
    lone = pl.DataFrame({"home": [98, 98], "age": [0, 10], "ill": ["a", "b"], "rent": [0.1, 0.2]})
    few = pl.concat([tied.filter((pl.col("age") < 30) | (pl.col("home") < 4)), lone])
    with pytest.raises(sd.RequirementError):
        sd.apply(plan, sd.read(few, schema))
    release = sd.apply(plan, sd.read(few, schema), unseen="suppress")
    assert 0.5 not in release.frame()["rent"]
    assert 30 not in release.frame()["age"].cast(pl.String).cast(pl.Int64, strict=False)
    assert release.holder["unit"]["measured"]["k"] >= 3


def test_a_household_counts_as_one_with_those_of_its_rows_that_are_left() -> None:
    homes = np.repeat(np.arange(8), 2)
    ages = [0, 20, 20, 10, 10, 20, 20, 10, 0, 10, 0, 10, 10, 0, 20, 20]
    frame = pl.DataFrame({"home": homes, "age": ages, "ill": list("babbbbabbaaaaaba")})
    schema = sd.Schema.from_roles(household="home", quasi=["age"], sensitive=["ill"])
    asked = sd.LDiversity(2, "recursive", c=2)
    plan = sd.generalize(sd.read(frame, schema), asked, "mondrian").plan
    few = pl.DataFrame(
        {
            "home": [1, 2, 2, 3, 4, 4, 5, 5, 7],
            "age": [10, 10, 20, 20, 0, 10, 0, 10, 20],
            "ill": list("bbbabaaab"),
        }
    )
    release = sd.apply(plan, sd.read(few, schema), unseen="suppress")
    assert 0 < release.frame().height < 9
    assert release.holder["unit"]["measured"]["l_recursive"] >= 2


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("method", ["minimal", "mondrian", "full-domain"])
@pytest.mark.parametrize("asked", ASKED)
def test_a_ledger_notes_who_was_left_out(method: str, asked: str, engine: Any, tmp_path: Path) -> None:
    """Who is left out is told by the sensitive values, too, and blocks that the ledger compares are those of what was published."""
    everybody = people(120, 1).with_columns(ward=pl.int_range(120))
    plan = sd.generalize(sd.read(everybody, SCHEMA), ASKED[asked], method).plan
    fewer = everybody.sample(50, seed=3)
    left = sd.apply(plan, sd.read(fewer, SCHEMA, engine=engine), unseen="suppress")
    gone = fewer.filter(~pl.col("ward").is_in(left.frame()["ward"].implode()))
    noted = left.kept.blocks["data"]
    quasi = noted.tuples[:, [list(noted.keys).index(name) for name in ("age", "sex")]]
    assert noted.several is None
    assert (
        len(np.unique(quasi[noted.block_of == LEFT_OUT], axis=0)) == gone.select("age", "sex").n_unique() > 0
    )
    assert (
        len(np.unique(noted.block_of[noted.block_of != LEFT_OUT]))
        == left.frame().select("age", "sex").n_unique()
    )
    assert sd.verify(left.write(tmp_path / "out", ledger=sd.Ledger(tmp_path / "ledger.db"))).holds


def test_a_ledger_notes_persons_who_were_left_out(tmp_path: Path) -> None:
    everybody = people(120, 1).with_columns(pid=pl.int_range(120) // 2)
    schema = sd.Schema.from_roles(person="pid", quasi=["age", "sex"], sensitive=["ill"], other=["ward"])
    plan = sd.generalize(sd.read(everybody, schema), sd.KAnonymity(3), "mondrian").plan
    fewer = everybody.filter(pl.col("pid") < 40)
    left = sd.apply(plan, sd.read(fewer, schema), unseen="suppress")
    assert sd.verify(left.write(tmp_path / "out", ledger=sd.Ledger(tmp_path / "ledger.db"))).holds
    assert "pid" not in left.kept.blocks["data"].keys
