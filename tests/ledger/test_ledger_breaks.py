"""How the ledger was broken: one test for each sentence of a hostile review."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import duckdb
import polars as pl
import pytest

import sudare as sd
from sudare.ledger.blocks import SEVERAL, BlocksForm, RecordedBlocks
from sudare.ledger.receivers import groups_around
from tests.ledger.test_ledger import people, row_blocks

SCHEMA = sd.Schema.from_roles(
    quasi=["age", "height", "town"],
    sensitive=["ill"],
    bounds={"age": (0, 120), "height": (50, 250)},
    domains={"ill": ["flu", "cold", "HIV", "gout"], "town": ["Bern", "Chur", "Genf"]},
)
ONE = sd.DifferentialPrivacy(1, per="record")


@pytest.fixture
def ledger(tmp_path: Path) -> sd.Ledger:
    return sd.Ledger(tmp_path / "releases.db")


def _sqlite(folder: Path) -> str:
    with closing(sqlite3.connect(folder / "people.db")) as connection:
        connection.execute("CREATE TABLE people (age REAL, height INTEGER, town TEXT, ill TEXT)")
        connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", people().rows())
        connection.commit()
    return f"sqlite:///{folder / 'people.db'}?table=people"


def _duckdb(folder: Path) -> str:
    with duckdb.connect(str(folder / "people.duckdb")) as connection:
        people().write_parquet(folder / "rows.parquet")
        connection.execute(f"CREATE TABLE folk AS SELECT * FROM '{folder / 'rows.parquet'}'")
    return f"duckdb:///{folder / 'people.duckdb'}?query=SELECT ill, town, height, age::DECIMAL(5, 2) AS age FROM folk"


def _csv(folder: Path, name: str) -> Path:
    people().write_csv(folder / name)
    return folder / name


def _parquet(folder: Path) -> Path:
    people().sample(fraction=1, shuffle=True, seed=7).write_parquet(folder / "people.parquet")
    return folder / "people.parquet"


def _elsewhere(folder: Path) -> Path:
    (folder / "elsewhere").mkdir()
    return _csv(folder / "elsewhere", "patients.csv")


COPIES: dict[str, Callable[[Path], object]] = {
    "copy.csv": lambda folder: _csv(folder, "copy.csv"),
    "another path": _elsewhere,
    "Parquet, other order": _parquet,
    "polars, other columns' order": lambda _: people().select("ill", "town", "age", "height").reverse(),
    "pandas, floats": lambda _: people().with_columns(pl.col("age").cast(pl.Float64)).to_pandas(),
    "Arrow, categories": lambda _: people().with_columns(pl.col("town").cast(pl.Categorical)).to_arrow(),
    "SQLite": _sqlite,
    "DuckDB, a query": _duckdb,
}


@pytest.mark.parametrize("copy", COPIES)
def test_the_same_rows_share_a_budget_however_they_come(ledger: sd.Ledger, tmp_path: Path, copy: str) -> None:
    """Budgets go by the source's text name: the same rows under another had their own (8 of 8)."""
    first = sd.read(_csv(tmp_path, "people.csv"), SCHEMA)
    ledger.set_budget("people.csv", "1.5")
    sd.randomize(first, ONE).write(tmp_path / "a", ledger=ledger)
    again = sd.read(COPIES[copy](tmp_path), SCHEMA)
    with pytest.raises(sd.LedgerError, match=r"budget of 'people\.csv' .* would be overspent"):
        sd.randomize(again, ONE).write(tmp_path / "b", ledger=ledger)
    with pytest.raises(sd.LedgerError, match=r"budget of 'people\.csv' .* would be overspent"):
        sd.materialize(again, sd.DifferentialPrivacy(1), "independent", ledger=ledger)


