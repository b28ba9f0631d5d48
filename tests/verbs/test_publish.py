"""`publish`: what is assessed, decided and certified."""

from __future__ import annotations

import polars as pl
import pytest

import sudare as sd
from sudare.suitability.choices import Advice


@pytest.fixture(scope="module")
def survey() -> sd.Table:
    people = sd.datasets.health_survey(400).select("name", "age", "sex", "region", "diagnosis")
    schema = sd.Schema.from_roles(
        identifier=["name"],
        quasi=["age", "sex", "region"],
        sensitive=["diagnosis"],
        hierarchies={"age": sd.Hierarchy.intervals(range(18, 96), width=10)},
    )
    return sd.read(people, schema)


@pytest.fixture(scope="module")
def skewed() -> sd.Table:
    """Two towns: in the north everybody has a cold, and companions with another illness live far away."""
    towns = ["north"] * 60 + ["south"] * 60
    illness = ["cold"] * 60 + ["cold", "flu", "cough", "gout"] * 15
    frame = pl.DataFrame({"town": towns, "house": [f"{i % 60:03d}" for i in range(120)], "illness": illness})
    return _by_town_and_house(frame)


@pytest.fixture(scope="module")
def lonely() -> sd.Table:
    """Everybody has neighbours with other illnesses, but for two in a place of their own."""
    houses = [f"{i // 5:03d}" for i in range(195)] + ["100", "101", "102"] + ["999"] * 2
    illness = ["cold", "flu", "cough", "gout", "cold"] * 39 + ["cold", "flu", "gout"] + ["cold"] * 2
    towns = ["north"] * 198 + ["far"] * 2
    return _by_town_and_house(pl.DataFrame({"town": towns, "house": houses, "illness": illness}))


def _by_town_and_house(frame: pl.DataFrame) -> sd.Table:
    schema = sd.Schema.from_roles(
        quasi=["town", "house"],
        sensitive=["illness"],
        hierarchies={"house": sd.Hierarchy.mask(frame["house"].unique().sort())},
        weights={"town": 2},
    )
    return sd.read(frame, schema)


@pytest.mark.usefixtures("reports")
def test_what_suits_is_published_with_bound_and_gap(survey: sd.Table) -> None:
    release = sd.publish(survey, sd.Policy(l=2, k=5, diversity="entropy"))
    holder = release.holder
    assert sd.verify(release.frame(), [sd.KAnonymity(5), sd.LDiversity(2, "entropy")], survey.schema).holds
    assessment = sd.assess(survey, l=2, diversity="entropy")
    assert holder["decision"] == assessment.advice[0]
    assert assessment.bound_l[2] <= holder["bound"] <= release.certificate.utility["distortion"]
    assert release.certificate.utility["distortion"] == pytest.approx(holder["utility"]["distortion"])
    assert holder["gap"] == pytest.approx(holder["utility"]["distortion"] / holder["bound"])
    assert "no less" not in release.report
    assert f"{holder['bound']:.4f}; this release has {holder['gap']:.2f} times that" in release.report


def test_the_schema_says_what_to_publish_under(survey: sd.Table, tmp_path) -> None:
    text = survey.schema.to_toml().replace(
        'missing = "own value"', 'missing = "own value"\n\n[publish]\nl = 3\nk = 4\ndiversity = "distinct"'
    )
    (tmp_path / "sudare.toml").write_text(text)
    schema = sd.Schema.from_toml(tmp_path / "sudare.toml")
    assert schema.publish == sd.Policy(l=3, k=4, diversity="distinct")
    (tmp_path / "again.toml").write_text(schema.to_toml())
    assert sd.Schema.from_toml(tmp_path / "again.toml").publish == schema.publish
    release = sd.publish(sd.read(survey.frame(), schema))
    assert release.certificate.requirements == ["4-anonymity", "distinct 3-diversity"]


def test_without_a_policy_nothing_is_published(survey: sd.Table) -> None:
    with pytest.raises(sd.InputError, match=r"no \[publish\] section"):
        sd.publish(survey)


