"""The tables as text and as Markdown, and what they say in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from papers.multi_view.measure import METHODS, Attacked, Row, Timed
from papers.multi_view.paper import ALL, FIRST, OURS, PAPER, PAPERS, RAW, SECOND, STOP, TIGHT
from papers.page import Grid

VIEWS = ("T1*", "T2*")


def grids(
    rows: Sequence[Row],
    other: Sequence[Row],
    more: Sequence[Timed],
    example: Sequence[Attacked],
    whole: Sequence[Attacked],
) -> list[Grid]:
    """Return all tables."""
    return [
        _figure_3(rows),
        _fits(rows),
        *(_over(rows, i, f"Fig. {4 + i}: DM of {VIEWS[i]}") for i in range(2)),
        _open(rows, "What DM does not show: the share of the values left open in T1*, T2*"),
        *(_over(other, i, f"IPUMS: DM of {VIEWS[i]}") for i in range(2)),
        _open(other, "IPUMS: the share of the values left open in T1*, T2*"),
        _more(more),
        _attacks("The paper's seven people: what the intersection attack finds", example),
        _attacks(f"Adult, {whole[0].people:,} rows: what the intersection attack finds", whole),
    ]


def _ls(rows: Sequence[Row]) -> list[int]:
    return sorted({row.l for row in rows})


def _by(rows: Sequence[Row]) -> dict[tuple[str, int], Row]:
    return {(row.method, row.l): row for row in rows}


def _figure_3(rows: Sequence[Row]) -> Grid:
    headers = [
        "method",
        "DM of T1*",
        "paper's",
        "DM of T2*",
        "paper's",
        "imbalance",
        "open, T1*",
        "open, T2*",
    ]
    lines, at = [], best_fit(rows).l
    for method in METHODS:
        row = _by(rows)[method, at]
        dm, left = row.dm.mean(axis=0), row.open.mean(axis=0)
        said = [str(one) for one in PAPER[method]] if method in PAPER else ["-", "-"]
        lines.append(
            [
                method,
                f"{dm[0]:,.0f}",
                said[0],
                f"{dm[1]:,.0f}",
                said[1],
                f"{row.apart:,.0f}",
                *(f"{share:.1%}" for share in left),
            ]
        )
    return Grid(f"Fig. 3, at l = {at}, means of {len(row.dm)} samples", headers, lines)


def nearest(rows: Sequence[Row], method: str, i: int) -> int:
    """Return the l at which our DM is nearest to the paper's, by their ratio."""
    by, said = _by(rows), PAPER[method][i].middle
    return min(_ls(rows), key=lambda l: abs(math.log(by[method, l].dm[:, i].mean() / said)))


class Fit(NamedTuple):
    """How near our figures come to the paper's Fig. 3, with one reading of Mondrian at one l."""

    stops: bool
    l: int
    factor: float
    """By which ours differ from the paper's, on average over methods and views."""


def fits(rows: Sequence[Row]) -> list[Fit]:
    """Return the best fit of either reading."""
    by, best = _by(rows), []
    for stops in (False, True):
        methods = [PAPERS, *(method + STOP * stops for method in (ALL, FIRST, SECOND))]
        far = {
            l: sum(
                abs(math.log(by[method, l].dm[:, i].mean() / PAPER[method][i].middle))
                for method in methods
                for i in range(2)
            )
            / (2 * len(methods))
            for l in _ls(rows)
        }
        l = min(far, key=lambda l: far[l])
        best.append(Fit(stops, l, math.exp(far[l])))
    return best


def best_fit(rows: Sequence[Row]) -> Fit:
    """Return the better of the two: at its l our Fig. 3 is drawn, for the paper does not name its own."""
    return min(fits(rows), key=lambda fit: fit.factor)