def test_deltas_have_a_limit(ledger: sd.Ledger) -> None:
    """Deltas have no limit."""
    table = sd.read(people(), SCHEMA)
    ledger.set_budget(table.name, 100)
    with pytest.raises(
        sd.LedgerError, match=r"delta 0\.00\d+ requested, 0 of 0 remaining: 0\.00\d+ over budget"
    ):
        sd.materialize(table, sd.DifferentialPrivacy(1, 1e-3), "independent", ledger=ledger)
    ledger.set_budget(table.name, 100, "1e-5", "add or remove")
    sd.materialize(table, sd.DifferentialPrivacy(1, 6e-6), "independent", ledger=ledger)
    with pytest.raises(
        sd.LedgerError, match=r"delta 6e-06 requested, 4e-06 of 1e-05 remaining: 2e-06 over budget"
    ):
        sd.materialize(table, sd.DifferentialPrivacy(1, 6e-6), "independent", ledger=ledger)


def test_epsilons_of_two_relations_are_not_added_as_if_alike(ledger: sd.Ledger, tmp_path: Path) -> None:
    """Randomize's replace-one epsilon and a view's add/remove epsilon were added: 1 + 1 = 2 where 3 is spent."""
    table = sd.read(people(), SCHEMA)
    ledger.set_budget(table.name, 3)
    sd.materialize(table, sd.DifferentialPrivacy(1), "independent", ledger=ledger)
    budget = ledger.budget(table.name)
    assert budget is not None
    assert budget.spent == 2
    sd.randomize(table, ONE).write(tmp_path / "a", ledger=ledger)
    budget = ledger.budget(table.name)
    assert budget is not None
    assert float(budget.spent) == pytest.approx(3)
    with pytest.raises(sd.LedgerError, match="epsilon 1 requested"):
        sd.materialize(table, sd.DifferentialPrivacy(0.5), "independent", ledger=ledger)


def test_a_promised_attribute_is_not_published_later_as_quasi(ledger: sd.Ledger, tmp_path: Path) -> None:
    """A promised sensitive attribute published later as quasi is not noticed (9 of 60 people exposed)."""
    promised = sd.generalize(sd.read(people(), SCHEMA), sd.LDiversity(2))
    quasi = sd.Schema.from_roles(quasi=["age", "height", "ill"], sensitive=["town"])
    shown = sd.generalize(sd.read(people(), quasi), sd.KAnonymity(2))
    promised.write(tmp_path / "a", ledger=ledger)
    with pytest.raises(
        sd.RequirementError, match=r"release 2 would show 'ill' as a quasi attribute.*Leave it out"
    ):
        shown.write(tmp_path / "b", ledger=ledger)
    assert not (tmp_path / "b").exists()
    views = sd.MultiViewDiversity(2)
    with pytest.raises(sd.RequirementError, match="would show 'ill' as a quasi attribute"):
        sd.generalize_views(sd.read(people(), quasi), {"v": ["ill"]}, views, ledger=ledger)

    other = sd.Ledger(tmp_path / "other.db")
    shown.write(tmp_path / "c", ledger=other)
    with pytest.raises(sd.RequirementError, match="release 1 would show 'ill' as a quasi attribute"):
        promised.write(tmp_path / "d", ledger=other)


@pytest.mark.parametrize(("kind", "l"), [("distinct", 3), ("entropy", 2.5), ("posterior", 2)])
def test_a_later_view_is_learned_against_the_larger_promise_before_it(
    ledger: sd.Ledger, tmp_path: Path, kind: str, l: float
) -> None:
    """A later view with a smaller l is learned without the earlier, larger promise and refused only at the write."""
    table = sd.read(people(200), SCHEMA)
    first = sd.generalize_views(table, {"a": ["age"]}, sd.MultiViewDiversity(l, kind))  # type: ignore[arg-type]
    first.write(tmp_path / "a", ledger=ledger)
    careless = sd.generalize_views(table, {"b": ["height"]}, sd.MultiViewDiversity(2))
    with pytest.raises(sd.RequirementError, match="would break what release 1 promises"):
        careless.write(tmp_path / "b", ledger=ledger)
    second = sd.generalize_views(table, {"b": ["height"]}, sd.MultiViewDiversity(2), ledger=ledger)
    second.write(tmp_path / "b", ledger=ledger)
    assert second.certificate.requirements == ["multi-view 2-diversity"]
    assert [entry.kind for entry in ledger.entries()] == ["release", "release"]


