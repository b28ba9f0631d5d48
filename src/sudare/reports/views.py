"""The report of several views, for the holder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.plans.views import LocatedViews, View
from sudare.privacy.certificate import Certificate
from sudare.privacy.multi_view import RemainingValues
from sudare.reports.page import render
from sudare.reports.words import shown_value, value_labels
from sudare.tables.runs import PublishedRows
from sudare.tables.table import Table
from sudare.tables.text import listed

Record = Mapping[str, Any]
"""The holder's record."""

MAX_EXAMPLES = 5  # blocks that are shown of each view
MAX_NAMED = 6  # sensitive values that are named of a block
MAX_SINGLE_SIZES = 20  # so many numbers of values have a bar each
SIZES = (1, 2, 3, 4, 5, 10, 20, 50, 100, 250)  # else they are taken together from these on
SAME_COST_FACTOR = 1.05  # costs within this factor are called the same


def write_views_report(
    table: Table,
    frames: Mapping[str, PublishedRows],
    located: LocatedViews,
    seen: RemainingValues,
    certificate: Certificate,
    holder: Record,
) -> str:
    """Tell the holder in pictures what the views promise together, and what each of them still shows.

    `seen` is what is left to the records of every tuple, by all views and whatever earlier releases tell.

    >>> import sudare as sd
    >>> people = pl.DataFrame({"age": [20, 21, 22, 23], "sex": ["f", "m", "f", "m"], "ill": ["flu", "flu", "HIV", "HIV"]})
    >>> table = sd.read(people, sd.Schema.from_roles(quasi=["age", "sex"], sensitive=["ill"]))
    >>> release = sd.generalize_views(table, {"ages": ["age"], "sexes": ["sex"]}, sd.MultiViewDiversity(2))
    >>> "For the holder of the data only" in release.report
    True
    """
    sensitive, views = located.sensitive, located.views
    ((measure, value),) = holder["measured"].items()
    utility = holder["utility"]
    return render(
        "views",
        source=table.source.name,
        certificate=certificate,
        caveats=[*certificate.caveats, *holder["notes"]],
        sensitive=sensitive,
        views=views,
        names=listed([view.name for view in views]),
        measure=measure,
        value=value,
        left=values_left(sensitive, holder),
        likeliest=_largest_share(table, sensitive),
        after_earlier=bool(holder["notes"]),
        nearest=nearest_person(located, seen, by_number=measure == "l_multiview"),
        utility=utility,
        balance=balance(utility) if len(utility) > 1 else None,
        widest=max(max(own["open_by_attribute"].values()) for own in utility.values()),
        examples={view.name: example_blocks(frames[view.name], view.attributes, sensitive) for view in views},
    )


# -- What an outsider reaches ------------------------------------------------------------------------


class ComparedValuesLeft(NamedTuple):
    """How many people are left with how many values, if views are combined: in the raw ones, and as published."""

    people: int
    alone: tuple[int, int]
    """Who has one value left: their own."""
    labels: list[str]
    original: list[int]
    published: list[int]
    posteriors: tuple[float, float]
    """The probability of somebody's likeliest value, at most."""


def values_left(sensitive: str, holder: Record) -> ComparedValuesLeft:
    """Compare what the raw views would give away with what the published ones do."""
    original = holder["attacks"]["input"]["intersection"]
    published = holder["attacks"]["output"]["intersection"]["by_attribute"][sensitive]
    before, after = (
        {int(size): people for size, people in side["candidates"].items()} for side in (original, published)
    )
    labels, counts = _by_number(before, after)
    return ComparedValuesLeft(
        people=sum(before.values()),
        alone=(before.get(1, 0), after.get(1, 0)),
        labels=labels,
        original=counts[0],
        published=counts[1],
        posteriors=(original["posterior"], published["posterior"]),
    )


def _by_number(*sides: Mapping[int, int]) -> tuple[list[str], list[list[int]]]:
    """Count people by how many values they are left with; numbers are taken together if there are many."""
    top = max(size for people in sides for size in people)
    starts = [*range(1, top + 1)] if top <= MAX_SINGLE_SIZES else [size for size in SIZES if size <= top]
    spans = list(zip(starts, [*(start - 1 for start in starts[1:]), top], strict=True))
    counts = [
        [sum(n for size, n in people.items() if first <= size <= last) for first, last in spans]
        for people in sides
    ]
    return [str(first) if first == last else f"{first}-{last}" for first, last in spans], counts


def _largest_share(table: Table, name: str) -> float:
    counts = table.counts([name])
    return float(counts.weights.max() / counts.total)


