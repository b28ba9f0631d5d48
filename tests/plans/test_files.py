"""Saved plans: round trips, what only the holder can read, and files that somebody has changed."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest

import sudare as sd
from tests.tries import Tries

KINDS = ("tuples", "cuts", "levels", "views")
METHODS = {"tuples": "minimal", "cuts": "mondrian", "levels": "full-domain"}
Change = Callable[[dict[str, Any]], None]


@cache
def table() -> sd.Table:
    frame = pl.DataFrame(
        {
            "age": [20 + 7 * i % 40 for i in range(60)],
            "town": [("a", "b", "c", None)[i * i % 4] for i in range(60)],
            "ill": ["x", "y", "z", "x", "y"] * 12,
            "name": [f"person {i}" for i in range(60)],
        }
    )
    schema = sd.Schema.from_roles(
        quasi=["age", "town"],
        sensitive=["ill"],
        identifier=["name"],
        hierarchies={"age": {"kind": "intervals", "width": 5}},
    )
    return sd.read(frame, schema)


@cache
def release(kind: str) -> sd.Release:
    if kind == "views":
        return sd.generalize_views(table(), {"ages": ["age"], "towns": ["town"]}, sd.MultiViewDiversity(2))
    return sd.generalize(table(), [sd.KAnonymity(3), sd.LDiversity(2)], method=METHODS[kind])


@pytest.fixture(params=KINDS)
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return release(request.param).plan.save(tmp_path / "plan")


def saved(kind: str, tmp_path: Path) -> Path:
    return release(kind).plan.save(tmp_path / "plan")


def edit(folder: Path, change: Change) -> None:
    path = folder / "plan.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    change(data)
    path.write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8")


def edit_table(folder: Path, name: str, change: Callable[[pl.DataFrame], pl.DataFrame]) -> None:
    path = folder / f"{name}.parquet"
    change(pl.read_parquet(path)).write_parquet(path)


def refused(folder: Path) -> str:
    with pytest.raises(sd.InputError) as error:
        sd.Plan.open(folder)
    return str(error.value)


# -- Round trips -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_an_opened_plan_gives_the_same_bytes(kind: str, tmp_path: Path) -> None:
    own = release(kind)
    opened = sd.Plan.open(own.plan.save(tmp_path / "plan"))
    assert type(opened) is type(own.plan)
    assert opened.requirements == list(own.requirements)  # type: ignore[attr-defined]
    again = sd.apply(opened, table())
    for name, frame in own.frames().items():
        assert again.frames()[name].write_csv() == frame.write_csv()


def test_only_the_owner_can_read_a_plan(folder: Path) -> None:
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {file.stat().st_mode & 0o777 for file in folder.iterdir()} == {0o600}


@pytest.mark.parametrize("kind", ["tuples", "cuts"])
def test_a_release_keeps_its_plan(kind: str, tmp_path: Path) -> None:
    own = release(kind)
    own = replace(own, kept=replace(own.kept, report=lambda release: ""))  # not what is tested here
    out = own.write(tmp_path / "out")
    assert (out / "keep").stat().st_mode & 0o777 == 0o700
    assert {file.stat().st_mode & 0o777 for file in (out / "keep").iterdir()} == {0o600}
    assert not {file.name for file in (out / "hand-over").iterdir()} & {
        "plan.json",
        "tuples.parquet",
        "parts.parquet",
    }
    for opened in (sd.Plan.open(out), sd.Plan.open(out / "keep")):
        assert sd.apply(opened, table()).frame().equals(release(kind).frame())


def test_an_existing_folder_is_not_overwritten(folder: Path) -> None:
    plan = sd.Plan.open(folder)
    with pytest.raises(sd.InputError, match="exists already"):
        plan.save(folder)
    plan.save(folder, force=True)


def test_long_texts_that_are_masked_make_a_plan_that_can_be_opened(tmp_path: Path) -> None:
    values = ["x" * 150 + end for end in "abab"]
    frame = pl.DataFrame({"code": values, "ill": ["p", "q", "q", "p"]})
    schema = sd.Schema.from_roles(quasi=["code"], sensitive=["ill"], hierarchies={"code": {"kind": "mask"}})
    own = sd.generalize(sd.read(frame, schema), sd.KAnonymity(2))
    opened = sd.Plan.open(own.plan.save(tmp_path / "plan"))
    assert sd.apply(opened, sd.read(frame, schema)).frame().equals(own.frame())


@pytest.mark.parametrize("wrong", [None, 3, b"plan", {}])
def test_what_is_no_folder_is_refused(wrong: Any) -> None:
    with pytest.raises(sd.ParameterError, match="needs a folder"):
        sd.Plan.open(wrong)


# -- Heads that somebody has changed -----------------------------------------------------------------

VALUES: list[Any] = [
    None,
    True,
    -1,
    10**40,
    0.5,
    "x",
    "",
    [],
    [None],
    [[]],
    {},
    {"a": 1},
    [1, "2"],
    ["x", "x"],
]


def places(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """All places of a tree of JSON, of lists only the first and the last."""
    found = [path] if path else []
    if isinstance(data, dict):
        for key, value in data.items():
            found += places(value, (*path, key))
    elif isinstance(data, list) and data:
        for at in {0, len(data) - 1}:
            found += places(data[at], (*path, at))
    return found


@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.slow)])
def test_a_field_that_is_missing_or_of_another_form_is_refused_or_right(folder: Path, every: int) -> None:
    text = (folder / "plan.json").read_text(encoding="utf-8")
    outcomes = {"refused": 0, "applied": 0}
    for at, path in enumerate(places(json.loads(text))):
        for value in [..., *VALUES][at % every :: every]:
            data = json.loads(text)
            parent = data
            for step in path[:-1]:
                parent = parent[step]
            if parent[path[-1]] == value and type(parent[path[-1]]) is type(value):
                continue
            if value is ...:
                del parent[path[-1]]
            else:
                parent[path[-1]] = value
            (folder / "plan.json").write_text(json.dumps(data), encoding="utf-8")
            outcomes[opened_and_applied(folder)] += 1
    assert outcomes["refused"] > 100 / every


def opened_and_applied(folder: Path) -> str:
    """Whatever is published of the table is true of it, and meets what the plan now asks for."""
    try:
        plan = sd.Plan.open(folder)
        again = sd.apply(plan, table(), unseen="suppress")
    except (sd.InputError, sd.RequirementError, sd.ParameterError):
        return "refused"
    for frame in again.frames().values():
        quasi = [name for name in ("age", "town") if name in frame.columns]
        assert set(frame.columns) <= {"age", "town", "ill"}
        for requirement in again.requirements:
            if isinstance(requirement, sd.KAnonymity):
                assert frame.group_by(quasi).len()["len"].min() >= requirement.k
            if isinstance(requirement, sd.LDiversity):
                assert frame.group_by(quasi).agg(pl.col("ill").n_unique())["ill"].min() >= requirement.l
        _assert_true(frame)
    return "applied"


def _assert_true(frame: pl.DataFrame) -> None:
    """As many records are published under a label as there are records that it is true of, or fewer."""
    people = table().rows.frame()
    for name in ("age", "town"):
        if name in frame.columns:
            for label, count in frame.group_by(name).len().iter_rows():
                assert count <= sum(_true(label, value) for value in people[name].to_list()), (label, count)


def _true(label: Any, value: Any) -> bool:
    if label == "*" or label == value or (value is not None and str(label) == str(value)):
        return True
    if isinstance(label, str) and isinstance(value, int) and label.startswith("["):
        low, high = label[1:-1].split(", ")
        return float(low) <= value and (value < float(high) if label.endswith(")") else value <= float(high))
    if isinstance(label, str) and label.startswith("{"):
        return ("(missing)" if value is None else str(value)) in label[1:-1].split(", ")
    return False


def test_no_promises_are_no_plan(folder: Path) -> None:
    edit(folder, lambda data: data.update(promises=[]))
    refused(folder)


@pytest.mark.parametrize(
    "promise", [{"requirement": "PkAnonymity", "k": 2}, {"requirement": "KAnonymity", "k": 0}, "k"]
)
def test_other_promises_are_refused(folder: Path, promise: Any) -> None:
    edit(folder, lambda data: data.update(promises=[promise]))
    refused(folder)


def test_a_weaker_promise_is_told_by_the_release(tmp_path: Path) -> None:
    folder = saved("tuples", tmp_path)
    edit(folder, lambda data: data.update(promises=[{"requirement": "KAnonymity", "k": 2}]))
    again = sd.apply(sd.Plan.open(folder), table())
    assert again.requirements == (sd.KAnonymity(2),)
    assert again.certificate.promises == [{"requirement": "KAnonymity", "k": 2}]


def test_a_stronger_promise_is_not_believed(tmp_path: Path) -> None:
    folder = saved("tuples", tmp_path)
    edit(folder, lambda data: data.update(promises=[{"requirement": "KAnonymity", "k": 50}]))
    with pytest.raises(sd.RequirementError):
        sd.apply(sd.Plan.open(folder), table())


@pytest.mark.parametrize("name", ["../tuples", "/etc/passwd", "tuples.parquet", "", "a/b", "levels"])
def test_tables_are_those_of_the_kind(folder: Path, name: str) -> None:
    edit(folder, lambda data: data["tables"].append(name))
    assert "has the tables" in refused(folder)


@pytest.mark.parametrize("name", ["../../towns", "a/b", "certificate", "..", "", "x\n"])
def test_a_view_is_a_plain_file_name(name: str, tmp_path: Path) -> None:
    folder = saved("views", tmp_path)
    edit(folder, lambda data: data["views"].update({name: data["views"].pop("towns")}))
    assert "files of its name" in refused(folder)


def test_a_method_is_a_name(folder: Path) -> None:
    edit(folder, lambda data: data.update(method="<b>audited by the state</b>"))
    assert "no name" in refused(folder)


def test_deep_and_doubled_json_is_refused(folder: Path) -> None:
    head = (folder / "plan.json").read_text(encoding="utf-8")
    for text in (
        "[" * 100_000,
        head.replace('"kind":', '"kind": "tuples", "kind":', 1),
        head.replace('"version": 1', '"version": NaN'),
        head[:-10],
        "",
        "null",
    ):
        (folder / "plan.json").write_text(text, encoding="utf-8")
        refused(folder)


# -- Labels that lie ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["tuples", "cuts"])
@pytest.mark.parametrize("label", ["[90, 95)", "b", None, "Norway", "[20, 20]", ""])
def test_a_tree_whose_labels_lie_is_refused(kind: str, label: str | None, tmp_path: Path) -> None:
    folder = saved(kind, tmp_path)

    lie = pl.when(pl.col("attribute") == 0, pl.col("level") > 0, pl.col("parent").is_not_null())
    edit_table(folder, "trees", lambda f: f.with_columns(label=lie.then(pl.lit(label)).otherwise("label")))
    with pytest.raises(sd.InputError):
        sd.apply(sd.Plan.open(folder), table())


@pytest.mark.parametrize("kind", ["tuples", "cuts"])
def test_values_that_change_places_are_refused(kind: str, tmp_path: Path) -> None:
    folder = saved(kind, tmp_path)

    mixed = pl.col("label").reverse().over("attribute", "level")
    leaf = (pl.col("attribute") == 0) & (pl.col("level") == 0)
    edit_table(folder, "trees", lambda f: f.with_columns(label=pl.when(leaf).then(mixed).otherwise("label")))
    with pytest.raises((sd.InputError, sd.RequirementError), match=r"not true|covers? "):
        sd.apply(sd.Plan.open(folder), table())


@pytest.mark.parametrize("label", ["[90, 99]", '{"\\q", 21}', "{}", '{"[90, 99]", (missing)}', None, "077"])
def test_a_view_whose_labels_lie_is_refused(label: str | None, tmp_path: Path) -> None:
    folder = saved("views", tmp_path)

    def lie(data: dict[str, Any]) -> None:
        data["views"]["ages"]["labels"][0] = [label] * len(data["views"]["ages"]["labels"][0])
        data["views"]["ages"]["covered"][0][0] = 0.5

    edit(folder, lie)
    with pytest.raises(sd.InputError, match="not true"):
        sd.apply(sd.Plan.open(folder), table())


def test_an_identifier_is_never_published(tmp_path: Path) -> None:
    folder = saved("views", tmp_path)

    def lie(data: dict[str, Any]) -> None:
        town = data["views"]["towns"]
        town["attributes"] = ["name"]
        data["keys"] = {"name" if name == "town" else name: own for name, own in data["keys"].items()}
        town["covered"] = [[0.0]] * len(town["covered"])

    edit(folder, lie)
    with pytest.raises(sd.InputError, match="does not call quasi"):
        sd.apply(sd.Plan.open(folder), table())


def test_a_text_is_only_itself(tmp_path: Path) -> None:
    """Version 1.10 is not version 1.1, though they are one number."""
    schema = sd.Schema.from_roles(quasi=["version"], sensitive=["ill"], types={"version": "text"})
    seen = pl.DataFrame({"version": ["1.1"] * 4 + ["true"] * 4, "ill": ["p", "q"] * 4})
    plan = sd.generalize(sd.read(seen, schema), sd.KAnonymity(2)).plan
    for other in ("1.10", "1", "01.1", "TRUE", "1.1 "):
        more = pl.concat([seen, pl.DataFrame({"version": [other] * 2, "ill": ["p", "q"]})])
        with pytest.raises(sd.InputError, match="does not cover 2 of 10"):
            sd.apply(plan, sd.read(more, schema))
        assert sd.apply(plan, sd.read(more, schema), unseen="suppress").frame().height == 8


# -- Tables that somebody has changed ----------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        lambda frame: frame.drop("age"),
        lambda frame: frame.select(reversed(frame.columns)),
        lambda frame: frame.with_columns(more=pl.lit("x")),
        lambda frame: frame.cast(pl.Int64),
        lambda frame: frame.rename({"age": "name"}),
    ],
)
def test_who_is_left_out_is_told_by_texts(
    change: Callable[[pl.DataFrame], pl.DataFrame], tmp_path: Path
) -> None:
    folder = saved("levels", tmp_path)
    edit_table(folder, "left_out", change)
    assert "who is left out has a text for each attribute" in refused(folder)


@pytest.mark.parametrize(
    "levels",
    [
        {},
        {"age": 0},
        {"town": 0, "age": 0},
        {"age": True, "town": 0},
        {"age": 9, "town": 0},
        {"age": -1, "town": 0},
        [0, 0],
    ],
)
def test_levels_that_no_tree_has_are_refused(levels: Any, tmp_path: Path) -> None:
    folder = saved("levels", tmp_path)
    edit(folder, lambda data: data.update(levels=levels))
    assert "level" in refused(folder)


def test_levels_of_other_groups_are_refused_or_keep_the_promise(tmp_path: Path) -> None:
    """Whoever changes levels or groups chooses how rows are grouped; what is asked for holds all the same."""
    folder = saved("levels", tmp_path)
    heights = [tree.height for tree in release("levels").plan.trees.values()]
    edit_table(folder, "groups", lambda frame: frame.head(1) * 0)
    for age in range(heights[0] + 1):
        for town in range(heights[1] + 1):
            edit(
                folder,
                lambda data, levels=(age, town): data.update(
                    levels=dict(zip(["age", "town"], levels, strict=True))
                ),
            )
            try:
                again = sd.apply(sd.Plan.open(folder), table(), unseen="suppress")
            except (sd.InputError, sd.RequirementError):
                continue
            assert again.frame().group_by("age", "town").len()["len"].min() >= 3


def test_tables_of_another_form_are_refused(folder: Path, tmp_path: Path) -> None:
    changes: list[Callable[[pl.DataFrame], pl.DataFrame]] = [
        lambda frame: frame.head(0),
        lambda frame: frame.drop(frame.columns[0]),
        lambda frame: frame.select(reversed(frame.columns)) if frame.width > 1 else frame.with_columns(x=1),
        lambda frame: frame.with_columns(more=1),
        lambda frame: frame.cast(pl.Float64),
        lambda frame: frame.cast(pl.String),
        lambda frame: frame.with_columns(pl.lit(None, dtype=pl.Int64).alias(frame.columns[0])),
        lambda frame: frame.with_columns(pl.lit(-1).alias(frame.columns[-1])),
        lambda frame: frame.with_columns(pl.lit(2**63 - 1).alias(frame.columns[-1])),
        lambda frame: frame.with_columns(pl.lit(2**64 - 1, dtype=pl.UInt64).alias(frame.columns[-1])),
        lambda frame: pl.concat([frame, frame]),
    ]
    texts = {folder / "trees.parquet", folder / "left_out.parquet"}
    for file in sorted(set(folder.glob("*.parquet")) - texts):
        whole = file.read_bytes()
        for number, change in enumerate(changes):
            edit_table(folder, file.stem, change)
            if file.stem == "levels" and number == len(changes) - 1:
                continue  # blocks that nobody is in do no harm
            refused(folder)
            file.write_bytes(whole)
        file.unlink()
        assert file.name in refused(folder)
        file.write_bytes(whole)


@pytest.mark.parametrize("kind", ["tuples", "cuts"])
def test_trees_of_another_form_are_refused(kind: str, tmp_path: Path) -> None:
    folder = saved(kind, tmp_path)
    whole = (folder / "trees.parquet").read_bytes()
    at_leaf = pl.col("leaf").is_not_null()
    changes: list[Callable[[pl.DataFrame], pl.DataFrame]] = [
        lambda f: f.head(0),
        lambda f: f.head(f.height - 1),  # no root
        lambda f: pl.concat([f, f]),
        lambda f: f.drop("leaf"),
        lambda f: f.cast({"label": pl.Categorical}),
        lambda f: f.cast({"level": pl.Float64}),
        lambda f: f.with_columns(level=pl.lit(0)),
        lambda f: f.with_columns(level=pl.col("level") * 2),
        lambda f: f.with_columns(attribute=pl.lit(0)),
        lambda f: f.with_columns(attribute=pl.col("attribute") + 1),
        lambda f: f.with_columns(attribute=pl.lit(None, dtype=pl.Int64)),
        lambda f: f.with_columns(parent=pl.lit(None, dtype=pl.Int64)),
        lambda f: f.with_columns(parent=pl.lit(-1)),
        lambda f: f.with_columns(parent=pl.lit(2**40)),
        lambda f: f.with_columns(parent=pl.lit(2**64 - 1, dtype=pl.UInt64)),
        lambda f: f.with_columns(parent=pl.lit(10**6)),
        lambda f: f.with_columns(leaf=pl.when(at_leaf).then(0)),
        lambda f: f.with_columns(leaf=pl.col("leaf") + 1),
        lambda f: f.with_columns(leaf=pl.lit(None, dtype=pl.Int64)),
        lambda f: f.with_columns(label=pl.lit("x")),
    ]
    for change in changes:
        edit_table(folder, "trees", change)
        refused(folder)
        (folder / "trees.parquet").write_bytes(whole)


@pytest.mark.parametrize("n", [20_000, pytest.param(200_000, marks=pytest.mark.slow)])
def test_a_column_of_many_values_makes_a_plan_that_can_be_opened(tmp_path: Path, n: int) -> None:
    """The trees of 200,000 values would not fit into a JSON file; whatever their number, they are not in it."""
    frame = pl.DataFrame({"pay": range(n), "ill": ["a", "b"] * (n // 2)})
    schema = sd.Schema.from_roles(quasi=["pay"], sensitive=["ill"])
    own = sd.generalize(sd.read(frame, schema), sd.KAnonymity(100), method="mondrian")
    folder = own.plan.save(tmp_path / "plan")
    assert (folder / "plan.json").stat().st_size < 10_000
    assert sd.apply(sd.Plan.open(folder), sd.read(frame, schema)).frame().equals(own.frame())


def test_cuts_that_are_no_tree_are_refused(tmp_path: Path) -> None:
    folder = saved("cuts", tmp_path)
    changes = {
        "branches": [
            lambda f: f.with_columns(becomes=pl.lit(0)),  # a circle
            lambda f: f.with_columns(becomes=pl.col("part")),
            lambda f: f.with_columns(becomes=pl.col("becomes").first()),  # two parents
            lambda f: f.head(f.height - 1),  # a part that nothing becomes
            lambda f: f.with_columns(node=pl.lit(10**6)),
            lambda f: f.with_columns(node=pl.lit(1)),
        ],
        "parts": [
            lambda f: f.with_columns(level=pl.col("level").max() + 90),
            lambda f: f.with_columns(block=pl.lit(1)),
            lambda f: f.with_columns(attribute=pl.lit(0)),
            lambda f: f.with_columns(
                attribute=pl.when(pl.col("attribute") > 0).then(2).otherwise(0), level=pl.lit(5)
            ),
        ],
    }
    for name, own in changes.items():
        whole = (folder / f"{name}.parquet").read_bytes()
        for change in own:
            edit_table(folder, name, change)
            refused(folder)
            (folder / f"{name}.parquet").write_bytes(whole)


def test_a_pipe_is_not_waited_for(folder: Path) -> None:
    file = next(folder.glob("*.parquet"))
    file.unlink()
    os.mkfifo(file)
    assert file.name in refused(folder)
    (folder / "plan.json").unlink()
    os.mkfifo(folder / "plan.json")
    assert "there is no plan.json" in refused(folder)


def test_tables_beyond_all_sizes_are_refused(tmp_path: Path) -> None:
    folder = saved("tuples", tmp_path)
    pl.DataFrame({"0": pl.repeat(0, 10**7 + 1, dtype=pl.UInt8, eager=True)}).write_parquet(
        folder / "tuples.parquet"
    )
    assert "rows" in refused(folder)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
def test_changed_bytes_are_refused_or_right(folder: Path, seed: int, tries: Tries) -> None:
    r = Random(f"{folder.name} {seed}")
    outcomes = {"refused": 0, "applied": 0}
    for file in sorted(folder.iterdir()):
        whole = file.read_bytes()
        for _ in tries(40):
            harmed = bytearray(whole)
            for _ in range(r.choice([1, 1, 3])):
                harmed[r.randrange(len(harmed))] = r.randrange(256)
            file.write_bytes(bytes(harmed[: r.randrange(len(harmed))] if r.random() < 0.1 else harmed))
            outcomes[opened_and_applied(folder)] += 1
        file.write_bytes(whole)
    assert outcomes["refused"] > 0
    assert opened_and_applied(folder) == "applied"


# -- Sizes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["mondrian", pytest.param("minimal", marks=pytest.mark.slow)])
def test_a_plan_of_adult_is_small(method: str, data_folder: Path, tmp_path: Path) -> None:
    from tests.generalization.adult import adult

    own = sd.generalize(adult(data_folder), sd.KAnonymity(5), method=method)
    folder = own.plan.save(tmp_path / "plan")
    size = sum(file.stat().st_size for file in folder.iterdir())
    published = len(own.frame().write_csv().encode())
    print(f"{method}: the plan has {size:,} bytes, the published CSV {published:,}: {size / published:.3f}")
    assert 5 * size < published
    assert sd.apply(sd.Plan.open(folder), adult(data_folder)).frame().equals(own.frame())
    shutil.rmtree(folder)


def test_a_file_in_place_of_a_folder_is_named_as_one(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text("{}")
    with pytest.raises(sd.InputError, match=r"plan\.json: this is a file\. Name the folder"):
        sd.Plan.open(tmp_path / "plan.json")