def test_a_budget_below_what_is_spent_is_refused_with_the_figures(ledger: sd.Ledger, tmp_path: Path) -> None:
    """Setting a budget below what is spent is silent."""
    table = sd.read(people(), SCHEMA)
    sd.materialize(table, sd.DifferentialPrivacy(1, 1e-6), "independent", ledger=ledger)
    with pytest.raises(sd.LedgerError, match=r"cannot be epsilon 1: 2 is spent already, 1 more"):
        ledger.set_budget(table.name, 1)
    with pytest.raises(sd.LedgerError, match=r"cannot be delta 1e-06: 3\.71828e-06 is spent already"):
        ledger.set_budget(table.name, 3, 1e-6)
    ledger.set_budget(table.name, 1, 1e-6, "add or remove")
    sd.randomize(sd.read(people(seed=1), SCHEMA), ONE).write(
        tmp_path / "a", ledger=sd.Ledger(tmp_path / "b.db")
    )
    with pytest.raises(
        sd.LedgerError, match="randomized table, which shows exactly how many records there are"
    ):
        sd.Ledger(tmp_path / "b.db").set_budget(table.name, 9, neighbours="add or remove")
    with pytest.raises(
        sd.LedgerError, match="randomized table, which shows exactly how many records there are"
    ):
        sd.randomize(table, ONE).write(tmp_path / "c", ledger=ledger)


def test_a_release_that_costs_nothing_is_never_refused_for_the_budget(
    ledger: sd.Ledger, tmp_path: Path
) -> None:
    """... and then a release that costs nothing is refused."""
    table = sd.read(people(), SCHEMA)
    other = sd.read(people(seed=1), SCHEMA.model_copy(update={"source": "others"}))
    for one in (table, other):
        ledger.set_budget(one.name, 1)
        sd.randomize(one, ONE).write(tmp_path / one.name, ledger=ledger)
    # The two turn out to be one source, which has spent more than it has.
    both = sd.read(people(seed=1), SCHEMA)
    sd.generalize(both, sd.KAnonymity(3)).write(tmp_path / "free", ledger=ledger)
    for name in (table.name, "others"):
        budget = ledger.budget(name)
        assert budget is not None
        assert budget.remaining < 0
    sd.generalize(both, sd.KAnonymity(3)).write(tmp_path / "free too", ledger=ledger)
    with pytest.raises(sd.LedgerError, match="overspent"):
        sd.randomize(both, sd.DifferentialPrivacy(0.001, per="record")).write(tmp_path / "no", ledger=ledger)


def test_a_budget_of_a_billion_digits_is_refused_at_once(ledger: sd.Ledger) -> None:
    for wrong in (
        "1e999999999",
        "1e-999999999",
        "1/1e9",
        "1" * 31,
        10**5000,
        Fraction(1, 10**5000),
        "1/0",
        "nan",
    ):
        with pytest.raises(sd.InputError, match="at most 30 digits"):
            ledger.set_budget("people.csv", wrong)  # type: ignore[arg-type]
        with pytest.raises(sd.InputError, match="at most 30 digits"):
            ledger.set_budget("people.csv", 1, wrong)  # type: ignore[arg-type]
    assert ledger.entries() == []


def test_a_table_that_grew_under_its_declared_name_shares_the_budget(
    ledger: sd.Ledger, tmp_path: Path
) -> None:
    named = SCHEMA.model_copy(update={"source": "people"})
    ledger.set_budget("people", "1.5")
    sd.randomize(sd.read(people(), named), ONE).write(tmp_path / "a", ledger=ledger)
    people(90).write_csv(tmp_path / "grown.csv")
    grown = sd.read(tmp_path / "grown.csv", named)
    assert grown.name == "people"
    with pytest.raises(sd.LedgerError, match=r"'people' .* would be overspent"):
        sd.randomize(grown, ONE).write(tmp_path / "b", ledger=ledger)
    sd.randomize(sd.read(tmp_path / "grown.csv", SCHEMA), ONE).write(
        tmp_path / "b", ledger=ledger
    )  # nothing says they are one


