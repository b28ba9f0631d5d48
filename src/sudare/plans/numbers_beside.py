"""Numbers beside ranges, so that analysts can compute with what is published: the ends of each range, or the mean of each block.

The ends are a function of the label that they stand beside, and tell nothing else. A mean tells of the members of a block
together what their range does not, and is the same for all of them, so that blocks stay what they are. It is given only where
nobody's value can rule it: where the range has two ends, and the block enough records. It is rounded to a hundredth of
the range, so that it does not tell exactly whose values were added.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.engines.rewriting import Labels, Rewriting
from sudare.errors import InputError
from sudare.tables.attribute import Role
from sudare.tables.numbers_beside import MIN_MEMBERS, columns_beside
from sudare.tables.paths import ROOT
from sudare.tables.table import Table
from sudare.tables.text import shown

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Ends = tuple[float | None, float | None]
RANGE = re.compile(r"\[(\S+), (\S+)[)\]]")
BELOW, FROM = "< ", ">= "


def ends_of(label: str | float | None, name: str) -> Ends:
    """Return from where to where a label goes; None where it does not say.

    >>> [ends_of(label, "age") for label in ("[30, 40)", "[30, 39]", "< 18", "37", "*")]
    [(30.0, 40.0), (30.0, 39.0), (None, 18.0), (37.0, 37.0), (None, None)]
    """
    if label is None or label == ROOT:
        return None, None
    range_ = RANGE.fullmatch(label) if isinstance(label, str) else None
    try:
        if range_:
            return _finite(range_[1]), _finite(range_[2])
        if isinstance(label, str) and label.startswith(BELOW):
            return None, _finite(label.removeprefix(BELOW))
        if isinstance(label, str) and label.startswith(FROM):
            return _finite(label.removeprefix(FROM)), None
        value = _finite(label)
    except ValueError:
        raise InputError(
            f"column '{name}': {shown(label)} is no range, so that it has no numbers beside it. Give the attribute a hierarchy of "
            "intervals or top_bottom, or take 'numbers' out of the schema."
        ) from None
    return value, value


def _finite(text: str | float) -> float | None:
    number = float(text)
    return number if math.isfinite(number) else None


def refuse_numbers(table: Table) -> None:
    """Refuse numbers beside what has none, and means where single rows are not what is protected."""
    for name in dict.fromkeys(table.schema.beside().values()):
        if not table[name].values.dtype.is_numeric():
            raise InputError(
                f"{table.source.name}: '{name}' has no numbers, so that there can be none beside it. Take 'numbers' out of the schema."
            )
        if table.schema[name].numbers == "means" and table.schema.unit is not None:
            raise InputError(
                f"{table.source.name}: the means of '{name}' would be those of rows, and a {table.schema[table.schema.unit].role} with several of "
                'them has a larger part in one than was promised of others. Ask for numbers = "ends".'
            )


def refuse_means_in_pieces(table: Table) -> None:
    """Refuse means where blocks are published piece by piece."""
    for name in table.schema.beside().values():
        if table.schema[name].numbers == "means":
            raise InputError(
                f"{table.source.name}: means are made of whole blocks, and the tuples of this table are too many to be held at once. Ask for "
                f"numbers = \"ends\" of '{name}', or read the table with more memory."
            )


def with_numbers(rewriting: Rewriting, table: Table, weights: Ints) -> Rewriting:
    """Add the numbers that the schema asks for, each beside its attribute; `weights` says how many records the tuples have."""
    published: dict[str, Labels | None] = {}
    for name, labels in rewriting.published.items():
        published[name] = labels
        numbers = table.schema[name].numbers if name in table.schema.attributes else None
        if numbers is None or name not in rewriting.keys:
            continue
        if labels is None:  # values stay what they are
            dictionary = table[name]
            labels = Labels(
                dictionary.decode(np.arange(dictionary.size)),
                rewriting.tuples[:, rewriting.keys.index(name)].astype(np.int64),
            )
        ends = [ends_of(label, name) for label in labels.values.to_list()]
        columns = (
            _ends(labels, ends)
            if numbers == "ends"
            else [_means(rewriting, table, name, labels, ends, weights)]
        )
        published |= zip(columns_beside(name, numbers), columns, strict=True)
    return Rewriting(rewriting.keys, rewriting.tuples, published, rewriting.until)


def ends_beside(column: pl.Series) -> list[pl.Series]:
    """Return the ends of the labels, or values, of a column.

    >>> [ends.to_list() for ends in ends_beside(pl.Series("age", ["[30, 40)", "*"]))]
    [[30.0, None], [40.0, None]]
    """
    known = {label: ends_of(label, column.name) for label in column.unique().to_list()}
    both = zip(*(known[label] for label in column.to_list()), strict=True)
    names = columns_beside(column.name, "ends")
    return [pl.Series(own, side, dtype=pl.Float64) for own, side in zip(names, both, strict=True)]


def _ends(labels: Labels, ends: Sequence[Ends]) -> Iterator[Labels]:
    for side in zip(*ends, strict=True):
        place = {value: at for at, value in enumerate(dict.fromkeys(side))}
        of_label = np.array([place[value] for value in side], dtype=np.int64)
        yield Labels(pl.Series(list(place), dtype=pl.Float64), of_label[labels.of_tuple])


def _means(
    rewriting: Rewriting, table: Table, name: str, labels: Labels, ends: Sequence[Ends], weights: Ints
) -> Labels:
    """Return the mean of each block that is seen, for each of its tuples."""
    blocks = rewriting.blocks_by(table.names(Role.quasi))
    codes = rewriting.tuples[:, rewriting.keys.index(name)]
    values = table[name].values.cast(pl.Float64).to_numpy()
    order = np.argsort(blocks, kind="stable")
    firsts = np.flatnonzero(np.diff(blocks[order], prepend=-1))
    means: list[float | None] = []
    for own in np.split(order, firsts[1:]):
        low, high = ends[int(labels.of_tuple[own[0]])]
        records = int(weights[own].sum())
        if low is None or high is None or (low < high and records < MIN_MEMBERS):
            means.append(None)
        elif low == high:
            means.append(low)
        else:
            total = math.fsum(values[codes[own]] * weights[own])
            means.append(rounded(total / records, low, high))
    place = {value: at for at, value in enumerate(dict.fromkeys(means))}
    of_block = np.array([place[value] for value in means], dtype=np.int64)
    return Labels(pl.Series(list(place), dtype=pl.Float64), of_block[blocks])


def rounded(mean: float, low: float, high: float) -> float:
    """Round a mean to a hundredth of what the width of its range is counted in.

    >>> rounded(34.5678, 30, 40), rounded(34567.8, 20_000, 50_000)
    (34.6, 34600.0)
    """
    return round(mean, 2 - math.floor(math.log10(high - low))) + 0.0
