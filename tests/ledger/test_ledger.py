"""What the ledger remembers of releases, and what it refuses."""

from __future__ import annotations

import os
import sys
from collections import Counter
from fractions import Fraction
from functools import partial
from itertools import combinations, pairwise, permutations
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sudare as sd
from sudare.ledger.blocks import RecordedBlocks
from sudare.ledger.entries import exact
from sudare.ledger.history import record
from sudare.ledger.receivers import groups_around, sets_of
from sudare.privacy.requirement import BlockRequirement
from tests.by_row import tuple_of
from tests.release.killing import at_once, forker

SCHEMA = sd.Schema.from_roles(
    quasi=["age", "height", "town"],
    sensitive=["ill"],
    bounds={"age": (0, 120), "height": (50, 250)},
    domains={"ill": ["flu", "cold", "HIV", "gout"], "town": ["Bern", "Chur", "Genf"]},
)


def people(rows: int = 60, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": rng.integers(20, 60, rows),
            "height": rng.integers(150, 200, rows),
            "town": rng.choice(["Bern", "Chur", "Genf"], rows),
            "ill": rng.choice(["flu", "cold", "HIV", "gout"], rows),
        }
    )


@pytest.fixture
def table() -> sd.Table:
    return sd.read(people(), SCHEMA)


@pytest.fixture
def ledger(tmp_path: Path) -> sd.Ledger:
    return sd.Ledger(tmp_path / "releases.db")


def row_blocks(blocks: RecordedBlocks, table: sd.Table) -> np.ndarray:
    """The block of each row of a table; -1 where it is left out."""
    counts = table.counts([name for name in blocks.own_keys(table) if name != "ill"] + ["ill"])
    assert blocks.several is None
    return blocks.spread(table, counts, "ill").block[tuple_of(table, counts)]


def left(table: sd.Table, releases: list[sd.Release]) -> int:
    """Count by hand how many values all views of all releases leave to the worst person."""
    ill = table.frame()["ill"].to_list()
    least = len(set(ill))
    views = [row_blocks(own, table) for release in releases for own in release.kept.blocks.values()]
    for person in range(len(table)):
        values = set(ill)
        for blocks in views:
            if blocks[person] >= 0:
                values &= {ill[other] for other in np.flatnonzero(blocks == blocks[person])}
        least = min(least, len(values))
    return least