def test_promises_are_kept_for_the_same_rows_in_another_order(ledger: sd.Ledger, tmp_path: Path) -> None:
    """Blocks are recorded by values: they must be found again in another order and format."""
    table = sd.read(people(), SCHEMA)
    first = sd.generalize_views(table, {"a": ["age"]}, sd.MultiViewDiversity(2))
    first.write(tmp_path / "a", ledger=ledger)
    order = pl.Series(range(60)).sample(fraction=1, shuffle=True, seed=3)
    people()[order].write_csv(tmp_path / "copy.csv")
    again = sd.read(tmp_path / "copy.csv", SCHEMA)
    with pytest.raises(sd.RequirementError, match="would break what release 1 promises"):
        sd.generalize_views(again, {"b": ["height"]}, sd.MultiViewDiversity(2)).write(
            tmp_path / "b", ledger=ledger
        )
    second = sd.generalize_views(again, {"b": ["height"]}, sd.MultiViewDiversity(2), ledger=ledger)
    second.write(tmp_path / "b", ledger=ledger)
    ill = again.frame()["ill"].to_list()
    blocks = row_blocks(first.kept.blocks["a"], again), row_blocks(second.kept.blocks["b"], again)
    for row in range(60):
        left = [{ill[i] for i in range(60) if one[i] == one[row]} for one in blocks]
        assert len(left[0] & left[1]) >= 2


# -- Other names for the same column, source or receiver ------------------------------------------------

RENAMED: dict[str, tuple[pl.DataFrame, dict[str, list[str]], str]] = {
    "a blank": (people(80).rename({"ill": "ill "}), {"quasi": ["height"], "sensitive": ["ill "]}, "'ill '"),
    "another case": (people(80).rename({"ill": "Ill"}), {"quasi": ["height"], "sensitive": ["Ill"]}, "'Ill'"),
    "as quasi": (people(80).rename({"ill": "Ill"}), {"quasi": ["height", "Ill"]}, "'Ill'"),
    "another word": (people(80).rename({"ill": "why"}), {"quasi": ["height"], "other": ["why"]}, "'why'"),
    "a copy": (
        people(80).with_columns(ill2="ill"),
        {"quasi": ["height"], "other": ["ill2"], "identifier": ["ill"]},
        "'ill2'",
    ),
    "another word, fewer columns": (
        people(80).select("height", why="ill"),
        {"quasi": ["height"], "sensitive": ["why"]},
        "'why'",
    ),
}


def _named(frame: pl.DataFrame, roles: dict[str, list[str]], source: str = "p") -> sd.Table:
    left = [name for name in frame.columns if name not in {one for names in roles.values() for one in names}]
    both = {**roles, "identifier": [*roles.get("identifier", []), *left]}
    return sd.read(frame, sd.Schema.from_roles(**both).model_copy(update={"source": source}))


@pytest.mark.parametrize("how", RENAMED)
def test_a_renamed_column_keeps_its_promise(ledger: sd.Ledger, tmp_path: Path, how: str) -> None:
    """A renamed column walks around a promise: 9 of 80 people are left with one value."""
    first = sd.generalize(_named(people(80), {"quasi": ["age"], "sensitive": ["ill"]}), sd.LDiversity(3))
    frame, roles, name = RENAMED[how]
    again = sd.generalize(_named(frame, roles), sd.KAnonymity(2))
    first.write(tmp_path / "a", ledger=ledger)
    with pytest.raises(
        sd.RequirementError,
        match=f"Release 1 promises .* about 'ill', and release 2 would show the same under another name, {name}.*same name",
    ):
        again.write(tmp_path / "b", ledger=ledger)
    assert not (tmp_path / "b").exists()

    other = sd.Ledger(tmp_path / "other.db")
    again.write(tmp_path / "c", ledger=other)
    with pytest.raises(
        sd.RequirementError, match=r"Release 2 promises .* about 'ill', and release 1 would show"
    ):
        first.write(tmp_path / "d", ledger=other)


