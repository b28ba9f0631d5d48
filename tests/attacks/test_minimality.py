from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from pathlib import Path
from random import Random
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings

import sudare as sd
from sudare.attacks import minimality
from sudare.attacks.attack import attack
from sudare.attacks.crowds import Crowd
from sudare.attacks.minimality import Minimality, _Rules
from sudare.plans.generalization import Located
from tests.generalization.cases import randoms

# The example of Wong and others (2007): two people with q1 and four with q2; both who are ill have q1. Those who are not have
# something else each, as nothing else may be frequent either here.
SCHEMA = sd.Schema.from_roles(quasi=["q"], sensitive=["ill"])
OTHERS = ["flu", "cold", "gout", "ulcer"]
BAD = pl.DataFrame({"q": ["q1"] * 2 + ["q2"] * 4, "ill": ["HIV", "HIV", *OTHERS]})
GOOD = pl.DataFrame({"q": ["q1"] * 2 + ["q2"] * 4, "ill": ["HIV", "flu", "HIV", "cold", "gout", "ulcer"]})
GLOBAL = BAD.with_columns(q=pl.lit("*"))
LOCAL = BAD.with_columns(q=pl.Series(["*"] * 3 + ["q2"] * 3))


def attacked(output: pl.DataFrame, known: pl.DataFrame, **options: object) -> Minimality:
    given = {"requirements": sd.LDiversity(2), "method": "mondrian"} | options
    return attack(output, SCHEMA, kind="minimality", known=sd.read(known, SCHEMA), **given)


@pytest.mark.parametrize(
    ("published", "method"), [(GLOBAL, "mondrian"), (LOCAL, "minimal")], ids=["global", "local"]
)
def test_the_example_of_the_paper(published: pl.DataFrame, method: str) -> None:
    """Each block is 2-diverse; and yet both with q1 have HIV for sure, as else nothing, or less, had been coarsened."""
    learned = attacked(published, BAD, method=method)
    assert learned.gain.certain == (2 if method == "mondrian" else 3)  # the third is who keeps them company
    assert learned.gain.strongest_after == 1.0
    assert learned.gain.strongest_before <= 2 / 3
    assert learned.gain.right_after > learned.gain.right_before
    assert learned.ruled_out == 1
    assert "most from" in str(learned)


def test_our_own_release_of_it(tmp_path: Path) -> None:
    """What was promised and by which method, outsiders read in the certificate."""
    folder = sd.generalize(sd.read(BAD, SCHEMA), sd.LDiversity(2), "mondrian").write(tmp_path / "out")
    assert attack(folder, SCHEMA, kind="minimality", known=BAD.select("q")).gain.certain == 2
    with pytest.raises(sd.ParameterError, match="no certificate beside it"):
        attack(GLOBAL, SCHEMA, kind="minimality", known=BAD)


def test_a_table_that_needs_no_coarser_values_gives_nothing_away() -> None:
    release = sd.generalize(sd.read(GOOD, SCHEMA), sd.LDiversity(2), "mondrian")
    assert release.frame()["q"].n_unique() == 2
    learned = attacked(release.frame(), GOOD)
    assert (learned.gain.certain, learned.gain.risen, learned.ruled_out) == (0, 0, 0)


# -- twins -----------------------------------------------------------------------------------------


def diverse(values: list[str], l: int) -> bool:
    return len(set(values)) >= l


def cut(people: list[tuple[str, ...]], world: tuple[str, ...], l: int, strict: bool) -> bool:
    for a in range(len(people[0])):
        parts = defaultdict(list)
        for person, value in zip(people, world, strict=True):
            parts[person[a]].append(value)
        if len(parts) < 2:
            continue
        failing = [part for part in parts.values() if not diverse(part, l)]
        if not failing:
            return True
        if not strict and len(failing) < len(parts) and diverse(list(itertools.chain(*failing)), l):
            return True
    return False


@given(r=randoms)
@settings(max_examples=60)
def test_beliefs_by_trying_every_world(r: Random) -> None:
    """One block of up to six people, whose attributes have no tree: labels are taken apart into values."""
    size, l, strict = r.randint(2, 6), r.randint(2, 3), r.random() < 0.5
    people = [(r.choice("ab"), r.choice("xyz")) for _ in range(size)]
    values = [r.choice(["flu", "HIV", "cold", "gout"][: r.randint(2, 4)]) for _ in range(size)]
    worlds = [w for w in itertools.permutations(values) if not cut(people, w, l, strict)]
    schema = sd.Schema.from_roles(quasi=["a", "b"], sensitive=["ill"])
    known = pl.DataFrame({"a": [p[0] for p in people], "b": [p[1] for p in people], "ill": values})
    output = known.with_columns(a=pl.lit("*"), b=pl.lit("*"))
    learned = attack(
        output, schema, kind="minimality", known=sd.read(known, schema), requirements=sd.LDiversity(l), method="mondrian",
        strict=strict,
    ).gain  # fmt: skip
    if not worlds:
        assert learned.believed_after == learned.believed_before
        return
    strongest = [Counter(w[i] for w in worlds).most_common(1)[0][1] / len(worlds) for i in range(size)]
    before = Counter(values).most_common(1)[0][1] / size
    assert learned.believed_after == pytest.approx(np.mean(strongest))
    assert learned.believed_before == pytest.approx(before)
    assert learned.certain == (sum(one > 0.999 for one in strongest) if before < 0.999 else 0)