def _fits(rows: Sequence[Row]) -> Grid:
    headers = ["method", "view", "paper's DM", "nearest at l =", "our DM there", f"our DM, all l from {_ls(rows)[0]} to {_ls(rows)[-1]}"]  # fmt: skip
    by, lines = _by(rows), []
    for method, said in PAPER.items():
        for i, view in enumerate(VIEWS):
            l = nearest(rows, method, i)
            every = [by[method, other].dm[:, i].mean() for other in _ls(rows)]
            there = f"{by[method, l].dm[:, i].mean():,.0f}"
            lines.append(
                [method, view, str(said[i]), str(l), there, f"{min(every):,.0f} to {max(every):,.0f}"]
            )
    return Grid("At which l is Fig. 3? The paper does not say", headers, lines)


def _over(rows: Sequence[Row], i: int, title: str) -> Grid:
    by = _by(rows)
    lines = [[method, *(f"{by[method, l].dm[:, i].mean():,.0f}" for l in _ls(rows))] for method in METHODS]
    return Grid(title, ["method", *(f"l = {l}" for l in _ls(rows))], lines)


def _open(rows: Sequence[Row], title: str) -> Grid:
    by, lines = _by(rows), []
    for method in METHODS:
        shares = [by[method, l].open.mean(axis=0) for l in _ls(rows)]
        lines.append([method, *(f"{one[0]:.1%}, {one[1]:.1%}" for one in shares)])
    headers = ["method", *(f"l = {l}" for l in _ls(rows))]
    return Grid(title, headers, lines)


def _more(more: Sequence[Timed]) -> Grid:
    headers = ["rows", "method", "blocks", "DM of T1*", "DM of T2*", "imbalance", "open, T1*", "open, T2*", "learn, s"]  # fmt: skip
    lines = [
        [
            f"{one.rows:,}",
            one.method,
            ", ".join(f"{blocks:,}" for blocks in one.views.blocks),
            *(f"{dm:,}" for dm in one.views.dm),
            f"{abs(one.views.dm[0] - one.views.dm[1]):,}",
            *(f"{share:.2%}" for share in one.views.open),
            "-" if math.isnan(one.seconds) else f"{one.seconds:.2f}",
        ]
        for one in more
    ]
    return Grid(f"More rows than the paper has, l = {more[-1].l}", headers, lines)


def _attacks(title: str, attacks: Sequence[Attacked]) -> Grid:
    headers = ["views", "people given away", "fewest values left", "strongest belief"]
    lines = [[one.words, f"{one.given_away:,}", str(one.least), f"{one.posterior:.1%}"] for one in attacks]
    return Grid(title, headers, lines)


# -- in words --------------------------------------------------------------------------------------------


def answers(
    rows: Sequence[Row], other: Sequence[Row], more: Sequence[Timed], whole: Sequence[Attacked]
) -> list[str]:
    """Say what the figures say."""
    return [
        _confirmed(rows, other),
        _finer("Adult", rows),
        _finer("IPUMS", other),
        _gap(rows, other),
        _which_l(rows),
        _ours(rows, other),
        _large(more),
        _slow(more),
        _attack(whole),
    ]


def clearly_lower(rows: Sequence[Row], one: str, other: str) -> list[int]:
    """Return at which l one method's DM, both views summed, is lower, by two standard errors of the difference."""
    ls = []
    for l in _ls(rows):
        less = (_by(rows)[other, l].dm - _by(rows)[one, l].dm).sum(axis=1)
        if less.mean() > 2 * less.std(ddof=1) / math.sqrt(len(less)):
            ls.append(l)
    return ls


SEQUENTIAL = (FIRST, SECOND, FIRST + STOP, SECOND + STOP)