class TestLaterViews:
    def test_a_later_view_is_made_against_the_earlier_ones(
        self, table: sd.Table, ledger: sd.Ledger, tmp_path: Path
    ) -> None:
        releases = []
        for i, attributes in enumerate((["age"], ["height", "town"], ["age", "town"])):
            release = sd.generalize_views(table, {"v": attributes}, sd.MultiViewDiversity(2), ledger=ledger)
            release.write(tmp_path / str(i), ledger=ledger)
            releases.append(release)
            assert release.holder["measured"]["l_multiview"] == left(table, releases) >= 2
        alone = [
            sd.generalize_views(table, {"v": attributes}, sd.MultiViewDiversity(2))
            for attributes in (["age"], ["height", "town"])
        ]
        assert left(table, alone) < 2, "made apart they would have given somebody away"

    def test_what_earlier_releases_leave_no_room_for_is_refused_with_what_is_left(
        self, table: sd.Table, ledger: sd.Ledger, tmp_path: Path
    ) -> None:
        sd.generalize_views(table, {"a": ["age"]}, sd.MultiViewDiversity(2)).write(
            tmp_path / "a", ledger=ledger
        )
        with pytest.raises(
            sd.RequirementError,
            match=r"4-diversity is impossible: after release 1 somebody is left with 2.*still be promised is "
            r"multi-view 2-diversity: 'b' in \d+ blocks",
        ):
            sd.generalize_views(table, {"b": ["height"]}, sd.MultiViewDiversity(4), ledger=ledger)

    def test_a_plain_generalization_that_would_break_it_is_refused_and_leaves_nothing(
        self, table: sd.Table, ledger: sd.Ledger, tmp_path: Path
    ) -> None:
        sd.generalize_views(table, {"a": ["age"]}, sd.MultiViewDiversity(2)).write(
            tmp_path / "a", ledger=ledger
        )
        with pytest.raises(
            sd.RequirementError, match="would break what release 1 promises, multi-view 2-diversity"
        ):
            sd.generalize(table, sd.KAnonymity(2)).write(tmp_path / "b", ledger=ledger)
        assert not (tmp_path / "b").exists()
        assert len(ledger.entries()) == 1

    def test_left_out_rows_are_not_told_about(self, ledger: sd.Ledger, tmp_path: Path) -> None:
        table = sd.read(people(40, seed=3), SCHEMA)
        first = sd.generalize(table, [sd.KAnonymity(4), sd.LDiversity(2)], suppress=0.2)
        first.write(tmp_path / "a", ledger=ledger)
        second = sd.generalize_views(table, {"v": ["town"]}, sd.MultiViewDiversity(2), ledger=ledger)
        second.write(tmp_path / "b", ledger=ledger)
        assert left(table, [first, second]) >= 2

    @pytest.mark.parametrize(
        "asked", [sd.TCloseness(0.4), sd.BetaLikeness(2), sd.DeltaDisclosure(2)], ids=str
    )
    def test_what_compares_with_the_table_does_not_survive_a_second_release(
        self, asked: BlockRequirement, table: sd.Table, ledger: sd.Ledger, tmp_path: Path
    ) -> None:
        sd.generalize(table, asked).write(tmp_path / "a", ledger=ledger)
        release = sd.generalize_views(table, {"v": ["town"]}, sd.MultiViewDiversity(2))
        with pytest.raises(sd.RequirementError, match="no rule is known by which that survives"):
            release.write(tmp_path / "b", ledger=ledger)
        with pytest.raises(sd.RequirementError, match="no rule is known by which that survives"):
            sd.generalize_views(table, {"v": ["town"]}, sd.MultiViewDiversity(2), ledger=ledger)

    def test_another_state_of_the_source_is_refused(
        self, table: sd.Table, ledger: sd.Ledger, tmp_path: Path
    ) -> None:
        sd.generalize_views(table, {"a": ["age"]}, sd.MultiViewDiversity(2)).write(
            tmp_path / "a", ledger=ledger
        )
        other = sd.read(people(seed=1), SCHEMA)
        with pytest.raises(sd.RequirementError, match="made from another state of"):
            sd.generalize_views(other, {"a": ["age"]}, sd.MultiViewDiversity(2), ledger=ledger)
        with pytest.raises(sd.RequirementError, match="made from another state of"):
            sd.generalize(other, sd.LDiversity(2)).write(tmp_path / "b", ledger=ledger)

    def test_columns_that_would_join_rows_are_refused(self, ledger: sd.Ledger, tmp_path: Path) -> None:
        schema = sd.Schema.from_roles(quasi=["age", "height"], sensitive=["ill"], other=["town"])
        table = sd.read(people(), schema)
        sd.generalize(table, sd.LDiversity(2)).write(tmp_path / "a", ledger=ledger)
        with pytest.raises(
            sd.RequirementError, match=r"both have 'town', by which their rows could be\s+joined"
        ):
            sd.generalize(table, sd.LDiversity(3)).write(tmp_path / "b", ledger=ledger)

    def test_the_same_again_tells_nothing_new(self, ledger: sd.Ledger, tmp_path: Path) -> None:
        schema = sd.Schema.from_roles(quasi=["age", "height"], sensitive=["ill"], other=["town"])
        table = sd.read(people(), schema)
        for _ in range(2):
            sd.generalize(table, sd.LDiversity(2)).write(tmp_path / "a", ledger=ledger, force=True)
        assert len(ledger.entries()) == 2

    def test_releases_without_a_promise_about_values_are_let_through(
        self, table: sd.Table, ledger: sd.Ledger, tmp_path: Path
    ) -> None:
        for name in ("a", "b"):
            sd.generalize(table, sd.KAnonymity(3)).write(tmp_path / name, ledger=ledger)
        assert len(ledger.entries()) == 2


