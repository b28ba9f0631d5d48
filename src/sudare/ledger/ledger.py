"""The ledger: every release of a source, who received it, and the budget that noise has spent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from fractions import Fraction
from typing import Any

from sudare.errors import InputError, ParameterError
from sudare.ledger.budgets import (
    Budget,
    budgets_of,
    refuse_no_period,
    refuse_overspending,
    refuse_small_budget,
    strictest,
)
from sudare.ledger.chain import Chain, Entry
from sudare.ledger.combination import refuse_broken_promises
from sudare.ledger.entries import (
    MAX_CHARACTERS,
    MAX_RECEIVERS,
    NEIGHBOURS,
    BudgetBody,
    Neighbours,
    ReleaseBody,
    depth,
    exact,
    fault_of,
)
from sudare.ledger.history import History, Recorded, check_receiver
from sudare.ledger.receivers import sets_of
from sudare.ledger.schedule import Schedule
from sudare.privacy.requirement import one_of, refused
from sudare.tables.lookalikes import lookalikes
from sudare.tables.table import Table
from sudare.tables.text import listed
from sudare.tables.typed import own_words, typed

MAX_DEPTH = 30  # of lists and dicts in an entry


@typed
class Ledger(Chain):
    """A chain of entries that remembers releases, budgets, and which receivers do not combine what they get.

    A source is known by its name (the schema's `source`, or else the name of its file) and by its content: releases
    that share either are of one source.

    >>> import tempfile
    >>> ledger = Ledger(f"{tempfile.mkdtemp()}/releases.db")
    >>> entry = ledger.set_budget("patients", 3, 1e-9)
    >>> print(ledger.budget("patients"))
    patients: epsilon 3 in all, 0 spent, 3 remain; delta 1e-09 in all, 0 spent, 1e-09 remain; one record replaced
    """

    @own_words("source", "epsilon", "delta", "neighbours", "schedule")
    def set_budget(
        self,
        source: str,
        epsilon: float | str | Fraction,
        delta: float | str | Fraction = 0,
        neighbours: Neighbours = "replace",
        *,
        schedule: Schedule | None = None,
    ) -> Entry:
        """Record how much all noisy releases of a source may spend together; the last word counts.

        `neighbours` says what is counted: one record replaced, or one record added or removed. A p-view, which is private
        against the second, costs twice its epsilon against the first; a randomized table can only be counted by the
        first. What is spent already stays spent: a smaller budget is refused.

        With a schedule, no period may spend more than its share; see `begin_period`.

        >>> import tempfile
        >>> ledger = Ledger(f"{tempfile.mkdtemp()}/releases.db")
        >>> ledger.set_budget("patients", "5/2", neighbours="add or remove").body["epsilon"]
        '5/2'
        """
        _check_source(source)
        one_of(neighbours, "neighbours", "set_budget", NEIGHBOURS)
        if exact(epsilon) <= 0:
            raise InputError(f"A budget's epsilon must be above 0. Got {epsilon} instead.")
        if exact(delta) >= 1:
            raise InputError(f"A budget's delta must be below 1. Got {delta} instead.")
        if not isinstance(schedule, Schedule | None):
            raise refused(schedule, "schedule", "set_budget", "a schedule, such as sd.Schedule(periods=12)")
        budget = BudgetBody(
            source=source,
            epsilon=str(epsilon),
            delta=str(delta),
            neighbours=neighbours,
            periods=None if schedule is None else schedule.periods,
            decay=None if schedule is None or schedule.decay is None else str(schedule.decay),
        )

        def check(entries: Sequence[Entry]) -> None:
            refuse_small_budget(History.of(entries, source), budget)

        return self.append("budget", budget.model_dump(exclude_none=True), check=check)

    def begin_period(self, source: str) -> Entry:
        """Record that the next period of a source's budget begins; the first began with the ledger.

        What is measured in a period is paid from its share, to whomever it goes and whenever. What it left unspent lapses.

        >>> import tempfile
        >>> ledger = Ledger(f"{tempfile.mkdtemp()}/releases.db")
        >>> entry = ledger.set_budget("patients", 2, schedule=Schedule(decay="1/2"))
        >>> entry = ledger.begin_period("patients")
        >>> print(ledger.budget("patients"))
        patients, period 2: epsilon 0.5 in all, 0 spent, 0.5 remain; one record replaced
        """
        _check_source(source)
        return self.append(
            "period",
            {"source": source},
            check=lambda entries: refuse_no_period(History.of(entries, source), source),
        )

    def budget(self, source: str, receiver: str | None = None) -> Budget | None:
        """Return the budget of a source, with what was spent on all that a receiver may put together.

        If the source has budgets under several names, or a share for this period, all bind; the one that leaves least is
        returned.

        >>> import tempfile
        >>> ledger = Ledger(f"{tempfile.mkdtemp()}/releases.db")
        >>> ledger.budget("patients") is None
        True
        """
        return strictest(budgets_of(History.of(self.entries(), source), receiver))

    @own_words("receivers")
    def declare_apart(self, receivers: Sequence[str]) -> Entry:
        """Record that some receivers do not put together what they get. What anybody may get is always combined.

        >>> import tempfile
        >>> Ledger(f"{tempfile.mkdtemp()}/releases.db").declare_apart(["hospital", "insurer"]).kind
        'apart'
        """
        names = list(receivers) if isinstance(receivers, Sequence) and not isinstance(receivers, str) else []
        if not 2 <= len(set(names)) <= MAX_RECEIVERS or not all(names):
            raise InputError(
                f"Name at least two different receivers that do not combine what they get, and at most {MAX_RECEIVERS:,}."
            )
        for name in names:
            check_receiver(name)
        if alike := lookalikes(names):
            raise InputError(
                f"The receivers {listed(alike[0])} look alike: they may be one. Name receivers so that nobody mistakes them."
            )
        return self.append("apart", {"receivers": names})

    def releases(
        self, source: str, receiver: str | None = None, *, everybody: bool = False
    ) -> list[list[Recorded]]:
        """Return the sets of releases of a source that somebody may put together with one for this receiver.

        With `everybody`, all are one set. There are at most 100: beyond that, some receivers count as if they were
        not apart.

        >>> import tempfile
        >>> Ledger(f"{tempfile.mkdtemp()}/releases.db").releases("patients")
        [[]]
        """
        history = History.of(self.entries(), source)
        if everybody:
            return [history.releases]
        got = [release.receiver for release in history.releases]
        sets = sets_of(history.groups(receiver, history.releases), {one: got.count(one) for one in set(got)})
        return [[one for one in history.releases if one.receiver in together] for together in sets.sets]

    def record(self, body: Mapping[str, Any], table: Table) -> Entry:
        """Record a release, as `history.record` writes it, unless it would overspend or break a promise."""
        return self.append("release", body, check=lambda entries: _refuse(entries, body, table))

    def refuse(self, body: Mapping[str, Any], table: Table) -> None:
        """Raise the error that `record` would raise now, and record nothing."""
        _refuse(self.entries(), body, table)

    def _decode(self, row: tuple[Any, ...], place: int) -> Entry:
        entry = super()._decode(row, place)
        try:
            datetime.fromisoformat(entry.at)
        except ValueError:
            raise self._bad(place, "has no time: it was not written by Sudare") from None
        if depth(entry.body) > MAX_DEPTH:
            raise self._bad(
                place, f"has a body of more than {MAX_DEPTH} levels: it was not written by Sudare"
            )
        if fault := fault_of(entry.kind, entry.body):
            raise self._bad(place, fault)
        return entry


def _check_source(source: object) -> None:
    if not (isinstance(source, str) and source and len(source) <= MAX_CHARACTERS):
        raise InputError("Name the source whose budget it is, as the schema or its file does.")


def _refuse(entries: Sequence[Entry], body: Mapping[str, Any], table: Table) -> None:
    """Raise an error if a new release would overspend, or break a promise together with earlier ones."""
    if fault := fault_of("release", body):
        raise InputError(f"This release cannot be recorded: it {fault}.")
    new = Recorded(len(entries) + 1, ReleaseBody.model_validate(body))
    history = History.of_table(entries, table)
    refuse_overspending(history, new)
    refuse_broken_promises(history, new, table)


def ledger_given(ledger: object) -> None:
    """Refuse what is neither a ledger nor None, such as the path of one.

    >>> ledger_given("releases.db")
    Traceback (most recent call last):
    sudare.errors.ParameterError: 'ledger' must be a ledger, such as sd.Ledger('releases.db'). Got 'releases.db' instead.
    """
    if not isinstance(ledger, Ledger | None):
        raise ParameterError(
            f"'ledger' must be a ledger, such as sd.Ledger('releases.db'). Got {ledger!r} instead."
        )