def test_a_policy_with_a_slip_is_refused_where_it_stands(survey: sd.Table, tmp_path) -> None:
    for line, message in [
        ("l = 0", "publish.l must be greater than or equal to 1"),
        ("k = 5", "publish.l is missing"),
        (
            "l = 2.5",
            r'publish must have a whole number as l of distinct diversity, not 2\.5; or diversity = "entropy"',
        ),
        ('l = 2\naccept = ["lower"]', "publish.accept.0 must be one of 'go ahead', 'lower l'"),
        ('l = 2\naccept = ["harmless value"]', "publish.accept.0 must name the value that is harmless"),
        ('l = 2\ndiversity = "recursive"', 'publish must have c if, and only if, diversity = "recursive"'),
        ("l = 2\nwithin = 3", 'publish must have within if, and only if, diversity = "proximity"'),
        ("l = 2\nrelative = true", 'publish must have relative only if diversity = "proximity"'),
        ("l = 2\nacept = []", r"'publish.acept' is not a known key \(did you mean 'accept'\?\)"),
    ]:
        (tmp_path / "sudare.toml").write_text(f"{survey.schema.to_toml()}\n[publish]\n{line}\n")
        with pytest.raises(sd.InputError, match=message):
            sd.Schema.from_toml(tmp_path / "sudare.toml")


@pytest.mark.usefixtures("reports")
def test_what_fits_badly_is_not_published_unless_accepted(skewed: sd.Table) -> None:
    assessment = sd.assess(skewed, l=2)
    assert assessment.ratio[2] is not None
    assert assessment.ratio[2] > 2
    with pytest.raises(sd.RequirementError, match="nothing was published") as error:
        sd.publish(skewed, sd.Policy(l=2))
    for choice in assessment.choices[2]:
        assert choice.text in str(error.value)
    release = sd.publish(skewed, sd.Policy(l=2, accept=("go ahead",)))
    assert sd.verify(release.frame(), sd.LDiversity(2), skewed.schema).holds
    assert release.holder["decision"] == assessment.choices[2][0].text
    assert assessment.choices[2][0].text in release.report


def test_the_first_compromise_that_is_offered_is_taken(survey: sd.Table) -> None:
    release = sd.publish(
        survey, sd.Policy(l=30, diversity="entropy", accept=("suppress", "lower l", "distinct"))
    )
    offered = sd.assess(survey, l=30, diversity="entropy").choices[30]
    (lower,) = [choice for choice in offered if choice.action == "lower l"]
    assert release.certificate.requirements == [f"entropy {lower.requirement.l:g}-diversity"]
    assert release.certificate.measured["l_entropy"] >= lower.requirement.l


def test_an_attribute_is_left_out(skewed: sd.Table) -> None:
    offered = {choice.action: choice for choice in sd.assess(skewed, l=2).choices[2]}
    dropped = offered["drop attribute"].attribute
    release = sd.publish(skewed, sd.Policy(l=2, accept=("drop attribute",)))
    assert dropped not in release.frame().columns
    assert release.holder["bound"] == pytest.approx(offered["drop attribute"].bound)


def test_outliers_are_left_out(lonely: sd.Table) -> None:
    offered = {choice.action: choice for choice in sd.assess(lonely, l=2).choices[2]}
    assert offered["suppress"].bound < 0.3 * offered["go ahead"].bound
    release = sd.publish(lonely, sd.Policy(l=2, accept=("suppress",)))
    assert release.holder["records"]["suppressed"] == 2
    assert "far" not in release.frame()["town"].to_list()


def test_a_missing_value_is_accepted_as_harmless_by_the_name_that_advice_gives_it(skewed: sd.Table) -> None:
    frame = skewed.frame().with_columns(pl.col("illness").replace("cold", None))
    table = sd.read(frame, skewed.schema)
    with pytest.raises(sd.RequirementError, match=r"'harmless value: \(missing\)'"):
        sd.publish(table, sd.Policy(l=2))
    release = sd.publish(table, sd.Policy(l=2, accept=("harmless value: (missing)",)))
    assert release.certificate.requirements == ["distinct 2-diversity (missing values harmless)"]
    assert sd.verify(release.frame(), sd.LDiversity(2, harmless=[None]), table.schema).holds


def test_a_person_decides(skewed: sd.Table) -> None:
    seen: list[list[str]] = []

    def decide(assessment: sd.Assessment, offered: list[Advice]) -> Advice:
        seen.append([choice.action for choice in offered])
        return offered[0]

    release = sd.publish(skewed, sd.Policy(l=2), decide=decide)
    assert seen[0][0] == "go ahead"
    assert seen[0][-1] == "stop"
    assert release.certificate.measured["l_distinct"] >= 2
    with pytest.raises(sd.RequirementError, match="nothing was published"):
        sd.publish(skewed, sd.Policy(l=2), decide=lambda assessment, offered: offered[-1])


def test_what_suits_asks_nobody(survey: sd.Table) -> None:
    def never(assessment: sd.Assessment, offered: list[Advice]) -> Advice:
        raise AssertionError

    assert sd.publish(survey, sd.Policy(l=2), decide=never).holder["gap"] is not None
