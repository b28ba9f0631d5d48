"""Budgets: exact numbers, one relation between neighbours, and all names of a source."""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sudare as sd
from sudare.ledger.budgets import Cost, replacing
from sudare.ledger.chain import Entry
from sudare.ledger.entries import ReleaseBody, exact
from sudare.ledger.history import History

NUMBERS = st.fractions(0, 900, max_denominator=10**9)


def entry(seq: int, source: str, digest: str, epsilon: str = "1", **noise: str) -> Entry:
    body = {
        "folder": "out", "receiver": None, "source": source, "digest": digest * 64,
        "whole_digest": digest * 64, "columns": {}, "rows": 3, "views": {}, "promises": [],
        "noise": {"epsilon": epsilon, "delta": "0", "neighbours": "replace"} | noise,
        "certificate": {"requirements": []}, "certificate_sha256": None, "holder": {}, "input_salt": f"{seq:064x}",
    }  # fmt: skip
    ReleaseBody.model_validate(body)
    return Entry(seq, "", "release", body, "", "")


@pytest.fixture
def ledger(tmp_path: Path) -> sd.Ledger:
    return sd.Ledger(tmp_path / "releases.db")


class TestNumbers:
    @given(st.floats(0, 1e30) | st.decimals(0, 10**12, places=9) | st.integers(0, 10**29))
    def test_a_number_is_what_is_written(self, number: float | Decimal | int) -> None:
        assert exact(number) == Fraction(str(number))
        assert exact(str(number)) == Fraction(str(number))

    @given(st.text(alphabet="0123456789eE+-./_ ٣naif", max_size=50))
    def test_any_text_is_a_number_or_refused_at_once(self, text: str) -> None:
        try:
            number = exact(text)
        except sd.InputError:
            return
        assert number == Fraction(text)
        assert 0 <= number < 10**61


class TestReplacing:
    @given(NUMBERS, st.fractions(0, 1, max_denominator=10**40))
    def test_it_is_rounded_up_and_hardly(self, epsilon: Fraction, delta: Fraction) -> None:
        cost = replacing(Cost(epsilon, delta))
        assert cost.epsilon == 2 * epsilon
        fine = Context(prec=120)
        power = fine.divide(Decimal(epsilon.numerator), Decimal(epsilon.denominator))
        true = (1 + Fraction(fine.exp(power))) * delta
        if true >= 1:
            assert cost.delta == 1
        else:
            assert true <= cost.delta <= true * (1 + Fraction(1, 10**45))

    @pytest.mark.parametrize("epsilon", ["1000", "1e30"])
    def test_beyond_all_sense_nothing_is_promised(self, epsilon: str) -> None:
        assert replacing(Cost(exact(epsilon), exact("5e-324"))).delta == 1
        assert replacing(Cost(exact(epsilon), Fraction(0))).delta == 0


class TestSources:
    def test_names_and_digests_link_releases_one_by_one(self) -> None:
        entries = [
            entry(1, "a.csv", "1"),
            entry(2, "b.csv", "2"),
            entry(3, "c.csv", "3"),
            entry(4, "b.csv", "1"),
            entry(5, "d.csv", "2"),
        ]
        for name in ("a.csv", "b.csv", "d.csv"):
            history = History.of(entries, name)
            assert history.names == {"a", "b", "d"}
            assert [one.seq for one in history.releases] == [1, 2, 4, 5]
        assert [one.seq for one in History.of(entries, "c.csv").releases] == [3]
        assert [one.seq for one in History.of(entries, "new.csv", {"3" * 64}).releases] == [3]
        assert len(History.of(entries, "c.csv", {"1" * 64}).releases) == 5, "a new table can link two sources"
        assert History.of(entries, "new.csv", {"9" * 64}).releases == []

    @given(st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("123456")), max_size=12))
    def test_they_are_connected_components(self, pairs: list[tuple[str, str]]) -> None:
        """Compared with putting in one pair after the other, and merging all that it touches."""
        parts: list[set[str]] = []
        for pair in pairs:
            touched = [part for part in parts if part & {*pair}]
            parts = [part for part in parts if part not in touched] + [{*pair}.union(*touched)]
        entries = [entry(i, name, digest) for i, (name, digest) in enumerate(pairs)]
        for name in {name for name, _ in pairs}:
            (part,) = (one for one in parts if name in one)
            expected = [i for i, (source, _) in enumerate(pairs) if source in part]
            assert [one.seq for one in History.of(entries, name).releases] == expected


