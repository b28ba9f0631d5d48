from __future__ import annotations

import polars as pl
import pytest

import sudare as sd
from sudare.attacks.attack import attack

QUASI = ["age", "sex", "region"]
SCHEMA = sd.Schema.from_roles(
    quasi=QUASI,
    sensitive=["diagnosis"],
    hierarchies={"age": sd.Hierarchy.intervals(range(18, 96), width=5, fanout=2)},
)


@pytest.mark.parametrize("method", ["minimal", "mondrian"])
def test_people_of_two_hospitals_are_pinned_down(method: str) -> None:
    """The paper's setting: two overlapping populations, each published on its own, without regard to the other."""
    people = sd.datasets.health_survey(6000).select(*QUASI, "diagnosis").with_row_index()
    one, two = people.filter(pl.col("index") < 3500), people.filter(pl.col("index") >= 2500)
    asked = [sd.KAnonymity(4), sd.LDiversity(2)]
    releases = {
        name: sd.generalize(sd.read(own.drop("index"), SCHEMA), asked, method).frame()
        for name, own in (("one", one), ("two", two))
    }
    both = people.filter((pl.col("index") >= 2500) & (pl.col("index") < 3500))
    learned = attack(releases, SCHEMA, kind="composition", known=both.select(QUASI))
    composed = learned.by_attribute["diagnosis"]
    assert learned.known == 1000
    assert [left.share for left in composed.alone.values()] == [0.0, 0.0]  # each keeps its promise
    assert composed.together.mean < min(left.mean for left in composed.alone.values())
    assert list(learned.summary()["by_attribute"]["diagnosis"]["alone"]) == ["one", "two"]
    assert composed.together.candidates.get(0, 0) == 0  # everybody is in both
    assert learned.share == composed.together.share > 0.02
    assert f"({learned.share:.1%}) are left with one value by all releases together" in str(learned)
    assert str(learned).endswith("; 0.0% by 'one' alone, 0.0% by 'two' alone.")


def test_one_release_is_no_composition() -> None:
    frame = pl.DataFrame({"age": [20], "diagnosis": ["flu"]})
    with pytest.raises(sd.InputError, match="takes two releases or more"):
        attack({"one": frame}, SCHEMA, kind="composition", known=frame)
