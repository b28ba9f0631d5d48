from __future__ import annotations

import datetime as dt
import math
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare as sd
from sudare.privacy.blocks import Blocks
from sudare.privacy.l_diversity import LDiversity
from sudare.privacy.requirement import BlockRequirement
from sudare.privacy.t_closeness import DISTANCES, TCloseness
from sudare.verification import recount, recount_values
from sudare.verification.verify import verify
from tests.privacy import plain, strategies

SCHEMA = sd.Schema.from_roles(identifier=["name"], quasi=["age", "sex"], sensitive=["illness"])
OUTPUT = pl.DataFrame(
    {
        "age": ["[20, 30)"] * 3 + [None] * 2,
        "sex": ["f"] * 3 + ["m"] * 2,
        "illness": ["a", "b", "a", "b", "b"],
    }
)


@pytest.mark.parametrize("ending", ["csv", "parquet", "frame"])
def test_recounts_frames_and_files(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"data.{ending}"
    if ending == "csv":
        OUTPUT.write_csv(path)
    elif ending == "parquet":
        OUTPUT.write_parquet(path)
    verification = sd.verify(OUTPUT if ending == "frame" else path, sd.KAnonymity(3), SCHEMA)
    assert (verification.holds, verification.value) == (False, 2)
    assert verification.worst == {"age": None, "sex": "m"}


def test_a_missing_value_is_apart_from_every_text(tmp_path: Path) -> None:
    output = OUTPUT.with_columns(age=pl.Series(["", "", None, None, None]), sex=pl.lit("f"))
    assert sd.verify(output, sd.KAnonymity(2), SCHEMA).value == 2
    output.write_csv(tmp_path / "data.csv")
    assert sd.verify(tmp_path / "data.csv", sd.KAnonymity(2), SCHEMA).value == 2


def test_a_list_of_requirements_holds_only_if_all_do() -> None:
    verification = sd.verify(OUTPUT, [sd.KAnonymity(2), sd.KAnonymity(3)], SCHEMA)
    assert [finding.holds for finding in verification.findings] == [True, False]
    assert not verification.holds
    with pytest.raises(sd.RequirementError, match="does not have 3-anonymity: k = 2"):
        verification.refuse_if_broken()


def test_an_identifier_in_the_output_is_refused() -> None:
    with pytest.raises(sd.RequirementError, match="still has the identifier 'name'"):
        sd.verify(OUTPUT.with_columns(name=pl.lit("x")), sd.KAnonymity(2), SCHEMA)


def test_a_quasi_attribute_that_is_not_there_is_refused() -> None:
    with pytest.raises(sd.InputError, match="no column 'sex'"):
        sd.verify(OUTPUT.drop("sex"), sd.KAnonymity(2), SCHEMA)


def test_empty_or_unreadable_output_is_refused(tmp_path: Path) -> None:
    with pytest.raises(sd.InputError, match="empty"):
        sd.verify(OUTPUT.clear(), sd.KAnonymity(2), SCHEMA)
    (tmp_path / "data.parquet").write_text("no parquet")
    with pytest.raises(sd.InputError, match="cannot be read"):
        sd.verify(tmp_path, sd.KAnonymity(2), SCHEMA)
    with pytest.raises(sd.InputError, match="cannot be read"):
        sd.verify(tmp_path / "none.csv", sd.KAnonymity(2), SCHEMA)


def test_without_quasi_attributes_the_whole_output_is_one_block() -> None:
    schema = sd.Schema.from_roles(other=["age", "sex"], sensitive=["illness"])
    verification = sd.verify(OUTPUT, [sd.KAnonymity(5), LDiversity(2), TCloseness(0)], schema)
    assert verification.measured == {"k": 5, "l_distinct": 2, "t": 0}
    assert (verification.holds, verification.worst) == (True, {})


def test_at_least_one_requirement_is_needed() -> None:
    with pytest.raises(sd.ParameterError, match="at least one requirement"):
        sd.verify(OUTPUT, [], SCHEMA)


def test_what_cannot_be_seen_on_an_output_is_refused() -> None:
    class Promise:
        def __str__(self) -> str:
            return "a promise"

    with pytest.raises(sd.ParameterError, match="verify needs at least one requirement"):
        sd.verify(OUTPUT, Promise(), SCHEMA)  # type: ignore[arg-type]


# -- l-diversity and t-closeness, worked by hand ---------------------------------------------------

# The salaries and diseases of Li, Li and Venkatasubramanian (2007), in groups of three.
PATIENTS = pl.DataFrame(
    {
        "zip": ["476**"] * 3 + ["4790*"] * 3 + ["476**"] * 3,
        "age": ["2*"] * 3 + [">= 40"] * 3 + ["3*"] * 3,
        "salary": [3, 4, 5, 6, 11, 8, 7, 9, 10],
        "disease": [
            "ulcer",
            "gastritis",
            "cancer",
            "gastritis",
            "flu",
            "bronchitis",
            "bronchitis",
            "flu",
            "flu",
        ],
    }
)
DISEASES = sd.Hierarchy.from_tree(
    {"lungs": {"infection": ["flu", "bronchitis"]}, "belly": {"stomach": ["ulcer", "gastritis", "cancer"]}}
)
PATIENTS_SCHEMA = sd.Schema.from_roles(
    quasi=["zip", "age"], sensitive=["salary", "disease"], hierarchies={"disease": DISEASES}
)
YOUNG, MIDDLE, OLD = ({"zip": z, "age": a} for z, a in [("476**", "2*"), ("476**", "3*"), ("4790*", ">= 40")])


@pytest.mark.parametrize("ending", ["csv", "parquet", "frame"])
@pytest.mark.parametrize(
    ("requirement", "value", "holds", "worst"),
    [
        (LDiversity(2, attribute="disease"), 2, True, MIDDLE),
        (LDiversity(3, attribute="disease"), 2, False, MIDDLE),
        (LDiversity(3, attribute="salary"), 3, True, YOUNG),
        (LDiversity(3, "entropy", attribute="salary"), 3, True, YOUNG),
        (LDiversity(2, "entropy", attribute="disease"), 3 / 2 ** (2 / 3), False, MIDDLE),
        (LDiversity(1.8, "entropy", attribute="disease"), 3 / 2 ** (2 / 3), True, MIDDLE),
        # flu, flu, bronchitis: 2 < c holds for c = 3; 2 < 2 does not, but 2 < 2 (2 + 1) does
        (LDiversity(2, "recursive", c=3, attribute="disease"), 2, True, MIDDLE),
        (LDiversity(2, "recursive", c=2, attribute="disease"), 1, False, MIDDLE),
        (LDiversity(1, "recursive", c=0.1, attribute="disease"), 0, False, YOUNG),
        # Section 5 of the paper: {3, 4, 5} is 0.375 from all salaries
        (TCloseness(0.375, "ordered", attribute="salary"), 0.375, True, YOUNG),
        (TCloseness(0.374, "ordered", attribute="salary"), 0.375, False, YOUNG),
        (TCloseness(0.7, "equal", attribute="salary"), 0.666666666667, True, YOUNG),
        # of all, 5/9 have something with their lungs, and of the young nobody
        (TCloseness(0.6, "hierarchical", attribute="disease"), 5 / 9, True, YOUNG),
    ],
    ids=str,
)
def test_worked_by_hand(
    tmp_path: Path,
    ending: str,
    requirement: BlockRequirement,
    value: float,
    holds: bool,
    worst: dict[str, Any],
) -> None:
    path = tmp_path / f"data.{ending}"
    if ending == "csv":
        PATIENTS.write_csv(path)
    elif ending == "parquet":
        PATIENTS.write_parquet(path)
    verification = sd.verify(PATIENTS if ending == "frame" else path, requirement, PATIENTS_SCHEMA)
    assert verification.value == pytest.approx(value, abs=1e-12)
    assert (verification.holds, verification.worst) == (holds, worst)
    assert verification.findings[0].requirement == str(requirement)


def test_of_equally_frequent_values_the_entropy_is_exact() -> None:
    for l in range(1, 60):
        output = pl.DataFrame({"q": ["x"] * l * 3, "s": [*range(l)] * 3})
        verification = sd.verify(
            output, LDiversity(l, "entropy"), sd.Schema.from_roles(quasi=["q"], sensitive=["s"])
        )
        assert (verification.value, verification.holds) == (l, True)


def test_a_tie_is_decided_alike_however_c_and_t_are_rounded() -> None:
    schema = sd.Schema.from_roles(quasi=["q"], sensitive=["s"])
    output = pl.DataFrame({"q": ["x"] * 43, "s": ["a"] * 33 + ["b"] * 10})
    assert sd.verify(output, LDiversity(2, "recursive", c=3.3), schema).value == 1
    assert sd.verify(output, LDiversity(2, "recursive", c=1.1 * 3), schema).value == 1  # 3.3000000000000003
    assert sd.verify(output, LDiversity(2, "recursive", c=3.31), schema).value == 2
    output = pl.DataFrame({"q": ["x"] * 10 + ["y"] * 10, "s": ["a"] * 6 + ["b"] * 4 + ["a"] * 4 + ["b"] * 6})
    assert sd.verify(output, TCloseness(0.1), schema).holds
    assert sd.verify(output, TCloseness(0.3 - 0.2), schema).holds  # 0.09999999999999998
    assert not sd.verify(output, TCloseness(0.0999999), schema).holds


def test_a_smallest_c_has_no_l() -> None:
    schema = sd.Schema.from_roles(quasi=["q"], sensitive=["s"])
    output = pl.DataFrame({"q": ["x"] * 2, "s": ["a", "b"]})
    assert sd.verify(output, LDiversity(1, "recursive", c=math.ulp(0.0)), schema).value == 0


def test_a_missing_sensitive_value_counts_as_a_value() -> None:
    output = pl.DataFrame({"q": ["x", "x", "y", "y"], "s": ["a", None, "?", None]})
    schema = sd.Schema.from_roles(quasi=["q"], sensitive=["s"])
    assert sd.verify(output, LDiversity(2), schema).value == 2
    listed = sd.Schema.from_roles(quasi=["q"], sensitive=["s"], missing_values=["?"])
    assert sd.verify(output, LDiversity(2), listed).worst == {"q": "y"}
    nothing = output.with_columns(s=pl.lit(None))
    hierarchies = sd.Schema.from_roles(
        quasi=["q"], sensitive=["s"], hierarchies={"s": sd.Hierarchy.suppress(["a"])}
    )
    for distance in DISTANCES:
        assert sd.verify(nothing, TCloseness(0, distance), hierarchies).value == 0  # type: ignore[arg-type]


def test_missing_values_are_last_in_order_and_meet_others_at_the_root() -> None:
    output = pl.DataFrame({"q": [0, 0, 1, 1], "s": ["a", "b", None, None]})
    tree = sd.Hierarchy.groups({"a": "x", "b": "x"})
    schema = sd.Schema.from_roles(quasi=["q"], sensitive=["s"], hierarchies={"s": tree})
    assert sd.verify(output, TCloseness(1, "hierarchical"), schema).value == 0.5
    assert sd.verify(output, TCloseness(1, "ordered"), schema).value == 0.375  # 1/4 + 1/2, of 2


# -- the order of sensitive values -----------------------------------------------------------------

HALVES = pl.DataFrame({"q": ["x", "x", "y", "y"]})
NEIGHBOURS, OUTERMOST = (
    1 / 3,
    1 / 6,
)  # how far a block is that has the first two of four values, or the first and last


def ordered(output: pl.DataFrame | Path, **details: Any) -> float:
    schema = sd.Schema.from_roles(quasi=["q"], sensitive=["s"], **details)
    return sd.verify(output, TCloseness(1, "ordered"), schema).value


@pytest.mark.parametrize(
    "values",
    [
        [9, 8, 10, 11],
        [9.5, 8.0, 10.0, 1e20],
        [-1.0, 2.0, math.inf, math.nan],
        [dt.date(999, 1, 1), dt.date(2000, 1, 1), dt.date(2000, 1, 2), dt.date(2001, 1, 1)],
        [
            dt.datetime(2000, 1, 1, 9),
            dt.datetime(2000, 1, 1, 2),
            dt.datetime(2001, 1, 1),
            dt.datetime(2002, 1, 1),
        ],
        [2**63 - 1, 1, 2**63, 2**64 - 1],
        ["a", "b", "c", "d"],
        ["01", "1", "9", "a"],
    ],
    ids=str,
)
def test_values_are_in_their_natural_order_also_in_a_csv_file(tmp_path: Path, values: list[Any]) -> None:
    dtype = pl.UInt64 if max(values[2:3]) == 2**63 else None
    output = HALVES.with_columns(s=pl.Series(values, dtype=dtype))
    assert ordered(output) == pytest.approx(NEIGHBOURS)
    output.write_csv(tmp_path / "data.csv")
    assert ordered(tmp_path / "data.csv") == pytest.approx(NEIGHBOURS)
    kind: Any = {int: "integer", float: "number", dt.date: "date", dt.datetime: "datetime", str: "text"}[
        type(values[0])
    ]
    assert ordered(tmp_path / "data.csv", types={"s": kind}) == pytest.approx(NEIGHBOURS)
    assert ordered(output, types={"s": kind}) == pytest.approx(NEIGHBOURS)


def test_numbers_that_are_declared_text_are_in_the_order_of_text(tmp_path: Path) -> None:
    output = HALVES.with_columns(s=pl.Series([1, 10, 2, 9]))
    output.write_csv(tmp_path / "data.csv")
    for source in (output, tmp_path / "data.csv"):
        assert ordered(source, types={"s": "text"}) == pytest.approx(NEIGHBOURS)
        assert ordered(source) == pytest.approx(OUTERMOST)


def test_texts_differ_unless_their_declared_type_says_otherwise(tmp_path: Path) -> None:
    """250.1 and 250.10 are two diagnoses, but one number."""
    path = tmp_path / "data.csv"
    HALVES.with_columns(s=pl.Series(["250.1", "250.10", "1", "2"])).write_csv(path)
    for kind, l in ((None, 2), ("text", 2), ("number", 1)):
        schema = sd.Schema.from_roles(quasi=["q"], sensitive=["s"], types={"s": kind} if kind else None)  # type: ignore[dict-item]
        assert sd.verify(path, LDiversity(2), schema).value == l


def test_moments_with_a_time_zone(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    moments = [f"2000-01-01T0{hour}:00:00+0000" for hour in (1, 2, 3)]
    HALVES.with_columns(s=pl.Series([*moments, "2000-01-01T09:00:00+0500"])).write_csv(path)  # 4 o'clock
    assert ordered(path, types={"s": "datetime"}) == pytest.approx(NEIGHBOURS)


def test_what_only_looks_like_dates_is_text(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    HALVES.with_columns(s=pl.Series(["2000-01-01", "2000-01-02", "2000-02-30", "2000-13-01"])).write_csv(path)
    assert ordered(path) == pytest.approx(NEIGHBOURS)


@pytest.mark.parametrize("kind", ["integer", "number", "date", "datetime"])
def test_a_text_that_is_not_of_its_declared_type_is_refused(kind: Any) -> None:
    output = HALVES.with_columns(s=pl.lit("x"))
    with pytest.raises(
        sd.InputError, match=r"The output's column 's' has 'x', which is not a .*, as the schema says"
    ):
        ordered(output, types={"s": kind})


def test_a_declared_domain_gives_the_order_and_counts_whole(tmp_path: Path) -> None:
    domain = ["low", "middle", "high", "higher", "highest"]
    output = HALVES.with_columns(s=pl.Series(["low", "middle", "high", "higher"]))
    output.write_csv(tmp_path / "data.csv")
    for source in (output, tmp_path / "data.csv"):
        assert ordered(source, domains={"s": domain}) == (1 / 4 + 1 / 2 + 1 / 4 + 0) / 4
    with pytest.raises(sd.InputError, match="column 's' has 'low', which is not in its domain"):
        ordered(output, domains={"s": domain[1:]})
    output = HALVES.with_columns(s=pl.Series([3.0, 2.0, 1.0, 0.0]))
    output.write_csv(tmp_path / "data.csv")
    for source in (output, tmp_path / "data.csv"):
        assert ordered(source, domains={"s": [3, 2, 1, 0]}) == pytest.approx(NEIGHBOURS)


def test_categories(tmp_path: Path) -> None:
    levels = ["low", "middle", "high", "higher"]
    output = HALVES.with_columns(s=pl.Series(levels, dtype=pl.Enum(levels)))
    assert ordered(output) == pytest.approx(NEIGHBOURS)
    output = HALVES.with_columns(s=pl.Series(["b", "a", "d", "c"], dtype=pl.Categorical))
    assert ordered(output) == pytest.approx(NEIGHBOURS)


# -- hierarchies -----------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["frame", "csv"])
def test_a_recipe_is_built_from_the_values_of_the_output(tmp_path: Path, ending: str) -> None:
    recipe = {"kind": "intervals", "width": 10, "fanout": 2}
    output = HALVES.with_columns(s=pl.Series([3, 14, 25, 36]))
    output.write_csv(tmp_path / "data.csv")
    schema = sd.Schema.from_roles(quasi=["q"], sensitive=["s"], hierarchies={"s": recipe})  # type: ignore[dict-item]
    verification = sd.verify(
        output if ending == "frame" else tmp_path / "data.csv", TCloseness(1, "hierarchical"), schema
    )
    assert verification.value == 0.5  # [0, 20) and [20, 40) meet only at the root
    dates = HALVES.with_columns(s=pl.Series([dt.datetime(2000, 1, 1, i) for i in range(4)]))
    dates.write_csv(tmp_path / "data.csv")
    schema = sd.Schema.from_roles(quasi=["q"], sensitive=["s"], hierarchies={"s": {"kind": "dates"}})  # type: ignore[dict-item]
    verification = sd.verify(
        dates if ending == "frame" else tmp_path / "data.csv", TCloseness(1, "hierarchical"), schema
    )
    assert verification.value == 0.5 / 5  # within a month


def test_a_hierarchy_that_does_not_fit_is_refused() -> None:
    def hierarchical(output: pl.DataFrame, **hierarchies: Any) -> None:
        schema = sd.Schema.from_roles(quasi=["q"], sensitive=["s"], hierarchies=hierarchies)
        sd.verify(output, TCloseness(1, "hierarchical"), schema)

    output = HALVES.with_columns(s=pl.Series(["a", "b", "c", "d"]))
    with pytest.raises(sd.InputError, match="needs a hierarchy of 's'"):
        hierarchical(output)
    with pytest.raises(sd.InputError, match="column 's' has 'd', which is not in its hierarchy"):
        hierarchical(output, s=sd.Hierarchy.suppress(["a", "b", "c"]))
    with pytest.raises(sd.InputError, match=r"column 's': Hierarchy\.intervals needs numbers"):
        hierarchical(output, s={"kind": "intervals", "width": 10})


# -- which attribute, and under which name -----------------------------------------------------------


def test_the_sensitive_attribute_must_be_clear() -> None:
    with pytest.raises(sd.InputError, match=r"several sensitive attributes, 'salary', 'disease'\. Name one"):
        sd.verify(PATIENTS, LDiversity(2), PATIENTS_SCHEMA)
    with pytest.raises(sd.InputError, match=r"the schema calls 'zip' quasi\. Make its role sensitive"):
        sd.verify(PATIENTS, TCloseness(0.2, attribute="zip"), PATIENTS_SCHEMA)
    with pytest.raises(sd.InputError, match="no attribute 'diseas'"):
        sd.verify(PATIENTS, LDiversity(2, attribute="diseas"), PATIENTS_SCHEMA)
    with pytest.raises(sd.InputError, match="needs a sensitive attribute, and the schema has none"):
        sd.verify(OUTPUT.select("age"), LDiversity(2), sd.Schema.from_roles(quasi=["age"]))
    with pytest.raises(sd.InputError, match="no column 'illness', which the schema calls sensitive"):
        sd.verify(OUTPUT.drop("illness"), LDiversity(2), SCHEMA)


def test_findings_of_one_kind_do_not_overwrite_each_other() -> None:
    asked: list[BlockRequirement] = [
        sd.KAnonymity(3),
        LDiversity(2, attribute="salary"),
        LDiversity(2, attribute="disease"),
        LDiversity(2, "entropy", attribute="disease"),
        LDiversity(2, "recursive", c=2, attribute="disease"),
        LDiversity(2, "recursive", c=3, attribute="disease"),
        TCloseness(1, attribute="salary"),
        TCloseness(1, "ordered", attribute="salary"),
        TCloseness(1, "hierarchical", attribute="disease"),
    ]
    verification = sd.verify(PATIENTS, asked, PATIENTS_SCHEMA)
    assert list(verification.measured) == [
        "k",
        "l_distinct:salary",
        "l_distinct:disease",
        "l_entropy",
        "l_recursive:c=2",
        "l_recursive:c=3",
        "t:salary:equal",
        "t:salary:ordered",
        "t:disease:hierarchical",
    ]
    assert [verification.measured[f"l_distinct:{name}"] for name in ("salary", "disease")] == [3, 2]
    asked = [LDiversity(2), LDiversity(3), LDiversity(2, attribute="illness")]
    assert sd.verify(OUTPUT, asked, SCHEMA).measured == {"l_distinct": 1}


def test_columns_may_have_any_name() -> None:
    names = {"zip": "value", "age": "all", "salary": "0", "disease": "count"}
    schema = sd.Schema.from_roles(quasi=["value", "all"], sensitive=["0"], other=["count"])
    verification = sd.verify(PATIENTS.rename(names), [TCloseness(1, "ordered"), sd.KAnonymity(3)], schema)
    assert verification.measured == {"t": 0.375, "k": 3}
    assert verification.worst == {"value": "476**", "all": "2*"}


# -- agreement with what the requirements measure, and with the definitions ----------------------------

VALUES: dict[str, st.SearchStrategy[Any]] = {
    "integers": st.integers(-12, 12),
    "numbers": st.sampled_from([-1e300, -1.5, 0.0, 0.1, 0.25, 9.0, 10.0, 1e17, math.inf, math.nan]),
    "texts": st.sampled_from(["a", "B", "é", "10", "9", "NA", "x y", '"', "-"]),
    "dates": st.dates(dt.date(1999, 12, 28), dt.date(2000, 1, 5)),
}
SUPPRESS: Any = {"kind": "suppress"}
MASK: Any = {"kind": "mask", "pad": "_"}


@pytest.mark.parametrize("kind", VALUES)
@settings(max_examples=60)
@given(data=st.data(), requirement=strategies.requirements)
def test_agrees_with_what_is_measured_on_the_same_table(
    kind: str, data: st.DataObject, requirement: BlockRequirement
) -> None:
    present = VALUES[kind]
    rows = data.draw(
        st.lists(
            st.tuples(
                st.integers(0, 2), st.sampled_from(["x", "", None]), st.one_of(present, present, st.none())
            ),
            min_size=1,
            max_size=40,
        ).filter(lambda rows: any(a is not None for _, a, _ in rows) and any(s is not None for *_, s in rows))
    )
    output = pl.DataFrame(rows, schema=["a", "b", "s"], orient="row", infer_schema_length=None)
    hierarchy = data.draw(st.sampled_from([SUPPRESS, MASK]))
    schema = sd.Schema.from_roles(quasi=["a", "b"], sensitive=["s"], hierarchies={"s": hierarchy})
    blocks = Blocks.of_table(
        sd.read(output, schema), ["a", "b"], "s" if requirement.needs_sensitive else None
    )
    measure, verification = requirement.measure(blocks), sd.verify(output, requirement, schema)
    assert list(verification.measured) == [measure.name]
    assert verification.value == pytest.approx(measure.value, abs=1e-11)
    assert verification.holds == measure.holds
    assert_is_worst(output, requirement, schema, verification.worst, verification.value)


def assert_is_worst(
    output: pl.DataFrame,
    requirement: BlockRequirement,
    schema: sd.Schema,
    worst: dict[str, Any],
    value: float,
) -> None:
    """The block that is named has, alone, the value that is reported (of distances that cannot be told from it alone)."""
    texts = output.with_columns(pl.col("a", "b").cast(pl.String))
    block = texts.filter(*(pl.col(name).eq_missing(pl.lit(text)) for name, text in worst.items()))
    assert block.height > 0
    if not isinstance(requirement, TCloseness | sd.BetaLikeness | sd.DeltaDisclosure):
        assert sd.verify(block, requirement, schema).value == value


@pytest.mark.parametrize("distance", DISTANCES)
@settings(max_examples=60)
@given(records=strategies.records)
def test_agrees_with_the_definition_of_a_distance(distance: str, records: plain.Records) -> None:
    output = pl.DataFrame(records, schema=["q", "s"], orient="row")
    schema = sd.Schema.from_roles(
        quasi=["q"], sensitive=["s"], domains={"s": range(plain.VALUES)}, hierarchies={"s": plain.TREE}
    )
    verification = sd.verify(output, TCloseness(1, distance), schema)  # type: ignore[arg-type]
    table = Counter(value for _, value in records)
    far: Any = plain.DISTANCES[distance]
    work = [float(far(block, table)) for block in plain.histograms(records)]
    assert verification.value == pytest.approx(max(work), abs=1e-8)
    place = sorted({block for block, _ in records}).index(int(verification.worst["q"]))
    assert work[place] == pytest.approx(max(work), abs=1e-8)


@settings(max_examples=40)
@given(records=strategies.records, requirement=strategies.requirements)
def test_files_and_frames_agree(
    tmp_path_factory: pytest.TempPathFactory, records: plain.Records, requirement: BlockRequirement
) -> None:
    output = pl.DataFrame(records, schema=["q", "s"], orient="row").with_columns(pl.col("s") * 7)
    recipe: Any = {"kind": "intervals", "width": 10}
    schema = sd.Schema.from_roles(quasi=["q"], sensitive=["s"], hierarchies={"s": recipe})
    folder = tmp_path_factory.mktemp("output")
    output.write_csv(folder / "data.csv")
    output.write_parquet(folder / "data.parquet")
    expected = verify(output, requirement, schema)
    assert verify(folder / "data.csv", requirement, schema) == expected
    assert verify(folder, requirement, schema) == expected


@pytest.mark.parametrize("times", [1, 10**10])
def test_large_counts_are_exact(times: int) -> None:
    """10 billion times as many records in every cell leave all shares, and so all distances, as they are."""
    small = np.array([1, 2, 3, 4, 5])
    blocks = recount.RecountedBlocks(
        quasi=pl.DataFrame({"q": ["x", "y"]}),
        sizes=np.array([3, 12]) * times,
        block=np.array([0, 0, 1, 1, 1]),
        value=np.array([0, 2, 0, 1, 3]),
        count=small * times,
        whole=np.array([4, 4, 2, 5]) * times,
    )
    numbers = pl.DataFrame({"raw": ["a", "b", "c", "d"], "code": range(4)})
    column = recount_values.Sensitive("s", numbers, numbers["raw"], missing=False)
    x, y = recount.flat_distances(blocks, column)
    assert (x, y) == (Fraction(9, 15), Fraction(9, 60))
    # all: 4/15, 4/15, 2/15, 5/15; x: 1/3, 0, 2/3, 0; so 1/15, -3/15 and 5/15 must cross
    assert recount.ordered_distances(blocks, 4)[0] == Fraction(9, 15) / 3
    assert recount.distinct_values(blocks) == [2, 3]
    assert recount.recursive_ls(blocks, 2.1) == [2, 3]  # 2 < 2.1; 5 < 2.1 * 3
