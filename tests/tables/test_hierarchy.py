from __future__ import annotations

import csv
import datetime as dt
import json
import math
import re
from collections.abc import Callable
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare as sd
from sudare import Hierarchy, InputError, ParameterError

moderate = settings(max_examples=100)
CITIES = [
    ("Paris", "France", "Europe", "*"),
    ("Lyon", "France", "Europe", "*"),
    ("Oslo", "Norway", "Europe", "*"),
    ("Kyoto", "Japan", "Asia", "*"),
]


@st.composite
def trees(draw: st.DrawFn) -> list[tuple[str, ...]]:
    """Paths of a random tree of equal depth, from the leaf to the root."""
    paths: list[tuple[str, ...]] = [("root",)]
    for level in range(draw(st.integers(1, 5))):
        children = draw(st.lists(st.integers(1, 3), min_size=len(paths), max_size=len(paths)))
        above = [path for path, number in zip(paths, children, strict=True) for _ in range(number)]
        paths = [(f"{level}.{i}", *path) for i, path in enumerate(above[:20])]
    return draw(st.permutations(paths))


def slow_meet(rows: list[tuple[str, ...]], a: int, b: int) -> int:
    """Climb from both leaves until they stand on the same node."""
    parent = {(level, path[level]): path[level + 1] for path in rows for level in range(len(path) - 1)}
    level, one, other = 0, rows[a][0], rows[b][0]
    while one != other:
        one, other = parent[level, one], parent[level, other]
        level += 1
    return level


# -- asking ----------------------------------------------------------------------------------------


@moderate
@given(trees())
def test_meet_agrees_with_a_walk_up_the_tree(rows: list[tuple[str, ...]]) -> None:
    hierarchy = Hierarchy.from_rows(rows)
    leaves = np.arange(len(rows))
    expected = [[slow_meet(rows, a, b) for b in leaves] for a in leaves]
    assert hierarchy.meet(leaves[:, None], leaves[None, :]).tolist() == expected


@moderate
@given(trees())
def test_rows_publish_and_leaves_give_the_tree_back(rows: list[tuple[str, ...]]) -> None:
    hierarchy = Hierarchy.from_rows(rows)
    assert hierarchy.rows() == rows
    assert hierarchy.height == len(rows[0]) - 1
    assert hierarchy.leaves == tuple(path[0] for path in rows)
    for level in range(hierarchy.height + 1):
        assert hierarchy.publish(range(len(rows)), level) == [path[level] for path in rows]
    assert Hierarchy.from_rows(hierarchy.rows()) == hierarchy


@moderate
@given(trees(), st.data())
def test_take_keeps_the_paths_of_the_leaves_taken(rows: list[tuple[str, ...]], data: st.DataObject) -> None:
    leaves = data.draw(st.lists(st.integers(0, len(rows) - 1), min_size=1))
    taken = Hierarchy.from_rows(rows).take(leaves)
    assert taken.rows() == [rows[leaf] for leaf in leaves]
    assert taken.height == len(rows[0]) - 1
    assert taken.meet(0, range(len(leaves))).tolist() == [slow_meet(rows, leaves[0], leaf) for leaf in leaves]


@moderate
@given(trees())
def test_missing_meets_the_others_only_at_the_root(rows: list[tuple[str, ...]]) -> None:
    hierarchy = Hierarchy.from_rows(rows).with_missing()
    last = len(rows)
    assert hierarchy.meet(last, range(last)).tolist() == [hierarchy.height] * last
    assert hierarchy.meet(last, last) == 0
    assert hierarchy.leaves == (*(path[0] for path in rows), None)
    assert [hierarchy.publish([last], level) for level in range(hierarchy.height)] == [
        [None]
    ] * hierarchy.height
    assert hierarchy.publish([last], hierarchy.height) == ["root"]
    assert hierarchy.rows()[:last] == rows


def test_missing_is_not_the_text_none() -> None:
    hierarchy = Hierarchy.suppress(["None", "x"]).with_missing()
    assert hierarchy.find(pl.Series(["None", "x"])).tolist() == [0, 1]
    assert hierarchy.meet(0, 2) == 1


def test_cost_is_the_share_of_the_height() -> None:
    hierarchy = Hierarchy.from_rows(CITIES)
    assert hierarchy.cost([0, 1, 3]).tolist() == [0, 1 / 3, 1]