class TestReceivers:
    def test_receivers_declared_apart_are_not_combined_unless_asked(
        self, table: sd.Table, ledger: sd.Ledger, tmp_path: Path
    ) -> None:
        ledger.declare_apart(["hospital", "insurer"])
        need = sd.MultiViewDiversity(2)
        one = sd.generalize_views(table, {"v": ["age"]}, need, ledger=ledger, receiver="hospital")
        one.write(tmp_path / "a", ledger=ledger, receiver="hospital")
        free = sd.generalize_views(table, {"v": ["height"]}, need, ledger=ledger, receiver="insurer")
        bound = sd.generalize_views(
            table, {"v": ["height"]}, need, ledger=ledger, receiver="insurer", everybody=True
        )
        assert left(table, [one, free]) < 2 <= left(table, [one, bound])
        assert free.certificate.utility["v"]["blocks"] > bound.certificate.utility["v"]["blocks"]
        free.write(tmp_path / "b", ledger=ledger, receiver="insurer")
        with pytest.raises(sd.RequirementError, match="would break"):
            free.write(tmp_path / "c", ledger=ledger, receiver="hospital")
        with pytest.raises(sd.RequirementError, match="would break"):
            free.write(tmp_path / "c", ledger=ledger)  # for anybody, so also for the hospital

    def test_what_anybody_may_get_is_combined_with_each_but_they_not_with_one_another(
        self, table: sd.Table, ledger: sd.Ledger, tmp_path: Path
    ) -> None:
        ledger.declare_apart(["hospital", "insurer"])
        need = sd.MultiViewDiversity(2)
        given = {}
        for receiver, attribute in (("hospital", "age"), ("insurer", "height")):
            release = sd.generalize_views(table, {"v": [attribute]}, need, ledger=ledger, receiver=receiver)
            release.write(tmp_path / receiver, ledger=ledger, receiver=receiver)
            given[receiver] = release
        assert left(table, list(given.values())) < 2
        public = sd.generalize_views(table, {"v": ["town"]}, need, ledger=ledger)
        public.write(tmp_path / "public", ledger=ledger)
        assert all(left(table, [release, public]) >= 2 for release in given.values())

    def test_two_receivers_are_needed(self, ledger: sd.Ledger) -> None:
        for wrong in ([], ["a"], ["a", "a"], ["a", ""], "ab"):
            with pytest.raises(sd.InputError, match="at least two different receivers"):
                ledger.declare_apart(wrong)

    @given(
        st.lists(st.sampled_from(["a", "b", "c", "d", "e", None]), max_size=6),
        st.sets(st.sampled_from(list(combinations("abcde", 2)))),
        st.sampled_from(["a", "b", None]),
    )
    def test_the_sets_that_are_combined_are_all_largest_ones(
        self, receivers: list[str | None], apart: set[tuple[str, str]], new: str | None
    ) -> None:
        """Compared with all subsets of receivers, one by one."""
        everybody = sorted({*receivers, new}, key=str)
        fits = [
            frozenset(chosen)
            for size in range(len(everybody) + 1)
            for chosen in combinations(everybody, size)
            if new in chosen and not any({*pair} <= {*chosen} for pair in apart)
        ]
        largest = {one for one in fits if not any(one < other for other in fits)}
        groups = groups_around(new, receivers, apart)
        followed = sets_of(groups, Counter(receivers))
        assert followed.exact
        assert len(followed.sets) == len(set(followed.sets))
        assert set(followed.sets) == largest
        got = Counter(receivers)
        most = max(sum(got[one] for one in chosen) for chosen in largest)
        assert sum(max(sum(got[one] for one in chosen) for chosen in group.sets) for group in groups) == most

    def test_twenty_four_pairs_apart_are_followed_in_a_few_sets(self) -> None:
        pairs = [(f"a{i}", f"b{i}") for i in range(24)]
        got = Counter({name: 1 + (i < 3) for i, pair in enumerate(pairs) for name in pair})
        groups = groups_around(None, list(got), pairs)
        assert [len(group.sets) for group in groups] == [1, *[2] * 24]
        followed = sets_of(groups, got)
        assert len(followed.sets) == 64
        assert not followed.exact
        for one in followed.sets:
            split = [pair for pair in pairs if len(one.intersection(pair)) == 1]
            assert set(pairs[:3]) <= set(split), "those with most releases count as apart still"
            assert len(split) == 6
            assert all(one.issuperset(pair) for pair in pairs if pair not in split)

    def test_thirty_who_are_all_apart_are_thirty_sets(self) -> None:
        names = [f"r{i:02}" for i in range(30)]
        followed = sets_of(groups_around(None, names, [names]), Counter(names))
        assert followed.exact
        assert sorted(map(sorted, (one - {None} for one in followed.sets))) == [[name] for name in names]

    @pytest.mark.parametrize("size", [40, 500])
    def test_beyond_the_limits_nobody_counts_as_apart(self, size: int) -> None:
        names = [f"r{i:03}" for i in range(size)]
        ring = list(pairwise([*names, names[0]]))
        followed = sets_of(groups_around("r000", names, ring), Counter(names))
        assert not followed.exact
        assert followed.sets == [frozenset(names) - {names[1], names[-1]}]

    @pytest.mark.parametrize("kind", ["distinct", "entropy"])
    def test_promises_beyond_the_limits_are_kept_or_refused(
        self, table: sd.Table, ledger: sd.Ledger, kind: str
    ) -> None:
        """Sets of values only shrink the more is combined; a posterior may get flatter, and is not guessed at."""
        first = sd.generalize_views(table, {"v": ["age"]}, sd.MultiViewDiversity(2, kind))  # type: ignore[arg-type]
        body = record(
            table, "out", None, first.certificate, first.kept.input_salt, neighbours="replace",
            columns={"v": first.frames()["v"].columns}, blocks=first.kept.blocks, requirements=first.requirements,
        )  # fmt: skip
        for i in range(8):  # 256 ways to choose one of each pair
            ledger.declare_apart([f"a{i}", f"b{i}"])
            for receiver in (f"a{i}", f"b{i}"):
                ledger.append("release", {**body, "receiver": receiver})
        need = sd.MultiViewDiversity(2)
        if kind == "entropy":
            with pytest.raises(sd.RequirementError, match="declared apart in more than 100 ways"):
                sd.generalize_views(table, {"v": ["height"]}, need, ledger=ledger)
        else:
            second = sd.generalize_views(table, {"v": ["height"]}, need, ledger=ledger)
            assert left(table, [first, second]) >= 2

    def test_what_cannot_be_read_again_is_not_recorded(self, ledger: sd.Ledger, tmp_path: Path) -> None:
        name = "x" * 5000
        table = sd.read(pl.DataFrame({name: [1, 2] * 3}), sd.Schema.from_roles(quasi=[name]))
        with pytest.raises(
            sd.InputError, match="This release cannot be recorded: it is not a valid 'release' entry"
        ):
            sd.generalize(table, sd.KAnonymity(2)).write(tmp_path / "a", ledger=ledger)
        with pytest.raises(sd.InputError, match="A receiver is named by printable text"):
            sd.generalize(table, sd.KAnonymity(2)).write(tmp_path / "a", ledger=ledger, receiver="a\nb")
        assert not (tmp_path / "a").exists()
        assert ledger.entries() == []

    def test_sums_over_many_pairs_are_exact(self, table: sd.Table, ledger: sd.Ledger, tmp_path: Path) -> None:
        ledger.set_budget(table.name, 100)
        for i in range(24):
            ledger.declare_apart([f"a{i}", f"b{i}"])
        for i in range(3):
            for name, epsilon in (("a", 1), ("b", 2)):
                release = sd.randomize(table, sd.DifferentialPrivacy(epsilon, per="record"))
                release.write(tmp_path / f"{name}{i}", ledger=ledger, receiver=f"{name}{i}")
        for receiver, spent in ((None, 6), ("a0", 5), ("b0", 6), ("c", 6)):
            budget = ledger.budget(table.name, receiver)
            assert budget is not None
            assert float(budget.spent) == pytest.approx(spent)