def test_a_renamed_column_is_refused_before_learning(ledger: sd.Ledger, tmp_path: Path) -> None:
    first = sd.generalize(_named(people(80), {"quasi": ["age"], "sensitive": ["ill"]}), sd.LDiversity(3))
    first.write(tmp_path / "a", ledger=ledger)
    table = _named(people(80).rename({"ill": "why"}), {"quasi": ["height"], "sensitive": ["why"]})
    with pytest.raises(sd.RequirementError, match="would show the same under another name, 'why'"):
        sd.generalize_views(table, {"v": ["height"]}, sd.MultiViewDiversity(2), ledger=ledger)


def test_two_values_count_as_the_same_column_only_row_by_row(ledger: sd.Ledger, tmp_path: Path) -> None:
    """As many yes and no in two columns say little; the same in every row says all."""
    yes = ["yes", "no"] * 40
    frame = people(80).with_columns(sick=pl.Series(yes), rich=pl.Series(yes[::-1]))
    first = sd.generalize(_named(frame, {"quasi": ["age"], "sensitive": ["sick"]}), sd.LDiversity(2))
    first.write(tmp_path / "a", ledger=ledger)
    rich = sd.generalize(_named(frame, {"quasi": ["height"], "sensitive": ["rich"]}), sd.KAnonymity(2))
    rich.write(tmp_path / "b", ledger=ledger)
    renamed = frame.rename({"sick": "S"})
    with pytest.raises(sd.RequirementError, match="would show the same under another name, 'S'"):
        sd.generalize(_named(renamed, {"quasi": ["height"], "sensitive": ["S"]}), sd.KAnonymity(2)).write(
            tmp_path / "c", ledger=ledger
        )


@pytest.mark.parametrize(
    ("frame", "name"),
    [(people(80).rename({"town": "Town"}), "Town"), (people(80).with_columns(place="town"), "place")],
)
def test_columns_that_look_alike_or_are_copies_join_rows_too(
    ledger: sd.Ledger, tmp_path: Path, frame: pl.DataFrame, name: str
) -> None:
    roles = {"quasi": ["age"], "sensitive": ["ill"], "other": ["town"]}
    sd.generalize(_named(people(80), roles), sd.LDiversity(2)).write(tmp_path / "a", ledger=ledger)
    roles = {"quasi": ["height"], "sensitive": ["ill"], "other": [name]}
    again = sd.generalize(_named(frame, roles), sd.KAnonymity(2))
    with pytest.raises(sd.RequirementError, match="by which their rows could be joined"):
        again.write(tmp_path / "b", ledger=ledger)


def test_an_attribute_can_be_left_out_as_an_identifier(ledger: sd.Ledger, tmp_path: Path) -> None:
    """Roles do not make another state of a table, and blocks find their rows though an identifier was added."""
    roles = {"quasi": ["age"], "sensitive": ["ill"], "other": ["town"]}
    sd.generalize(_named(people(80), roles), sd.LDiversity(2)).write(tmp_path / "a", ledger=ledger)
    frame = people(80).with_columns(number=pl.int_range(80)).reverse()
    careless = sd.generalize(_named(frame, {"quasi": ["height"], "sensitive": ["ill"]}), sd.KAnonymity(2))
    with pytest.raises(sd.RequirementError, match="would break what release 1 promises"):
        careless.write(tmp_path / "b", ledger=ledger)
    table = _named(frame, {"quasi": ["height"], "sensitive": ["ill"]})
    views = sd.generalize_views(table, {"v": ["height"]}, sd.MultiViewDiversity(2), ledger=ledger)
    views.write(tmp_path / "b", ledger=ledger)


