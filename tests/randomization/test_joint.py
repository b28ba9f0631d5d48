"""One law for several attributes: what it promises, draws and gives back, beside brute force."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import sudare as sd
from sudare.noise.keystream import Keystream
from sudare.randomization.estimate import Estimate, estimate
from sudare.randomization.learn import learn_plan
from sudare.randomization.plan import RandomizationPlan
from tests.randomization.drawing import drawn_rows, published
from tests.randomization.test_plan import log_matrix

N = 600
SEX, RACE, JOB = ["f", "m"], ["p", "q", "r"], ["u", "v"]
SCHEMA = sd.Schema.from_roles(
    quasi=["sex", "job", "race"],
    sensitive=["age"],
    other=["note"],
    domains={"sex": SEX, "race": RACE, "job": JOB},
    bounds={"age": (0, 99)},
    weights={"sex": 2.0, "race": 0.5},
    missing="refuse",
)
WITH_MISSING = SCHEMA.model_copy(update={"missing": "own value"})
WHO = {"who": ["sex", "race"]}
K5 = sd.PkAnonymity(5)


def people(n: int = N, missing: int = 0) -> pl.DataFrame:
    """Sex and race depend on each other; the first rows have no race."""
    rng = np.random.default_rng(8)
    both = rng.choice(6, n, p=[0.4, 0.05, 0.02, 0.03, 0.2, 0.3])
    race = [RACE[code % 3] for code in both]
    return pl.DataFrame(
        {
            "sex": [SEX[code // 3] for code in both],
            "job": rng.choice(JOB, n, p=[0.7, 0.3]),
            "race": [None] * missing + race[missing:],
            "age": rng.integers(0, 100, n),
            "note": ["x"] * n,
        }
    )


TABLE = sd.read(people(), SCHEMA)


def plan_of(table: sd.Table = TABLE, asked: Any = K5, seed: int = 0, **options: Any) -> RandomizationPlan:
    return learn_plan(table, asked, Keystream.unsafe(seed), **{"joint": WHO, **options})


def own_matrix(size: int, rate: float = 0.1) -> np.ndarray:
    return (1 - rate) / size + rate * np.random.default_rng(size).dirichlet(np.ones(size), size).T


# -- What it promises ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"how": {"who": "optimal"}},
        {"priors": {"who": [[9, 3, 1], [2, 5, 4]]}},
        {"matrices": {"who": own_matrix(6)}},
        {"joint": {"who": ["race", "sex", "job"]}},
        {"joint": {"who": ["sex", "race"], "what": ["age", "job"]}},
    ],
    ids=["retain", "optimal", "prior", "matrix", "three", "two groups"],
)
@pytest.mark.parametrize("asked", [K5, sd.DifferentialPrivacy(2.0, per="record")], ids=str)
def test_what_is_promised_is_what_all_laws_together_do(options: dict[str, Any], asked: Any) -> None:
    """The matrix of a whole record is the Kronecker product of all laws: every ratio of it is looked at."""
    release = sd.randomize(
        TABLE,
        asked,
        unsafe_seed=1,
        **{"joint": WHO, **options, "how": {"age": "bins"} | options.get("how", {})},
    )
    plan = json.loads(json.dumps(release.plan.to_json()))
    whole = np.zeros((1, 1))
    for law in plan["attributes"].values():
        logs = log_matrix(law)
        whole = (whole[:, None, :, None] + logs[None, :, None, :]).reshape(
            len(whole) * len(logs), len(whole) * len(logs)
        )
    spent = sum(plan["estimates"].values())
    epsilon = (whole.max(axis=1) - whole.min(axis=1)).max() + spent
    spread = 0.0
    for u in range(len(whole)):
        ratios = whole[:, [u]] - whole
        spread = max(spread, float((ratios.max(axis=0) - ratios.min(axis=0)).max()))
    measured = release.certificate.measured
    assert measured["epsilon"] == pytest.approx(epsilon, rel=1e-9)
    assert measured["pk"] == pytest.approx(1 + (N - 1) * math.exp(-spread - 2 * spent), rel=1e-9)


@pytest.mark.parametrize(
    "options", [{}, {"how": {"who": "optimal"}}, {"matrices": {"who": own_matrix(6)}}], ids=str
)
def test_what_is_drawn_follows_the_joint_matrix(options: dict[str, Any]) -> None:
    """Chi-square of the combinations that come out, for every combination that goes in; 3 in 1000 seeds would fail."""
    table = sd.read(people(60_000), SCHEMA)
    plan = plan_of(table, sd.PkAnonymity(1000), **options)
    out = drawn_rows(plan, table, Keystream.unsafe(3))
    matrix = np.exp(log_matrix(plan.to_json()["attributes"]["who"]))
    place = {pair: code for code, pair in enumerate(itertools.product(SEX, RACE))}
    before = np.array([place[pair] for pair in people(60_000).select("sex", "race").rows()])
    after = np.array([place[pair] for pair in out.select("sex", "race").rows()])
    for code in range(6):
        drawn = np.bincount(after[before == code], minlength=6)
        assert stats.chisquare(drawn, matrix[:, code] * drawn.sum()).pvalue > 0.0005


def test_the_budget_of_a_group_is_that_of_its_members() -> None:
    """By weights: sex 2, race 1/2, job and age 1 each."""
    laws = plan_of().to_json()["attributes"]
    whole = sum(law["spread"] for law in laws.values())
    assert laws["who"]["spread"] == pytest.approx(whole * 2.5 / 4.5, rel=1e-3)
    assert set(laws) == {"who", "job", "age"}


def test_the_columns_stand_where_they_stood() -> None:
    assert sd.randomize(TABLE, K5, joint=WHO).frame().columns == ["sex", "job", "race", "age"]
    assert sd.randomize(TABLE, K5, joint={"who": ["age", "sex"]}).frame().columns == [
        "sex", "job", "race", "age",
    ]  # fmt: skip


def test_a_very_large_epsilon_keeps_combinations_together() -> None:
    plan = plan_of(asked=sd.DifferentialPrivacy(1e4, per="record"), how={"age": "bins"})
    out = drawn_rows(plan, TABLE, Keystream.unsafe(1))
    assert out.drop("age").equals(people().select("sex", "job", "race"))
    assert plan["who"].domain.labels()[1] == "f × q"


def test_numbers_are_joined_as_bins_and_declared_ones_as_they_are() -> None:
    plan = plan_of(joint={"who": ["age", "sex"]})
    assert plan.to_json()["attributes"]["who"]["columns"]["age"]["values"][0] == "[0, 10)"
    frame = pl.DataFrame({"group": [1, 2, 3] * 20, "sex": SEX * 30})
    schema = sd.Schema.from_roles(
        quasi=["group", "sex"], domains={"group": [1, 2, 3, 4], "sex": SEX}, missing="refuse"
    )
    plan = plan_of(table := sd.read(frame, schema), joint={"who": ["group", "sex"]})
    assert plan.to_json()["attributes"]["who"]["columns"]["group"] == {"values": ["1", "2", "3", "4"]}
    drawn = drawn_rows(plan, table, Keystream.unsafe(1))
    assert drawn["group"].dtype == pl.Int64
    plan = plan_of(joint={"who": ["age", "sex"]}, how={"age": "retain"})
    assert len(plan["who"].domain) == 2 * 100


def test_the_law_is_plain_data() -> None:
    law = plan_of(sd.read(people(missing=5), WITH_MISSING)).to_json()["attributes"]["who"]
    assert law["columns"] == {
        "sex": {"values": ["f", "m", "(missing)"], "missing": "(missing)"},
        "race": {"values": ["p", "q", "r", "(missing)"], "missing": "(missing)"},
    }
    assert law["how"] == "retain"
    assert len(law["retention"]) == 12


def test_members_must_be_declared_and_caveats_speak_of_the_group() -> None:
    schema = sd.Schema.from_roles(quasi=["sex", "race"], domains={"race": RACE})
    with pytest.raises(sd.InputError, match=r"does not say what values 'sex' can have") as refused:
        plan_of(sd.read(people().select("sex", "race"), schema))
    assert '[attributes.sex]\n# domain = ["f", "m"]' in str(refused.value)
    plan = plan_of(how={"who": "optimal"}, histogram="true-histogram")
    assert any("The matrix of 'who' was made from the true histogram" in one for one in plan.caveats)


# -- Histograms with an axis per attribute ------------------------------------------------------------


def test_a_histogram_may_have_an_axis_per_attribute() -> None:
    v = np.array([[60.0, 25.0, 8.0], [4.0, 2.0, 1.0]])
    flat, shaped_pram = sd.pram.optimal_pram(v.ravel(), epsilon=1.0), sd.pram.optimal_pram(v, epsilon=1.0)
    assert shaped_pram.leave.tolist() == flat.leave.tolist()
    assert shaped_pram.bias(v) == flat.bias(v.ravel())
    assert sd.pram.optimal_pram(v, k=5).leave.tolist() == sd.pram.optimal_pram(v.ravel(), k=5).leave.tolist()
    shaped, given = (plan_of(priors={"who": prior}).to_json() for prior in (v, v.ravel()))
    assert shaped == given


# -- Refusals -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "reason"),
    [
        ({"joint": {"sex": ["sex", "race"]}}, sd.ParameterError, "calls a group 'sex', as an attribute"),
        ({"joint": {"note": ["sex", "race"]}}, sd.ParameterError, "calls a group 'note', as an attribute"),
        ({"joint": {"who": ["sex"]}}, sd.ParameterError, "must name two or more different attributes"),
        ({"joint": {"who": []}}, sd.ParameterError, "must name two or more different attributes"),
        ({"joint": {"who": "sex"}}, sd.ParameterError, "two or more different attributes. Got 'sex' instead"),
        ({"joint": {"who": ["sex", "sex"]}}, sd.ParameterError, "two or more different attributes"),
        ({"joint": {"who": ["sex", "height"]}}, sd.InputError, "there is no attribute 'height'"),
        ({"joint": {"who": ["sex", "note"]}}, sd.ParameterError, "'note', which is other and not published"),
        (
            {"joint": {"a": ["sex", "race"], "b": ["job", "sex"]}},
            sd.ParameterError,
            "'sex' is in two groups, 'a' and 'b'",
        ),
        ({"how": {"who": "noise"}}, sd.ParameterError, "one of 'retain', 'matrix', 'optimal'"),
        ({"how": {"who": "matrix"}}, sd.ParameterError, "no matrix of it is given"),
        (
            {"how": {"sex": "optimal"}},
            sd.ParameterError,
            "'sex' is randomized together with others, as 'who'",
        ),
        ({"priors": {"sex": [1, 2]}}, sd.ParameterError, "'sex' is randomized together with others"),
        ({"matrices": {"race": own_matrix(3)}}, sd.ParameterError, "'race' is randomized together"),
        ({"how": {"who": "retain"}, "priors": {"who": [1] * 6}}, sd.ParameterError, "given, but not used"),
        (
            {"priors": {"who": np.ones((3, 2))}},
            sd.ParameterError,
            r"6 counts, one per combination, in the shape \(2, 3\) or flat. Got the shape \(3, 2\) instead",
        ),
        ({"matrices": {"who": own_matrix(5)}}, sd.ParameterError, "matrix of 'who' must have a row and"),
        ({"how": {"whom": "retain"}}, sd.InputError, "there is no attribute 'whom'"),
    ],
)
def test_refuses_with_the_reason(options: dict[str, Any], error: type[Exception], reason: str) -> None:
    with pytest.raises(error, match=reason):
        plan_of(**options)


def test_too_many_combinations_are_refused() -> None:
    values = {name: [f"{name}{i}" for i in range(1100)] for name in "ab"}
    table = sd.read(pl.DataFrame(values), sd.Schema.from_roles(quasi=["a", "b"], domains=values))
    with pytest.raises(sd.InputError, match=r"'who' would have 1,101 x 1,101 = 1,212,201 combinations"):
        plan_of(table, joint={"who": ["a", "b"]})


# -- What can be got back -----------------------------------------------------------------------------


def truth(frame: pl.DataFrame, conditions: dict[str, Any]) -> int:
    for name, value in conditions.items():
        column = pl.col(name)
        wanted = column.is_null() if value is None else column == value
        frame = frame.filter(column.is_between(*value) if isinstance(value, tuple) else wanted)
    return frame.height


class Study:
    """Randomize and estimate again and again; keep the tables and the answers."""

    def __init__(
        self, names: list[str], method: Any, seeds: int = 200, missing: int = 0, **options: Any
    ) -> None:
        self.frame = people(missing=missing).select("sex", "job", "race")
        domains = {"sex": SEX, "job": JOB, "race": RACE}
        schema = sd.Schema.from_roles(
            quasi=["sex", "job", "race"], domains=domains, missing="own value" if missing else "refuse"
        )
        table = sd.read(self.frame, schema)
        plan = plan_of(table, sd.PkAnonymity(2), **options)
        used = [law.name for law in plan.laws if {*law.attributes} & {*names}]
        self.estimates: list[Estimate] = []
        for seed in range(seeds):
            out = drawn_rows(plan, table, Keystream.unsafe(seed))
            self.estimates.append(estimate(published(plan, out, *used), method, names))

    def coverage(self, **conditions: Any) -> float:
        true = truth(self.frame, conditions)
        answers = [one.count(**conditions) for one in self.estimates]
        return float(np.mean([one.low - 1e-6 <= true <= one.high + 1e-6 for one in answers]))

    def table(self) -> np.ndarray:
        values = [a.values for a in self.estimates[0].attributes]
        names = [a.name for a in self.estimates[0].attributes]
        pairs = [
            {n: None if v == "(missing)" else v for n, v in zip(names, row, strict=True)}
            for row in itertools.product(*values)
        ]
        return np.array([truth(self.frame, pair) for pair in pairs]).reshape([len(v) for v in values])


@pytest.mark.slow
@pytest.mark.parametrize(
    "names",
    [
        ["sex", "race"],
        ["race"],
        pytest.param(["job", "sex"], marks=pytest.mark.slow),
        pytest.param(["race", "job", "sex"], marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_unbiased_is_right_on_average_and_knows_its_error(names: list[str]) -> None:
    """Of a joint law alone, beside a law of its own, and of a part of it."""
    study = Study(names, "unbiased", missing=40)
    counts = np.array([one.counts for one in study.estimates])
    spread = counts.std(axis=0, ddof=1)
    off = (counts.mean(axis=0) - study.table()) / (spread / np.sqrt(len(counts)))
    assert abs(off).max() < 4
    stderr = np.mean([one.stderr for one in study.estimates], axis=0)
    assert stderr == pytest.approx(spread, rel=0.2)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["ml", "unbiased"])
@pytest.mark.parametrize(
    "options",
    [
        pytest.param({}, id="retain"),
        pytest.param({"priors": {"who": [5, 3, 3, 3, 4, 4]}}, id="prior", marks=pytest.mark.slow),
    ],
)
def test_intervals_hold_the_truth_as_often_as_they_say(method: Any, options: dict[str, Any]) -> None:
    study = Study(["sex", "race"], method, 300, **options)
    covered = [study.coverage(sex=sex, race=race) for sex in SEX for race in RACE]
    covered += [study.coverage(sex="f"), study.coverage(race="q"), study.coverage(sex="m")]
    assert min(covered) >= 0.90, covered
    assert np.mean(covered) >= 0.93, covered


def test_a_table_of_both_is_better_estimated_by_one_law_for_both() -> None:
    joint, apart = (Study(["sex", "race"], "unbiased", 25, joint=joint) for joint in (WHO, None))
    errors = [np.mean([((f.counts - s.table()) ** 2).sum() for f in s.estimates]) for s in (joint, apart)]
    assert errors[0] < errors[1]


@pytest.mark.parametrize(
    ("names", "better"), [(["sex", "race"], True), (["education", "native-country"], False)], ids=str
)
def test_on_adult_few_combinations_gain_and_many_lose(
    data_folder: Path, names: list[str], better: bool
) -> None:
    """At k = 10, with the same whole budget; the figures are printed (pytest -s)."""
    frame = sd.datasets.load("adult-train").select(pl.col(names).fill_null("?"))
    domains = {name: frame[name].unique().sort().to_list() for name in names}
    table = sd.read(frame, sd.Schema.from_roles(quasi=names, domains=domains, missing="refuse"))
    shape = [len(domains[name]) for name in names]
    counts = table.counts(names)
    true = np.zeros(shape)
    true[tuple(counts.codes.T)] = counts.weights
    errors = []
    for joint in ({"both": names}, None):
        plan = plan_of(table, sd.PkAnonymity(10), joint=joint)
        distances = []
        for seed in range(3):
            out = published(plan, drawn_rows(plan, table, Keystream.unsafe(seed)))
            distances.append(np.linalg.norm(estimate(out, "ml", names).counts - true))
        errors.append(float(np.mean(distances)))
    print(f"\nAdult, {names}, k = 10: off by {errors[0]:.0f} with one law, {errors[1]:.0f} with two")
    assert errors[0] < 0.6 * errors[1] if better else errors[0] > 1.1 * errors[1]


def test_the_parts_of_an_estimate_agree() -> None:
    release = sd.randomize(TABLE, sd.PkAnonymity(2), joint=WHO, how={"age": "bins"}, unsafe_seed=4)
    both = sd.reconstruct(release, "who", method="unbiased")
    assert [a.name for a in both.attributes] == ["sex", "race"]
    assert both.counts.shape == (2, 3)
    turned = sd.reconstruct(release, ["race", "sex"], method="unbiased")
    assert turned.counts == pytest.approx(both.counts.T)
    assert turned.stderr == pytest.approx(both.stderr.T)
    assert turned.published.tolist() == both.published.T.tolist()
    race = sd.reconstruct(release, "race", method="unbiased")
    assert race.counts == pytest.approx(both.counts.sum(axis=0))
    for code, value in enumerate(RACE):
        answer = both.count(race=value)
        assert (answer.value, answer.stderr) == pytest.approx((race.counts[code], race.stderr[code]))
    mixed = sd.reconstruct(release, ["race", "job", "sex"], method="unbiased")
    assert mixed.counts.shape == (3, 2, 2)
    assert mixed.counts.sum(axis=1) == pytest.approx(turned.counts, abs=1e-6)
    for row in mixed.frame().rows(named=True):
        answer = mixed.count(race=row["race"], job=row["job"], sex=row["sex"])
        expected = (row["estimate"], row["stderr"], row["low"], row["high"])
        assert (answer.value, answer.stderr, answer.low, answer.high) == pytest.approx(expected, abs=1e-6)
    published = release.frame().filter(race="q", job="u", sex="m").height
    assert mixed.published[1, 0, 1] == published


def test_the_most_likely_counts_of_a_mixed_table_are_counts() -> None:
    release = sd.randomize(TABLE, K5, joint=WHO, how={"age": "bins"}, unsafe_seed=4)
    reconstructed = sd.reconstruct(release, ["age", "sex", "race"])
    assert reconstructed.counts.shape == (10, 2, 3)
    assert reconstructed.counts.sum() == pytest.approx(N)
    assert (reconstructed.counts >= 0).all()
    assert (reconstructed.low <= reconstructed.counts).all()
    assert (reconstructed.counts <= reconstructed.high).all()


def test_it_survives_files_with_missing_values(tmp_path: Path) -> None:
    table = sd.read(people(missing=150), WITH_MISSING)
    asked = sd.DifferentialPrivacy(12.0, per="record")
    release = sd.randomize(table, asked, joint=WHO, unsafe_seed=2)
    folder = release.write(tmp_path / "out")
    assert sd.verify(folder, asked, WITH_MISSING).holds
    for source in (release, folder):
        reconstructed = sd.reconstruct(source, ["race", "sex"], method="unbiased")
        assert reconstructed.attributes[0].values == [*RACE, "(missing)"]
        assert reconstructed.count(race=None).value == pytest.approx(150, abs=15)
        assert reconstructed.count(race="(missing)") == reconstructed.count(race=None)
        assert reconstructed.count(sex=None).value == pytest.approx(0, abs=15)
        for wrong in (["who", "sex"], ["who", "who"]):
            with pytest.raises(sd.InputError, match="several different ones"):
                sd.reconstruct(source, wrong)
        with pytest.raises(sd.InputError, match=r"'job' was not estimated. There are 'race', 'sex'"):
            reconstructed.count(job="u")
        with pytest.raises(
            sd.InputError, match=r"'height' was not randomized. There are 'sex', 'race', 'job'"
        ):
            sd.reconstruct(source, "height")


def test_a_text_that_looks_like_missing_is_told_apart() -> None:
    frame = pl.DataFrame({"x": ["(missing)"] * 300 + [None] * 100, "sex": SEX * 200})
    table = sd.read(frame, sd.Schema.from_roles(quasi=["x", "sex"], domains={"x": ["(missing)"], "sex": SEX}))
    asked = sd.DifferentialPrivacy(20.0, per="record")
    release = sd.randomize(table, asked, joint={"who": ["x", "sex"]}, unsafe_seed=1)
    reconstructed = sd.reconstruct(release, "x", method="unbiased")
    assert reconstructed.count(x=None).value == pytest.approx(100, abs=5)
    assert reconstructed.count(x="(missing)").value == pytest.approx(300, abs=5)


def test_where_a_joint_law_tells_nothing_the_most_likely_is_still_answered() -> None:
    schema = sd.Schema.from_roles(quasi=["sex", "race"], domains={"sex": SEX, "race": RACE})
    table = sd.read(people().select("sex", "race"), schema)
    release = sd.randomize(table, sd.PkAnonymity(N), joint=WHO, unsafe_seed=1)
    answer = sd.reconstruct(release, ["sex"]).count(sex="f")
    assert (answer.stderr, answer.low, answer.high) == (math.inf, 0, N)
    with pytest.raises(sd.ParameterError, match="cannot be told apart"):
        sd.reconstruct(release, ["sex"], method="unbiased")


@pytest.mark.usefixtures("reports")
def test_the_pk_game_is_played_with_combinations() -> None:
    """Twelve people, all different, of four times three combinations."""
    frame = pl.DataFrame(list(itertools.product("abcd", "xyz")), schema=["a", "b"], orient="row")
    schema = sd.Schema.from_roles(quasi=["a", "b"], domains={"a": list("abcd"), "b": list("xyz")})
    table = sd.read(frame, schema)
    release = sd.randomize(table, sd.PkAnonymity(3), joint={"who": ["a", "b"]})
    game = release.holder["attacks"]["output"]["pk_game"]
    assert game["exact"]
    assert 1 / 12 < game["low"] < game["largest"] <= 1 / 3 * (1 + 1e-9)