class TestBudgets:
    def test_what_would_overspend_is_refused_and_shows_the_difference(
        self, table: sd.Table, ledger: sd.Ledger, tmp_path: Path
    ) -> None:
        ledger.set_budget(table.source.name, "3")
        need = sd.DifferentialPrivacy(2, per="record")
        sd.randomize(table, need).write(tmp_path / "a", ledger=ledger)
        budget = ledger.budget(table.source.name)
        assert budget is not None
        assert float(budget.spent) == pytest.approx(2)
        with pytest.raises(
            sd.LedgerError,
            match=r"overspent: epsilon 2 requested, 1 of 3 remaining: 1 over budget\. Ask for a smaller",
        ):
            sd.randomize(table, need).write(tmp_path / "b", ledger=ledger)
        assert not (tmp_path / "b").exists()
        sd.randomize(table, sd.DifferentialPrivacy(1, per="record")).write(tmp_path / "b", ledger=ledger)

    def test_numbers_are_taken_as_they_are_written(self, ledger: sd.Ledger) -> None:
        assert exact(0.1) + exact("0.2") == exact(0.3) == Fraction(3, 10)
        with pytest.raises(sd.InputError, match="must be a number"):
            ledger.set_budget("people.csv", "much")
        with pytest.raises(sd.InputError, match="must be above 0"):
            ledger.set_budget("people.csv", 0)

    def test_receivers_apart_have_budgets_of_their_own(
        self, table: sd.Table, ledger: sd.Ledger, tmp_path: Path
    ) -> None:
        source = table.source.name
        ledger.set_budget(source, 2)
        ledger.declare_apart(["x", "y"])
        for receiver in ("x", "y"):
            release = sd.randomize(table, sd.DifferentialPrivacy(1.5, per="record"))
            release.write(tmp_path / receiver, ledger=ledger, receiver=receiver)
        spent = [float(ledger.budget(source, receiver).spent) for receiver in ("x", "y", None)]  # type: ignore[union-attr]
        assert spent == pytest.approx([1.5, 1.5, 1.5]), "nobody has more than one of them"

    def test_the_last_word_counts_and_none_is_none(self, ledger: sd.Ledger) -> None:
        assert ledger.budget("people.csv") is None
        for epsilon in (1, "5/2"):
            ledger.set_budget("people.csv", epsilon)
        assert (
            str(ledger.budget("people.csv"))
            == "people.csv: epsilon 2.5 in all, 0 spent, 2.5 remain; one record replaced"
        )