OTHERWISE: dict[str, Callable[[], pl.DataFrame]] = {
    "a column's case": lambda: people().rename({"town": "Town"}),
    "an identifier": lambda: people().with_columns(number=pl.int_range(60)),
    "other roles": people,
    "other roles, and an identifier": lambda: people().with_columns(number=pl.int_range(60)),
    "a constant": lambda: people().with_columns(one=pl.lit("1")),
}


@pytest.mark.parametrize("how", OTHERWISE)
def test_a_budget_is_not_dodged_by_what_is_not_published(ledger: sd.Ledger, tmp_path: Path, how: str) -> None:
    """Another case of a column's name, or an identifier, made another source."""
    ledger.set_budget("people", "1.5")
    first = SCHEMA.model_copy(update={"source": "people"})
    sd.randomize(sd.read(people(), first), ONE).write(tmp_path / "a", ledger=ledger)
    roles = {
        "Town" if name == "town" and how == "a column's case" else name: one
        for name, one in SCHEMA.attributes.items()
    }
    roles["number"] = sd.Schema.from_roles(identifier=["number"])["number"]
    roles["one"] = sd.Schema.from_roles(quasi=["one"], domains={"one": ["1"]})["one"]
    if how.startswith("other roles"):
        roles["height"] = sd.Schema.from_roles(identifier=["height"])["height"]
    frame = OTHERWISE[how]()
    attributes = {name: one for name, one in roles.items() if name in frame.columns}
    table = sd.read(frame, SCHEMA.model_copy(update={"source": "others", "attributes": attributes}))
    with pytest.raises(sd.LedgerError, match=r"budget of 'people' .* would be overspent"):
        sd.randomize(table, ONE).write(tmp_path / "b", ledger=ledger)


@pytest.mark.parametrize("name", ["p ", "P", "ｐ", "p.csv", "P.CSV.gz", "p.parquet"])
def test_sources_that_look_alike_share_a_budget(ledger: sd.Ledger, tmp_path: Path, name: str) -> None:
    ledger.set_budget("p", "1.5")
    sd.randomize(sd.read(people(), SCHEMA.model_copy(update={"source": "p"})), ONE).write(
        tmp_path / "a", ledger=ledger
    )
    grown = sd.read(people(90), SCHEMA.model_copy(update={"source": name}))
    with pytest.raises(sd.LedgerError, match=r"budget of 'p' .* would be overspent"):
        sd.randomize(grown, ONE).write(tmp_path / "b", ledger=ledger)
    assert ledger.budget(name) == ledger.budget("p")


def test_a_budget_binds_the_file_of_that_name(ledger: sd.Ledger, tmp_path: Path) -> None:
    ledger.set_budget("people", "0.5")
    table = sd.read(_csv(tmp_path, "people.csv"), SCHEMA)
    with pytest.raises(sd.LedgerError, match=r"budget of 'people' .* would be overspent"):
        sd.randomize(table, ONE).write(tmp_path / "a", ledger=ledger)


def test_receivers_that_look_alike_are_not_apart(ledger: sd.Ledger) -> None:
    for names in (["A", "A "], ["hospital", "insurer", "Hospital"]):
        with pytest.raises(sd.InputError, match="look alike: they may be one"):
            ledger.declare_apart(names)
    assert ledger.entries() == []
    (_, together) = groups_around("A", ["A", "a", "B"], [["A", "a", "B"]])
    assert together.members == {"a"}


# -- Values that say the same, and are written otherwise -----------------------------------------------------

SPELLED = sd.Schema.from_roles(quasi=["q1", "q2"], sensitive=["ill"], source="people")