@pytest.mark.parametrize(
    ("values", "leaves"),
    [
        ([25, 7], [0, -1]),
        ([25.0, 25.5, math.nan, math.inf, None], [0, -1, -1, -1, -1]),
        (["25", "25.0", "true"], [0, -1, 1]),
        ([True, False], [1, 2]),
        ([dt.date(2024, 1, 31)], [3]),
        ([dt.datetime(2024, 1, 31)], [-1]),
    ],
)
def test_find_matches_values_by_their_text(values: list, leaves: list[int]) -> None:
    hierarchy = Hierarchy.suppress(["25", "true", "False", "2024-01-31"])
    assert hierarchy.find(pl.Series(values)).tolist() == leaves


def test_equal_hierarchies_are_equal_and_hash_alike() -> None:
    one, same = Hierarchy.from_rows(CITIES), Hierarchy.from_rows(CITIES)
    assert one == same
    assert hash(one) == hash(same)
    assert one != one.take([0, 1])
    assert one != Hierarchy.suppress([row[0] for row in CITIES])
    assert one != "a hierarchy"
    assert repr(one) == "Hierarchy(4 values, height 3)"


def test_a_row_may_be_given_twice() -> None:
    assert Hierarchy.from_rows([*CITIES, CITIES[1]]).rows() == CITIES


