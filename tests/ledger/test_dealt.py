"""Releases in which equal people are in several blocks: what they tell together, followed person by person."""

from __future__ import annotations

import copy
import itertools
import math
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import polars as pl
import pytest

import sudare as sd
from sudare.ledger import several
from sudare.ledger.blocks import SEVERAL, BlocksForm, RecordedBlocks
from sudare.ledger.combination import Told
from sudare.ledger.entries import ReleaseBody
from sudare.ledger.history import Recorded, record
from sudare.plans.tuples import TuplePlan
from sudare.privacy.requirement import BlockRequirement
from tests.by_row import published
from tests.ledger.test_hostile_ledgers import MUTATIONS, forge, mutated, packed
from tests.ledger.test_ledger import row_blocks
from tests.tries import Tries

DEALING = sd.methods.Minimal(deal=True)
SCHEMA = sd.Schema.from_roles(
    quasi=["town", "age"],
    sensitive=["ill"],
    domains={"town": list("abcd"), "age": list("pqr")},
    source="people",
)
KINDS = ("distinct", "entropy", "posterior")


def people(seed: int, rows: int = 14) -> pl.DataFrame:
    """Few values, so that many are equal."""
    r = Random(seed)
    return pl.DataFrame(
        {
            "town": r.choices("abcd", [4, 2, 1, 1], k=rows),
            "age": r.choices("pqr", [4, 1, 1], k=rows),
            "ill": r.choices(["flu", "cold", "gout"], k=rows),
            "day": r.choices(range(5), k=rows),
        }
    )


def recorded(release: sd.Release, table: sd.Table, seq: int) -> Recorded:
    body = record(
        table, "out", None, release.certificate, release.kept.input_salt, neighbours="replace",
        columns={"data": release.frame().columns}, blocks=release.kept.blocks, requirements=release.requirements,
    )  # fmt: skip
    return Recorded(seq, ReleaseBody.model_validate(body))


def deals(release: sd.Release) -> bool:
    return isinstance(release.plan, TuplePlan) and bool(release.plan.records.any())


@cache
def all_releases() -> list[tuple[sd.Table, list[sd.Release]]]:
    """Tables, and three releases of each, some of which deal equal people out."""
    found = []
    for seed in range(24):
        table = sd.read(people(seed).drop("day"), SCHEMA)
        asked: list[BlockRequirement] = [sd.KAnonymity(2), sd.LDiversity(2), sd.KAnonymity(3)]
        made = [sd.generalize(table, one, DEALING) for one in asked]
        if any(map(deals, made)):
            found.append((table, made))
    assert len(found) > 10
    return found


def seen(release: sd.Release, table: sd.Table) -> list[tuple[Any, ...]]:
    """What is published of each row in place of its quasi values."""
    frame = published(table, release.plan.locate(table).at_once(""))  # type: ignore[attr-defined]
    return frame.select("town", "age").rows()


def left(
    blocks: list[list[tuple[Any, ...]]], own: tuple[tuple[Any, ...], ...], ill: list[str], kind: str
) -> float:
    """What somebody is left with who is in these blocks, one of each release."""
    totals = Counter(ill)
    histograms = [
        Counter(value for value, block in zip(ill, of_release, strict=True) if block == mine)
        for of_release, mine in zip(blocks, own, strict=True)
    ]
    weights = [totals[s] * math.prod(h[s] / totals[s] for h in histograms) for s in totals]
    shares = [weight / sum(weights) for weight in weights if weight]
    if kind == "distinct":
        return len(shares)
    return 1 / max(shares) if kind == "posterior" else math.exp(-sum(x * math.log(x) for x in shares))


def worst(table: sd.Table, releases: list[sd.Release], kind: str) -> float:
    """Let equal people change places in every release, in all ways, and look for whoever is left with least."""
    rows = table.frame()
    blocks, ill = [seen(release, table) for release in releases], rows["ill"].to_list()
    together: set[tuple[tuple[Any, ...], ...]] = set()
    groups: dict[tuple[Any, ...], list[int]] = {}
    for row, values in enumerate(rows.select("town", "age", "ill").rows()):
        groups.setdefault(values, []).append(row)
    for group in groups.values():
        first, *others = [[own[row] for row in group] for own in blocks]
        for arranged in itertools.product(*(set(itertools.permutations(own)) for own in others)):
            together.update(zip(first, *arranged, strict=True))
    return min(left(blocks, own, ill, kind) for own in together)


