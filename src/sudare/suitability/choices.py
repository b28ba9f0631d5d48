"""What the holder can do about a requirement: the dialogue of the paper's Fig. 4, every alternative computed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sudare.privacy.k_anonymity import KAnonymity
from sudare.privacy.l_diversity import LDiversity
from sudare.privacy.minimum import values_for
from sudare.suitability.facts import Facts
from sudare.tables.policy import Compromise
from sudare.tables.text import spelled

OUTLIER_SHARE = 0.01  # the share of the records that may be left out
MISSING = "(missing)"  # how advice names a missing value
LEAST_SAVING = 0.05  # what lowers the bound by less is not offered
FAR = 1.25  # times the bound: a release that costs more is worth another try

Action = Compromise | Literal["stop"]


@dataclass(frozen=True)
class Advice:
    """One thing that the holder can do, in words and as what to ask for instead."""

    action: Action
    text: str
    requirement: LDiversity | KAnonymity
    bound: float | None = None
    """The lower bound of the distortion that follows."""
    attribute: str | None = None
    """The attribute to leave out."""
    suppress: float = 0.0
    """The share of the records to leave out."""
    harmless: tuple[str, ...] = ()
    """The values that would be called harmless, beside those that already are."""

    @property
    def accepted_as(self) -> tuple[str, ...]:
        """What a policy must accept for this to be done; which values are harmless is for a person to say."""
        if self.harmless:
            return tuple(f"{self.action}: {value or MISSING}" for value in self.harmless)
        return () if self.action == "stop" else (self.action,)

    @property
    def offered(self) -> str:
        """The text, and the words by which a policy, or --accept on the command line, accepts it."""
        words = " with ".join(map(repr, self.accepted_as))
        return f"{self.text} Accept {words} for that." if words else self.text


def advise(facts: Facts, asked: LDiversity) -> list[Advice]:
    """Return what can be done about l-diversity of a table, the recommended advice first."""
    name = _name(asked)
    if not facts.feasible(asked):
        return _impossible(facts, asked, name)
    ratio, bound = facts.ratio(asked), facts.nearest_l([asked])[0].value
    if ratio is None:
        return [Advice("go ahead", f"Go ahead with {name}: it need not cost anything.", asked, bound)]
    size, reached = facts.min_block(asked), facts.reached_for(asked)
    against = (
        f"it costs at least {bound:.4f}; blocks as large as it needs, of {size}, cost {reached:.4f} without it "
        f"(a ratio of {ratio:.2f})"
    )
    if facts.suits(asked):
        return [Advice("go ahead", f"Go ahead with {name}: {against}.", asked, bound)]
    others = list(_compromises(facts, asked, bound))
    words = "Weigh the choices below" if others else "Nothing looked at lowers it by much"
    low = f"{_capital(name)} fits this table badly: {against}. {words}, or go ahead at that cost."
    return [
        Advice("go ahead", low, asked, bound),
        *others,
        *_anonymous(facts, asked),
        Advice("stop", f"Or don't publish, if {name} is needed and {bound:.4f} is too much.", asked),
    ]


def sentences(offered: Sequence[Advice]) -> list[str]:
    """Say what can be done; where that is a choice, with the words that accept each."""
    return [one.offered if len(offered) > 1 else one.text for one in offered]


def advise_retry(taken: Advice, distortion: float, bound: float | None) -> Advice | None:
    """Offer another try at what was taken, if what came of it is far above the bound; None where no bound is known."""
    if bound is None or distortion <= FAR * bound:
        return None
    must = (
        f"{distortion / bound:.2f} times what any must ({bound:.4f})"
        if bound
        else "and none is known to have to"
    )
    text = f"Try again with more effort: the release costs {distortion:.4f}, {must}."
    return Advice("retry", text, taken.requirement, bound)


def _impossible(facts: Facts, asked: LDiversity, name: str) -> list[Advice]:
    text = f"{_capital(name)} is impossible: {_why(facts, asked)}. Don't publish under it."
    advice = [Advice("stop", text, asked)]
    if (lower := _lower(facts, asked)) is not None:
        advice.append(lower)
    if (distinct := _distinct(facts, asked)) is not None:
        advice.append(distinct)
    if (harmless := _harmless(facts, asked)) is not None:
        advice.append(harmless)
    return [*advice, *_anonymous(facts, asked)]


def _why(facts: Facts, asked: LDiversity) -> str:
    besides = " beside the harmless ones" if asked.harmless else ""
    if asked.kind == "distinct":
        return f"'{facts.attribute}' has only {_number(int(facts.own_l(asked)), 'value')}{besides}"
    if asked.kind == "entropy":
        own = _down(facts.own_l(asked))
        return f"the entropy of '{facts.attribute}'{besides} in the whole table is log {own}"
    if asked.kind == "recursive":
        return f"with c = {asked.c:g}, '{facts.attribute}'{besides} has an l of {facts.own_l(asked):g} in the whole table"
    return f"close values of '{facts.attribute}'{besides} are 1 in {_down(facts.own_l(asked))} of the whole table"


def _compromises(facts: Facts, asked: LDiversity, bound: float) -> Iterator[Advice]:
    if (lower := _lower(facts, asked)) is not None:
        yield lower
    distinct = _distinct(facts, asked)
    smaller = facts.min_block_distinct(asked) or 0
    if distinct is not None and (asked.kind != "entropy" or smaller < (facts.min_block(asked) or 0)):
        yield distinct
    for advice in (_harmless(facts, asked), _dropped(facts, asked), _suppressed(facts, asked)):
        if advice is not None and advice.bound is not None and advice.bound <= (1 - LEAST_SAVING) * bound:
            yield advice


def _lower(facts: Facts, asked: LDiversity) -> Advice | None:
    """Offer the largest smaller l that suits the table; if none does, the largest that is feasible."""
    lower = [
        replace(asked, l=l)
        for l in range(min(values_for(asked.l) - 1, math.floor(facts.own_l(asked) + 1e-9)), 1, -1)
    ]
    if not lower:
        return None
    better = next((one for one in lower if facts.suits(one)), None)
    chosen = lower[0] if better is None else better
    bound, ratio = facts.nearest_l([chosen])[0].value, facts.ratio(chosen)
    kind = "which suits the table" if better is not None else "the next that is possible"
    text = f"Lower l to {chosen.l}, {kind}: it costs at least {bound:.4f}" + (
        f" (a ratio of {ratio:.2f})." if ratio is not None else "."
    )
    return Advice("lower l", text, chosen, bound)


def _distinct(facts: Facts, asked: LDiversity) -> Advice | None:
    """Offer distinct diversity in place of another; None where that is asked for, or impossible."""
    whole = values_for(asked.l)
    distinct = replace(asked, l=whole, kind="distinct", c=None, within=None, relative=False)
    if asked.kind == "distinct" or not facts.feasible(distinct):
        return None
    size, bound = facts.min_block(distinct), facts.nearest_l([distinct])[0].value
    needed = facts.min_block(asked) if facts.feasible(asked) else None
    instead = "" if needed is None else f" instead of {needed}"
    lacks = "keep close values apart" if asked.kind == "proximity" else "hold down frequent values"
    text = (
        f"Ask for distinct {whole}-diversity: up to {_number(facts.max_blocks(distinct), 'block')} can be made, the "
        f"largest of at least {size} records{instead}; it costs at least {bound:.4f}. It does not {lacks}."
    )
    return Advice("distinct", text, distinct, bound)


def _harmless(facts: Facts, asked: LDiversity) -> Advice | None:
    """What if those who have the most frequent values need no protection?

    These are the values that more than one in l of the records have, for which blocks must grow; or the most frequent one.
    """
    counts = facts.rest(asked).counts
    order = np.argsort(-counts, kind="stable")
    frequent = [int(code) for code in order if counts[code] > counts.sum() / asked.l] or [int(order[0])]
    column = facts.table[facts.attribute]
    names = ["" if code >= len(column.values) else spelled(column.values[code]) for code in frequent]
    besides = replace(asked, harmless=[*asked.harmless, *names])
    if counts[frequent].sum() == counts.sum() or not facts.feasible(besides):
        return None
    bound, share = facts.nearest_l([besides])[0].value, counts[frequent].sum() / facts.records
    one = len(names) == 1
    text = (
        f"Look at {' and '.join(repr(name) if name else MISSING for name in names)}: {share:.1%} of the records have "
        f"{'it' if one else 'one of them'} as their '{facts.attribute}'. If it harms nobody to be known to have it, those records need "
        f"no {asked.l:g}-diversity, and the others have it among themselves: the table then costs at least {bound:.4f}."
    )
    return Advice("harmless value", text, besides, bound, harmless=tuple(names))


def _dropped(facts: Facts, asked: LDiversity) -> Advice | None:
    without = facts.without_attributes(asked)
    if not without:
        return None
    name = min(without, key=lambda attribute: without[attribute])
    text = (
        f"Leave out '{name}', the attribute that costs most: the others then cost at least {without[name]:.4f} "
        f"on average."
    )
    return Advice("drop attribute", text, asked, without[name], attribute=name)


def _suppressed(facts: Facts, asked: LDiversity) -> Advice | None:
    """What if the records that are farthest from all others are left out?"""
    number = math.floor(OUTLIER_SHARE * facts.records)
    rest = facts.without(dearest(facts.nearest_l([asked])[0].of_unit, facts.problem.weights, number))
    if not number or not rest.feasible(asked):
        return None
    bound = rest.nearest_l([asked])[0].value
    text = (
        f"Leave out the {number:,} records ({OUTLIER_SHARE:.0%}) that are farthest from all others: the rest cost at least "
        f"{bound:.4f}."
    )
    return Advice("suppress", text, asked, bound, suppress=OUTLIER_SHARE)


def _anonymous(facts: Facts, asked: LDiversity) -> Iterator[Advice]:
    """Offer blocks of the size alone, with the risk that is then left."""
    k = max(2, facts.min_block(asked) or values_for(asked.l))
    if k > facts.records:
        return
    alone, belief = facts.risk(k, asked)
    text = (
        f"Publish k-anonymous data instead, with k = {k} and at a cost of {facts.reached(k):.4f}, if you accept the risk: {alone:.1%} of "
        f"the records would be in a block that gives their '{facts.attribute}' away, and somebody's would be believed up to {belief:.1%}."
    )
    yield Advice("k-anonymity", text, KAnonymity(k), facts.nearest_k([k])[0].value)


def dearest(costs: NDArray[np.float64], weights: NDArray[np.int64], number: int) -> NDArray[np.int64]:
    """Return how many records of each unit are among so many of those that cost most."""
    order = np.argsort(-costs, kind="stable")
    before = np.cumsum(weights[order]) - weights[order]
    records = np.empty_like(weights)
    records[order] = np.clip(number - before, 0, weights[order])
    return records


def _name(asked: LDiversity) -> str:
    return str(replace(asked, attribute=None))


def _number(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def _down(l: float) -> str:
    return f"{math.floor(100 * l) / 100:g}"  # never rounded up to what was asked


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
