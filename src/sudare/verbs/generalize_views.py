"""The verb `generalize_views`: several views of one table that are safe together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.attacks.attack import attack
from sudare.engines.rewriting import Rewriting
from sudare.errors import InputError, ParameterError, RequirementError
from sudare.generalization import _kernels
from sudare.generalization.problem import Trees, hierarchy_of, with_hierarchies
from sudare.generalization.views import Earlier, Method, Score, ViewsProblem, learn_views
from sudare.ledger.blocks import LEFT_OUT, RecordedBlocks
from sudare.ledger.combination import Told, named, standing
from sudare.ledger.history import Recorded
from sudare.ledger.ledger import Ledger
from sudare.plans.placed import Placed, without_uncovered
from sudare.plans.views import NAME, RESERVED, LocatedViews, ViewsPlan
from sudare.privacy.multi_view import MultiViewDiversity, RemainingValues, refuse_other_requirements
from sudare.privacy.requirement import number, one_of, whole_number
from sudare.release.certify import Declared, HandedOver
from sudare.release.release import Kept, Release
from sudare.reports.views import write_views_report
from sudare.tables.counts import Counts, places_of
from sudare.tables.runs import Runs
from sudare.tables.schema import Role
from sudare.tables.table import Table, table_given
from sudare.tables.text import listed
from sudare.utility.measures import utility_of
from sudare.utility.outcome import Outcome
from sudare.verbs.generalize import NO_NOISE
from sudare.verification import recount_views
from sudare.verification.certificate import Certificate
from sudare.verification.columns import refuse_columns

METHODS = ("simultaneous", "all-attributes", "sequential")
SCORES = ("narrow", "mondrian", "paper")
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
    chosen = _checked_views(table, views)
    refuse_columns(list(dict.fromkeys(name for names in chosen.values() for name in names)), table.schema)
    _refuse_parameters(chosen, requirement, method, order, weights, score, candidates, alpha)
    sensitive = _sensitive(table, requirement)
    strictest, earlier = requirement, list[list[Recorded]]()
    if ledger is not None:
        strictest, earlier = standing(
            ledger.entries(), table, chosen, requirement, sensitive, receiver, everybody=everybody
        )
    _refuse_impossible(table, sensitive, requirement, strictest, earlier)
    told = Told.by(earlier, sensitive, table, [name for names in chosen.values() for name in names])
    seen = told.seen()
    problem = ViewsProblem.of(
        table, chosen, sensitive, told.counts, [_earlier(one, strictest) for one in seen]
    )
    for releases, one in zip(earlier, seen, strict=True):
        _refuse_what_is_gone(one, requirement, strictest, problem, releases)
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


# -- What can be checked before any work ----------------------------------------------------------------


def _checked_views(table: Table, views: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    if not views:
        raise ParameterError("generalize_views needs at least one view, such as {'T1': ['age', 'sex']}.")
    for name, attributes in views.items():
        if not NAME.fullmatch(name) or name in RESERVED:
            raise ParameterError(
                f"A view is written to files of its name: use letters, digits, - and _. Got '{name}' instead."
            )
        if isinstance(attributes, str) or not attributes or len(set(attributes)) < len(attributes):
            raise ParameterError(f"The view '{name}' must be a list of different attributes.")
        for attribute in attributes:
            table[attribute]  # refused if there is none
            if (role := table.schema[attribute].role) != Role.quasi:
                raise InputError(
                    f"The view '{name}' has '{attribute}', which is {role}. Views have quasi attributes; the sensitive one "
                    "is added to each. What is passed on as it is could join the views' rows together again."
                )
    return {name: list(attributes) for name, attributes in views.items()}


def _refuse_parameters(
    views: Mapping[str, list[str]],
    requirement: object,
    method: str,
    order: Sequence[str] | None,
    weights: Mapping[str, float] | None,
    score: str | None,
    candidates: int | None,
    alpha: float,
) -> None:
    refuse_other_requirements(requirement)
    one_of(method, "method", "generalize_views", METHODS)
    if score is not None:
        one_of(score, "score", "generalize_views", SCORES)
    if order is not None and (method != "sequential" or sorted(order) != sorted(views)):
        raise ParameterError(
            "The 'order' parameter of generalize_views must name every view once, for 'sequential'."
        )
    for name, weight in (weights or {}).items():
        if name not in views:
            raise ParameterError(f"There is no view '{name}' to weigh. There are {listed(list(views))}.")
        number(weight, f"weights['{name}']", "generalize_views", "a number above 0", low=1e-9)
    if candidates is not None:
        whole_number(candidates, "candidates", "generalize_views", least=1)
    number(alpha, "alpha", "generalize_views", "a number from 0 to 1", low=0, high=1)


def _sensitive(table: Table, requirement: MultiViewDiversity) -> str:
    names = table.names(Role.sensitive)
    if requirement.attribute is not None:
        if requirement.attribute not in names:
            raise InputError(f"{requirement}: '{requirement.attribute}' is not sensitive in the schema.")
        return requirement.attribute
    if len(names) != 1:
        raise InputError(
            f"{requirement} needs one sensitive attribute; the schema has {listed(names) if names else 'none'}. "
            "Name one with attribute=..."
        )
    return names[0]


def _refuse_impossible(
    table: Table,
    sensitive: str,
    requirement: MultiViewDiversity,
    strictest: MultiViewDiversity,
    earlier: Sequence[Sequence[Recorded]],
) -> None:
    counts, totals = table.counts([sensitive]), np.zeros(table[sensitive].size, dtype=np.int64)
    totals[counts.codes[:, 0]] = counts.weights
    requirement.refuse_if_impossible(totals, sensitive)
    try:
        strictest.refuse_if_impossible(totals, sensitive)
    except RequirementError as error:
        raise RequirementError(
            f"{_with_what_stands(requirement, strictest, _flat(earlier))}. {error}"
        ) from None


def _with_what_stands(
    requirement: MultiViewDiversity, strictest: MultiViewDiversity, earlier: Sequence[Recorded]
) -> str:
    return f"{requirement}, together with what {named(earlier)} promised, asks for {strictest}"


def _flat(earlier: Sequence[Sequence[Recorded]]) -> list[Recorded]:
    return list({one.seq: one for releases in earlier for one in releases}.values())


def _earlier(seen: RemainingValues, requirement: MultiViewDiversity) -> Earlier:
    weighed = seen.weighed if requirement.kind != "distinct" else np.empty((len(seen.candidates), 0))
    return Earlier(seen.sets, weighed)


def _refuse_what_is_gone(
    seen: RemainingValues,
    requirement: MultiViewDiversity,
    strictest: MultiViewDiversity,
    problem: ViewsProblem,
    earlier: Sequence[Recorded],
) -> None:
    """Refuse what earlier releases leave no room for, and say what could still be given."""
    left = strictest.measure(seen)
    if left.holds:
        return
    releases = named(earlier)
    most = int(left.value) if strictest.kind == "distinct" else np.floor(100 * left.value) / 100
    still = "nothing can be promised any more"
    if strictest != requirement:
        still = (
            f"{_with_what_stands(requirement, strictest, earlier)}: ask for the kind that was promised then"
        )
    elif most > 1:
        less = replace(strictest, l=most)
        views = [cut.view for cut in learn_views(problem, less).views]
        blocks = ", ".join(f"'{view.name}' in {len(view.labels[0]):,} blocks" for view in views)
        still = f"the most that can still be promised is {less}: {blocks}"
    raise RequirementError(
        f"{strictest} is impossible: after {releases} somebody is left with {left.value:.4g}, whatever is added. "
        f"With what is in the ledger, {still}."
    )


# -- The release ----------------------------------------------------------------------------------------


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
    (requirement,) = plan.requirements
    whole, located = placed.whole, placed.located
    rewritings = located.rewritings
    least = _verified(located, rewritings, requirement, strictest or requirement, earlier)
    data = {name: placed.rest.rows.rewrite(rewriting) for name, rewriting in rewritings.items()}
    handed_over = HandedOver(data)
    declared = Declared([requirement], plan.method, table.schema, NO_NOISE, [PERSON_BY_PERSON, *caveats])
    kept = Kept(
        plan,
        table,
        record=partial(_record, whole, data, {requirement.name: least}, _made_against(_flat(earlier))),
        report=partial(_report, table, data, located, earlier),
        name_blocks=partial(_named_blocks, table, whole),
    )
    return Release(handed_over, declared, kept)


def _named_blocks(table: Table, whole: LocatedViews) -> dict[str, RecordedBlocks]:
    """Name the blocks of every view that receivers see, which need not be those of the plan."""
    named = {}
    for view, rewriting in zip(whole.views, whole.rewritings.values(), strict=True):
        blocks = np.full(len(whole.counts), LEFT_OUT, dtype=np.int64)
        blocks[whole.covered] = rewriting.blocks_by(view.attributes)
        named[view.name] = RecordedBlocks.of(table, whole.counts, blocks)
    return named


def _report(
    table: Table,
    data: Mapping[str, Runs],
    located: LocatedViews,
    earlier: Sequence[Sequence[Recorded]],
    certificate: Certificate,
    holder: dict[str, Any],
) -> str:
    counts = located.counts
    together = earlier[0] if earlier else []
    told = _earlier_blocks(together, located.sensitive, located.table, counts)
    sensitive = counts.column(located.sensitive).astype(np.int64)
    seen = RemainingValues.of([*located.block_of.T, *told], sensitive, counts.weights)
    return write_views_report(table, data, located, seen, certificate, holder)


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
    counts = located.counts
    blocks = [recount_views.blocks_of(frames[view.name], view.attributes) for view in located.views]
    values = table[sensitive].decode(counts.column(sensitive))
    weights = pl.Series(counts.weights)
    told = [
        [
            *blocks,
            *(
                pl.Series(own).replace(-1, None)
                for own in _earlier_blocks(releases, sensitive, table, counts)
            ),
        ]
        for releases in (earlier or [[]])
    ]

    def left(kind: str) -> tuple[float, int]:
        return min(recount_views.least_left(one, values, kind, weights) for one in told)

    least, worst = left(requirement.kind)
    _refuse_broken(requirement, least, worst, located)
    if strictest != requirement:
        _refuse_broken(strictest, *left(strictest.kind), located)
    return least


def _earlier_blocks(
    releases: Sequence[Recorded], sensitive: str, table: Table, counts: Counts
) -> Iterator[NDArray[np.int64]]:
    for release in releases:
        for blocks in release.blocks_with(sensitive, table):
            yield release.located(blocks, table, counts)


def _refuse_broken(requirement: MultiViewDiversity, least: float, worst: int, located: LocatedViews) -> None:
    if least < requirement.l * (1 - recount_views.TOLERANCE):
        counts, table = located.counts, located.table
        who = {name: table[name].decode(counts.column(name)[[worst]])[0] for name in counts.names[:-1]}
        person = ", ".join(f"{name} {'(missing)' if value is None else value}" for name, value in who.items())
        raise RequirementError(
            f"The views do not have {requirement}: {table.source.name}, somebody with {person} is left with {least:.6g}. "
            "Nothing was written."
        )


def _record(
    whole: LocatedViews,
    data: Mapping[str, Runs],
    measured: dict[str, float],
    notes: list[str],
    _certificate: Certificate,
) -> dict[str, Any]:
    """Measure what needs the original: what is left to everybody, what it cost, and what could be told before."""
    table, published = whole.table, next(iter(data.values())).height
    attacked = attack(data, table.schema, kind="intersection", known=table).summary()
    return {
        "records": {"read": len(table), "published": published, "suppressed": len(table) - published},
        "measured": measured,
        "utility": {view.name: _utility(whole, at) for at, view in enumerate(whole.views)},
        "attacks": {"input": {"intersection": _raw(whole)}, "output": {"intersection": attacked}},
        "notes": notes,
    }


def _utility(whole: LocatedViews, at: int) -> dict[str, Any]:
    """Measure one view. Levels are as if labels were only the hierarchies'; what is left open is measured on the labels."""
    view, counts, kept = whole.views[at], whole.counts, whole.covered
    part = _only(whole.table, view.attributes)
    names = part.names(Role.quasi)
    codes = np.ascontiguousarray(counts.codes[:, [counts.names.index(name) for name in names]])
    trees = Trees.of([hierarchy_of(part, name) for name in names], [1.0] * len(names))
    blocks = np.where(kept, whole.block_of[:, at], -1)
    sizes = np.bincount(blocks[kept], counts.weights[kept], minlength=len(view.labels[0])).astype(np.int64)
    levels = _kernels.block_levels(codes, blocks, len(sizes), trees)
    outcome = Outcome(part, counts, levels[np.where(kept, blocks, 0)], kept)
    measures = utility_of(outcome, sizes[sizes > 0])
    open_share = dict(
        zip(view.attributes, np.average(view.covered, axis=0, weights=sizes).tolist(), strict=True)
    )
    return {"open": float(np.mean(list(open_share.values()))), "open_by_attribute": open_share, **measures}


def _only(table: Table, quasi: Sequence[str]) -> Table:
    """Return the table with some of its quasi attributes as such, and hierarchies for all of them."""
    attributes = {
        name: own
        if name in quasi or own.role != Role.quasi
        else own.model_copy(update={"role": Role.identifier})
        for name, own in table.schema.attributes.items()
    }
    return with_hierarchies(replace(table, schema=table.schema.model_copy(update={"attributes": attributes})))


def _raw(whole: LocatedViews) -> dict[str, Any]:
    """Say what the views would give away as they are."""
    counts = whole.counts
    blocks = []
    for view in whole.views:
        own = counts.select(view.attributes)
        blocks.append(places_of(counts.codes[:, [counts.names.index(name) for name in view.attributes]], own))
    seen = RemainingValues.of(blocks, counts.column(whole.sensitive).astype(np.int64), counts.weights)
    return {
        "candidates": {str(size): people for size, people in seen.distribution().items()},
        "posterior": float(seen.posterior.max()),
    }


def _made_against(earlier: Sequence[Recorded]) -> list[str]:
    if not earlier:
        return []
    return [
        f"Made against {named(earlier)} of the ledger; what other receivers have been given is not counted."
    ]