VIEWS = [["age"], ["height"], ["town"], ["age", "town"], ["height", "town"]]


class TestEveryOrder:
    @settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        st.lists(
            st.tuples(
                st.sampled_from(VIEWS), st.integers(2, 3), st.booleans(), st.sampled_from(["a", "b", None])
            ),
            min_size=2,
            max_size=4,
        ),
        st.integers(0, 10_000),
        st.booleans(),
    )
    def test_no_order_of_releases_breaks_a_promise(
        self,
        tmp_path_factory: pytest.TempPathFactory,
        asked: list[tuple[list[str], int, bool, str | None]],
        seed: int,
        declared: bool,
    ) -> None:
        """Releases are asked for in any order, with or without looking at the ledger first; what got through is safe."""
        folder = tmp_path_factory.mktemp("order")
        ledger = sd.Ledger(folder / "releases.db")
        if declared:
            ledger.declare_apart(["a", "b"])
        table = sd.read(people(24, seed), SCHEMA)
        out: list[tuple[sd.Release, int, str | None]] = []
        for i, (attributes, l, looking, receiver) in enumerate(asked):
            try:
                release = sd.generalize_views(
                    table,
                    {"v": attributes},
                    sd.MultiViewDiversity(l),
                    ledger=ledger if looking else None,
                    receiver=receiver,
                )
                release.write(folder / str(i), ledger=ledger, receiver=receiver)
            except sd.RequirementError:
                assert not (folder / str(i)).exists()
            else:
                out.append((release, l, receiver))
        for who in ("a", "b") if declared else ("a",):
            others = {"a", "b"} if not declared else {who}
            got = [(release, l) for release, l, receiver in out if receiver is None or receiver in others]
            if got:
                assert left(table, [release for release, _ in got]) >= max(l for _, l in got)

    def test_of_two_that_cannot_go_together_the_second_is_refused_whichever_it_is(
        self, table: sd.Table, tmp_path: Path
    ) -> None:
        made = [
            sd.generalize_views(table, {"v": [name]}, sd.MultiViewDiversity(2)) for name in ("age", "height")
        ]
        assert left(table, made) < 2
        for i, (first, second) in enumerate(permutations(made)):
            ledger = sd.Ledger(tmp_path / f"{i}.db")
            first.write(tmp_path / f"first{i}", ledger=ledger)
            with pytest.raises(sd.RequirementError, match="would break"):
                second.write(tmp_path / f"second{i}", ledger=ledger)


def _spend(path: Path, name: str) -> None:
    table = sd.read(people(), SCHEMA)
    for i in range(3):
        try:
            sd.randomize(table, sd.DifferentialPrivacy(1, per="record")).write(
                path.parent / f"{name}{i}", ledger=sd.Ledger(path)
            )
        except sd.LedgerError:
            return


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_processes_that_spend_at_once_do_not_overspend(tmp_path: Path) -> None:
    path = tmp_path / "releases.db"
    source = sd.read(people(), SCHEMA).source.name
    sd.Ledger(path).set_budget(source, 4)
    with forker(__name__, str(path)):
        pass
    budget = sd.Ledger(path).budget(source)
    assert budget is not None
    assert float(budget.spent) == pytest.approx(4)
    assert len([e for e in sd.Ledger(path).entries() if e.kind == "release"]) == 4


if __name__ == "__main__":
    sd.Release.report = ""  # type: ignore[assignment, method-assign]  # nobody looks at it
    at_once(partial(_spend, Path(sys.argv[1]), name) for name in "ab")
