"""Two columns together, before and after: how many people have which pair of values, as tables and heat maps beside each other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from markupsafe import Markup

from sudare.reports.charts import AFTER, BEFORE
from sudare.reports.charts.shades import two_way_shades
from sudare.reports.words import shown_value

MOST = 30  # values of a column; of more, the most frequent are shown

Pairs = Iterable[tuple[Any, Any, int]]


def contingency(pairs: Pairs) -> dict[str, Any]:
    """Return the counts of pairs as a table, with the most frequent values of each column in their order.

    >>> contingency([("b", 10, 2), ("a", 9, 1), ("a", 9, 1)])
    {'firsts': ['a', 'b'], 'seconds': ['9', '10'], 'counts': [[2, 0], [0, 2]], 'others': 0}
    """
    found = [(shown_value(first), shown_value(second), int(count)) for first, second, count in pairs]
    firsts = _most_frequent((first, count) for first, _, count in found)
    seconds = _most_frequent((second, count) for _, second, count in found)
    counts, others = np.zeros((len(firsts), len(seconds)), dtype=np.int64), 0
    for first, second, count in found:
        if first in firsts and second in seconds:
            counts[firsts[first], seconds[second]] += count
        else:
            others += count
    return {"firsts": list(firsts), "seconds": list(seconds), "counts": counts.tolist(), "others": others}


def _most_frequent(values: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Return the places of the most frequent values, in their order."""
    people: dict[str, int] = {}
    for value, count in values:
        people[value] = people.get(value, 0) + count
    most = sorted(people, key=lambda value: -people[value])[:MOST]
    return {value: place for place, value in enumerate(sorted(most, key=_order))}


def _order(label: str) -> tuple[bool, float, str]:
    """Sort by the first number in a label, if there is one, and then as text."""
    number = re.search(r"-?\d+(\.\d+)?", label)
    return number is None, float(number[0]) if number else 0.0, label


def drawn(found: Mapping[str, Any]) -> dict[str, Markup]:
    """Draw both tables, each as dark as its most frequent pair."""
    pictures = {}
    for when, colour in (("before", BEFORE), ("after", AFTER)):
        one = found[when]
        counts = np.array(one["counts"], dtype=np.float64).reshape(len(one["firsts"]), len(one["seconds"]))
        top = float(counts.max(initial=0))
        pictures[when] = two_way_shades(counts, one["firsts"], one["seconds"], top, colour)
    return pictures