# -- what is not a tree ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "it has no values"),
        ([["a"]], r"'a' \(row 1\) has no level above it. Add a root"),
        ([["a", "x", "*"], ["b", "*"]], r"'b' \(row 2\) has 2 levels, 'a' \(row 1\) has 3"),
        ([["a", "*"], ["b", "any"]], r"'b' \(row 2\) ends in 'any', 'a' \(row 1\) in '\*'. There must be one root"),
        ([["a", "x", "*"], ["a", "y", "*"]], r"'a' at level 0 has two parents: 'x' \(row 1\) and 'y' \(row 2\)"),
        (
            [["a", "m", "x", "*"], ["b", "m", "y", "*"]],
            r"'m' at level 1 has two parents: 'x' \(row 1\) and 'y' \(row 2\)",
        ),
        ([["a", "b", "a"]], r"'a' \(row 1\) stands above itself: a > b > a"),
        ([["x", "a", "b", "a"]], r"'a' \(row 1\) stands above itself"),
        ([[]], "row 1"),
        ([["a", "*"], []], r"row 2"),
    ],
)  # fmt: skip
def test_rows_that_are_no_tree_are_refused(rows: list[list[str]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Hierarchy.from_rows(rows)


def test_a_value_may_stay_itself_on_the_way_up() -> None:
    hierarchy = Hierarchy.from_rows([["a", "a", "*"], ["b", "c", "*"]])
    assert hierarchy.publish([0, 1], level=1) == ["a", "c"]


# -- files -----------------------------------------------------------------------------------------


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("start", ["", "\ufeff"], ids=["plain", "with byte order mark"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_csv_in_arx_format(tmp_path: Path, start: str, end: str) -> None:
    text = start + end.join(["Oslo;Norway;*", '"a;b";"x ""y""";*', "", "東京;日本;*"]) + end
    hierarchy = Hierarchy.from_csv(written(tmp_path, "places.csv", text))
    assert hierarchy.rows() == [("Oslo", "Norway", "*"), ("a;b", 'x "y"', "*"), ("東京", "日本", "*")]


def test_csv_with_another_delimiter(tmp_path: Path) -> None:
    assert Hierarchy.from_csv(written(tmp_path, "h.csv", "a,*\nb,*\n"), delimiter=",").leaves == ("a", "b")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a;x;*\n\nb;*\n", r"'b' \(age.csv, line 3\) has 2 levels, 'a' \(age.csv, line 1\) has 3"),
        ("a;x;*\nb;y;*\na;y;*\n", r"two parents: 'x' \(age.csv, line 1\) and 'y' \(age.csv, line 3\)"),
        ("", "no values"),
        ("\n\n", "no values"),
        (b"a;*\n\xff;*\n", r"age.csv: the hierarchy cannot be read near line"),
    ],
)
def test_a_faulty_csv_is_refused_with_its_line(tmp_path: Path, content: str | bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Hierarchy.from_csv(written(tmp_path, "age.csv", content))


@pytest.mark.parametrize("content", ["", "\n\n", b"a;*\n\xff;*\n", "a\n", "a;*\nb;any\n", "a;b;a\n"])
def test_a_faulty_csv_is_refused_with_its_name(tmp_path: Path, content: str | bytes) -> None:
    with pytest.raises(InputError, match=r"age\.csv"):
        Hierarchy.from_file(written(tmp_path, "age.csv", content))


@pytest.mark.parametrize("name", ["no.csv", "no.json", "no.toml", "folder.json", "folder"])
def test_a_file_that_cannot_be_opened(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match=rf"{name}: the hierarchy cannot be opened"):
        Hierarchy.from_file(tmp_path / name)


TREE = {"Europe": {"France": ["Paris", "Lyon"], "Norway": ["Oslo"]}, "Asia": {"Japan": ["Kyoto"]}}


def test_trees_in_json_toml_and_python_are_the_same(tmp_path: Path) -> None:
    as_json = written(tmp_path, "t.json", json.dumps(TREE))
    toml = '[Europe]\nFrance = ["Paris", "Lyon"]\nNorway = ["Oslo"]\n[Asia]\nJapan = ["Kyoto"]\n'
    as_toml = written(tmp_path, "t.TOML", "\ufeff" + toml)
    assert Hierarchy.from_tree(TREE).rows() == CITIES
    assert Hierarchy.from_file(as_json).rows() == CITIES
    assert Hierarchy.from_file(as_toml).rows() == CITIES


def test_one_name_at_the_top_of_a_tree_is_the_root() -> None:
    assert Hierarchy.from_tree({"all": {"x": [1, 2.5], "y": [True]}}).rows() == [
        ("1", "x", "all"),
        ("2.5", "x", "all"),
        ("true", "y", "all"),
    ]


def test_mappings_inside_lists_of_a_tree() -> None:
    assert Hierarchy.from_tree({"all": [{"x": ["a"]}, {"y": ["b"]}]}).rows() == [
        ("a", "x", "all"),
        ("b", "y", "all"),
    ]


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ({}, "no values"),
        ({"a": []}, "no values"),
        ({"a": "x", "b": ["y"]}, "'a' has 'x' under it. Write a list of values"),
        ({"a": None}, "'a' has None under it"),
        ({"a": ["x"], "b": {"c": ["y"]}}, "'y' .* has 4 levels, 'x' .* has 3"),
        ({"a": ["x"], "b": ["x"]}, "'x' at level 0 has two parents: 'a' .* and 'b'"),
    ],
)
def test_a_faulty_tree_is_refused(tree: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Hierarchy.from_tree(tree)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.json", '{"a":\n ["x",}', "t.json: not a valid JSON file: .*line 2"),
        ("t.toml", "a = ['x']\nb = = 1\n", "t.toml: not a valid TOML file: .*line 2"),
        ("t.json", '["a"]', "t.json: a tree starts with a mapping"),
        ("t.json", '{"a": "x", "b": ["y"]}', "t.json: .*'a' has 'x' under it"),
        ("t.json", b'{"a": ["\xff"]}', "t.json: "),
        ("t.toml", b"a = ['\xff']", "t.toml: "),
        ("t.json", "", "t.json: not a valid JSON file"),
    ],
)
def test_a_faulty_tree_file_is_refused_with_its_name(
    tmp_path: Path, name: str, content: str | bytes, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        Hierarchy.from_file(written(tmp_path, name, content))


ARX_HEIGHTS = {
    "age": 4, "education": 3, "marital-status": 2, "native-country": 2, "occupation": 2,
    "race": 1, "salary-class": 1, "sex": 1, "workclass": 2,
}  # fmt: skip


@pytest.mark.parametrize("attribute", ARX_HEIGHTS)
def test_the_hierarchies_that_arx_ships(data_folder: Path, attribute: str) -> None:
    path = data_folder / "arx_hierarchies" / f"adult_hierarchy_{attribute}.csv"
    hierarchy = Hierarchy.from_file(path)
    with path.open(newline="") as file:
        assert hierarchy.rows() == [tuple(row) for row in csv.reader(file, delimiter=";")]
    assert hierarchy.height == ARX_HEIGHTS[attribute]


# -- groups, suppression, masks, dates -------------------------------------------------------------


def test_groups() -> None:
    hierarchy = Hierarchy.groups(
        {1: "low", 3.5: "high", False: "low", dt.date(2024, 1, 2): "day", "x": "low"}
    )
    assert hierarchy.rows() == [
        ("1", "low", "*"),
        ("3.5", "high", "*"),
        ("false", "low", "*"),
        ("2024-01-02", "day", "*"),
        ("x", "low", "*"),
    ]


def test_suppress_ignores_missing_and_repeated_values() -> None:
    hierarchy = Hierarchy.suppress(pl.Series(["f", None, "m", "f"]))
    assert hierarchy.rows() == [("f", "*"), ("m", "*")]


def test_mask_hides_the_last_character_first() -> None:
    assert Hierarchy.mask(["4056", "4117"]).rows() == [
        ("4056", "405*", "40**", "4***", "****"),
        ("4117", "411*", "41**", "4***", "****"),
    ]


@pytest.mark.parametrize(
    ("values", "pad", "rows"),
    [
        (["7", "12"], None, [("7", "0*", "**"), ("12", "1*", "**")]),
        ([7, 12], None, [("7", "0*", "**"), ("12", "1*", "**")]),
        (["A7", "B"], None, [("A7", "A*", "**"), ("B", " *", "**")]),
        (["A7", "B"], "-", [("A7", "A*", "**"), ("B", "-*", "**")]),
        (["東京", "都"], "_", [("東京", "東*", "**"), ("都", "_*", "**")]),
        (["", "x"], None, [("", "*"), ("x", "*")]),
        (["7", "07"], None, [("7", "0*", "**"), ("07", "0*", "**")]),
    ],
)
def test_mask_pads_on_the_left(values: list, pad: str | None, rows: list[tuple[str, ...]]) -> None:
    assert Hierarchy.mask(values, pad=pad).rows() == rows


@pytest.mark.parametrize("pad", ["", "ab"])
def test_mask_pads_with_one_character(pad: str) -> None:
    with pytest.raises(ParameterError, match=r"'pad' parameter of Hierarchy\.mask must be one character"):
        Hierarchy.mask(["a"], pad=pad)


def test_mask_needs_characters() -> None:
    with pytest.raises(InputError, match="no level above it"):
        Hierarchy.mask([""])


@moderate
@given(st.lists(st.text("ab*", min_size=1, max_size=4), min_size=1, max_size=8))
def test_masked_values_share_what_is_left_of_them(values: list[str]) -> None:
    hierarchy = Hierarchy.mask(values, pad="-")
    width = max(map(len, values))
    assert hierarchy.height == width
    for path in hierarchy.rows():
        assert [text[: width - level] for level, text in enumerate(path)][1:] == [
            path[0].rjust(width, "-")[: width - level] for level in range(1, width + 1)
        ]
        assert all(text.endswith("*" * level) for level, text in enumerate(path))


@given(st.dates())
@moderate
def test_dates_become_month_quarter_year_decade(day: dt.date) -> None:
    month = day.isoformat()[:7]
    assert Hierarchy.dates([day]).rows() == [
        (day.isoformat(), month, f"{month[:5]}Q{math.ceil(day.month / 3)}", month[:4], f"{month[:3]}0s", "*")
    ]


def test_levels_of_dates_may_be_chosen() -> None:
    hierarchy = Hierarchy.dates([dt.date(2024, 12, 31), dt.date(1999, 1, 1)], levels=["day", "year"])
    assert hierarchy.rows() == [
        ("2024-12-31", "2024-12-31", "2024", "*"),
        ("1999-01-01", "1999-01-01", "1999", "*"),
    ]


@pytest.mark.parametrize("zone", [None, "Asia/Tokyo"])
def test_datetimes_become_days(zone: str | None) -> None:
    times = pl.Series([dt.datetime(2024, 5, 17, 23, 30), None]).dt.replace_time_zone(zone)
    hierarchy = Hierarchy.dates(times, levels=["day", "month"])
    assert hierarchy.rows()[0][1:] == ("2024-05-17", "2024-05", "*")
    assert hierarchy.find(times.drop_nulls()).tolist() == [0]


@pytest.mark.parametrize("levels", [[], ["month", "day"], ["fortnight"], ["day", "day"], "day"])
def test_levels_of_dates_are_checked(levels: list[str]) -> None:
    with pytest.raises(
        ParameterError, match=r"'levels' parameter of Hierarchy\.dates must be some of day, month"
    ):
        Hierarchy.dates([dt.date(2024, 1, 1)], levels=levels)


@given(st.dates(dt.date(1000, 1, 8), dt.date(9998, 12, 1)))
def test_weeks_are_those_of_iso_8601(day: dt.date) -> None:
    """A week begins on a Monday, and is of the year that its Thursday is in."""
    ((value, week, year, decade, _),) = Hierarchy.dates([day], levels=["week", "year", "decade"]).rows()
    thursday = day - dt.timedelta(day.weekday() - 3)
    number = (thursday - dt.date(thursday.year, 1, 1)).days // 7 + 1
    assert (value, week) == (day.isoformat(), f"{thursday.year:04d}-W{number:02d}")
    assert (year, decade) == (str(thursday.year), f"{str(thursday.year)[:3]}0s")


def test_weeks_lie_in_no_month() -> None:
    with pytest.raises(ParameterError, match="or of day, week, year, decade"):
        Hierarchy.dates([dt.date(2024, 1, 1)], levels=["week", "month"])


@given(
    st.dates(dt.date(1904, 1, 1), dt.date(2024, 2, 29)),
    st.sampled_from([dt.date(2024, 2, 29), dt.date(2024, 3, 1)]),
)
def test_ages_count_birthdays(born: dt.date, on: dt.date) -> None:
    """A birthday is a day of the same month and number; of the 29th of February, in other years, the 1st of March."""
    path = Hierarchy.ages([born], on=on, width=5, fanout=3).rows()[0]
    days = (born + dt.timedelta(days) for days in range(1, (on - born).days + 1))
    leap = (born.month, born.day) == (2, 29)
    birthdays = sum(
        (day.month, day.day) == (born.month, born.day)
        or (leap and (day.month, day.day) == (3, 1) and not _is_leap(day.year))
        for day in days
    )
    assert path[1] == str(birthdays)
    low, high = map(int, path[2].strip("[)").split(", "))
    assert low <= birthdays < high == low + 5


def _is_leap(year: int) -> bool:
    return (dt.date(year, 3, 1) - dt.timedelta(1)).day == 29


@pytest.mark.parametrize(
    ("born", "on", "message"),
    [
        ([dt.date(2024, 1, 2)], dt.date(2024, 1, 1), "is -1 years old"),
        ([dt.date(1800, 1, 2)], dt.date(2024, 1, 1), "is 223 years old"),
        ([1990], dt.date(2024, 1, 1), "needs dates"),
    ],
)
def test_ages_that_cannot_be_are_refused(born: list, on: dt.date, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Hierarchy.ages(born, on=on)


def test_ages_and_weeks_are_read_from_a_schema_and_published(tmp_path: Path) -> None:
    days = [dt.date(1990 + i % 3, 5, 1 + i % 25) for i in range(60)]
    declared = """
        [attributes.born]
        role = "quasi"
        hierarchy = { kind = "ages", on = 2024-01-01, width = 10 }
        [attributes.seen]
        role = "quasi"
        hierarchy = { kind = "dates", levels = ["week", "year"] }
    """
    (tmp_path / "sudare.toml").write_text(declared)
    schema = sd.Schema.from_toml(tmp_path / "sudare.toml")
    frame = pl.DataFrame({"born": days, "seen": days[::-1]})
    release = sd.generalize(sd.read(frame, schema), sd.KAnonymity(6), "full-domain")
    release.write(tmp_path / "out")
    assert sd.verify(tmp_path / "out").holds
    assert sd.apply(release.plan, sd.read(frame.reverse(), schema)).frame().equals(release.frame())


@pytest.mark.parametrize("values", [["2024-01-01"], [20240101], []])
def test_dates_need_dates(values: list) -> None:
    with pytest.raises(InputError, match=r"Hierarchy\.dates needs dates|no values"):
        Hierarchy.dates(values)


# -- intervals -------------------------------------------------------------------------------------


def limits(label: str) -> tuple[Decimal, Decimal]:
    """The limits that a printed interval has; the lower one belongs to it, the upper one does not."""
    if label == "*":
        return Decimal("-Infinity"), Decimal("Infinity")
    if interval := re.fullmatch(r"\[(\S+), (\S+)\)", label):
        return Decimal(interval[1]), Decimal(interval[2])
    if label.startswith("< "):
        return Decimal("-Infinity"), Decimal(label[2:])
    assert label.startswith(">= "), label
    return Decimal(label[3:]), Decimal("Infinity")


def check_intervals(hierarchy: Hierarchy) -> None:
    """Each value lies in its printed intervals, which grow; intervals of a level are equal or apart."""
    rows = hierarchy.rows()
    for value, *labels in rows:
        for label in labels:
            low, high = limits(label)
            assert low <= Decimal(value) < high, f"{value} is labelled {label}"
        for small, large in pairwise(labels):
            assert limits(large)[0] <= limits(small)[0] < limits(small)[1] <= limits(large)[1]
    for level in zip(*(labels for _, *labels in rows), strict=True):
        apart = sorted({limits(label) for label in level})
        assert len(apart) == len(set(level))
        assert all(one[1] <= other[0] for one, other in pairwise(apart))


TENTHS = st.integers(-3000, 3000).map(lambda number: number / 10)
NUMBERS = st.one_of(
    st.lists(st.integers(-1000, 1000), min_size=1, max_size=30),
    st.lists(TENTHS, min_size=1, max_size=30),
    st.lists(st.floats(-1e6, 1e6, allow_subnormal=False), min_size=1, max_size=30),
)


@moderate
@given(
    NUMBERS,
    st.sampled_from([1, 3, 5, 10, 0.5, 0.25, 2.5]),
    st.integers(2, 4),
    st.sampled_from([0, 1, -7, 0.5, 100]),
)
def test_values_lie_in_their_intervals_of_equal_width(
    values: list[float], width: float, fanout: int, origin: float
) -> None:
    check_intervals(Hierarchy.intervals(values, width=width, fanout=fanout, origin=origin))


@moderate
@given(st.lists(TENTHS, min_size=1, max_size=30), st.sampled_from([0.1, 0.2, 0.3, 0.7]))
def test_values_lie_in_their_intervals_of_a_width_that_is_no_binary_fraction(
    values: list[float], width: float
) -> None:
    check_intervals(Hierarchy.intervals(values, width=width))


@moderate
@given(st.lists(st.integers(10**11, 10**15), min_size=1, max_size=10), st.sampled_from([1, 3, 10, 1000]))
def test_values_lie_in_their_intervals_when_numbers_are_long(values: list[int], width: int) -> None:
    check_intervals(Hierarchy.intervals([*values, *(v + 1 for v in values)], width=width, fanout=10))


@moderate
@given(st.lists(st.floats(0, 1e-9), min_size=1, max_size=10))
def test_values_lie_in_their_intervals_when_numbers_are_tiny(values: list[float]) -> None:
    check_intervals(Hierarchy.intervals(values, width=1e-10))


@moderate
@given(NUMBERS, st.integers(2, 8), st.integers(2, 4))
def test_values_lie_in_their_quantiles(values: list[float], quantiles: int, fanout: int) -> None:
    check_intervals(Hierarchy.intervals(values, quantiles=quantiles, fanout=fanout))


@moderate
@given(NUMBERS, st.lists(st.integers(-900, 900) | TENTHS, min_size=1, unique=True), st.integers(2, 4))
def test_values_lie_between_their_cuts(values: list[float], cuts: list[float], fanout: int) -> None:
    check_intervals(Hierarchy.intervals(values, cuts=sorted(cuts), fanout=fanout))


@pytest.mark.parametrize(
    ("value", "label"),
    [(25, "[25, 30)"), (24, "[20, 25)"), (0, "[0, 5)"), (-1, "[-5, 0)"), (-5, "[-5, 0)"), (-6, "[-10, -5)")],
)
def test_a_value_on_a_limit_belongs_to_the_interval_above(value: int, label: str) -> None:
    assert Hierarchy.intervals([value, 100, -100], width=5).publish([0], level=1) == [label]


@pytest.mark.parametrize("step", range(1, 20))
def test_steps_of_a_tenth_on_their_limits(step: int) -> None:
    value = step / 10
    expected = f"[{value:g}, {(step + 1) / 10:g})"
    assert Hierarchy.intervals([value], width=0.1).publish([0], level=1) == [expected]


def test_intervals_merge_by_the_fanout_up_to_the_root() -> None:
    hierarchy = Hierarchy.intervals([0, 15, 25, 31, 79], width=10, fanout=2)
    assert hierarchy.rows() == [
        ("0", "[0, 10)", "[0, 20)", "[0, 40)", "*"),
        ("15", "[10, 20)", "[0, 20)", "[0, 40)", "*"),
        ("25", "[20, 30)", "[20, 40)", "[0, 40)", "*"),
        ("31", "[30, 40)", "[20, 40)", "[0, 40)", "*"),
        ("79", "[70, 80)", "[60, 80)", "[40, 80)", "*"),
    ]
    assert Hierarchy.intervals([0, 15, 25, 31, 79], width=10, fanout=8).height == 2


def test_intervals_on_both_sides_of_the_origin_meet_at_the_root() -> None:
    hierarchy = Hierarchy.intervals([-15, -5, 5, 35], width=10)
    assert hierarchy.rows() == [
        ("-15", "[-20, -10)", "[-20, 0)", "[-40, 0)", "*"),
        ("-5", "[-10, 0)", "[-20, 0)", "[-40, 0)", "*"),
        ("5", "[0, 10)", "[0, 20)", "[0, 40)", "*"),
        ("35", "[30, 40)", "[20, 40)", "[0, 40)", "*"),
    ]


def test_intervals_count_from_the_origin() -> None:
    hierarchy = Hierarchy.intervals([18.0, 64.5], width=10, origin=18)
    assert hierarchy.publish([0, 1], level=1) == ["[18, 28)", "[58, 68)"]


def test_intervals_merge_alike_whatever_the_data() -> None:
    few, many = Hierarchy.intervals([23, 45], width=10), Hierarchy.intervals([23, 45, 177], width=10)
    assert [row[1:4] for row in few.rows()] == [row[1:4] for row in many.rows()[:2]]
    assert few.height < many.height


def test_cuts_are_open_at_both_ends() -> None:
    hierarchy = Hierarchy.intervals([17, 18, 64, 65, 90], cuts=[18, 65])
    assert hierarchy.publish(range(5), level=1) == ["< 18", "[18, 65)", "[18, 65)", ">= 65", ">= 65"]
    assert hierarchy.publish(range(5), level=2) == ["< 65", "< 65", "< 65", ">= 65", ">= 65"]
    assert hierarchy.height == 3


def test_quantiles_hold_equally_many_values() -> None:
    hierarchy = Hierarchy.intervals(range(100), quantiles=4, fanout=4)
    assert hierarchy.height == 2
    published = hierarchy.publish(range(100), level=1)
    assert published == ["< 25"] * 25 + ["[25, 50)"] * 25 + ["[50, 75)"] * 25 + [">= 75"] * 25


@moderate
@given(st.lists(st.integers(-500, 500), unique=True, min_size=2, max_size=60), st.integers(2, 8))
def test_quantiles_hold_about_equally_many_values(values: list[int], quantiles: int) -> None:
    hierarchy = Hierarchy.intervals(values, quantiles=quantiles)
    held = np.bincount(hierarchy.codes[1])
    assert held.max() <= math.ceil(len(values) / quantiles) + 1


def test_a_single_value_has_an_interval_of_its_own() -> None:
    assert Hierarchy.intervals([5], width=10).rows() == [("5", "[0, 10)", "*")]
    assert Hierarchy.intervals([5], quantiles=3).height == 2


def test_whole_numbers_and_fractions_may_be_mixed() -> None:
    assert Hierarchy.intervals([18, 64.5], width=10).publish([0, 1], level=1) == ["[10, 20)", "[60, 70)"]


def test_missing_and_repeated_numbers_are_ignored() -> None:
    assert Hierarchy.intervals([5, None, 5], width=10).leaves == ("5",)
    assert Hierarchy.intervals([5.0, math.nan], width=10).leaves == ("5.0",)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Hierarchy.intervals([1]), "needs exactly one of width, quantiles and cuts"),
        (lambda: Hierarchy.intervals([1], width=1, cuts=[1]), "needs exactly one of"),
        (lambda: Hierarchy.intervals([1], width=0), r"'width' .* must be above 0. Got 0"),
        (lambda: Hierarchy.intervals([1], width=-2), r"'width' .* must be above 0. Got -2"),
        (lambda: Hierarchy.intervals([1], width=math.nan), "'width' .* Got nan"),
        (lambda: Hierarchy.intervals([1], width=math.inf), "'width' .* Got inf"),
        (lambda: Hierarchy.intervals([1e300], width=1), "'width' .* too small"),
        (
            lambda: Hierarchy.intervals([1], width=1, fanout=1),
            "'fanout' .* must be from 2 to 1,000,000. Got 1",
        ),
        (lambda: Hierarchy.intervals([1], width=1, origin=math.nan), "origin"),
        (lambda: Hierarchy.intervals([1], quantiles=1), "'quantiles' .* must be from 2 to 10,000. Got 1"),
        (lambda: Hierarchy.intervals([1], cuts=[]), "'cuts' .* must be rising numbers"),
        (lambda: Hierarchy.intervals([1], cuts=[2, 2]), r"'cuts' .* Got \[2, 2\]"),
        (lambda: Hierarchy.intervals([1], cuts=[3, 2]), "'cuts'"),
        (lambda: Hierarchy.intervals([1], cuts=[math.nan]), "'cuts'"),
        (lambda: Hierarchy.intervals([1], cuts=[1, math.nan, 2]), "'cuts'"),
    ],
)
def test_impossible_intervals_are_refused(make: Callable[[], Hierarchy], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        make()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["1"], "needs numbers; these values are String"),
        ([dt.date(2024, 1, 1)], "needs numbers"),
        (pl.Series([1.0, math.nan]), "needs finite numbers"),
        ([math.inf], "needs finite numbers"),
        (pl.Series([], dtype=pl.Int64), "no values"),
    ],
)
@pytest.mark.parametrize("way", [{"width": 1}, {"quantiles": 2}, {"cuts": [1]}])
def test_intervals_need_finite_numbers(values: list, message: str, way: dict) -> None:
    with pytest.raises(InputError, match=message):
        Hierarchy.intervals(values, **way)