class Nearest(NamedTuple):
    """The person who comes nearest to being given away."""

    blocks: list[tuple[str, str, int, str]]
    """By view: its name, what is published, how many records share it, and their sensitive values."""
    left: str
    """The values that are left, with their probabilities."""


def nearest_person(located: LocatedViews, seen: RemainingValues, *, by_number: bool) -> Nearest:
    """Look for the person with the fewest values left, or whose likeliest value is the likeliest."""
    counts = located.counts
    values, weights = counts.column(located.sensitive), counts.weights
    keys = (-seen.posterior, seen.candidates) if by_number else (seen.candidates, -seen.posterior)
    person = int(np.lexsort(keys)[0])
    texts = value_labels(located.table[located.sensitive])
    blocks = []
    for view, block_of in zip(located.views, located.block_of.T, strict=True):
        block = int(block_of[person])
        inside = block_of == block
        records = np.bincount(values[inside], weights[inside], len(texts)).astype(np.int64)
        blocks.append((view.name, _label(view, block), int(records.sum()), named_values(texts, records)))
    totals = np.bincount(values, weights, minlength=len(texts))
    width = seen.weighed.shape[1]
    likely = np.zeros(len(texts))
    likely[:width] = totals[:width] * seen.weighed[person]
    return Nearest(blocks, named_values(texts, likely / likely.sum(), ".1%"))


def _label(view: View, block: int) -> str:
    return ", ".join(shown_value(labels[block]) for labels in view.labels)


def named_values(texts: Sequence[str], counts: NDArray[Any], form: str = ",") -> str:
    """Name values with their counts, the most frequent first; a long list is cut.

    >>> named_values(["flu", "cold", "HIV"], np.array([2, 5, 0]))
    'cold 5, flu 2'
    """
    order = [i for i in np.argsort(-counts, kind="stable").tolist() if counts[i] > 0]
    head = ", ".join(f"{texts[i]} {counts[i]:{form}}" for i in order[:MAX_NAMED])
    return head if len(order) <= MAX_NAMED else f"{head} and {len(order) - MAX_NAMED:,} more"


# -- What it cost ------------------------------------------------------------------------------------


class CostsByView(NamedTuple):
    """What every view pays, and which of them pays most."""

    by_view: dict[str, float]
    costliest: str
    cheapest: str
    times: float | None
    """How many times the cheapest's cost the costliest has: 1 if nearly the same, None if the cheapest pays nothing."""


def balance(utility: Record) -> tuple[CostsByView, CostsByView]:
    """Say how much of the values each view leaves open, and how often two of its records are in one block."""
    left_open = {name: own["open"] for name, own in utility.items()}
    alike = {
        name: own["discernibility"] / (own["blocks"] * own["average_block"]) ** 2
        for name, own in utility.items()
    }
    return _cost(left_open), _cost(alike)


def _cost(by_view: dict[str, float]) -> CostsByView:
    costliest, cheapest = max(by_view, key=by_view.__getitem__), min(by_view, key=by_view.__getitem__)
    high, low = by_view[costliest], by_view[cheapest]
    if high == low or high < SAME_COST_FACTOR * low:
        return CostsByView(by_view, costliest, cheapest, 1.0)
    return CostsByView(by_view, costliest, cheapest, high / low if low else None)


# -- One view ----------------------------------------------------------------------------------------


class Examples(NamedTuple):
    """Some published blocks of a view, from the smallest to the largest."""

    heads: list[str]
    rows: list[list[str]]
    blocks: int
    """How many blocks there are."""


def example_blocks(published: PublishedRows, attributes: Sequence[str], sensitive: str) -> Examples:
    """Choose some published blocks, evenly by their sizes."""
    # By place, since an attribute may have the name of any further column.
    labels = [f"{i}" for i in range(len(attributes))]
    rows_of = published.counted([*attributes, sensitive])
    parts = rows_of.rows
    parts.columns = [*labels, "value"]
    counted = parts.with_columns(rows_of.lengths.alias("count")).group_by(parts.columns).agg(pl.sum("count"))
    blocks = (
        counted.sort("count", "value", descending=[True, False])
        .group_by(labels)
        .agg("value", "count", size=pl.col("count").sum())
        .sort("size", *labels)
    )
    chosen = np.unique(np.linspace(0, blocks.height - 1, MAX_EXAMPLES).round().astype(np.int64))
    rows = [
        [*map(shown_value, label), f"{size:,}", named_values([*map(shown_value, values)], np.array(counts))]
        for *label, values, counts, size in blocks[chosen].rows()
    ]
    return Examples([*attributes, "records", f"their {sensitive}"], rows, blocks.height)
