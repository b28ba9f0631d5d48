from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare as sd
from sudare import Attribute, CsvFormat, Hierarchy, InputError, Role, Schema
from sudare.tables.attribute import UNITS
from sudare.tables.recipes import DigitsRecipe, FileRecipe, IntervalsRecipe, MaskRecipe
from tests import by_row

# -- from roles ------------------------------------------------------------------------------------


def test_from_roles() -> None:
    sexes = Hierarchy.suppress(["f", "m"])
    schema = Schema.from_roles(
        quasi=["age", "sex"],
        sensitive=["occupation"],
        identifier=["name"],
        other=["note", "grade"],
        types={"age": "integer"},
        hierarchies={"age": {"kind": "intervals", "width": 5}, "sex": sexes},
        bounds={"age": (0, 120)},
        domains={"grade": range(1, 6)},
        weights={"sex": 0.5},
        missing="refuse",
        missing_values=["NA"],
    )
    assert schema.names(Role.quasi) == ["age", "sex"]
    assert schema.names("sensitive") == ["occupation"]
    assert schema.names("identifier") == ["name"]
    assert schema.names("other") == ["note", "grade"]
    assert schema["age"] == Attribute(
        role="quasi", type="integer", hierarchy={"kind": "intervals", "width": 5}, bounds=(0, 120)
    )
    assert schema["sex"].hierarchy is sexes
    assert schema["sex"].weight == 0.5
    assert schema["grade"].domain == (1, 2, 3, 4, 5)
    assert schema.missing == "refuse"
    assert schema.missing_values == ("NA",)
    assert "age" in schema
    assert "aeg" not in schema