@pytest.mark.parametrize("tables", [8, pytest.param(24, marks=pytest.mark.slow)])
def test_what_is_left_is_what_is_left_to_the_worst_off_of_equal_people(tables: int) -> None:
    compared = apart = 0
    for table, releases in all_releases()[:tables]:
        kept = [recorded(release, table, seq) for seq, release in enumerate(releases, 1)]
        for some in ([0, 1], [0, 1, 2]):
            told = Told.by([[kept[i] for i in some]], "ill", table)
            (remaining,) = told.seen()
            apart += len(told.counts) > len(table.counts(["town", "age", "ill"]))
            assert told.counts.weights.sum() == len(table)
            for kind in KINDS:
                measured = sd.MultiViewDiversity(1, kind).measure(remaining)  # type: ignore[arg-type]
                by_hand = worst(table, [releases[i] for i in some], kind)
                assert measured.value == pytest.approx(by_hand), (some, kind)
                compared += 1
    assert compared == 6 * len(all_releases()[:tables])
    assert apart > 5


@pytest.mark.parametrize("engine", ["memory", pytest.param("duckdb", marks=pytest.mark.slow)])
@pytest.mark.parametrize("suppress", [0.0, 0.1])
def test_the_recorded_records_are_those_that_are_published(
    engine: str, suppress: float, tries: Tries
) -> None:
    """Columns that are passed on decide who is dealt where: of each, every block has what the ledger says."""
    dealt = 0
    for seed in tries(20):
        frame = people(seed).with_columns(note=pl.Series([f"{i * 7 % 10}" for i in range(14)]))
        schema = sd.Schema.from_roles(
            quasi=["town", "age"], sensitive=["ill"], other=["note", "day"], domains={"town": list("abcd")}
        )
        table = sd.read(frame, schema, engine=engine)
        method = sd.methods.Minimal(deal=True, suppress=suppress)
        release = sd.generalize(table, sd.KAnonymity(3), method)
        blocks = RecordedBlocks.read(BlocksForm.model_validate(release.kept.blocks["data"].to_json()))
        dealt += blocks.several is not None
        for column in ("ill", "note", "day"):
            counts = table.counts(["town", "age", column])
            spread = blocks.spread(table, counts, column)
            texts = table[column].decode(np.arange(table[column].size)).cast(pl.String).to_list()
            there: dict[int, Counter[str]] = {}
            for place, block, records in zip(*(array.tolist() for array in spread), strict=True):
                if block >= 0 and records:
                    there.setdefault(block, Counter())[texts[counts.codes[place, -1]]] += records
            out = release.frame().with_columns(pl.col(column).cast(pl.String))
            expected = [
                Counter(own[column].to_list()) for _, own in out.group_by("town", "age", maintain_order=True)
            ]
            assert sorted(map(sorted, (c.items() for c in there.values()))) == sorted(
                map(sorted, (c.items() for c in expected))
            )
    assert dealt > 1


# -- What gets through, and what does not ------------------------------------------------------------------


def test_later_releases_keep_what_was_promised_of_people_who_were_dealt(tmp_path: Path) -> None:
    through = refused = 0
    for i, (table, (first, second, _)) in enumerate(all_releases()):
        ledger = sd.Ledger(tmp_path / f"{i}.db")
        first.write(tmp_path / f"{i}a", ledger=ledger)
        least = worst(table, [first, second], "distinct")
        if least < 2:
            with pytest.raises(sd.RequirementError, match="would break"):
                second.write(tmp_path / f"{i}b", ledger=ledger)
            refused += 1
        else:
            second.write(tmp_path / f"{i}b", ledger=ledger)
            through += 1
    assert through > 1
    assert refused > 1


def test_views_are_made_against_releases_that_dealt(tmp_path: Path) -> None:
    made = 0
    for i, (table, (_, second, _)) in enumerate(all_releases()):
        if not deals(second):
            continue
        ledger = sd.Ledger(tmp_path / f"{i}.db")
        second.write(tmp_path / f"{i}a", ledger=ledger)
        view = sd.generalize_views(table, {"v": ["age"]}, sd.MultiViewDiversity(2), ledger=ledger)
        view.write(tmp_path / f"{i}b", ledger=ledger)
        view.plan.save(tmp_path / f"{i}p")
        assert sd.apply(sd.Plan.open(tmp_path / f"{i}p"), table).frames()["v"].equals(view.frames()["v"])
        rows, first = table.frame().select("town", "age", "ill").rows(), seen(second, table)
        of_view = [(block,) for block in row_blocks(view.kept.blocks["v"], table).tolist()]
        ill = table.frame()["ill"].to_list()
        for row, other in itertools.product(range(len(rows)), repeat=2):
            if rows[row] == rows[other]:  # who may be where an equal person is
                assert left([first, of_view], (first[other], of_view[row]), ill, "distinct") >= 2
        made += 1
    assert made > 2