def test_intervals_of_decimals() -> None:
    hierarchy = Hierarchy.intervals(pl.Series([Decimal("1.50"), Decimal("12.00")]), width=5)
    assert hierarchy.publish([0, 1], level=1) == ["[0, 5)", "[10, 15)"]


def test_the_ends_are_coded_from_the_first_level_on() -> None:
    tree = Hierarchy.top_bottom([5, 17, 18, 34, 89, 90, 101], low=18, high=90, width=10)
    rows = {row[0]: row[1:] for row in tree.rows()}
    assert rows["5"] == rows["17"] == ("< 18", "< 18", "< 18", "< 18", "*")
    assert rows["90"] == rows["101"]
    assert rows["90"][0] == ">= 90"
    assert rows["18"][:2] == ("18", "[18, 28)")
    assert rows["89"] == ("89", "[88, 90)", "[78, 90)", "[58, 90)", "*")
    assert Hierarchy.top_bottom([1, 60], high=50).rows() == [("60", ">= 50", "*"), ("1", "1", "*")]
    assert Hierarchy.top_bottom([-3, 60], low=0).rows() == [("-3", "< 0", "*"), ("60", "60", "*")]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "needs low, high or both"),
        ({"low": 5, "high": 5}, "must be below 'high'"),
        ({"low": float("nan")}, "must be finite"),
        ({"low": 0, "width": -1}, "must be above 0"),
    ],
)
def test_ends_that_cannot_be_are_refused(given: dict[str, float], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Hierarchy.top_bottom([1, 2], **given)


def test_top_and_bottom_coding_is_read_from_a_schema_and_published(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(
        '[attributes.age]\nrole = "quasi"\nhierarchy = { kind = "top_bottom", low = 20, high = 60 }\n'
    )
    schema = sd.Schema.from_toml(tmp_path / "s.toml")
    table = sd.read(pl.DataFrame({"age": [15, 17, 30, 30, 70, 99]}), schema)
    assert set(sd.generalize(table, sd.KAnonymity(2)).frame()["age"]) == {"< 20", "30", ">= 60"}


# -- digits --------------------------------------------------------------------------------------

WEIGHTS = st.one_of(st.integers(0, 10**6), st.floats(0, 1e9, allow_subnormal=False))


def test_digits_are_rounded_one_by_one() -> None:
    rows = Hierarchy.digits([1449, 0.0625, 0, 7], digits=3).rows()
    assert rows == [
        ("1449.0", "1450", "1400", "1000", "*"),  # 1450, a tie, goes to the even digit
        ("0.0625", "0.0625", "0.062", "0.06", "*"),
        ("0.0", "0", "0", "0", "*"),
        ("7.0", "7", "7", "7", "*"),
    ]
    assert Hierarchy.digits([7], digits=1, root=0.25).rows() == [("7", "7", "2.5e-1")]


@given(st.lists(WEIGHTS, min_size=1), st.integers(1, 5))
@moderate
def test_what_a_number_is_rounded_to_depends_on_no_other(values: list[float], digits: int) -> None:
    """So that an outsider, who has other people, reads a label as the holder meant it."""
    together = {
        row[0]: row for row in Hierarchy.digits(pl.Series(values, strict=False), digits=digits).rows()
    }
    for value in values:
        (row,) = Hierarchy.digits(
            pl.Series([value], dtype=pl.Series(values, strict=False).dtype), digits=digits
        ).rows()
        assert together[row[0]] == row
        for level, label in enumerate(row[1:-1]):
            assert (
                abs(float(label) - value) <= 1.2 * value * 10.0 ** (1 - digits + level) / 2
            )  # rounded several times


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        (["a"], {}, "Hierarchy.digits needs numbers; these values are String. Give them type 'number'."),
        ([1.0, math.inf], {}, "Hierarchy.digits needs finite numbers"),
        ([1], {"digits": 0}, "'digits' parameter of Hierarchy.digits must be from 1 to 17. Got 0 instead"),
        ([1], {"root": math.nan}, "'root' parameter of Hierarchy.digits must be a number. Got nan instead"),
    ],
)
def test_what_cannot_be_rounded_is_refused(values: list, options: dict, message: str) -> None:
    with pytest.raises((InputError, ParameterError), match=re.escape(message)):
        Hierarchy.digits(values, **options)
