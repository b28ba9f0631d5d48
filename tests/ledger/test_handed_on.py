"""A p-view that is handed on is one measurement: its budget is never undercounted, and not overcounted either."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

import sudare as sd
from sudare.ledger import budgets
from sudare.ledger.entries import BudgetBody
from sudare.ledger.history import History
from sudare.ledger.measurements import measurements_of

BUDGET = 6


def release(seq: int, receiver: str | None, measurement: int, epsilon: int) -> Any:
    noise = SimpleNamespace(epsilon=str(epsilon), delta="0", neighbours="add or remove")
    body = SimpleNamespace(
        certificate=SimpleNamespace(unit=None),
        receiver=receiver,
        input_salt=f"salt {measurement}",
        measurement=f"m {measurement}",
        is_written=True,
        noise=noise,
    )
    return SimpleNamespace(seq=seq, receiver=receiver, body=body, source="s")


def most_combined(history: History, receiver: str | None) -> int:
    """The most epsilon that anybody can put together with what a receiver gets, over every choice of receivers."""
    groups = history.groups(receiver, history.releases)
    combined = (frozenset().union(*chosen) for chosen in itertools.product(*(group.sets for group in groups)))
    measured = measurements_of(history.releases)
    return max(
        sum(int(one.releases[0].body.noise.epsilon) for one in measured if one.receivers & who)  # type: ignore[union-attr]
        for who in combined
    )


def histories(count: int) -> Iterator[tuple[History, Random]]:
    for seed in range(count):
        r = Random(seed)
        names = list("ABCDEF")[: r.randint(2, 6)]
        apart = [r.sample(names, 2) for _ in range(r.randint(0, 4))]
        budget = BudgetBody(source="s", epsilon=str(BUDGET), delta="0", neighbours="add or remove")
        yield History(frozenset(), [], {"s": budget}, apart), r


@pytest.mark.parametrize("tried", [100, pytest.param(500, marks=pytest.mark.slow)])
def test_what_is_accepted_is_within_the_budget_and_what_is_spent_is_the_truth(tried: int) -> None:
    accepted = refused = 0
    for history, r in histories(tried):
        epsilons = [r.randint(1, 4) for _ in range(4)]
        for seq in range(1, 9):
            measurement, receiver = r.randrange(4), r.choice([*"ABCDEF", None])
            new = release(seq, receiver, measurement, epsilons[measurement])
            spent = budgets._spent(history, "add or remove", receiver)
            assert spent.epsilon == most_combined(history, receiver)
            try:
                budgets.refuse_overspending(history, new)
            except sd.LedgerError:
                refused += 1
                continue
            accepted += 1
            history.releases.append(new)
            assert most_combined(history, receiver) <= BUDGET
    assert min(accepted, refused) > 0.6 * tried


def test_a_pview_that_goes_to_everybody_counts_with_what_others_have(tmp_path: Path) -> None:
    schema = sd.Schema.from_roles(sensitive=["ill"], domains={"ill": ["yes", "no"]})
    table = sd.read(pl.DataFrame({"ill": ["yes"] * 30 + ["no"] * 70}), schema)
    ledger = sd.Ledger(tmp_path / "ledger.db")
    ledger.set_budget(table.name, 10, neighbours="add or remove")
    ledger.declare_apart(["A", "C"])
    ledger.declare_apart(["D", "E"])
    small, large, other = (
        sd.materialize(table, sd.DifferentialPrivacy(e), "identity") for e in (1.0, 5.0, 5.0)
    )
    for number, (pview, receiver) in enumerate([(small, "A"), (large, "C"), (other, "E"), (small, "D")]):
        pview.write(tmp_path / f"{number}", ledger=ledger, receiver=receiver)
        assert ledger.budget(table.name).spent <= 10  # type: ignore[union-attr]
    with pytest.raises(sd.LedgerError, match="overspent"):
        small.write(tmp_path / "everybody", ledger=ledger)  # C and E would have all three: 11
    small.write(tmp_path / "again", ledger=ledger, receiver="A")  # who has it gets it again for nothing