def test_too_many_ways_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    table, releases = all_releases()[0]
    kept = [recorded(release, table, seq) for seq, release in enumerate(releases, 1)]
    monkeypatch.setattr(several, "MAX_WAYS", 0)
    with pytest.raises(sd.RequirementError, match="too many to follow one by one"):
        Told.by([kept], "ill", table)


# -- Files -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def dealt(tmp_path_factory: pytest.TempPathFactory) -> tuple[sd.Table, dict[str, Any], dict[str, Any], Path]:
    """A table, what two releases of it record, the first of which deals, and a ledger with the first."""
    folder = tmp_path_factory.mktemp("dealt")
    table, (first, second, _) = next(found for found in all_releases() if deals(found[1][0]))
    ledger = sd.Ledger(folder / "releases.db")
    first.write(folder / "first", ledger=ledger)
    return (
        table,
        ledger.entries()[0].body,
        recorded(second, table, 2).body.model_dump(mode="json"),
        ledger.path,
    )


def test_a_ledger_of_before_still_opens(
    dealt: tuple[sd.Table, dict[str, Any], dict[str, Any], Path], tmp_path: Path
) -> None:
    """It has no list of records in several blocks; what needs one is refused as it was then."""
    table, first, second, honest = dealt
    body = copy.deepcopy(first)
    form = body["views"]["data"]["blocks"]
    assert RecordedBlocks.read(BlocksForm.model_validate(form)).block_of.min() == SEVERAL
    del form["several"]
    ledger = sd.Ledger(forge(honest, tmp_path / "old.db", [("release", body)]))
    assert len(ledger.entries()) == 1
    with pytest.raises(sd.RequirementError, match="Two releases cannot be compared"):
        ledger.refuse(second, table)


def _numbers(form: dict[str, Any]) -> np.ndarray:
    return several.unpack(form["packed"], form["entries"], len(form["columns"]) + 3, "entries").copy()


def _with(form: dict[str, Any], column: int, number: int) -> dict[str, Any]:
    numbers = _numbers(form)
    numbers[0, column] = number
    return {"packed": packed(numbers)}


HOSTILE: list[tuple[Callable[[dict[str, Any]], dict[str, Any]], str]] = [
    (lambda form: _with(form, 0, -1), "of tuples that are not"),
    (lambda form: _with(form, 0, 10**6), "of tuples that are not"),
    (lambda form: _with(form, 1, -1), "values that are not listed"),
    (lambda form: _with(form, 1, 99), "values that are not listed"),
    (lambda form: _with(form, -2, -2), "numbers that no block has"),
    (lambda form: _with(form, -2, 10**6), "numbers that no block has"),
    (lambda form: _with(form, -1, 0), "no records of a tuple"),
    (lambda form: _with(form, -1, 5), "of other records"),
    (lambda form: {"entries": form["entries"] + 1}, "not those of"),
    (lambda form: {"packed": packed(_numbers(form)[1:]), "entries": form["entries"] - 1}, "of other records"),
    (lambda form: {"packed": "!"}, "cannot be unpacked"),
    (lambda form: {"columns": form["columns"] * 2}, "one column twice"),
    (lambda form: {"columns": [{**form["columns"][0], "name": "nobody"}]}, "not told apart by 'ill'"),
]


@pytest.mark.parametrize(("change", "message"), HOSTILE)
def test_records_in_several_blocks_are_checked_before_they_are_used(
    dealt: tuple[sd.Table, dict[str, Any], dict[str, Any], Path],
    tmp_path: Path,
    change: Callable[[dict[str, Any]], dict[str, Any]],
    message: str,
) -> None:
    table, first, second, honest = dealt
    body = copy.deepcopy(first)
    form = body["views"]["data"]["blocks"]["several"]
    form |= change(form)
    ledger = sd.Ledger(forge(honest, tmp_path / "forged.db", [("release", body)]))
    with pytest.raises(
        sd.LedgerError, match=rf"^Release 1 in the ledger was not written by Sudare: .*{message}"
    ):
        ledger.refuse(second, table)


def test_forged_records_end_in_a_clear_error_or_are_read(
    dealt: tuple[sd.Table, dict[str, Any], dict[str, Any], Path], tmp_path: Path
) -> None:
    table, first, second, honest = dealt
    rng, refused = Random(0), 0
    for i in range(MUTATIONS // 3):
        body = copy.deepcopy(first)
        ((_, body["views"]["data"]["blocks"]),) = mutated([("blocks", body["views"]["data"]["blocks"])], rng)
        path = forge(honest, tmp_path / f"{i}.db", [("release", body)])
        try:
            sd.Ledger(path, create=False).refuse(second, table)
        except sd.SudareError:
            refused += 1
        path.unlink()
    assert refused > MUTATIONS // 6