def two_spellings(one: str | None, other: str | None) -> pl.DataFrame:
    """Who has the first spelling is given away by both columns together: each leaves two values, both leave one."""
    alone = [(one, "p", "x"), (one, "q", "y")]
    crowd = [
        (q1, q2, ill) for q1 in (other, "k") for q2, ill in (("p", "x"), ("p", "z"), ("q", "y"), ("q", "w"))
    ]
    rows = [row for row in (*alone, *crowd) for _ in range(5)]
    return pl.DataFrame(rows, schema=["q1", "q2", "ill"], orient="row")


@pytest.mark.parametrize(("one", "other"), [("", None), ("30", "30.0"), ("3e1", "30")])
def test_merged_spellings_break_no_promise(
    one: str | None, other: str | None, ledger: sd.Ledger, tmp_path: Path
) -> None:
    """The same rows, read from a format that cannot tell two spellings apart, are still the same people."""
    frame = two_spellings(one, other)
    frame.write_csv(tmp_path / "people.csv")
    first = sd.generalize_views(sd.read(frame, SPELLED), {"a": ["q1"]}, sd.MultiViewDiversity(2))
    first.write(tmp_path / "a", ledger=ledger)
    for source in (frame, tmp_path / "people.csv"):
        with pytest.raises(sd.RequirementError, match=r"cannot be compared|would break"):
            sd.generalize_views(sd.read(source, SPELLED), {"b": ["q2"]}, sd.MultiViewDiversity(2)).write(
                tmp_path / "b", ledger=ledger
            )


def test_another_spelling_of_all_is_no_forgery(ledger: sd.Ledger, tmp_path: Path) -> None:
    table = sd.read(people(), SCHEMA)
    sd.generalize_views(table, {"a": ["age"]}, sd.MultiViewDiversity(2)).write(tmp_path / "a", ledger=ledger)
    spelled = people().with_columns(pl.col("age").cast(pl.Float64))
    again = sd.read(spelled, SCHEMA)
    assert again.digest() == table.digest()
    sd.generalize_views(again, {"b": ["height"]}, sd.MultiViewDiversity(2), ledger=ledger).write(
        tmp_path / "b", ledger=ledger
    )


def test_the_ledger_keeps_the_blocks_that_are_seen(tmp_path: Path) -> None:
    """A plan puts two values into one block, and nothing climbed: they are published apart, and recorded so."""
    first = pl.DataFrame({"q1": ["30"] * 4 + ["m"] * 4, "ill": ["x", "y"] * 4})
    schema = sd.Schema.from_roles(quasi=["q1"], sensitive=["ill"])
    first.write_csv(tmp_path / "first.csv")
    plan = sd.generalize(sd.read(tmp_path / "first.csv", schema), sd.LDiversity(2)).plan
    second = pl.DataFrame({"q1": ["30.0"] * 4 + ["3e1"] * 4 + ["m"] * 4, "ill": ["x", "y"] * 6})
    second.write_csv(tmp_path / "second.csv")
    release = sd.apply(plan, sd.read(tmp_path / "second.csv", schema))
    assert release.frame()["q1"].n_unique() == 3
    # By what they say, "30.0" and "3e1" are one value, and somebody who has it is in one of two blocks.
    blocks = release.kept.blocks["data"]
    assert blocks.block_of.tolist() == [SEVERAL, SEVERAL, 2, 2]
    assert blocks.several is not None
    assert blocks.several.tuple_of.tolist() == [0, 0, 1, 1]
    assert blocks.several.block_of.tolist() == [0, 1, 0, 1]
    assert blocks.several.records.tolist() == [2] * 4


def test_blocks_of_merged_spellings_can_be_recorded_and_read(ledger: sd.Ledger, tmp_path: Path) -> None:
    frame = two_spellings("30", "30.0")
    release = sd.generalize_views(sd.read(frame, SPELLED), {"a": ["q1", "q2"]}, sd.MultiViewDiversity(2))
    for blocks in release.kept.blocks.values():
        form = BlocksForm.model_validate(blocks.to_json())
        again = RecordedBlocks.read(form)
        assert again.block_of.tolist() == blocks.block_of.tolist()
        assert again.block_of.max() < len(again.tuples)
