"""Budgets that are dealt out over periods: no period spends more than its share, and all together no more than the whole."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sudare as sd
from sudare.ledger import budgets
from sudare.ledger.entries import MAX_PERIODS, BudgetBody, fault_of
from sudare.ledger.history import History
from sudare.ledger.measurements import measurements_of
from tests.ledger import test_ledger
from tests.ledger.test_handed_on import release
from tests.release.killing import forker

SCHEMA = sd.Schema.from_roles(sensitive=["ill"], domains={"ill": ["yes", "no"]}, source="people")
TABLE = sd.read(pl.DataFrame({"ill": ["yes"] * 30 + ["no"] * 70}), SCHEMA)
DECAYS = st.fractions(Fraction(1, 100), Fraction(99, 100), max_denominator=100)


@pytest.fixture
def ledger(tmp_path: Path) -> sd.Ledger:
    return sd.Ledger(tmp_path / "releases.db")


class TestShares:
    @given(st.integers(1, MAX_PERIODS))
    def test_so_many_periods_share_evenly_and_later_ones_have_nothing(self, periods: int) -> None:
        schedule = sd.Schedule(periods=periods)
        assert {schedule.share(period) for period in range(1, periods + 1)} == {Fraction(1, periods)}
        assert schedule.share(periods + 1) == 0

    @given(DECAYS, st.integers(1, 60))
    def test_shrinking_shares_never_add_up_to_the_whole(self, decay: Fraction, upto: int) -> None:
        shares = [sd.Schedule(decay=decay).share(period) for period in range(1, upto + 1)]
        assert all(later == decay * share for share, later in pairwise(shares))
        assert sum(shares) == 1 - decay**upto < 1

    def test_no_share_lasts_for_ever(self) -> None:
        schedule = sd.Schedule(decay="0.9")
        assert schedule.share(MAX_PERIODS) > 0
        assert schedule.share(MAX_PERIODS + 1) == 0

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ({}, "either so many periods"),
            ({"periods": 2, "decay": "1/2"}, "either so many periods"),
            ({"periods": 0}, "whole number of 1 or more"),
            ({"periods": True}, "whole number of 1 or more"),
            ({"periods": MAX_PERIODS + 1}, "1,000 at most"),
            ({"decay": 1}, "between 0 and 1"),
            ({"decay": 0}, "between 0 and 1"),
        ],
    )
    def test_what_is_no_schedule(self, given: dict[str, Any], message: str) -> None:
        with pytest.raises(sd.ParameterError, match=message):
            sd.Schedule(**given)


def made(ledger: sd.Ledger, epsilon: float, **how: Any) -> sd.PView:
    return sd.materialize(TABLE, sd.DifferentialPrivacy(epsilon), "identity", ledger=ledger, **how)


class TestInALedger:
    def test_every_period_has_its_share_and_what_is_left_lapses(self, ledger: sd.Ledger) -> None:
        ledger.set_budget("people", 3, "3e-9", neighbours="add or remove", schedule=sd.Schedule(periods=3))
        made(ledger, 0.75)
        with pytest.raises(
            sd.LedgerError, match=r"for period 1 .* epsilon 0\.5 requested, 0\.25 of 1 remaining"
        ):
            made(ledger, 0.5)
        ledger.begin_period("people")
        with pytest.raises(sd.LedgerError, match="wait for the next period"):
            made(ledger, 1.25)
        made(ledger, 1)
        ledger.begin_period("people.csv")  # a name of the same source
        assert str(ledger.budget("people")) == (
            "people, period 3: epsilon 1 in all, 0 spent, 1 remain; delta 1e-09 in all, 0 spent, 1e-09 remain; "
            "one record added or removed"
        )
        made(ledger, 1)
        with pytest.raises(sd.LedgerError, match="has 3 periods, and the last of them has begun"):
            ledger.begin_period("people")
        with pytest.raises(sd.LedgerError, match="0 of 1 remaining"):
            made(ledger, 0.25)
        (whole, _) = budgets.budgets_of(History.of(ledger.entries(), "people"), None)
        assert (whole.spent, whole.remaining) == (Fraction("2.75"), Fraction("0.25"))

    def test_a_pview_of_an_earlier_period_is_paid_from_that_ones_share(
        self, ledger: sd.Ledger, tmp_path: Path
    ) -> None:
        ledger.set_budget("people", 4, neighbours="add or remove", schedule=sd.Schedule(periods=2))
        ledger.declare_apart(["x", "y"])
        first, second = made(ledger, 2, receiver="x"), made(ledger, 2, receiver="y")
        ledger.begin_period("people")
        first.write(tmp_path / "again", ledger=ledger)  # x has it already
        with pytest.raises(sd.LedgerError, match=r"for period 1 .* would be overspent"):
            second.write(tmp_path / "to x", ledger=ledger, receiver="x")
        made(ledger, 2, receiver="x")

    def test_the_last_period_is_told_as_one(self, ledger: sd.Ledger) -> None:
        ledger.set_budget("people", 2, neighbours="add or remove", schedule=sd.Schedule(periods=2))
        made(ledger, 1)
        ledger.begin_period("people")
        assert ledger.budget("people").period == 2  # type: ignore[union-attr]

    def test_a_budget_without_periods_has_none_to_begin(self, ledger: sd.Ledger) -> None:
        for _ in range(2):
            with pytest.raises(sd.LedgerError, match="not dealt out over periods"):
                ledger.begin_period("people")
            ledger.set_budget("people", 3)

    def test_a_schedule_that_this_period_has_overspent_already_is_refused(self, ledger: sd.Ledger) -> None:
        made(ledger, 1)
        with pytest.raises(
            sd.LedgerError, match=r"for period 1 .* cannot be epsilon 0\.5: 2 is spent already"
        ):
            ledger.set_budget("people", 6, schedule=sd.Schedule(periods=12))
        ledger.set_budget("people", 6, schedule=sd.Schedule(periods=3))

    def test_the_last_word_counts(self, ledger: sd.Ledger) -> None:
        ledger.set_budget("people", 4, neighbours="add or remove", schedule=sd.Schedule(decay="1/2"))
        ledger.begin_period("people")
        assert ledger.budget("people").remaining == 1  # type: ignore[union-attr]
        ledger.set_budget("people", 4, neighbours="add or remove", schedule=sd.Schedule(periods=4))
        assert str(ledger.budget("people")).startswith("people, period 2: epsilon 1 in all")
        ledger.set_budget("people", 4, neighbours="add or remove")
        assert ledger.budget("people").period is None  # type: ignore[union-attr]
        made(ledger, 4)

    def test_a_period_that_is_taken_out_or_put_in_is_found(self, ledger: sd.Ledger) -> None:
        ledger.set_budget("people", 4, schedule=sd.Schedule(periods=4))
        ledger.begin_period("people")
        made(ledger, 0.5)
        whole = ledger.path.read_bytes()
        for change in (
            "DELETE FROM entries WHERE seq = 2",
            "UPDATE entries SET body = replace(body, 'people', 'nobody') WHERE seq = 2",
            "UPDATE entries SET body = replace(body, '4', '1') WHERE seq = 1",
            "UPDATE entries SET kind = 'budget' WHERE seq = 2",
            "INSERT INTO entries SELECT 4, at, kind, body, previous, hash FROM entries WHERE seq = 2",
        ):
            ledger.path.write_bytes(whole)
            with closing(sqlite3.connect(ledger.path)) as connection, connection:
                triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
                several = triggers.fetchall()
                for name, _ in several:
                    connection.execute(f"DROP TRIGGER {name}")
                names = [row[1] for row in connection.execute("PRAGMA table_info(entries)")]
                connection.execute(change.replace("hash", names[-1]).replace("previous", names[-2]))
                for _, sql in several:
                    connection.execute(sql)
            with pytest.raises(sd.LedgerError, match=r"Entry [1-4] of the ledger"):
                ledger.verify()

    @pytest.mark.parametrize(
        "more", [{"periods": 0}, {"periods": 1001}, {"periods": "3"}, {"decay": "1"}, {"decay": 0.5},
                 {"periods": 3, "decay": "1/2"}, {"decay": "0"}, {"decay": "1/0"}]
    )  # fmt: skip
    def test_forged_schedules_are_refused(self, more: dict[str, Any]) -> None:
        body = {"source": "a", "epsilon": "1", "delta": "0", "neighbours": "replace"}
        assert fault_of("budget", body) is None
        assert "not a valid 'budget' entry" in str(fault_of("budget", body | more))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_processes_that_spend_at_once_do_not_overspend_a_period(tmp_path: Path) -> None:
    ledger = sd.Ledger(tmp_path / "releases.db")
    source = sd.read(test_ledger.people(), test_ledger.SCHEMA).source.name
    ledger.set_budget(source, 8, schedule=sd.Schedule(periods=2))
    ledger.begin_period(source)
    with forker(test_ledger.__name__, str(ledger.path)):
        pass
    budget = ledger.budget(source)
    assert budget is not None
    assert budget.period == 2
    assert float(budget.spent) == pytest.approx(4)


# -- Against brute force --------------------------------------------------------------------------------

WHOLE = 12


def histories(count: int) -> Iterator[tuple[History, sd.Schedule, Random]]:
    for seed in range(count):
        r = Random(seed)
        names = list("ABCD")[: r.randint(2, 4)]
        apart = [r.sample(names, 2) for _ in range(r.randint(0, 3))]
        schedule = sd.Schedule(periods=3) if r.random() < 0.5 else sd.Schedule(decay="1/2")
        decay = None if schedule.decay is None else str(schedule.decay)
        budget = BudgetBody(
            source="s", epsilon=str(WHOLE), delta="0", neighbours="add or remove",
            periods=schedule.periods, decay=decay,
        )  # fmt: skip
        yield History(frozenset({"s"}), [], {"s": budget}, apart, {"s": []}), schedule, r


def largest_by_period(history: History, receiver: str | None) -> dict[int, int]:
    """The most epsilon of each period's measurements that anybody can put together with what a receiver gets."""
    groups = history.groups(receiver, history.releases)
    sets = [frozenset[str | None]().union(*chosen) for chosen in product(*(group.sets for group in groups))]
    spent: dict[int, int] = {}
    for who in sets:
        own: dict[int, int] = {}
        for measurement in measurements_of(history.releases):
            if measurement.receivers & who:
                first = measurement.releases[0]
                period = 1 + len([began for began in history.periods["s"] if began < first.seq])
                own[period] = own.get(period, 0) + int(first.body.noise.epsilon)  # type: ignore[union-attr]
        spent = {period: max(spent.get(period, 0), own.get(period, 0)) for period in {*spent, *own}}
    return spent


@pytest.mark.parametrize("tried", [60, pytest.param(600, marks=pytest.mark.slow)])
def test_no_period_is_overspent_whoever_gets_what_and_when(tried: int) -> None:
    accepted = refused = 0
    for history, schedule, r in histories(tried):
        epsilons = [r.randint(1, 4) for _ in range(6)]
        for seq in range(1, 14):
            if r.random() < 0.2:
                history.periods["s"].append(seq)
                continue
            measurement, receiver = r.randrange(6), r.choice([*"ABCD", None])
            new = release(seq, receiver, measurement, epsilons[measurement])
            try:
                budgets.refuse_overspending(history, new)
            except sd.LedgerError:
                refused += 1
                continue
            accepted += 1
            history.releases.append(new)
            spent = largest_by_period(history, receiver)
            assert all(own <= WHOLE * schedule.share(period) for period, own in spent.items())
            assert sum(spent.values()) <= WHOLE
    assert min(accepted, refused) > tried
