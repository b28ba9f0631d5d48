"""What noise has cost, and what a budget leaves: epsilon and delta, in one relation between neighbouring tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Context
from fractions import Fraction
from functools import reduce
from operator import or_

from sudare.errors import LedgerError
from sudare.ledger.entries import BudgetBody, Neighbours, exact
from sudare.ledger.history import History, Recorded, same_name
from sudare.ledger.measurements import measurements_of
from sudare.ledger.receivers import Group, sets_of
from sudare.ledger.schedule import Schedule

_PRECISE = Context(prec=50, rounding=ROUND_CEILING)
_MAX_POWER = 1000  # e to this power is beyond 1 over every delta that can be written


@dataclass(frozen=True)
class Cost:
    """An epsilon and a delta; releases that are put together cost the sums of both."""

    epsilon: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.epsilon + other.epsilon, self.delta + other.delta)

    def __bool__(self) -> bool:
        return bool(self.epsilon or self.delta)

    def __or__(self, other: Cost) -> Cost:
        """Return what covers both, where one is enough."""
        return Cost(max(self.epsilon, other.epsilon), max(self.delta, other.delta))

    def __and__(self, other: Cost) -> Cost:
        """Return what both cover."""
        return Cost(min(self.epsilon, other.epsilon), min(self.delta, other.delta))


Measured = list[tuple[frozenset[str | None], Cost]]
"""Who has each measurement, and what it cost."""


def replacing(cost: Cost) -> Cost:
    """Return what it costs to replace a record, given what it costs to add or to remove one; rounded up.

    Let T' be T with the record r replaced by r', and M be T without r. Then M is one record away from both:
    P(T) <= e^epsilon P(M) + delta <= e^epsilon (e^epsilon P(T') + delta) + delta
    = e^(2 epsilon) P(T') + (1 + e^epsilon) delta. A delta of 1 promises nothing, so it holds always.

    >>> replacing(Cost(Fraction(1), Fraction(0)))
    Cost(epsilon=Fraction(2, 1), delta=Fraction(0, 1))
    >>> print(f"{float(replacing(Cost(Fraction(1), Fraction(1, 10**9))).delta):.6g}")
    3.71828e-09
    """
    delta = Fraction(0)
    if cost.delta:
        bounded = cost.epsilon < _MAX_POWER
        delta = min(Fraction(1), (1 + _exp_above(cost.epsilon)) * cost.delta) if bounded else Fraction(1)
    return Cost(2 * cost.epsilon, delta)


def _exp_above(x: Fraction) -> Fraction:
    """Return a little more than e^x.

    The quotient is rounded up, and e^x rises with x. `exp` is rounded correctly, to the nearest decimal of 50 digits
    (General Decimal Arithmetic), so that the next larger decimal is above it.
    """
    power = _PRECISE.divide(_PRECISE.create_decimal(x.numerator), _PRECISE.create_decimal(x.denominator))
    return Fraction(_PRECISE.next_plus(_PRECISE.exp(power)))


def cost_of(release: Recorded, neighbours: Neighbours) -> Cost:
    """Return what a release has cost in a relation; nothing without noise."""
    noise = release.body.noise
    if noise is None:
        return Cost()
    cost = Cost(exact(noise.epsilon), exact(noise.delta))
    if not cost or noise.neighbours == neighbours:
        return cost
    if neighbours == "replace":
        return replacing(cost)
    raise LedgerError(
        f"Release {release.seq} is a randomized table, which shows exactly how many records there are: no epsilon bounds what "
        "that tells if a record is added or removed. Its source needs a budget that counts records replaced "
        '(neighbours="replace").'
    )


@dataclass(frozen=True)
class Budget:
    """What a source has, in all or for one period, and what was spent on all that one receiver may put together."""

    source: str
    epsilon: Fraction
    delta: Fraction
    neighbours: Neighbours
    spent: Fraction
    spent_delta: Fraction
    period: int | None = None
    """Whose share it is, counted from 1, and what was measured in it; None for the whole."""

    @property
    def remaining(self) -> Fraction:
        """How much epsilon is left."""
        return self.epsilon - self.spent

    @property
    def remaining_delta(self) -> Fraction:
        """How much delta is left."""
        return self.delta - self.spent_delta

    def __str__(self) -> str:
        words = f"epsilon {_shown(self.epsilon)} in all, {_shown(self.spent)} spent, {_shown(self.remaining)} remain"
        if self.delta or self.spent_delta:
            words += f"; delta {_shown(self.delta)} in all, {_shown(self.spent_delta)} spent, {_shown(self.remaining_delta)} remain"
        period = "" if self.period is None else f", period {self.period}"
        return f"{self.source}{period}: {words}; {KINDS[self.neighbours]}"

    @property
    def words(self) -> str:
        """What it is, in an error."""
        period = "" if self.period is None else f" for period {self.period}"
        return f"The budget of '{self.source}'{period} ({KINDS[self.neighbours]})"


KINDS = {"replace": "one record replaced", "add or remove": "one record added or removed"}


def _shown(number: Fraction) -> str:
    return f"{float(number):g}"


def budgets_of(history: History, receiver: str | None, seq: int | None = None) -> list[Budget]:
    """Return the budgets that were set for any name of a source, with the shares of a period; all of them bind.

    It is the period in which entry `seq` was written; without one, the current.
    """
    return [
        state
        for name, budget in history.budgets.items()
        for state in _states(history, name, budget, receiver, seq)
    ]


def strictest(budgets: Sequence[Budget]) -> Budget | None:
    """Return the budget that leaves the least: of two relations, as if both counted records replaced; or a period's."""

    def left(budget: Budget) -> tuple[Fraction, Fraction, bool]:
        factor = 2 if budget.neighbours == "add or remove" else 1
        return factor * budget.remaining, budget.remaining_delta, budget.period is None

    return min(budgets, key=left, default=None)


def _states(
    history: History, name: str, budget: BudgetBody, receiver: str | None, seq: int | None = None
) -> Iterator[Budget]:
    """Yield the state of a whole budget, and that of a period's share, if it is dealt out over periods."""
    whole = Cost(exact(budget.epsilon), exact(budget.delta))
    spent = _spent(history, budget.neighbours, receiver)
    state = Budget(budget.source, whole.epsilon, whole.delta, budget.neighbours, spent.epsilon, spent.delta)
    yield state
    if (schedule := schedule_of(budget)) is not None:
        period = _period(history, name, seq)
        spent = _spent(_measured_in(history, name, period), budget.neighbours, receiver)
        share = schedule.share(period)
        yield replace(
            state,
            epsilon=share * whole.epsilon,
            delta=share * whole.delta,
            spent=spent.epsilon,
            spent_delta=spent.delta,
            period=period,
        )


def schedule_of(budget: BudgetBody) -> Schedule | None:
    """Return how a budget is dealt out; None if all of it can be spent at any time."""
    if budget.periods is None and budget.decay is None:
        return None
    return Schedule(budget.periods, budget.decay)


def _period(history: History, name: str, seq: int | None) -> int:
    """Return in which period of a name's budget an entry was written, or that of now."""
    return 1 + sum(seq is None or began < seq for began in history.periods.get(name, ()))


def _measured_in(history: History, name: str, period: int) -> History:
    """Return the history of what was measured in a period, whenever it went out, and to whomever."""
    releases = [
        release
        for measurement in measurements_of(history.releases)
        if _period(history, name, measurement.releases[0].seq) == period
        for release in measurement.releases
    ]
    return replace(history, releases=releases)


def _spent(history: History, neighbours: Neighbours, receiver: str | None) -> Cost:
    """Return the most that anybody can put together with what this receiver gets.

    A measurement counts once in a set of receivers. Over the sets of all groups together that is the sum itself, as long
    as there are not too many of them; group by group it is, too, as long as no measurement is in several groups. Each is a
    bound where it is not the sum, so that the smaller one is taken.
    """
    measured = [
        (
            measurement.receivers,
            reduce(or_, (cost_of(release, neighbours) for release in measurement.releases)),
        )
        for measurement in measurements_of(history.releases)
    ]
    groups = history.groups(receiver, history.releases)
    together = sets_of(groups, Counter(release.receiver for release in history.releases)).sets
    return _largest(measured, together) & _group_by_group(measured, groups)


def _largest(measured: Measured, sets: Iterable[frozenset[str | None]]) -> Cost:
    """Return what covers the sum of every set."""
    sums = (sum((cost for who, cost in measured if who & together), Cost()) for together in sets)
    return reduce(or_, sums, Cost())


def _group_by_group(measured: Measured, groups: Sequence[Group]) -> Cost:
    """Add up the groups' largest sums, since who is combined in one group has no bearing on another; what several have
    is taken to be with all.
    """
    within: list[Measured] = [[] for _ in groups]
    whole = Cost()
    for who, cost in measured:
        having = [i for i, group in enumerate(groups) if group.members & who]
        if len(having) == 1:
            within[having[0]].append((who, cost))
        elif having:
            whole += cost
    return sum((_largest(own, group.sets) for group, own in zip(groups, within, strict=True)), whole)


def _refuse_other_unit(history: History, new: Recorded) -> None:
    """Raise an error if earlier noise hides another unit: an epsilon for one row is several for a household."""
    for earlier in history.releases:
        if earlier.body.noise is not None and earlier.body.certificate.unit != new.body.certificate.unit:
            mine, other = (
                "rows" if one is None else f"{one}s"
                for one in (new.body.certificate.unit, earlier.body.certificate.unit)
            )
            raise LedgerError(
                f"Release {earlier.seq} counts its epsilon in {other}, and this one in {mine}: they do not add up. Make both by one schema, or keep "
                "a ledger for each."
            )


def refuse_overspending(history: History, new: Recorded) -> None:
    """Raise an error if a new release costs more than a budget leaves. What its receiver already has costs nothing."""
    noise = new.body.noise
    if noise is None or not Cost(exact(noise.epsilon), exact(noise.delta)):
        return
    _refuse_other_unit(history, new)
    after = replace(history, releases=[*history.releases, new])
    (own,) = (one for one in measurements_of(after.releases) if one.releases[-1] is new)
    if any(one.receiver in (new.receiver, None) and one.body.noise == noise for one in own.releases[:-1]):
        return
    states = (budgets_of(one, new.receiver, own.releases[0].seq) for one in (history, after))
    for budget, then in zip(*states, strict=True):
        for name, asked, left, whole in (
            ("epsilon", then.spent - budget.spent, budget.remaining, budget.epsilon),
            ("delta", then.spent_delta - budget.spent_delta, budget.remaining_delta, budget.delta),
        ):
            # Sums may be bounds, and their difference less than what is asked for; but what is spent then never is.
            if asked > left:
                later = "" if budget.period is None else "wait for the next period, "
                raise LedgerError(
                    f"{budget.words} would be overspent: {name} {_shown(asked)} requested, {_shown(left)} of {_shown(whole)} "
                    f"remaining: {_shown(asked - left)} over budget. Ask for a smaller {name}, {later}or decide on a larger "
                    "budget."
                )


def refuse_small_budget(history: History, budget: BudgetBody) -> None:
    """Raise an error if a budget, or its share for this period, is below what is spent, or cannot be compared with it."""
    for state in _states(history, same_name(budget.source), budget, None):
        for name, whole, spent in (
            ("epsilon", state.epsilon, state.spent),
            ("delta", state.delta, state.spent_delta),
        ):
            if whole < spent:
                raise LedgerError(
                    f"{state.words} cannot be {name} {_shown(whole)}: {_shown(spent)} is spent already, "
                    f"{_shown(spent - whole)} more. What went out stays out: decide on a larger budget."
                )


def refuse_no_period(history: History, source: str) -> None:
    """Raise an error if a source has no budget whose next period could begin."""
    name = same_name(source)
    budget = history.budgets.get(name)
    schedule = None if budget is None else schedule_of(budget)
    if schedule is None:
        raise LedgerError(
            f"The budget of '{source}' is not dealt out over periods. Set one that is: "
            "sudare ledger budget LEDGER SOURCE --epsilon 12 --periods 12"
        )
    if not schedule.share(_period(history, name, None) + 1):
        raise LedgerError(
            f"The budget of '{source}' has {schedule}, and the last of them has begun. Decide on another budget."
        )