def _confirmed(*tables: Sequence[Row]) -> str:
    said = []
    for table, rows in zip(("Adult", "IPUMS"), tables, strict=True):
        by, ls = _by(rows), _ls(rows)
        second = {FIRST: 1, SECOND: 0}
        dm = {(method, l): by[method, l].dm.mean(axis=0) for method in second for l in ls}
        coarser = [
            (method, l)
            for method, l in dm
            if dm[method, l][second[method]] > dm[method, l][1 - second[method]]
        ]
        times = [by[method, l].apart / by[PAPERS, l].apart for method in second for l in ls]
        said.append(
            f"on {table} in {len(coarser)} of {len(dm)} cases (two orders, {len(ls)} values of l), and the imbalance of the paper's method is "
            f"{min(times):.1f} to {max(times):.1f} times smaller"
        )
    return f"**What we find too:** one view after the other makes the second coarser than the first, {'; '.join(said)}."


def _ratios(rows: Sequence[Row], one: str, other: str) -> str:
    by = _by(rows)
    every = [by[one, l].dm.mean() / by[other, l].dm.mean() for l in _ls(rows)]
    return f"{min(every):.2f} to {max(every):.2f}"


def _finer(table: str, rows: Sequence[Row]) -> str:
    """Say where the paper's method is finer than all-attributes Mondrian, in all its readings."""

    def at(other: str) -> str:
        higher = clearly_lower(rows, other, PAPERS)
        less = f"higher at {_at(higher)}" if higher else "higher nowhere"
        return f"at {_at(clearly_lower(rows, PAPERS, other))} ({less}; {_ratios(rows, PAPERS, other)} times theirs)"

    ls = _ls(rows)
    holds = all(clearly_lower(rows, PAPERS, other) == ls for other in (ALL, ALL + STOP))
    return (
        f"**Is it finer than all-attributes Mondrian, on {table}?** {'Yes' if holds else 'Not at every l'} (the paper has 2,500 to 3,000 against "
        f"4,000 to 6,000). Both views' DM together is lower {at(ALL)}; if Mondrian stops at a refused cut, {at(ALL + STOP)}. Against "
        f"all-attributes with tight labels it is lower {at(TIGHT)}. (Lower by two standard errors of the difference, sample by sample.)"
    )


def _gap(*tables: Sequence[Row]) -> str:
    said = []
    for table, rows in zip(("Adult", "IPUMS"), tables, strict=True):
        by, low, high = _by(rows), _ls(rows)[0], _ls(rows)[-1]
        grows = [method for method in SEQUENTIAL if by[method, low].apart > by[method, high].apart]
        which = ", ".join(
            f"{method} ({by[method, low].apart:,.0f} at l = {low}, {by[method, high].apart:,.0f} at l = {high})"
            for method in SEQUENTIAL
        )
        said.append(f"on {table} in {len(grows)} of {len(SEQUENTIAL)} cases: {which}")
    return (
        "**Does the gap between the sequential views grow as l falls,** as the paper says? It is larger at the smallest l than at the largest "
        + "; ".join(said)
        + "."
    )


def _which_l(rows: Sequence[Row]) -> str:
    by, (on, stops) = _by(rows), fits(rows)
    best = min(on, stops, key=lambda fit: fit.factor)
    first, second = (by[method + STOP * best.stops, best.l].dm.mean(axis=0) for method in (FIRST, SECOND))
    return (
        "**Which l, and which Mondrian, is Fig. 3?** The paper says neither. If Mondrian tries other cuts of a block after a refused one, "
        f"our figures are nearest to the paper's at l = {on.l}, a factor of {on.factor:.2f} apart on average; if it stops there, at l = {stops.l}, a factor of "
        f"{stops.factor:.2f}. Our figure is at l = {best.l}. No l fits all of it: there the view that comes first has {first[0]:,.0f} and {second[1]:,.0f}, not "
        f"700, which only l = 2 comes near to, and only if Mondrian goes on ({by[FIRST, 2].dm[:, 0].mean():,.0f} and "
        f"{by[SECOND, 2].dm[:, 1].mean():,.0f}); the second has {first[1]:,.0f} and {second[0]:,.0f}, not 10,000 and 15,000."
    )