class TestBudgetsOfOneSource:
    def test_all_names_bind_and_the_strictest_is_shown(self, ledger: sd.Ledger) -> None:
        for i, (name, digest) in enumerate([("a", "1"), ("b", "1")]):
            ledger.append("release", entry(i, name, digest, neighbours="add or remove").body)
        ledger.set_budget("a", 10)
        ledger.set_budget("b", "2.5", neighbours="add or remove")
        for name in ("a", "b"):
            budget = ledger.budget(name)
            assert budget is not None
            assert (budget.source, budget.spent, budget.remaining) == ("b", 2, Fraction(1, 2))
        ledger.set_budget("a", 4)
        assert str(ledger.budget("b")) == "a: epsilon 4 in all, 4 spent, 0 remain; one record replaced"

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            (("", 1), "Name the source"),
            (("a", 0), "epsilon must be above 0"),
            (("a", 1, 1), "delta must be below 1"),
            (("a", -1), "number of 0 or more"),
            (("a", True), "number of 0 or more"),
            (("a", 1, "-0.1"), "number of 0 or more"),
        ],
    )
    def test_what_is_no_budget(self, ledger: sd.Ledger, given: tuple[Any, ...], message: str) -> None:
        with pytest.raises(sd.InputError, match=message):
            ledger.set_budget(*given)
        with pytest.raises(sd.ParameterError, match="'neighbours' parameter of set_budget must be one of"):
            ledger.set_budget("a", 1, neighbours="both")  # type: ignore[arg-type]
        assert ledger.entries() == []


def of_p_view(
    seq: int, receiver: str | None, salt: str, measurement: str | None, epsilon: str = "1"
) -> Entry:
    body = {
        **entry(seq, "a", "1", epsilon).body,
        "receiver": receiver, "input_salt": salt * 64, "certificate_sha256": measurement and "f" * 64,
        "measurement": measurement and measurement * 64,
    }  # fmt: skip
    ReleaseBody.model_validate(body)
    return Entry(seq, "", "release", body, "", "")


class TestMeasurements:
    """One that goes out again costs nothing more; a forged one does."""

    @pytest.mark.parametrize(
        ("releases", "spent"),
        [
            ([("x", "1", "a"), ("x", "1", "a")], 1),  # again
            ([("x", "1", "a"), ("y", "1", "a"), (None, "1", "a")], 1),  # to others, and to all
            ([("x", "1", None), ("x", "1", "a"), ("y", "1", "a")], 1),  # charged beforehand
            ([("x", "1", None), ("x", "1", "a"), ("x", "1", "b")], 2),  # other files under its salt
            ([("x", "1", "a"), ("x", "2", "a")], 2),  # the same files under another salt
            ([("x", "1", None), ("x", "2", None)], 2),
            ([("x", "1", "a", "0.1"), ("x", "1", "a", "1")], 1),  # a smaller charge does not pay for it
            ([("x", "1", "a"), ("x", "1", "a", "0.1")], 1),
        ],
    )
    def test_each_counts_once(self, ledger: sd.Ledger, releases: list[Any], spent: int) -> None:
        for i, release in enumerate(releases):
            ledger.append("release", of_p_view(i, *release).body)
        ledger.set_budget("a", 10)
        for receiver in ("x", "z", None):
            assert ledger.budget("a", receiver).spent == spent  # type: ignore[union-attr]

    def test_randomized_rows_are_each_a_measurement_of_their_own(self, ledger: sd.Ledger) -> None:
        for i in range(2):
            body = of_p_view(i, "x", "1", None).body | {"certificate_sha256": "f" * 64}
            ledger.append("release", body)
        ledger.set_budget("a", 10)
        assert ledger.budget("a").spent == 2  # type: ignore[union-attr]

    def test_receivers_who_are_apart_have_what_each_got(self, ledger: sd.Ledger) -> None:
        for i, release in enumerate([("x", "1", "a"), ("y", "1", "a"), ("y", "2", "b", "2")]):
            ledger.append("release", of_p_view(i, *release).body)
        ledger.set_budget("a", 10)
        ledger.declare_apart(["x", "y"])
        spent = [ledger.budget("a", receiver).spent for receiver in ("x", "y", None)]  # type: ignore[union-attr]
        assert spent == [1, 3, 3]
