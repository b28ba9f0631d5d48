"""`sudare randomize` as a person and as a machine sees it."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import sudare as sd
from sudare.randomization.domains import Categories
from sudare.randomization.files import read_matrix, read_prior
from tests.cli.conftest import Run

LABELS = ["Female", "Male", "Other"]
SCHEMA = {
    "quasi": ["age", "sex"],
    "sensitive": ["ill"],
    "domains": {"sex": LABELS, "ill": ["yes", "no"]},
    "missing": "refuse",
}


@pytest.fixture
def randomize(run: Run) -> Run:
    """Randomize a small table, with further options."""
    rows = {
        "age": [20 + i % 50 for i in range(400)],
        "sex": (["Female", "Male"] * 200),
        "ill": ["yes", "no", "no", "no"] * 100,
    }
    pl.DataFrame(rows).write_csv("people.csv")
    Path("sudare.toml").write_text(sd.Schema.from_roles(**SCHEMA, bounds={"age": (0, 120)}).to_toml())
    return lambda *options: run("randomize", "people.csv", "out", *options)


def certificate() -> dict[str, dict[str, float]]:
    return sd.Certificate.open("out/hand-over/certificate.json").model_dump(mode="json")


def test_it_is_written_with_what_holds_and_recorded(randomize: Run) -> None:
    done = randomize("--pk", 5, "--ledger", "ledger.db")
    assert done.code == 0, done.err
    assert "Pk-anonymity with k = 5: holds, pk = 5" in done.out
    assert "Hand over out/hand-over." in done.out
    assert "Keep out/keep: it tells about the original." in done.out
    assert certificate()["measured"]["pk"] >= 5
    assert pl.read_parquet("out/hand-over/data.parquet").height == 400
    assert len(sd.Ledger("ledger.db").entries()) == 1
    assert randomize("--pk", 5).code == 2
    assert randomize("--pk", 5, "--force").code == 0


def test_json_is_the_certificate(randomize: Run) -> None:
    printed = json.loads(randomize("--epsilon", 2, "--json").out)
    assert printed["folder"] == "out"
    assert printed["certificate"]["measured"]["epsilon"] == pytest.approx(2)
    assert printed["certificate"] | {"output": {}} == certificate() | {"output": {}}


def test_options_reach_the_plan(randomize: Run) -> None:
    done = randomize("--pk", 5, "--how", "age=bins", "--how", "ill=optimal", "--split", "least-error")
    assert done.code == 0, done.err
    plan = json.loads(Path("out/hand-over/law.json").read_text())
    assert plan["split"] == "least-error"
    assert {name: law["how"] for name, law in plan["attributes"].items()} == {
        "age": "bins",
        "sex": "retain",
        "ill": "optimal",
    }
    done = randomize(
        "--pk", 5, "--how", "ill=optimal", "--histogram", "true-histogram", "--after", "reflect", "--force"
    )
    assert "Not covered: The matrix of 'ill' was made from the true histogram" in done.out
    assert json.loads(Path("out/hand-over/law.json").read_text())["attributes"]["age"]["after"] == "reflect"


def test_a_loss_and_a_share_reach_the_plan(randomize: Run) -> None:
    spent = []
    for share in (0.1, 0.2):
        options = ("--how", "sex=optimal", "--loss", "worst case", "--estimate-share", share, "--force")
        done = randomize("--pk", 5, *options)
        assert done.code == 0, done.err
        law = json.loads(Path("out/hand-over/law.json").read_text())
        assert len(law["attributes"]["sex"]["matrix"]) == 3
        spent.append(law["estimates"]["sex"])
    assert spent[1] == pytest.approx(2 * spent[0], rel=1e-4)
    assert randomize("--pk", 5, "--force", "--loss", "none").code == 2
    refused = randomize("--pk", 5, "--force", "--how", "sex=optimal", "--estimate-share", 2)
    assert (refused.code, "a share between 0 and 1" in refused.err) == (2, True)


def test_a_seed_gives_the_same_output_and_is_certified(randomize: Run) -> None:
    assert randomize("--pk", 5, "--unsafe-seed", 7).code == 0
    first = Path("out/hand-over/data.csv").read_text()
    assert "7" in certificate()["randomness"]
    assert randomize("--pk", 5, "--unsafe-seed", 7, "--force").code == 0
    assert Path("out/hand-over/data.csv").read_text() == first


MATRIX = "published,Male,Female,Other\nMale,0.6,0.3,0.2\nOther,0.2,0.2,0.5\nFemale,0.2,0.5,0.3\n"


def test_matrix_and_prior_are_read_by_label(randomize: Run) -> None:
    Path("sex.csv").write_text(MATRIX)
    Path("ill.csv").write_text("value,count\nno,900\nyes,100\n")
    done = randomize("--pk", 2, "--matrix", "sex=sex.csv", "--prior", "ill=ill.csv")
    assert done.code == 0, done.err
    laws = json.loads(Path("out/hand-over/law.json").read_text())["attributes"]
    assert laws["sex"]["values"] == LABELS
    assert laws["sex"]["matrix"] == [[0.5, 0.2, 0.3], [0.3, 0.6, 0.2], [0.2, 0.2, 0.5]]
    assert laws["ill"]["how"] == "optimal"
    schema = sd.Schema.from_toml("sudare.toml")
    sex, ill = (Categories.of(name, schema[name], missing=False) for name in ("sex", "ill"))
    assert read_prior("ill.csv", "ill", ill).tolist() == [100, 900]
    turned = read_matrix("sex.csv", "sex", sex).T
    lines = [",".join(["", *LABELS])] + [
        ",".join([label, *map(str, row)]) for label, row in zip(LABELS, turned, strict=True)
    ]
    Path("turned.csv").write_text("\n".join(lines))
    assert read_matrix("turned.csv", "sex", sex, "input").tolist() == laws["sex"]["matrix"]
    refused = randomize("--pk", 2, "--matrix", "sex=turned.csv", "--force")
    assert refused.code == 2
    assert "--matrix-rows input" in refused.err
    assert randomize("--pk", 2, "--matrix", "sex=turned.csv", "--matrix-rows", "input", "--force").code == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            MATRIX.replace("Other,0.2", "Others,0.2"),
            "sex.csv: the first column names 'Others', which is no value",
        ),
        (MATRIX.replace("Female,Other\n", "Female,Male\n"), "sex.csv: the first line names 'Male' twice"),
        (MATRIX.rsplit("Female", 1)[0], "sex.csv: the first column lacks 'Female' of 'sex'"),
        (MATRIX.replace("0.6", "1.6"), "sex.csv, line 2: '1.6' is not a probability from 0 to 1"),
        (MATRIX.replace("0.6", "much"), "sex.csv, line 2: 'much' is not a probability"),
        (MATRIX.replace("0.6", "0.5"), "sex.csv: the column of 'Male' sums to 0.9, not 1. Write all digits"),
        (MATRIX.replace("0.6,", ""), "sex.csv, line 2: 2 numbers for 3 columns"),
        ("\n" + MATRIX, "sex.csv, line 1: this line is empty"),
        ("", "sex.csv: this file is empty"),
    ],
)
def test_a_wrong_matrix_is_refused_with_file_and_label(randomize: Run, text: str, message: str) -> None:
    Path("sex.csv").write_text(text)
    done = randomize("--pk", 2, "--matrix", "sex=sex.csv")
    assert done.code == 2
    assert message in done.err
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("yes,10\n", "ill.csv: the first column lacks 'no' of 'ill'"),
        ("yes,10\nno,-1\n", "ill.csv, line 2: '-1' is not a count of 0 or more"),
        ("yes,10\nno,1,2\n", "ill.csv, line 2: 3 fields"),
    ],
)
def test_a_wrong_prior_is_refused(randomize: Run, text: str, message: str) -> None:
    Path("ill.csv").write_text(text)
    done = randomize("--pk", 2, "--prior", "ill=ill.csv")
    assert done.code == 2
    assert message in done.err


PAIRS = ["Female × yes", "Female × no", "Male × yes", "Male × no", "Other × yes", "Other × no"]


def test_attributes_are_joined(randomize: Run, run: Run) -> None:
    done = randomize("--pk", 5, "--joint", "who=sex,ill", "--how", "who=optimal", "--unsafe-seed", 1)
    assert done.code == 0, done.err
    assert "who (sex, ill)" in done.out
    law = json.loads(Path("out/hand-over/law.json").read_text())["attributes"]["who"]
    assert law["how"] == "optimal"
    assert list(law["columns"]) == ["sex", "ill"]
    assert pl.read_csv("out/hand-over/data.csv").columns == ["age", "sex", "ill"]
    assert run("verify", "out", "--pk", 5).code == 0
    for names in (["who"], ["sex", "ill"]):
        printed = json.loads(run("reconstruct", "out", *names, "--json").out)
        assert printed["attributes"] == ["sex", "ill"]
        assert [(row["sex"], row["ill"]) for row in printed["counts"]][:2] == [
            ("Female", "yes"),
            ("Female", "no"),
        ]
    expected = sd.reconstruct("out", "sex").count(sex="Male")
    assert run("reconstruct", "out", "--where", "sex=Male").out.strip() == f"sex=Male: {expected}"


def test_a_prior_of_joined_attributes_has_a_column_for_each(randomize: Run) -> None:
    lines = [f"{label.replace(' × ', ',')},{10 + i}" for i, label in enumerate(PAIRS)]
    turned = ["ill,sex,count", *(f"{b},{a},{n}" for a, b, n in (line.split(",") for line in lines))]
    plans = []
    for text in (lines, lines[::-1], turned):
        Path("who.csv").write_text("\n".join(text))
        done = randomize("--pk", 5, "--joint", "who=sex,ill", "--prior", "who=who.csv", "--force")
        assert done.code == 0, done.err
        plans.append(json.loads(Path("out/hand-over/law.json").read_text())["attributes"]["who"])
    prior = [[10, 11], [12, 13], [14, 15]]
    table = sd.read("people.csv", "sudare.toml")
    own = sd.randomize(table, sd.PkAnonymity(5), joint={"who": ["sex", "ill"]}, priors={"who": prior})
    assert all(plan == own.plan.to_json()["attributes"]["who"] for plan in plans)


def test_a_matrix_of_joined_attributes_names_combinations(randomize: Run) -> None:
    rows = [
        [",".join([label, *(str(0.2 if i == j else 0.16) for j in range(6))])]
        for i, label in enumerate(PAIRS)
    ]
    Path("who.csv").write_text("\n".join([",".join(["", *PAIRS]), *(row[0] for row in rows)]))
    done = randomize("--pk", 5, "--joint", "who=sex,ill", "--matrix", "who=who.csv")
    assert done.code == 0, done.err
    law = json.loads(Path("out/hand-over/law.json").read_text())["attributes"]["who"]
    assert law["matrix"][1][:2] == [0.16, 0.2]


@pytest.mark.parametrize(
    ("option", "text", "message"),
    [
        ("--prior", "Female,yes,1\n", "there is no line for 'Female × no', 'Male × yes'"),
        ("--prior", "Female,maybe,1\n", "a line names 'Female × maybe', which is no value of 'who'"),
        ("--prior", "Female,yes,1\nFemale,yes,2\n", "names 'Female × yes' twice"),
        ("--prior", "Female,1\n", "line 1: 2 fields. Each line has 2 values and a count"),
        ("--matrix", ",Female\nFemale,1\n", "the first line names 'Female', which is no value of 'who'"),
    ],
)
def test_wrong_files_of_joined_attributes_are_refused(
    randomize: Run, option: str, text: str, message: str
) -> None:
    Path("who.csv").write_text(text)
    done = randomize("--pk", 5, "--joint", "who=sex,ill", option, "who=who.csv")
    assert done.code == 2
    assert message in done.err


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--pk", 5, "--joint", "who"], 2, "--joint must be like who=sex,race. Got 'who' instead"),
        (["--pk", 5, "--joint", "who=sex"], 2, "two or more different attributes"),
        (["--pk", 5, "--joint", "who=sex,il"], 2, "there is no attribute 'il' (did you mean 'ill'?)"),
        (["--pk", 5, "--joint", "sex=age,ill"], 2, "Give it a name of its own"),
        (["--pk", 5, "--joint", "who=sex,ill", "--how", "sex=optimal"], 2, "randomized together with others"),
        (
            ["--pk", 5, "--joint", "who=sex,age", "--how", "age=noise", "--prior", "who=none.csv"],
            2,
            "its own 'how' may be 'retain' or 'bins'",
        ),
        ([], 2, "Nothing is asked for"),
        (["--pk", 5, "--epsilon", 2], 2, "either --pk or --epsilon"),
        (["--pk", 5, "--how", "agee=bins"], 2, "there is no attribute 'agee'"),
        (["--pk", 5, "--how", "age"], 2, "--how must be like age=bins. Got 'age' instead"),
        (["--pk", 5, "--how", "age=bins", "--how", "age=noise"], 2, "speaks of 'age' twice"),
        (["--pk", 5, "--how", "sex=noise"], 2, "Use 'retain'"),
        (["--pk", 5, "--matrix", "sex=none.csv"], 2, "none.csv: this file cannot be opened"),
        (["--pk", 401], 1, "impossible for 400 records"),
    ],
)
def test_what_cannot_be_is_refused(randomize: Run, options: list[object], code: int, message: str) -> None:
    done = randomize(*options)
    assert done.code == code
    assert message in done.err
    assert not Path("out").exists()


def test_bounds_must_be_declared(randomize: Run) -> None:
    Path("sudare.toml").write_text(sd.Schema.from_roles(**SCHEMA).to_toml())
    done = randomize("--pk", 5)
    assert done.code == 2
    assert "the schema does not say what values 'age' can have" in done.err
    assert "[attributes.age]\n# bounds = [20, 69]   # the data's own range" in done.err


def test_a_randomized_release_is_verified_by_its_law(run: Run) -> None:
    sd.datasets.health_survey(300).select("age", "sex").write_csv("survey.csv")
    schema = sd.Schema.from_roles(
        quasi=["age", "sex"], bounds={"age": (0, 120)}, domains={"sex": ["Female", "Male"]}
    )
    Path("sudare.toml").write_text(schema.to_toml())
    done = run("randomize", "survey.csv", "out", "--pk", 5)
    assert done.code == 0, done.err
    assert run("verify", "out", "--pk", 5).code == 0
    assert run("verify", "out", "--pk", 50).code == 1
    assert run("verify", "out", "--epsilon", 0.1).code == 1


# -- Areas, and the precision of bits ----------------------------------------------------------------------

TOWN = "lat,lon\n5,0\n0,5\n5,10\n10,5\n"  # a diamond; the columns stand in another order than in --joint
SIDES = "lon,lat,at most\n1,1,15\n-1,-1,-5\n1,-1,5\n-1,1,5\n"  # the same


@pytest.fixture
def in_a_town(run: Run) -> Run:
    """Randomize people in a town, with further options."""
    rows = {"lon": [5.0, 2.5, 7.5, 5.0] * 100, "lat": [5.0, 5.0, 6.0, 9.0] * 100, "pay": [1.25, 9.5] * 200}
    pl.DataFrame(rows).write_csv("people.csv")
    bounds = dict.fromkeys(rows, (0.0, 10.0))
    Path("sudare.toml").write_text(
        sd.Schema.from_roles(quasi=list(rows), bounds=bounds, missing="refuse").to_toml()
    )
    Path("town.csv").write_text(TOWN)
    Path("sides.csv").write_text(SIDES)
    return lambda *options: run("randomize", "people.csv", "out", "--pk", 5, "--force", *options)


def laws() -> dict[str, dict[str, object]]:
    return dict(json.loads(Path("out/hand-over/law.json").read_text())["attributes"])


def test_an_area_is_read_from_a_file(in_a_town: Run) -> None:
    joint = ("--joint", "where=lon,lat")
    for option in (("--polygon", "where=town.csv"), ("--inequalities", "where=sides.csv")):
        done = in_a_town(*joint, *option)
        assert done.code == 0, done.err
        own = laws()["where"]
        assert own["how"] == "area"
        assert list(own["axes"]) == ["lon", "lat"]  # type: ignore[call-overload]
        assert len(own["faces"]) == 4  # type: ignore[arg-type]
        assert sd.verify("out").holds
    assert in_a_town(*joint, "--polygon", "where=town.csv", "--how", "where=area").code == 0


def test_bits_have_a_precision(in_a_town: Run) -> None:
    for how in ((), ("--how", "pay=bits")):
        assert in_a_town("--precision", "pay=0.25", *how).code == 0
        assert (laws()["pay"]["how"], laws()["pay"]["steps"]) == ("bits", 40)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--polygon", "where=town.csv"), "no joint law is called 'where'"),
        (("--joint", "where=lon,pay", "--polygon", "where=town.csv"), "must name 'lon', 'pay'"),
        (("--joint", "where=lon,lat", "--inequalities", "where=town.csv"), "and one column more"),
        (
            ("--joint", "where=lon,lat", "--polygon", "where=town.csv", "--inequalities", "where=sides.csv"),
            "Several options say what the law of 'where' is",
        ),
        (("--precision", "pay=0.25", "--how", "pay=noise"), "Several options say what the law of 'pay' is"),
        (("--precision", "pay=fine"), "must be a number, as in pay=0.01"),
        (("--precision", "pay=-1"), "a number above 0"),
    ],
)
def test_areas_and_precisions_that_are_none(in_a_town: Run, options: tuple[str, ...], message: str) -> None:
    done = in_a_town(*options)
    assert done.code == 2
    assert message in " ".join(done.err.split())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lon,lat\n1,x\n", "line 2: 'x' is not a number"),
        ("lon,lat\n1,2,3\n", "line 2: 3 numbers for 2 columns"),
    ],
)
def test_a_wrong_file_of_an_area_is_refused(in_a_town: Run, text: str, message: str) -> None:
    Path("town.csv").write_text(text)
    done = in_a_town("--joint", "where=lon,lat", "--polygon", "where=town.csv")
    assert done.code == 2
    assert message in " ".join(done.err.split())