def test_defaults() -> None:
    schema = Schema.from_roles(quasi="age")
    assert schema.names("quasi") == ["age"]
    assert schema["age"] == Attribute(role=Role.quasi)
    assert schema["age"].weight == 1.0
    assert schema.missing == "own value"
    assert schema.missing_values is None
    assert schema.csv == CsvFormat()


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ({"quasi": ["age"], "sensitive": ["age"]}, "'age' has two roles, quasi and sensitive. Keep one"),
        ({"identifier": ["a"], "other": ["a"]}, "'a' has two roles, identifier and other"),
        ({"quasi": ["age", "age"]}, "'age'.*twice|'age' has two roles"),
        ({"quasi": ["age"], "bounds": {"aeg": (0, 1)}}, r"bounds given for 'aeg', which has no role \(did you mean 'age'\?\)"),
        ({"quasi": ["age"], "types": {"x": "text"}}, "type given for 'x', which has no role. Add it to quasi, sensitive"),
        ({"quasi": ["age"], "hierarchies": {"x": "mask"}}, "hierarchy given for 'x'"),
        ({"quasi": ["age"], "domains": {"x": [1]}}, "domain given for 'x'"),
        ({"quasi": ["age"], "weights": {"x": 1}}, "weight given for 'x'"),
    ],
)  # fmt: skip
def test_roles_that_do_not_fit_together(roles: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Schema.from_roles(**roles)


def test_an_attribute_that_is_not_there() -> None:
    schema = Schema.from_roles(quasi=["age", "sex"])
    with pytest.raises(
        InputError, match=r"no attribute 'agee' \(did you mean 'age'\?\). There are 'age', 'sex'"
    ):
        schema["agee"]


# -- what an attribute can be ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("attribute", "message"),
    [
        ({}, "attribute 'age': role is missing"),
        ({"role": "quasy"}, "role must be 'identifier', 'quasi', 'sensitive', 'other', 'weight', 'person' or 'household'. Got 'quasy' instead"),
        ({"role": "quasi", "type": "int"}, "type must be 'integer', 'number', 'text', 'date' or 'datetime'. Got 'int' instead"),
        ({"role": "quasi", "weight": -1}, "weight must be greater than or equal to 0. Got -1 instead"),
        ({"role": "quasi", "weight": float("inf")}, "weight must be a finite number"),
        ({"role": "quasi", "heirarchy": "mask"}, r"'heirarchy' is not a known key \(did you mean 'hierarchy'\?\)"),
        ({"role": "quasi", "colour": "red"}, "'colour' is not a known key"),
        ({"role": "quasi", "domain": []}, "has an empty domain"),
        ({"role": "quasi", "domain": [1, "a"]}, "has a domain that mixes numbers and text"),
        ({"role": "quasi", "domain": [True, 2]}, "has a domain that mixes numbers and truth values"),
        ({"role": "quasi", "domain": [1, 2, 1.0]}, "has a domain that lists a value twice"),
        ({"role": "quasi", "domain": [1], "bounds": [0, 1]}, "has both a domain and bounds. Keep one"),
        ({"role": "quasi", "bounds": [5, 1]}, r"has bounds \[5, 1\] whose lower end is not the smaller one"),
        ({"role": "quasi", "bounds": [float("nan"), 1]}, "has bounds"),
        ({"role": "quasi", "bounds": [1]}, "bounds"),
        ({"role": "quasi", "bounds": [0, dt.date(2024, 1, 1)]}, "has bounds that mix a date and a number"),
        ({"role": "quasi", "bounds": [dt.date(2024, 1, 1), dt.datetime(2024, 2, 1)]}, "bounds"),
        ({"role": "quasi", "bounds": [dt.datetime(2024, 1, 1), dt.datetime(2024, 2, 1, tzinfo=dt.UTC)]}, "bounds"),
        ({"role": "quasi", "hierarchy": {"width": 5}}, "hierarchy.kind is missing"),
        ({"role": "quasi", "hierarchy": {"kind": "interval"}}, r"hierarchy.kind must be one of .*'intervals'.* Got 'interval' instead"),
        ({"role": "quasi", "hierarchy": {"kind": "intervals", "width": "x"}}, "width must be a valid number.* Got 'x' instead"),
        ({"role": "quasi", "hierarchy": {"kind": "intervals", "widht": 5}}, r"widht' is not a known key \(did you mean 'width'\?\)"),
        ({"role": "quasi", "hierarchy": {"kind": "file"}}, "path is missing"),
        ({"role": "quasi", "hierarchy": {"kind": "rows", "rows": [["a"]]}}, "hierarchy .*'a' .* has no level above it"),
        ({"role": "quasi", "hierarchy": {"kind": "rows"}}, "hierarchy .* no values"),
        ({"role": "quasi", "hierarchy": 5}, "hierarchy"),
    ],
)  # fmt: skip
def test_faulty_attributes_are_refused_by_name(attribute: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as refused:
        Schema.from_dict({"attributes": {"age": attribute}})
    assert str(refused.value).startswith("Schema: attribute 'age': ")
    assert not str(refused.value).endswith("..")


def test_all_faults_are_named_at_once() -> None:
    with pytest.raises(InputError) as refused:
        Schema.from_dict({"attributes": {"age": {"role": "x"}, "sex": {"role": "quasi", "type": "y"}}})
    first, second = str(refused.value).splitlines()
    assert "attribute 'age'" in first
    assert "attribute 'sex'" in second


@pytest.mark.parametrize("name", ["recipe", "ready", "attributes", "role", "mask"])
def test_attributes_may_have_any_name(name: str) -> None:
    with pytest.raises(InputError, match=f"Schema: attribute '{name}': role must be"):
        Schema.from_dict({"attributes": {name: {"role": "x"}}})


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({}, "Schema: attributes is missing"),
        ({"attributes": {}, "missing": "drop"}, "missing must be 'own value' or 'refuse'. Got 'drop' instead"),
        ({"attributes": {}, "mising": "refuse"}, r"'mising' is not a known key \(did you mean 'missing'\?\)"),
        ({"attributes": {}, "atributes": {}}, r"'atributes' is not a known key \(did you mean 'attributes'\?\)"),
        ({"attributes": {}, "csv": {"delimeter": ";"}}, r"'csv.delimeter' is not a known key \(did you mean 'delimiter'\?\)"),
        ({"attributes": {}, "csv": {"decimal": "'"}}, "csv.decimal must be '.' or ','. Got"),
        ({"attributes": {}, "missing_values": "NA"}, "missing_values"),
    ],
)  # fmt: skip
def test_faulty_schemas_are_refused(data: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Schema.from_dict(data)


@pytest.mark.parametrize(
    ("short", "recipe"),
    [
        ("mask", MaskRecipe(kind="mask")),
        ("ages.csv", FileRecipe(kind="file", path="ages.csv")),
        ({"kind": "intervals", "cuts": [1, 2]}, IntervalsRecipe(kind="intervals", cuts=[1.0, 2.0])),
    ],
)
def test_short_forms_of_hierarchies(short: object, recipe: object) -> None:
    assert Attribute(role="quasi", hierarchy=short).hierarchy == recipe


# -- kinds -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ({}, None),
        ({"type": "number", "bounds": (0, 1)}, "number"),
        ({"bounds": (0, 1)}, "integer"),
        ({"bounds": (0, 1.0)}, "number"),
        ({"bounds": (dt.date(2024, 1, 1), dt.date(2024, 1, 2))}, "date"),
        ({"bounds": (dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 2))}, "datetime"),
        ({"domain": (1, 2.5)}, "number"),
        ({"domain": ("1", "2")}, "text"),
        ({"domain": (True, False)}, "truth value"),
        ({"domain": (dt.date(2024, 1, 1), dt.datetime(2024, 1, 1, 5))}, "datetime"),
    ],
)
def test_the_kind_is_what_is_declared(said: dict, kind: str | None) -> None:
    assert Attribute(role="quasi", **said).kind == kind


