"""Every choice that an assessment offers can be taken by `publish`: accepted beforehand, or by a person."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import sudare as sd
from sudare.suitability import choices
from sudare.tables.policy import HARMLESS
from sudare.verbs import publish as publishing
from sudare.verbs.generalize import MAY_BE_KNOWN
from sudare.verbs.publish import ANONYMITY_ALONE


def survey(**columns: list[object]) -> sd.Table:
    frame = pl.DataFrame(columns)
    quasi = [name for name in frame.columns if name != "illness"]
    return sd.read(frame, sd.Schema.from_roles(quasi=quasi, sensitive=["illness"]))


@pytest.fixture(scope="module")
def skewed() -> sd.Table:
    """In the north everybody is well; in the south there are four illnesses, in any house."""
    towns = ["north"] * 60 + ["south"] * 60
    illness = ["well"] * 60 + ["well", "flu", "cough", "gout"] * 15
    houses = [f"{i % 60:03d}" for i in range(120)]
    schema = sd.Schema.from_roles(
        quasi=["town", "house"],
        sensitive=["illness"],
        hierarchies={"house": sd.Hierarchy.mask(sorted(set(houses)))},
        weights={"town": 2},
    )
    return sd.read(pl.DataFrame({"town": towns, "house": houses, "illness": illness}), schema)


@pytest.mark.parametrize(
    ("l", "diversity", "c"),
    [
        (3, "entropy", None),
        (2, "recursive", 1.0),
        *(pytest.param(2, diversity, None, marks=pytest.mark.slow) for diversity in ("distinct", "entropy")),
    ],
)
def test_every_choice_publishes_what_it_says(
    skewed: sd.Table, l: float, diversity: str, c: float | None
) -> None:
    offered = sd.assess(skewed, l, diversity=diversity, c=c).choices[l]  # type: ignore[arg-type]
    taken = [choice for choice in offered if choice.action != "stop"]
    assert {choice.action for choice in taken} >= {"harmless value", "k-anonymity"}
    for choice in taken:
        release = sd.publish(skewed, sd.Policy(l=l, diversity=diversity, c=c, accept=choice.accepted_as))
        assert release.certificate.requirements == [str(choice.requirement)]
        assert release.holder["decision"] == choice.text
        by_person = sd.publish(
            skewed, sd.Policy(l=l, diversity=diversity, c=c), decide=lambda _, all_, own=choice: own
        )
        assert by_person.frame().equals(release.frame())


def test_a_harmless_value_is_accepted_by_name(skewed: sd.Table) -> None:
    policy = sd.Policy(l=3, diversity="entropy", accept=(f"{HARMLESS}: well",))
    release = sd.publish(skewed, policy)
    (promise,) = release.certificate.promises
    assert promise["harmless"] == ["well"]
    assert release.certificate.requirements == ["entropy 3-diversity ('well' harmless)"]
    assert release.certificate.caveats[-1] == MAY_BE_KNOWN
    output = release.frame()
    assert sd.verify(output, sd.LDiversity(3, "entropy", harmless=["well"]), skewed.schema).holds
    assert not sd.verify(output, sd.LDiversity(3, "entropy"), skewed.schema).holds
    bound = next(
        choice.bound
        for choice in sd.assess(skewed, 3, diversity="entropy").choices[3]
        if choice.action == HARMLESS
    )
    assert bound is not None
    assert bound <= release.holder["bound"] + 1e-9 <= release.holder["utility"]["distortion"] + 2e-9
    with pytest.raises(sd.RequirementError, match=f"Accept '{HARMLESS}: well' for that"):
        sd.publish(skewed, sd.Policy(l=3, diversity="entropy", accept=(f"{HARMLESS}: gout",)))


def test_several_harmless_values_are_accepted_together() -> None:
    ills = ["well"] * 80 + ["fine"] * 80 + [f"ill {i % 8}" for i in range(40)]
    table = survey(age=[20 + i % 40 for i in range(200)], illness=ills)
    both = f"'{HARMLESS}: fine' with '{HARMLESS}: well'"
    with pytest.raises(sd.RequirementError, match=f"Accept {both} for that"):
        sd.publish(table, sd.Policy(l=6, diversity="entropy", accept=(f"{HARMLESS}: well",)))
    accept = (f"{HARMLESS}: well", f"{HARMLESS}: fine")
    release = sd.publish(table, sd.Policy(l=6, diversity="entropy", accept=accept))
    assert release.certificate.requirements == ["entropy 6-diversity ('fine', 'well' harmless)"]


def test_what_is_harmless_from_the_start(skewed: sd.Table) -> None:
    release = sd.publish(skewed, sd.Policy(l=3, harmless=("well",), accept=("go ahead",)))
    assert release.certificate.requirements == ["distinct 3-diversity ('well' harmless)"]
    with pytest.raises(sd.ParameterError, match="no record has 'fine' as its 'illness'"):
        sd.publish(skewed, sd.Policy(l=3, harmless=("fine",)))


def test_k_anonymity_is_accepted_with_its_risk(skewed: sd.Table) -> None:
    release = sd.publish(skewed, sd.Policy(l=4, diversity="entropy", accept=("k-anonymity",), k=7))
    certificate = release.certificate
    assert certificate.measured["k"] >= 7
    assert certificate.caveats[-1] == ANONYMITY_ALONE
    assert release.holder["attacks"]["output"]["homogeneity"]["illness"]["share"] > 0
    assert "if you accept the risk" in release.holder["decision"]
    assert not sd.verify(release.frame(), sd.LDiversity(2), skewed.schema).holds


def test_recursive_diversity_and_proximity_as_policies() -> None:
    ages = [20 + i % 40 for i in range(200)]
    incomes: list[object] = [1_000 + 7 * i for i in range(200)]
    table = survey(age=ages, illness=incomes)
    near = sd.Policy(l=2, diversity="proximity", within=0.05, relative=True, accept=("go ahead",))
    release = sd.publish(table, near)
    assert release.certificate.requirements == ["proximity 2-diversity within 5%"]
    assert release.certificate.measured["l_proximity"] >= 2
    assert [text for text in release.holder["warnings"] if "join the two" not in text] == []
    few = survey(age=ages, illness=[f"s{i % 5}" for i in range(200)])
    again = sd.publish(few, sd.Policy(l=2, diversity="recursive", c=1, accept=("go ahead",)))
    assert again.certificate.measured["l_recursive"] >= 2
    assert sd.assess(few, 2, diversity="recursive", c=1).best_l[2].value == pytest.approx(
        again.holder["bound"]
    )


def test_values_that_are_nearly_all_different_are_warned_of() -> None:
    ages = [20 + i % 40 for i in range(200)]
    table = survey(age=ages, illness=[1_000 + 7 * i for i in range(200)])
    release = sd.generalize(table, sd.LDiversity(2))
    text, joining = release.holder["warnings"]
    assert "'illness' is published as it is, and 200 of 200 records are alone" in joining
    assert "'illness' has 200 different values in 200 records" in text
    assert sd.assess(table, 2).warnings == [text]
    assert sd.assess(table, 2).to_json()["warnings"] == [text]
    assert [
        text
        for text in sd.generalize(table, sd.KAnonymity(2)).holder["warnings"]
        if "join the two" not in text
    ] == []
    assert sd.assess(table, 2, diversity="proximity", within=5).warnings == []
    words = survey(age=ages, illness=[f"case {i}" for i in range(200)])
    assert "Group them" in sd.assess(words, 2).warnings[0]


def test_policies_are_written_and_read_again(skewed: sd.Table, tmp_path: Path) -> None:
    for policy in (
        sd.Policy(l=3, harmless=("well", 7), accept=("harmless value: well", "k-anonymity")),
        sd.Policy(l=2, diversity="recursive", c=0.5),
        sd.Policy(l=2.5, diversity="proximity", within=0.05, relative=True),
    ):
        schema = skewed.schema.model_copy(update={"publish": policy})
        (tmp_path / "sudare.toml").write_text(schema.to_toml())
        assert sd.Schema.from_toml(tmp_path / "sudare.toml").publish == policy


# -- Another try -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def few() -> sd.Table:
    """So few people that entropy diversity costs far more than any bound says."""
    schema = sd.Schema.from_roles(
        quasi=["age", "sex", "region"],
        sensitive=["diagnosis"],
        hierarchies={"age": sd.Hierarchy.intervals(range(18, 96), width=10)},
    )
    return sd.read(sd.datasets.health_survey(150).select("age", "sex", "region", "diagnosis"), schema)


@pytest.mark.usefixtures("reports")
def test_another_try_is_offered_and_can_be_taken(few: sd.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    policy = sd.Policy(l=3, k=3, diversity="entropy", accept=("go ahead",))
    first = sd.publish(few, policy)
    assert first.holder["gap"] > choices.FAR
    assert first.holder["retry"]["text"].startswith("Try again with more effort")
    assert "Accept 'retry'" in first.holder["retry"]["text"]
    assert first.holder["retry"]["tried"] is None
    again = sd.publish(few, policy.model_copy(update={"accept": ("go ahead", "retry")}))
    before, after = (release.holder["utility"]["distortion"] for release in (first, again))
    assert after < before
    assert again.holder["retry"]["tried"] == {"effort": "thorough", "before": before, "after": after}
    assert f"it found {after:.4f}, {1 - after / before:.1%} less" in again.holder["retry"]["text"]
    assert again.holder["retry"]["text"] in again.report.replace("&#39;", "'")
    assert sd.verify(again.frame(), [sd.KAnonymity(3), sd.LDiversity(3, "entropy")], few.schema).holds
    monkeypatch.setattr(choices, "FAR", 2 * first.holder["gap"])
    assert sd.publish(few, policy).holder["retry"] is None


def test_a_try_that_finds_nothing_better_changes_nothing(
    few: sd.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = sd.Policy(l=3, k=3, diversity="entropy", accept=("go ahead", "retry"))
    first = sd.publish(few, policy.model_copy(update={"accept": ("go ahead",)}))
    monkeypatch.setattr(publishing, "MORE_EFFORT", "quick")
    again = sd.publish(few, policy)
    assert again.frame().equals(first.frame())
    assert again.holder["retry"]["tried"]["after"] >= again.holder["retry"]["tried"]["before"]
    assert "nothing better" in again.holder["retry"]["text"]


def test_the_offer_of_another_try_says_what_is_known(few: sd.Table) -> None:
    taken = sd.assess(few, 2).choices[2][0]
    assert choices.advise_retry(taken, 0.3, None) is None
    assert choices.advise_retry(taken, 0.1, 0.1) is None
    offered = choices.advise_retry(taken, 0.3, 0.1)
    assert offered is not None
    assert offered.accepted_as == ("retry",)
    assert "costs 0.3000, 3.00 times what any must (0.1000)" in offered.text
    free = choices.advise_retry(taken, 0.3, 0.0)
    assert free is not None
    assert "costs 0.3000, and none is known to have to" in free.text


def test_another_try_is_no_answer_to_what_fits_badly(skewed: sd.Table) -> None:
    with pytest.raises(sd.RequirementError, match="nothing was published"):
        sd.publish(skewed, sd.Policy(l=2, accept=("retry",)))


def test_sensitive_attributes_that_nothing_was_asked_for_are_named() -> None:
    people = pl.DataFrame({"age": [30, 30, 40, 40], "ill": list("abab"), "debt": [1, 1, 2, 2]})
    schema = sd.Schema.from_roles(quasi=["age"], sensitive=["ill", "debt"])
    asked = [sd.KAnonymity(2), sd.LDiversity(2, attribute="ill")]
    release = sd.generalize(sd.read(people, schema), asked)
    assert [text for text in release.holder["warnings"] if "alone. Of 'debt' a whole block may" in text]
    alone = sd.Schema.from_roles(quasi=["age"], sensitive=["ill"], identifier=["debt"])
    release = sd.generalize(sd.read(people, alone), asked)
    assert not [text for text in release.holder["warnings"] if "a whole block may" in text]