def random_people(r: Random, rows: int) -> sd.Table:
    ages = sd.Hierarchy.intervals(range(64), width=4, fanout=2)
    frame = pl.DataFrame(
        {
            "age": [r.randrange(64) for _ in range(rows)],
            "town": [r.choice(["Ayr", "Bath", "Cork", "Deal"]) for _ in range(rows)],
            "ill": [r.choice(["flu", "flu", "cold", "HIV", "gout"]) for _ in range(rows)],
        }
    )
    return sd.read(
        frame, sd.Schema.from_roles(quasi=["age", "town"], sensitive=["ill"], hierarchies={"age": ages})
    )


@given(r=randoms)
@settings(max_examples=40)
def test_the_truth_is_never_ruled_out(r: Random) -> None:
    """By Mondrian: whoever really has a value is never left without it."""
    table, strict = random_people(r, r.randint(8, 60)), r.random() < 0.5
    asked = [sd.KAnonymity(r.randint(1, 4)), sd.LDiversity(2)]
    if table["ill"].size < 2:
        return
    whole = sd.generalize(table, asked, "mondrian", strict=strict).plan.locate(table)
    assert isinstance(whole, Located)
    crowd = Crowd.located(whole, "ill", 1000)
    rules, starts = _Rules.of(crowd, asked, strict), crowd.starts
    assert crowd.truth is not None
    codes = np.arange(len(crowd.values))
    for b in range(len(crowd.histograms)):
        rows = np.arange(starts[b], starts[b + 1])
        counts = np.rint(crowd.truth[rows] * crowd.weights[rows, None]).astype(int)
        world = np.concatenate([np.repeat(codes, row) for row in counts])[None, :]
        person = np.repeat(np.arange(len(rows)), crowd.weights[rows])
        present = np.flatnonzero(crowd.histograms[b])
        for child in crowd.children(crowd.tuples[rows]):
            assert not rules.cut(np.searchsorted(present, world), child[person], present)[0]


def test_people_are_put_where_mondrian_has_them() -> None:
    """Known people find their own blocks again, by labels alone."""
    table = random_people(Random(3), 400)
    release = sd.generalize(table, sd.KAnonymity(5), "mondrian")
    whole = release.plan.locate(table)
    assert isinstance(whole, Located)
    from sudare.attacks.published import Published

    placed = Crowd.placed(Published.open(release.frame(), table.schema), "ill", table)
    told = Crowd.located(whole, "ill", 1000)
    assert placed.blocks == told.blocks == len(placed.histograms)

    def blocks(crowd: Crowd) -> list[list[tuple[object, ...]]]:
        rows = [
            (b, (*t, w))
            for b, t, w in zip(crowd.block, crowd.tuples.tolist(), crowd.weights.tolist(), strict=True)
        ]
        return sorted(sorted(one for at, one in rows if at == b) for b in range(len(crowd.histograms)))

    assert blocks(placed) == blocks(told)


def test_who_is_not_known_is_left_alone() -> None:
    """Of no block everybody is known, so nothing can be said."""
    learned = attacked(GLOBAL, BAD.head(3))
    assert learned.gain.people == 0
    assert "of no block everybody is known" in str(learned)


def test_wrong_uses_are_refused() -> None:
    with pytest.raises(sd.ParameterError, match="needs the option 'known'"):
        attack(GLOBAL, SCHEMA, kind="minimality")
    quasi_only = sd.Schema.from_roles(quasi=["q"], other=["ill"])
    with pytest.raises(sd.InputError, match="needs a sensitive attribute"):
        attack(
            GLOBAL, quasi_only, kind="minimality", known=BAD, requirements=sd.KAnonymity(2), method="mondrian"
        )


# -- what the holder keeps ---------------------------------------------------------------------------


def test_the_record_and_the_report_have_it_and_the_certificate_has_not() -> None:
    release = sd.generalize(sd.read(BAD, SCHEMA), sd.LDiversity(2), "mondrian")
    knowing = release.holder["attacks"]["knowing"]
    assert list(knowing) == ["minimality", "definetti", "downcoding"]
    assert knowing["minimality"]["certain"] == 2
    assert knowing["minimality"]["right_after"] == 1 / 2
    assert "knowing that no block could be cut (minimality)" in release.report
    assert "1 of 1 blocks" in release.report
    assert "knowing" not in release.certificate.attacks
    assert any("Who knows the method may rule values out" in text for text in release.certificate.caveats)
    blind = sd.generalize(sd.read(GOOD, SCHEMA), [sd.KAnonymity(2), sd.LDiversity(2)], "blind")
    assert not any("rule values out" in text for text in blind.certificate.caveats)


def test_without_sensitive_values_labels_are_tried_alone() -> None:
    release = sd.generalize(
        sd.read(BAD, sd.Schema.from_roles(quasi=["q", "ill"])), sd.KAnonymity(2), "mondrian"
    )
    assert list(release.holder["attacks"]["knowing"]) == ["downcoding"]


def test_where_every_way_that_was_drawn_is_ruled_out_nothing_is_believed() -> None:
    """Of very many ways to deal values out only some are drawn, and it may be that none of these is left."""
    crowd = SimpleNamespace(
        histograms=np.array([[9, 9, 9]]),
        weights=np.full(27, 1),
        tuples=np.zeros((27, 1), dtype=np.int32),
        children=lambda tuples: [np.arange(len(tuples)) % 2],
    )
    rules = SimpleNamespace(cut=lambda worlds, child, codes: np.ones(len(worlds), dtype=bool))
    narrower = SimpleNamespace(histograms=lambda own, width: iter(crowd.histograms))
    believed = minimality._believed(crowd, 0, np.arange(27), rules, narrower, np.random.default_rng(0))  # type: ignore[arg-type]
    assert believed is None
