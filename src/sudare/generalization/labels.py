"""What is published for a block of a view: a value, a node of the hierarchy, a range, or a list of values."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sudare.tables.dictionary import Dictionary
from sudare.tables.hierarchy import Hierarchy
from sudare.tables.text import text_of

MISSING = "(missing)"
SPECIAL = set('{},"')


class LabelWriter:
    """Writes the labels of one attribute.

    `hierarchy` has the attribute's values as leaves, in the order of its codes; `order` is the order of the codes in
    which the children of every node stand together.
    """

    def __init__(self, column: Dictionary, hierarchy: Hierarchy, order: NDArray[np.int64]) -> None:
        self.hierarchy = hierarchy.take(order)
        self.ranges = bool((np.diff(np.argsort(rising(column))[order]) > 0).all()) and has_order(column)
        texts: list[str | None] = [text_of(value) for value in column.values.to_list()]
        self.texts = [texts[code] if code < len(texts) else None for code in order.tolist()]
        every = self.hierarchy.codes
        self.node_of: list[list[int]] = [
            np.cumsum(np.diff(codes, prepend=codes[0]) != 0).tolist() for codes in every
        ]
        """The node of each place, by level, numbered as they stand side by side."""
        self.starts: list[list[int]] = [
            [*np.unique(nodes, return_index=True)[1].tolist(), len(nodes)] for nodes in self.node_of
        ]
        """The first place of each node, by level, and the number of places."""

    def label(self, places: tuple[int, ...]) -> str | None:
        """Return what is published for records that have the values at these places, in rising order.

        >>> import polars as pl
        >>> column = Dictionary(pl.Series("age", [20, 25, 30, 41]), missing=False)
        >>> labels = LabelWriter(column, flat(column), np.arange(4))
        >>> labels.label((1,)), labels.label((0, 2)), labels.label((0, 1, 2, 3))
        ('25', '[20, 30]', '*')
        """
        if len(places) == 1:
            return self.texts[places[0]]
        level = self._meeting(places)
        node = self.node_of[level][places[0]]
        first, last = self.starts[level][node], self.starts[level][node + 1] - 1
        if self.ranges and (places[0], places[-1]) != (first, last):
            return self._range(places)  # it may be narrower than its node
        below = self.node_of[level - 1]
        nodes = dict.fromkeys(below[place] for place in places)
        if len(nodes) == below[last] - below[first] + 1:
            return self._text(level, node)
        return (
            self._range(places) if self.ranges else listing([self._text(level - 1, child) for child in nodes])
        )

    def covered(self, places: tuple[int, ...]) -> float:
        """Return the share of the other values that the label leaves open: 0 for one value, 1 for all."""
        if len(places) == 1:
            return 0.0
        if self.ranges:
            return (places[-1] - places[0]) / (len(self.texts) - 1)
        below = self._meeting(places) - 1
        starts, nodes = self.starts[below], {self.node_of[below][place] for place in places}
        return (sum(starts[node + 1] - starts[node] for node in nodes) - 1) / (len(self.texts) - 1)

    def _meeting(self, places: tuple[int, ...]) -> int:
        """Return the lowest level on which all places are in one node."""
        return next(i for i, nodes in enumerate(self.node_of) if nodes[places[0]] == nodes[places[-1]])

    def _text(self, level: int, node: int) -> str | None:
        return self.hierarchy.labels[level][int(self.hierarchy.codes[level, self.starts[level][node]])]

    def _range(self, places: tuple[int, ...]) -> str | None:
        known = [self.texts[place] for place in places if self.texts[place] is not None]
        ends = known[0] if len(known) == 1 else f"[{known[0]}, {known[-1]}]"
        return ends if len(known) == len(places) else listing([ends, None])


def listing(parts: Sequence[str | None]) -> str:
    """Write several values as one label.

    >>> listing(["Masters", "Doctorate", None])
    '{Masters, Doctorate, (missing)}'
    """
    return "{" + ", ".join(MISSING if part is None else _quoted(part) for part in parts) + "}"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False) if SPECIAL & set(text) or text == MISSING else text


def has_order(column: Dictionary) -> bool:
    """Tell whether a column has numbers or dates, of which ranges can be published."""
    dtype = column.values.dtype
    return dtype.is_numeric() or dtype.is_temporal()


def rising(column: Dictionary) -> NDArray[np.int64]:
    """Return the codes of numbers and dates in rising order, however the domain was declared; missing comes last."""
    codes = np.arange(column.size)
    if has_order(column):
        codes[: len(column.values)] = column.values.arg_sort().to_numpy()
    return codes


def flat(column: Dictionary) -> Hierarchy:
    """Return the hierarchy in which all values stand side by side, below one root."""
    texts = tuple(text_of(value) for value in column.values.to_list())
    labels = (*texts, None) if column.missing else texts
    codes = np.stack([np.arange(len(labels)), np.zeros(len(labels))]).astype(np.int32)
    return Hierarchy((labels, ("*",)), codes)


def side_by_side(hierarchy: Hierarchy, leaves: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
    """Return the order of the leaves in which every node's are together, and else as they were (or as given).

    >>> h = Hierarchy.from_rows([["a", "N", "*"], ["b", "M", "*"], ["c", "N", "*"]])
    >>> side_by_side(h).tolist()
    [0, 2, 1]
    """
    given = np.arange(hierarchy.codes.shape[1]) if leaves is None else leaves
    keys = []
    for codes in hierarchy.codes[:, given]:
        first = np.full(int(codes.max()) + 1, len(codes), dtype=np.int64)
        np.minimum.at(first, codes, np.arange(len(codes)))
        keys.append(first[codes])
    return given[np.lexsort(keys)]
