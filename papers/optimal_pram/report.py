"""The tables as text and as Markdown, and what they say in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from papers.optimal_pram.measure import (
    CONVENTIONAL,
    EARLY,
    GENERAL,
    GENERAL_PUBLIC,
    KINDS,
    PRIVATE,
    PUBLIC,
    SLOW_SEEDS,
    TRUE,
    Back,
    Elsewhere,
    Estimated,
    Row,
)
from papers.optimal_pram.paper import PAPER
from papers.page import Grid
from sudare.randomization.made_for import SHARES


def grids(
    rows: Sequence[Row], backs: Sequence[Back], estimates: Sequence[Estimated], others: Sequence[Elsewhere]
) -> list[Grid]:
    """Return all tables."""
    return [_table_1(rows), _back(backs), _shares(estimates), _elsewhere(others)]


def _table_1(rows: Sequence[Row]) -> Grid:
    headers = ["case", "k", "PRAM"]
    for name in ("ave", "opt", "min", "max"):
        headers += [name, "paper's"]
    lines = []
    for row in rows:
        paper = PAPER[row.case][row.k]
        for i, pram in enumerate(("conventional", "optimal")):
            line = [str(row.case), str(row.k), pram]
            for ours, theirs in zip(row.errors, paper, strict=True):
                line += [f"{ours[i]:.1f}", f"{theirs[i]:.1f}"]
            lines.append(line)
    return Grid("Table 1: how far the randomized histogram is off, ||v' - v||", headers, lines)


def _back(backs: Sequence[Back]) -> Grid:
    headers = [
        "PRAM", "k", "raw", "ml", f"EM, {EARLY}\nrounds", "unbiased", "bands,\nraw", "bands,\nml", "retention",
    ]  # fmt: skip
    lines = [
        [
            back.arm,
            str(back.k),
            *(_mean(errors) for errors in (back.raw, back.ml, back.early, back.unbiased)),
            *(f"{errors.mean():.0f}" for errors in (back.raw_bands, back.ml_bands)),
            f"{back.kept[0]:.3f} to {back.kept[1]:.3f}",
        ]
        for back in backs
    ]
    seeds = len(backs[0].raw)
    title = (
        f"What analysts get on Adult's age: ||estimate - v||, mean (and standard deviation) over {seeds} seeds, "
        f"{min(seeds, SLOW_SEEDS)} for general matrices"
    )
    return Grid(title, headers, lines)


def _shares(estimates: Sequence[Estimated]) -> Grid:
    shares = list(estimates[0].by_share)
    headers = [
        "histogram", "k", "conventional", "true\nhistogram", *(f"{share:.1%} of\nthe budget" for share in shares),
        "default\nshare", "with it",
    ]  # fmt: skip
    lines = [
        [
            e.histogram,
            str(e.k),
            f"{e.conventional:.0f}",
            f"{e.true:.0f}",
            *(f"{e.by_share[share]:.0f}" for share in shares),
            f"{e.derived:.1%}",
            f"{e.by_derived:.0f}",
        ]
        for e in estimates
    ]
    return Grid("||Pv - v||, optimal PRAM from a private estimate", headers, lines)


def _elsewhere(others: Sequence[Elsewhere]) -> Grid:
    headers = ["case", "k", "PRAM", "raw", f"EM, {EARLY} rounds", "unbiased"]
    lines = [
        [str(o.case), str(o.k), o.kind, *(f"{error:,.0f}" for error in (o.raw, o.early, o.unbiased))]
        for o in others
    ]
    return Grid("The same question on all three cases: mean ||estimate - v||", headers, lines)


def _mean(errors: np.ndarray) -> str:
    return f"{errors.mean():,.0f} ({errors.std(ddof=1):,.0f})"


def answers(
    rows: Sequence[Row], backs: Sequence[Back], estimates: Sequence[Estimated], others: Sequence[Elsewhere]
) -> list[str]:
    """Say what the figures say."""
    back_at = {(back.arm, back.k): back for back in backs}
    at = 10
    plain, true, private, public = (back_at[arm, at] for arm in (CONVENTIONAL, TRUE, PRIVATE, PUBLIC))
    opt = {(row.case, row.k): row.errors.opt for row in rows}
    at_ten = next(e for e in estimates if e.k == at and e.histogram == "Case 3")
    return [
        f"**Of the paper's two, on Adult's age, use the conventional PRAM and reconstruct.** At k = {at} its raw histogram is off by {plain.raw.mean():,.0f}, but "
        f"reconstructed (ml) by {plain.ml.mean():,.0f}. The optimal PRAM's raw histogram is off by {true.raw.mean():,.0f}, and "
        f"reconstruction hardly helps it: {true.ml.mean():,.0f} (ml), {true.unbiased.mean():,.0f} (unbiased). So with reconstruction "
        f"conventional is {true.ml.mean() / plain.ml.mean():.1f} times better, although its raw output is "
        f"{plain.raw.mean() / true.raw.mean() - 1:.0%} worse. Stopping EM early, which steadies an estimate that the data hardly "
        f"determine, gives the optimal one {true.early.mean():,.0f} after {EARLY} rounds: still {true.early.mean() / plain.early.mean():.1f} "
        f"times conventional's {plain.early.mean():,.0f}.",
        *_general(backs),
        *_scope(others),
        "Why: the optimal PRAM makes the expected *output* look like v, and for that it keeps hardly any record of the rare values "
        f"(retention {true.kept[0]:.4f}, where all conventional ones are kept with {plain.kept[0]:.4f}). What is not kept cannot be "
        "told apart afterwards: its columns for rare values are nearly the same, and the inverse is steep. Bias that is known can "
        "be taken away; information that is gone cannot be brought back.",
        f"Where the optimal PRAM is right: for a reader who takes the published histogram as it is, and only if the matrix comes "
        f"from a public histogram. From adult.test's ages it reaches {public.raw.mean():,.0f} at k = {at}, as good as from the true "
        f"one ({true.raw.mean():,.0f}), which is not safe to use. It shines where v is flat enough for no bias at all: Case 1 at "
        f"k = 2 has {opt[1, 2].optimal:.1f} against {opt[1, 2].conventional:.1f}.",
        f"From a private estimate it is off by {private.raw.mean():,.0f} raw at k = {at}, conventional by {plain.raw.mean():,.0f}: "
        f"{'better' if private.raw.mean() < plain.raw.mean() else 'worse'}, though part of the budget, here {at_ten.derived:.1%}, is spent on the "
        f"estimate and what is left keeps fewer records. With a tenth of it ||Pv - v|| would be {at_ten.by_share[0.1]:,.0f}, with {at_ten.derived:.1%} "
        f"it is {at_ten.by_derived:,.0f}, and conventional has {at_ten.conventional:,.0f}.",
        *_default_share(estimates),
        "The paper's ||Pv - v|| leaves out the randomness of a single run. In Case 1 at k = 2 the optimal bias is 0, yet single runs "
        f"are off by {_row(rows, 1, 2).errors.least.optimal:.0f} to {_row(rows, 1, 2).errors.most.optimal:.0f} (the paper: "
        f"{PAPER[1][2].least.optimal:.0f} to {PAPER[1][2].most.optimal:.0f}).",
    ]


def _general(backs: Sequence[Back]) -> list[str]:
    """Put the general matrix for reconstruction beside the conventional one, on the same seeds."""
    back_at = {(back.arm, back.k): back for back in backs}
    seeds = len(back_at[GENERAL, backs[0].k].raw)
    arms = {"adult.test": GENERAL_PUBLIC, "a private estimate": GENERAL, "conventional": CONVENTIONAL}
    found = []
    for k in dict.fromkeys(back.k for back in backs):
        errors = [
            f"{words} {back_at[arm, k].raw[:seeds].mean():,.0f} raw and {back_at[arm, k].unbiased[:seeds].mean():,.0f} unbiased"
            for words, arm in arms.items()
        ]
        found.append(f"at k = {k}, {', '.join(errors)}")
    return [
        '**The general matrix that is made for reconstruction** (`loss="reconstruction"`, under k itself), made from adult.test\'s ages or from a private '
        f"estimate, beside conventional on the same {seeds} seeds: {'; '.join(found)}. Its expected errors are in section 5.3's table."
    ]


def _default_share(estimates: Sequence[Estimated]) -> list[str]:
    """Say how good the default share is beside the best one tried, and beside none."""
    lost = {(e.histogram, e.k): e.by_derived / min(*e.by_share.values(), e.by_derived) for e in estimates}
    worst = max(lost, key=lost.__getitem__)
    median = float(np.median(list(lost.values())))
    pays = sum(e.by_derived < e.conventional for e in estimates)
    return [
        f"The default share is derived from d, N and ε (`made_for.derived_share`), and held between {SHARES[0]:.0%} and {SHARES[1]:.0%} by the measurements "
        f"on the three cases; the other histograms of the table were not looked at for it. With it the error is {median:.2f} times that of the best share tried in "
        f"the median, at worst {lost[worst]:.1f} times ({worst[0]} at k = {worst[1]}). It is below conventional's in {pays} of "
        f"{len(estimates)} pairs of a histogram and a k."
    ]


def _row(rows: Sequence[Row], case: int, k: int) -> Row:
    return next(row for row in rows if (row.case, row.k) == (case, k))


def _scope(others: Sequence[Elsewhere]) -> list[str]:
    """Say where conventional, as good as it can be had, is better than a safe optimal one, and where it is not."""
    by = {(o.case, o.k, o.kind): o for o in others}
    places = list(dict.fromkeys((o.case, o.k) for o in others))
    lost = [
        f"Case {case} at k = {k} ({by[case, k, KINDS[2]].best:,.0f} against {by[case, k, KINDS[0]].best:,.0f})"
        for case, k in places
        if by[case, k, KINDS[2]].best < by[case, k, KINDS[0]].best
    ]
    leaky = [
        f"Case {case} at k = {k} ({by[case, k, KINDS[1]].best:,.0f} against {by[case, k, KINDS[0]].best:,.0f})"
        for case, k in places
        if by[case, k, KINDS[1]].best < by[case, k, KINDS[0]].best
    ]
    return [
        "**It is not so everywhere.** Taking for either PRAM the best of raw, EM and unbiased (which an analyst does not know), a safe "
        f"optimal one, from a private estimate, beats conventional in {len(lost)} of {len(places)} pairs of a case and a k"
        + (": " + ", ".join(lost) if lost else "")
        + f"; from the true histogram, which is not safe, in {len(leaky)}"
        + (": " + ", ".join(leaky) if leaky else "")
        + ". Case 1 is nearly flat: there hardly any bias is left to take away, and the optimal raw histogram needs no reconstruction. "
        "Of these two we recommend conventional as the default: it needs no histogram, its estimates and their standard errors are steady, and its "
        "unbiased estimate is of use in every case; and the optimal one, from a public histogram, where the histogram is known to be nearly "
        "flat or the published table will be counted as it is."
    ]
