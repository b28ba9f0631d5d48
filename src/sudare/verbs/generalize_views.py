"""The verb `generalize_views`: several views of one table that are safe together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl

from sudare.engines.rewriting import Rewriting
from sudare.errors import RequirementError
from sudare.generalization.views import Earlier, Method, Score, ViewsProblem, learn_views
from sudare.ledger.blocks import RecordedBlocks
from sudare.ledger.combination import Told, named, standing
from sudare.ledger.history import Recorded, check_receiver
from sudare.ledger.ledger import Ledger, ledger_given
from sudare.ledger.several import LEFT_OUT, Listed
from sudare.plans.placed import Placed, without_uncovered
from sudare.plans.views import LocatedViews, ViewsPlan
from sudare.privacy.multi_view import MultiViewDiversity, RemainingValues
from sudare.privacy.requirement import attribute_of
from sudare.release.certify import Declared, HandedOver
from sudare.release.release import Kept, Release
from sudare.reports.views import write_views_report
from sudare.tables.given import flag_given
from sudare.tables.table import Table, table_given
from sudare.verbs.generalize import NO_NOISE
from sudare.verbs.units import refuse_units
from sudare.verbs.views_checks import (
    checked_views,
    refuse_impossible,
    refuse_parameters,
    refuse_what_is_gone,
)
from sudare.verbs.views_record import views_record
from sudare.verification import recount_views
from sudare.verification.columns import refuse_columns

PERSON_BY_PERSON = (
    "Sets and counts of values are followed person by person. Who knows other people's values, or solves for all people "
    "at once, may rule out more."
)


def generalize_views(
    table: Table,
    views: Mapping[str, Sequence[str]],
    requirement: MultiViewDiversity,
    method: Method = "simultaneous",
    *,
    order: Sequence[str] | None = None,
    weights: Mapping[str, float] | None = None,
    score: Score | None = None,
    candidates: int | None = None,
    alpha: float = 0.8,
    ledger: Ledger | None = None,
    receiver: str | None = None,
    everybody: bool = False,
) -> Release:
    """Publish several views, each with some quasi attributes and the sensitive one, that give nobody away together.

    `method` is "simultaneous" (all views at once), "sequential" (one view after the other, in `order`) or
    "all-attributes" (the whole table once, of which each view gets its part). `weights` says how fine each view
    should be, against the others. `score` says where blocks are cut: "narrow" where what is published gets narrower
    by most, "mondrian" at the median of the widest attribute, "paper" as Takenouchi, Furukawa & Miyakawa do, with
    `alpha`; `candidates` cuts are tried of each block and attribute (the paper: of each block).

    With a `ledger`, the views are made against all its releases of this table that `receiver` may put together with
    them, or, with `everybody`, against all.

    >>> import sudare as sd
    >>> table = sd.read(sd.datasets.health_survey(500).select("age", "sex", "region", "diagnosis"),
    ...                 sd.Schema.from_roles(quasi=["age", "sex", "region"], sensitive=["diagnosis"]))
    >>> release = sd.generalize_views(table, {"ages": ["age", "sex"], "places": ["region"]}, sd.MultiViewDiversity(3))
    >>> release.certificate.measured["l_multiview"] >= 3, list(release.frames())
    (True, ['ages', 'places'])
    """
    table_given(table, "generalize_views")
    refuse_units(table, "generalize_views")
    chosen = checked_views(table, views)
    refuse_columns(list(dict.fromkeys(name for names in chosen.values() for name in names)), table.schema)
    refuse_parameters(chosen, requirement, method, order, weights, score, candidates, alpha)
    ledger_given(ledger)
    flag_given(everybody, "everybody", "generalize_views")
    if receiver is not None:
        check_receiver(receiver)
    sensitive = attribute_of(requirement, table)
    strictest, earlier = requirement, list[list[Recorded]]()
    if ledger is not None:
        strictest, earlier = standing(
            ledger.entries(), table, chosen, requirement, sensitive, receiver, everybody=everybody
        )
    refuse_impossible(table, sensitive, requirement, strictest, _flat(earlier))
    told = Told.by(earlier, sensitive, table, [name for names in chosen.values() for name in names])
    seen = told.seen()
    problem = ViewsProblem.of(
        table, chosen, sensitive, told.counts, [_earlier(one, strictest) for one in seen]
    )
    for releases, one in zip(earlier, seen, strict=True):
        refuse_what_is_gone(one, requirement, strictest, problem, releases)
    views_cut = learn_views(
        problem,
        strictest,
        method,
        order=order,
        weights=weights,
        score=score,
        candidates=candidates,
        alpha=alpha,
    )
    plan = views_cut.plan(requirement)
    return released_views(table, plan, without_uncovered(plan, table), strictest, earlier)


def _earlier(seen: RemainingValues, requirement: MultiViewDiversity) -> Earlier:
    weighed = seen.weighed if requirement.kind != "distinct" else np.empty((len(seen.candidates), 0))
    return Earlier(seen.sets, weighed)


def released_views(
    table: Table,
    plan: ViewsPlan,
    placed: Placed[LocatedViews],
    strictest: MultiViewDiversity | None = None,
    earlier: Sequence[Sequence[Recorded]] = (),
    caveats: Sequence[str] = (),
) -> Release:
    """Apply a plan to the rows that it covers, verify the views together, and certify them.

    `strictest` is what they must have together with what `earlier` releases tell.
    """
    refuse_units(table, "generalize_views")  # a plan may be applied to another table than it was learned from
    (requirement,) = plan.requirements
    whole, located = placed.whole, placed.located
    rewritings = located.rewritings
    least = _verified(located, rewritings, requirement, strictest or requirement, earlier)
    data = {name: placed.rest.rows.rewrite(rewriting) for name, rewriting in rewritings.items()}
    handed_over = HandedOver(data)
    declared = Declared((requirement,), plan.method, table.schema, NO_NOISE, (PERSON_BY_PERSON, *caveats))
    kept = Kept(
        plan,
        table,
        record=partial(views_record, whole, data, {requirement.name: least}, _made_against(_flat(earlier))),
        report=partial(_report, table, located, earlier),
        name_blocks=partial(_named_blocks, table, whole),
    )
    return Release(handed_over, declared, kept).refuse_if_broken()


def _named_blocks(table: Table, whole: LocatedViews) -> dict[str, RecordedBlocks]:
    """Name the blocks of every view that receivers see, which need not be those of the plan."""
    named = {}
    for view, rewriting in zip(whole.views, whole.rewritings.values(), strict=True):
        blocks = np.full(len(whole.counts), LEFT_OUT, dtype=np.int64)
        blocks[whole.covered] = rewriting.blocks_by(view.attributes)
        # Of a view only the sensitive attribute is passed on, by which tuples are counted.
        named[view.name] = RecordedBlocks.of([Listed(table, whole.counts, blocks)], lambda listed: listed)
    return named


def _report(
    table: Table, located: LocatedViews, earlier: Sequence[Sequence[Recorded]], release: Release
) -> str:
    told = Told.of(earlier[:1] or [[]], located.sensitive, located.table, located.counts)
    located = replace(located, counts=told.counts, block_of=located.block_of[told.places])
    sensitive = told.counts.column(located.sensitive).astype(np.int64)
    seen = RemainingValues.of([*located.block_of.T, *told.sets[0]], sensitive, told.counts.weights)
    data = release.handed_over.frames
    return write_views_report(table, data, located, seen, release.certificate, release.holder)


def _verified(
    located: LocatedViews,
    rewritings: Mapping[str, Rewriting],
    requirement: MultiViewDiversity,
    strictest: MultiViewDiversity,
    earlier: Sequence[Sequence[Recorded]],
) -> float:
    """Recount what all views leave to everybody, by code that shares nothing with the method; return the least."""
    table, sensitive = located.table, located.sensitive
    frames = {name: located.frame(rewriting) for name, rewriting in rewritings.items()}
    told = Told.of(earlier or [[]], sensitive, table, located.counts)
    blocks = [
        recount_views.blocks_of(frames[view.name], view.attributes).gather(told.places)
        for view in located.views
    ]
    values = table[sensitive].decode(told.counts.column(sensitive))
    weights = pl.Series(told.counts.weights)
    together = [[*blocks, *(pl.Series(own).replace(-1, None) for own in one)] for one in told.sets]

    def left(kind: str) -> tuple[float, int]:
        return min(recount_views.least_left(one, values, kind, weights) for one in together)

    least, worst = left(requirement.kind)
    _refuse_broken(requirement, least, told.places[worst], located)
    if strictest != requirement:
        other, worst = left(strictest.kind)
        _refuse_broken(strictest, other, told.places[worst], located)
    return least


def _refuse_broken(requirement: MultiViewDiversity, least: float, worst: int, located: LocatedViews) -> None:
    if least < requirement.l * (1 - recount_views.TOLERANCE):
        counts, table = located.counts, located.table
        person = table.describe(counts, worst, counts.names[:-1])
        raise RequirementError(
            f"The views do not have {requirement}: {table.source.name}, somebody with {person} is left with {least:.6g}. "
            "Nothing was written."
        )


def _flat(earlier: Sequence[Sequence[Recorded]]) -> list[Recorded]:
    return list({one.seq: one for releases in earlier for one in releases}.values())


def _made_against(earlier: Sequence[Recorded]) -> list[str]:
    if not earlier:
        return []
    return [
        f"Made against {named(earlier)} of the ledger: whoever has that, too, is left with what is promised. Other releases, of receivers who are "
        "declared apart or outside this ledger, were not looked at: whoever gets hold of one may rule out more."
    ]