def _ours(*tables: Sequence[Row]) -> str:
    said = []
    for table, rows in zip(("Adult", "IPUMS"), tables, strict=True):
        by, ls = _by(rows), _ls(rows)
        paper, tight = (
            [by[other, l].open.mean() / by[OURS, l].open.mean() for l in ls] for other in (PAPERS, TIGHT)
        )
        lower, higher = (
            [clearly_lower(rows, *pair) for pair in pairs]
            for pairs in (((OURS, PAPERS), (OURS, TIGHT)), ((PAPERS, OURS), (TIGHT, OURS)))
        )
        said.append(
            f"On {table} it has a lower DM than the paper's score at {_at(lower[0])} (higher at {_at(higher[0])}), and than all-attributes with tight "
            f"labels at {_at(lower[1])} (higher at {_at(higher[1])}); the paper's score leaves {min(paper):.1f} to {max(paper):.1f} times as much open, "
            f"all-attributes with tight labels {min(tight):.2f} to {max(tight):.2f} times."
        )
    return (
        "**Ours** cuts for narrow labels, not for small blocks. "
        + " ".join(said)
        + " It stays the default: what analysts read are the labels, and its time grows with the rows hardly faster than they do."
    )


def _large(more: Sequence[Timed]) -> str:
    sizes = sorted({one.rows for one in more if one.method == OURS})
    at = {(one.rows, one.method): one.views for one in more}
    raw, ours, whole = (at[sizes[0], method] for method in (RAW, OURS, ALL))
    said = (
        f"**DM misleads where many people are alike.** On {sizes[0]:,} rows T2 as it is, with nothing hidden, has a DM of {raw.dm[1]:,}; ours "
        f"has {ours.dm[1]:,} and leaves {ours.open[1]:.2%} of its values open; all-attributes has {whole.dm[1]:,} and leaves "
        f"{whole.open[1]:.2%} open."
    )
    if whole.dm[1] < raw.dm[1]:
        said += (
            " That is below the DM of the view itself: people with the same values of T2 are published under different, overlapping labels, "
            "because they were parted by attributes that T2 does not have. DM counts it as a gain."
        )
    if len(sizes) > 1:
        ours, tight = at[sizes[1], OURS], at[sizes[1], TIGHT]
        said += (
            f" **Where nearly all people differ, it does not excuse us:** on {sizes[1]:,} rows ours has {ours.dm[0]:,} and {ours.dm[1]:,}, "
            f"all-attributes with tight labels {tight.dm[0]:,} and {tight.dm[1]:,}. Ours leaves less open ({ours.open[0]:.2%} and {ours.open[1]:.2%} against "
            f"{tight.open[0]:.2%} and {tight.open[1]:.2%}), in fewer and larger blocks."
        )
    return said


def _slow(more: Sequence[Timed]) -> str:
    slow = [one for one in more if one.method == PAPERS]
    fast = [one for one in more if one.method == OURS]
    few, many = slow[0], slow[-1]
    power = math.log(many.seconds / few.seconds) / math.log(many.rows / few.rows)
    return (
        f"**Time.** The paper's score takes {_taken(slow)} rows: from {few.rows:,} to {many.rows:,} it grows as rows to the power of {power:.1f}. "
        f"Ours takes {_taken(fast)}."
    )


def _taken(timings: Sequence[Timed]) -> str:
    return ", ".join(f"{one.seconds:.2f} s for {one.rows:,}" for one in timings)


def _attack(whole: Sequence[Attacked]) -> str:
    raw, alone, together = whole
    return (
        f"**The attack is real.** Of Adult's {raw.people:,} people, {raw.given_away:,} are given away by the views as they are, and still "
        f"{alone.given_away:,} if each view is made 4-diverse on its own; nobody if they are made together. The belief in somebody's value still "
        f'reaches {together.posterior:.1%}: l values are left, but not equally likely ones. Where that matters, ask for `kind="entropy"` or "posterior".'
    )


def _at(ls: Sequence[int]) -> str:
    return f"l = {', '.join(map(str, ls))}" if ls else "no l"
