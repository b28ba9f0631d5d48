"""What the holder can do about a requirement: the dialogue of the paper's Fig. 4, every alternative computed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sudare.suitability.costs import values_for
from sudare.suitability.facts import Facts
from sudare.suitability.histogram import max_blocks
from sudare.tables.policy import Compromise, Diversity
from sudare.tables.text import text_of

OUTLIER_SHARE = 0.01  # the share of the records that may be left out
LEAST_SAVING = 0.05  # what lowers the bound by less is not offered

Action = Compromise | Literal["harmless value", "stop"]


@dataclass(frozen=True)
class Advice:
    """One thing that the holder can do, in words and as what to ask for instead."""

    action: Action
    text: str
    l: float
    diversity: Diversity
    bound: float | None = None
    """The lower bound of the distortion that follows."""
    attribute: str | None = None
    """The attribute to leave out."""
    suppress: float = 0.0
    """The share of the records to leave out."""


def advise(facts: Facts, l: float, diversity: Diversity) -> list[Advice]:
    """Return what can be done about l-diversity of a table, the recommended advice first."""
    name = f"{diversity} {l:g}-diversity"
    if not facts.feasible(l, diversity):
        return _impossible(facts, l, diversity, name)
    ratio, bound = facts.ratio(l, diversity), facts.nearest_l([l])[0].value
    if ratio is None:
        text = f"Go ahead with {name}: it need not cost anything."
        return [Advice("go ahead", text, l, diversity, bound)]
    size, reached = facts.min_block(l, diversity), facts.reached_for(l, diversity)
    against = (
        f"it costs at least {bound:.4f}; blocks as large as it needs, of {size}, cost {reached:.4f} without it "
        f"(a ratio of {ratio:.2f})"
    )
    if facts.suits(l, diversity):
        return [Advice("go ahead", f"Go ahead with {name}: {against}.", l, diversity, bound)]
    others = list(_compromises(facts, l, diversity, bound))
    words = "Weigh the choices below" if others else "Nothing looked at lowers it by much"
    low = f"{_capital(name)} fits this table badly: {against}. {words}, or go ahead at that cost."
    return [
        Advice("go ahead", low, l, diversity, bound),
        *others,
        Advice("stop", f"Or don't publish, if {name} is needed and {bound:.4f} is too much.", l, diversity),
    ]


def _impossible(facts: Facts, l: float, diversity: Diversity, name: str) -> list[Advice]:
    if diversity == "distinct":
        why = f"'{facts.attribute}' has only {_number(facts.distinct_l, 'value')}"
    else:
        why = f"the entropy of '{facts.attribute}' in the whole table is log {_down(facts.entropy_l)}"
    advice = [Advice("stop", f"{_capital(name)} is impossible: {why}. Don't publish under it.", l, diversity)]
    if (lower := _lower(facts, l, diversity)) is not None:
        advice.append(lower)
    if diversity == "entropy" and l <= facts.distinct_l:
        advice.append(_distinct(facts, l))
    return advice


def _compromises(facts: Facts, l: float, diversity: Diversity, bound: float) -> Iterator[Advice]:
    if (lower := _lower(facts, l, diversity)) is not None:
        yield lower
    if diversity == "entropy" and (facts.min_block(l, "distinct") or 0) < (
        facts.min_block(l, "entropy") or 0
    ):
        yield _distinct(facts, l)
    for advice in (
        _harmless(facts, l, diversity),
        _dropped(facts, l, diversity),
        _suppressed(facts, l, diversity),
    ):
        if advice.bound is not None and advice.bound <= (1 - LEAST_SAVING) * bound:
            yield advice


def _lower(facts: Facts, l: float, diversity: Diversity) -> Advice | None:
    """Offer the largest smaller l that suits the table; if none does, the largest that is feasible."""
    lower = range(min(values_for(l) - 1, math.floor(facts.own_l(diversity) + 1e-9)), 1, -1)
    if not lower:
        return None
    better = next((x for x in lower if facts.suits(x, diversity)), None)
    chosen = lower[0] if better is None else better
    bound, ratio = facts.nearest_l([chosen])[0].value, facts.ratio(chosen, diversity)
    kind = "which suits the table" if better is not None else "the next that is possible"
    text = f"Lower l to {chosen}, {kind}: it costs at least {bound:.4f}" + (
        f" (a ratio of {ratio:.2f})." if ratio is not None else "."
    )
    return Advice("lower l", text, chosen, diversity, bound)


def _distinct(facts: Facts, l: float) -> Advice:
    whole = values_for(l)
    size, bound = facts.min_block(whole, "distinct"), facts.nearest_l([whole])[0].value
    entropy = facts.min_block(l, "entropy")
    instead = "" if entropy is None else f" instead of {entropy}"
    text = (
        f"Ask for distinct {whole}-diversity: up to {_number(max_blocks(facts.counts, whole), 'block')} can be made, the "
        f"largest of at least {size} records{instead}; it costs at least {bound:.4f}. It does not hold down frequent values."
    )
    return Advice("distinct", text, whole, "distinct", bound)


def _harmless(facts: Facts, l: float, diversity: Diversity) -> Advice:
    """What if those who have the most frequent value need no protection?"""
    code = int(facts.counts.argmax())
    column = facts.table[facts.attribute]
    value = "(missing)" if code >= len(column.values) else text_of(column.values[code])
    nearest = facts.nearest_l([l])[0]
    exposed = np.where(facts.problem.sensitive == code, 0.0, nearest.of_unit)
    bound = float(exposed @ facts.problem.weights / facts.records)
    share = facts.counts[code] / facts.records
    text = (
        f"Look at '{value}': {share:.1%} of the records have it as their '{facts.attribute}'. If it harms nobody to be "
        f"known to have it, those records need no {l:g}-diversity, and the table costs at least {bound:.4f}."
    )
    return Advice("harmless value", text, l, diversity, bound)


def _dropped(facts: Facts, l: float, diversity: Diversity) -> Advice:
    without = facts.without_attributes(l)
    if not without:
        return Advice("drop attribute", "", l, diversity)
    name = min(without, key=lambda attribute: without[attribute])
    text = (
        f"Leave out '{name}', the attribute that costs most: the others then cost at least {without[name]:.4f} "
        f"on average."
    )
    return Advice("drop attribute", text, l, diversity, without[name], attribute=name)


def _suppressed(facts: Facts, l: float, diversity: Diversity) -> Advice:
    """What if the records that are farthest from all others are left out?"""
    number = math.floor(OUTLIER_SHARE * facts.records)
    rest = facts.without(dearest(facts.nearest_l([l])[0].of_unit, facts.problem.weights, number))
    if not number or not rest.feasible(l, diversity):
        return Advice("suppress", "", l, diversity)
    bound = rest.nearest_l([l])[0].value
    text = (
        f"Leave out the {number:,} records ({OUTLIER_SHARE:.0%}) that are farthest from all others: the rest cost at least "
        f"{bound:.4f}."
    )
    return Advice("suppress", text, l, diversity, bound, suppress=OUTLIER_SHARE)


def dearest(costs: NDArray[np.float64], weights: NDArray[np.int64], number: int) -> NDArray[np.int64]:
    """Return how many records of each unit are among so many of those that cost most."""
    order = np.argsort(-costs, kind="stable")
    before = np.cumsum(weights[order]) - weights[order]
    records = np.empty_like(weights)
    records[order] = np.clip(number - before, 0, weights[order])
    return records


def _number(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def _down(l: float) -> str:
    return f"{math.floor(100 * l) / 100:g}"  # never rounded up to what was asked


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
