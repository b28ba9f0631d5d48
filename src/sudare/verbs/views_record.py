"""What the holder's record says of several views: what they cost, and what an outsider reaches with all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sudare.attacks.attack import attack
from sudare.generalization import _kernels
from sudare.generalization.problem import Trees, hierarchy_of, with_hierarchies
from sudare.plans.views import LocatedViews
from sudare.privacy.certificate import Certificate
from sudare.privacy.multi_view import RemainingValues
from sudare.tables.attribute import Role
from sudare.tables.counts import places_of
from sudare.tables.runs import PublishedRows
from sudare.tables.table import Table
from sudare.utility.measures import utility_of
from sudare.utility.outcome import Outcome


def views_record(
    whole: LocatedViews,
    data: Mapping[str, PublishedRows],
    measured: dict[str, float],
    notes: list[str],
    _certificate: Certificate,
) -> dict[str, Any]:
    """Measure what needs the original: what is left to everybody, what it cost, and what could be told before."""
    table, published = whole.table, next(iter(data.values())).height
    attacked = attack(data, table.schema, kind="intersection", known=table).summary()
    return {
        "sampling_fraction": table.schema.sampling_fraction,
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
        if name in quasi or own.treated_as != Role.quasi
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