# -- files -----------------------------------------------------------------------------------------

SCHEMA_FILE = """\
missing_values = ["", "?"]

[csv]
delimiter = ";"

[attributes.age]
role = "quasi"
bounds = [0, 120]
hierarchy = { kind = "intervals", width = 5 }

[attributes."home.town"]
role = "quasi"
hierarchy = "towns.csv"

[attributes.born]
role = "other"
bounds = [1900-01-01, 2024-12-31]
"""


def written(folder: Path, text: str | bytes, name: str = "schema.toml") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_from_toml(tmp_path: Path, start: str) -> None:
    schema = Schema.from_toml(written(tmp_path, start + SCHEMA_FILE))
    assert schema == Schema(
        attributes={
            "age": Attribute(role="quasi", bounds=(0, 120), hierarchy={"kind": "intervals", "width": 5}),
            "home.town": Attribute(role="quasi", hierarchy=str(tmp_path / "towns.csv")),
            "born": Attribute(role="other", bounds=(dt.date(1900, 1, 1), dt.date(2024, 12, 31))),
        },
        missing_values=("", "?"),
        csv=CsvFormat(delimiter=";"),
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('role = "other"', 'role = "others"', "line 15: attribute 'born': role must be .* Got 'others' instead"),
        ("hierarchy = \"towns.csv\"", "heirarchy = \"x\"", "line 11: attribute 'home.town': 'heirarchy' is not a known key"),
        ("[0, 120]", "[120, 0]", "line 6: attribute 'age': has bounds"),
        ("[0, 120]", "[0, 120", r"not a valid TOML file: .*line \d+"),
        ("[attributes.born]", "[attributes.age]", "not a valid TOML file: .*line 15"),
    ],
)  # fmt: skip
def test_faults_in_a_file_are_named_with_file_and_line(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    path = written(tmp_path, SCHEMA_FILE.replace(old, new))
    with pytest.raises(InputError, match=message) as refused:
        Schema.from_toml(path)
    assert str(refused.value).startswith(str(path))


@pytest.mark.parametrize(
    "text",
    [
        '# people\n[attributes]\nage = { role = "x" }\n',
        "# people\n\n[attributes.'age']\nrole = \"x\"\n",
        '# people\n\n[ attributes . age ]\nrole = "x"\n',
        '# people\n\nattributes.age.role = "x"\n',
        '# [attributes.age]\n\n[attributes."age"]\nrole = "x"\n',
    ],
)
def test_a_line_is_only_named_where_it_is_right(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match="attribute 'age': role must be") as refused:
        Schema.from_toml(written(tmp_path, text))
    lines = text.splitlines()
    true = next(i for i in range(len(lines), 0, -1) if "age" in lines[i - 1])
    assert f"line {true}:" in str(refused.value) or ", line " not in str(refused.value)


@pytest.mark.parametrize("content", [b"\xff\xfe", b"role = '\xe9'\n"])
def test_a_file_that_is_not_utf_8(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(InputError, match=r"schema\.toml: not a valid TOML file"):
        Schema.from_toml(written(tmp_path, content))


def test_files_that_cannot_be_opened(tmp_path: Path) -> None:
    for path in (tmp_path / "no.toml", tmp_path):
        with pytest.raises(InputError, match=f"{path}: the schema cannot be opened"):
            Schema.from_toml(path)


def test_hierarchy_files_are_looked_for_beside_the_schema(tmp_path: Path, monkeypatch) -> None:
    folder = tmp_path / "conf"
    folder.mkdir()
    written(folder, "Oslo;Norway;*\nLyon;France;*\n", "towns.csv")
    written(folder, '[attributes.town]\nrole = "quasi"\nhierarchy = "towns.csv"\n')
    monkeypatch.chdir(tmp_path)
    for path in ("conf/schema.toml", folder / "schema.toml"):
        table = sd.read(pl.DataFrame({"town": ["Lyon"]}), Schema.from_toml(path))
        assert table["town"].hierarchy.publish([0], level=1) == ["France"]


def test_a_schema_read_from_a_relative_path_can_be_saved_beside_it(tmp_path: Path, monkeypatch) -> None:
    folder = tmp_path / "conf"
    folder.mkdir()
    written(folder, "Oslo;Norway;*\nLyon;France;*\n", "towns.csv")
    written(folder, '[attributes.town]\nrole = "quasi"\nhierarchy = "towns.csv"\n')
    monkeypatch.chdir(tmp_path)
    again = Schema.from_toml(written(folder, Schema.from_toml("conf/schema.toml").to_toml(), "again.toml"))
    assert again["town"].hierarchy.build(pl.Series(["Lyon"])).height == 2


# -- there and back --------------------------------------------------------------------------------

TEXT = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    st.sampled_from(["a.b", 'a"b', "a'b", "a b", "東京", "", "\n", "\x7f", "\\", "\u2028", "[x]", "#", "="]),
)
FINITE = st.floats(allow_nan=False, allow_infinity=False)
DATES = st.dates() | st.datetimes()
TREES = st.recursive(
    st.lists(TEXT | st.integers() | st.booleans(), max_size=3),
    lambda node: st.dictionaries(TEXT, node, max_size=3),
)
RECIPES = st.one_of(
    st.builds(lambda path: {"kind": "file", "path": f"/hierarchies/{path}"}, st.text("ab .é'", min_size=1)),
    st.builds(lambda tree: {"kind": "tree", "tree": tree}, st.dictionaries(TEXT, TREES, max_size=3)),
    st.builds(lambda groups: {"kind": "groups", "groups": groups}, st.dictionaries(TEXT, TEXT, max_size=4)),
    st.builds(lambda width, origin, n: {"kind": "intervals", "width": width, "origin": origin, "fanout": n}, FINITE, FINITE, st.integers()),
    st.builds(lambda cuts: {"kind": "intervals", "cuts": cuts}, st.lists(FINITE)),
    st.builds(lambda n: {"kind": "intervals", "quantiles": n}, st.integers()),
    st.builds(lambda pad: {"kind": "mask", "pad": pad}, st.none() | TEXT),
    st.builds(lambda levels: {"kind": "dates", "levels": levels}, st.lists(TEXT)),
    st.just({"kind": "suppress"}),
    st.builds(Hierarchy.suppress, st.lists(TEXT, min_size=1)),
    st.builds(Hierarchy.mask, st.lists(st.text("ab\"'. ", min_size=2, max_size=2), min_size=1)),
)  # fmt: skip
DOMAINS = st.one_of(
    *(
        st.lists(values, min_size=1, max_size=4, unique=True)
        for values in (st.booleans(), st.integers(), FINITE, TEXT, st.dates(), st.datetimes())
    )
)
NUMBERS = st.integers() | st.floats(allow_nan=False)
LIMITS = st.one_of(
    *(st.tuples(values, values).map(sorted) for values in (NUMBERS, st.dates(), st.datetimes()))
)


@st.composite
def attributes(draw: st.DrawFn) -> dict[str, Any]:
    optional = {
        "type": st.sampled_from(["integer", "number", "text", "date", "datetime"]),
        "hierarchy": RECIPES,
        "weight": st.floats(0, 1e9),
        draw(st.sampled_from(["domain", "bounds"])): None,
    }
    optional = {
        **optional,
        **{k: DOMAINS if k == "domain" else LIMITS for k, v in optional.items() if v is None},
    }
    role = draw(st.sampled_from(list(Role)))
    if role == Role.weight:
        optional |= {"known": st.booleans()}
    if role in UNITS:
        optional |= {"linked": st.booleans(), "most_rows": st.integers(1, 100)}
    return draw(st.fixed_dictionaries({"role": st.just(role)}, optional=optional))


def with_one_of_each_unit(parts: dict[str, dict[str, Any]]) -> bool:
    roles = [part["role"] for part in parts.values()]
    linked = [part["role"] for part in parts.values() if part.get("linked")]
    both = "household" in roles and "person" in linked
    return all(roles.count(unit) <= 1 for unit in UNITS) and not both


FORMATS = st.fixed_dictionaries(
    {},
    optional={
        "delimiter": st.sampled_from([",", ";", "\t", "|", "\\"]),
        "quote": st.sampled_from(['"', "'"]),
        "encoding": st.sampled_from(["utf-8", "shift_jis"]),
        "decimal": st.sampled_from([".", ","]),
        "trim": st.booleans(),
    },
)


@settings(max_examples=200)
@given(
    st.dictionaries(TEXT, attributes(), min_size=1, max_size=3).filter(with_one_of_each_unit),
    st.sampled_from(["own value", "refuse"]),
    st.none() | st.lists(TEXT, max_size=3),
    FORMATS,
)
def test_toml_gives_the_same_schema_back(
    tmp_path_factory: pytest.TempPathFactory,
    parts: dict,
    missing: str,
    missing_values: list | None,
    csv: dict,
) -> None:
    schema = Schema.from_dict(
        {"attributes": parts, "missing": missing, "missing_values": missing_values, "csv": csv}
    )
    path = tmp_path_factory.getbasetemp() / "round.toml"
    path.write_bytes(schema.to_toml().encode())
    again = Schema.from_toml(path)
    assert again == schema
    assert list(again.attributes) == list(schema.attributes)
    assert again.to_toml() == schema.to_toml()


def test_a_hierarchy_survives_toml_with_its_labels(tmp_path: Path) -> None:
    ages = Hierarchy.intervals(range(0, 100, 7), width=10)
    schema = Schema.from_roles(quasi=["age"], hierarchies={"age": ages})
    assert Schema.from_toml(written(tmp_path, schema.to_toml()))["age"].hierarchy.rows() == ages.rows()


@pytest.mark.parametrize(
    ("recipe", "values", "published"),
    [
        ({"kind": "tree", "tree": {"x": ["a"], "y": ["b"]}}, ["a", "b"], ["x", "y"]),
        ({"kind": "groups", "groups": {"1": "low", "2": "high"}}, [1, 2], ["low", "high"]),
        ({"kind": "intervals", "width": 5}, [3, 8], ["[0, 5)", "[5, 10)"]),
        ({"kind": "intervals", "cuts": [18, 65]}, [17, 65], ["< 18", ">= 65"]),
        ({"kind": "intervals", "quantiles": 2}, [1, 2, 3, 4], ["< 3", "< 3", ">= 3", ">= 3"]),
        ({"kind": "mask"}, ["401", "57"], ["40*", "05*"]),
        ("mask", ["401", "571"], ["40*", "57*"]),
        ({"kind": "mask", "pad": "_"}, ["401", "57"], ["40*", "_5*"]),
        ("dates", [dt.date(2024, 5, 1)], ["2024-05"]),
        ({"kind": "dates", "levels": ["year"]}, [dt.date(2024, 5, 1)], ["2024"]),
        ("suppress", ["f", "m"], ["*", "*"]),
        ({"kind": "rows", "rows": [["f", "x", "*"], ["m", "y", "*"]]}, ["m"], ["y"]),
    ],
)
def test_every_kind_of_recipe_is_built_from_the_data(recipe: Any, values: list, published: list[str]) -> None:
    schema = Schema.from_dict({"attributes": {"x": {"role": "quasi", "hierarchy": recipe}}})
    table = sd.read(pl.DataFrame({"x": values}), schema)
    hierarchy = table["x"].hierarchy
    assert hierarchy is not None
    assert hierarchy.publish(by_row.codes(table, "x"), level=1) == published


def test_a_schema_may_name_its_source(tmp_path: Path) -> None:
    schema = Schema.from_roles(quasi=["age"], source="the patients' table")
    assert Schema.from_toml(written(tmp_path, schema.to_toml())).source == "the patients' table"
    assert Schema.from_roles(quasi=["age"]).source is None


@pytest.mark.parametrize("source", ["", "x" * 256, "two\nlines", "\x1b[2J", 7])
def test_a_source_is_named_by_short_printable_text(source: Any) -> None:
    with pytest.raises(InputError, match=r"^Schema: source "):
        Schema.from_roles(quasi=["age"], source=source)


def test_weights_are_quasi_unless_nobody_knows_them() -> None:
    schema = Schema.from_roles(quasi=["age"], weight=["w", "v"], known={"v": False})
    assert schema.names(Role.quasi) == ["age", "w"]
    assert schema.names(Role.other) == ["v"]
    assert schema.names(Role.weight) == ["w", "v"]
    assert schema["w"].hierarchy == DigitsRecipe(kind="digits")
    assert schema["v"].hierarchy is None
    assert 'role = "weight"\nhierarchy = "digits"' in schema.to_toml()


def test_a_household_is_the_unit_rather_than_a_person() -> None:
    with pytest.raises(InputError, match="link the rows of a person, 'pid', where households are protected"):
        Schema.from_roles(person="pid", household="hid", quasi=["age"], linked={"pid": True})
    schema = Schema.from_roles(person="pid", household="hid", quasi=["age"])
    assert schema.unit == "hid"
    assert schema.names(Role.identifier) == ["hid", "pid"] or schema.names(Role.identifier) == ["pid", "hid"]
    assert Schema.from_roles(person="pid", quasi=["age"]).unit == "pid"
    assert Schema.from_roles(identifier=["pid"], quasi=["age"]).unit is None


@pytest.mark.parametrize(
    ("attribute", "message"),
    [
        ({"role": "quasi", "linked": True}, "only rows of a person or household can be linked"),
        (
            {"role": "other", "most_rows": 3},
            "only rows of a person or household can be linked, or be at most so many",
        ),
        ({"role": "quasi", "known": False}, "only a weight can be declared unknown"),
        ({"role": "household", "most_rows": 0}, "most_rows must be greater than or equal to 1"),
    ],
)
def test_what_is_said_of_units_and_weights_is_said_of_them_alone(
    attribute: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        Schema.from_dict({"attributes": {"x": attribute}})


def test_two_households_are_refused() -> None:
    with pytest.raises(InputError, match="have the role household more than once: 'a', 'b'"):
        Schema.from_dict({"attributes": {"a": {"role": "household"}, "b": {"role": "household"}}})
