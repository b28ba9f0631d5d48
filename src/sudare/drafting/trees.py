"""Hierarchies that fit what the values of a column are."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import polars as pl

from sudare.drafting.names import tokens_of
from sudare.drafting.patterns import pattern_of
from sudare.drafting.readings import Band, bands_of, quantities_of
from sudare.drafting.words import CODED
from sudare.errors import InputError
from sudare.tables.builders import ROOT
from sudare.tables.dictionary import Dictionary
from sudare.tables.hierarchy import Hierarchy

FEW = 10  # values that are published as they are, or not at all
INTERVALS = 16
SKEWED = 8  # times as far from the median to one end as to the other
MAX_READ = 100_000  # texts that are read one by one
ICD_CHAPTERS = """A00-B99 C00-D48 D50-D90 E00-E90 F00-F99 G00-G99 H00-H59 H60-H95 I00-I99 J00-J99 K00-K93 L00-L99 M00-M99
    N00-N99 O00-O99 P00-P96 Q00-Q99 R00-R99 S00-T98 U00-U99 V01-Y98 Z00-Z99""".split()
Drafted = Hierarchy | dict[str, Any] | str
"""A hierarchy of the values, or the recipe of one as a schema file has it."""


def draft_hierarchy(column: Dictionary) -> Drafted:
    """Choose a hierarchy by what the values are.

    >>> draft_hierarchy(Dictionary(pl.Series("sex", ["f", "m"]), missing=False))
    'suppress'
    >>> draft_hierarchy(Dictionary(pl.Series("age", ["0-17", "18-39", "40-64", "65+"]), missing=False)).publish([0, 3], 1)
    ['0-39', '40+']
    """
    values = column.values
    if values.dtype.is_numeric():
        return _of_numbers(column)
    if isinstance(values.dtype, pl.Date | pl.Datetime):
        return "dates"
    if values.dtype == pl.String and len(values) <= MAX_READ:
        for draft in (_of_bands, _of_quantities, of_known_codes):
            if (tree := draft(values)) is not None:
                return tree
    return "mask" if _is_code(values) else "suppress"


# -- numbers -------------------------------------------------------------------------------------


def _of_numbers(column: Dictionary) -> Drafted:
    values = column.values
    if is_nominal(column):
        return "mask" if _has_digits_of_a_code(values) else "suppress"
    if len(values) <= FEW or not values.is_finite().all():
        return "suppress"
    return intervals_for(values)


def is_nominal(column: Dictionary) -> bool:
    """Tell whether values are names or codes of something, and no amounts.

    >>> is_nominal(Dictionary(pl.Series("zip", [1010, 2010]), missing=False))
    True
    """
    dtype = column.values.dtype
    return dtype == pl.String or (dtype.is_integer() and bool(CODED & set(tokens_of(column.name))))


def intervals_for(values: pl.Series) -> dict[str, Any]:
    """Choose intervals: of a round width, or of equally many values where most lie close together and few far away.

    >>> intervals_for(pl.Series(range(100))), intervals_for(pl.Series([2**i for i in range(40)]))
    ({'kind': 'intervals', 'width': 5}, {'kind': 'intervals', 'quantiles': 16})
    """
    low, middle, high = (float(value) for value in (values.min(), values.median(), values.max()))  # type: ignore[arg-type]
    if max(high - middle, middle - low) > SKEWED * min(high - middle, middle - low):
        return {"kind": "intervals", "quantiles": INTERVALS}
    width = _round_width((high - low) / INTERVALS)
    return {"kind": "intervals", "width": max(2, int(width)) if values.dtype.is_integer() else width}


def _round_width(width: float) -> float:
    """Return a width that people would choose: 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(width))
    return min((1.0, 2.0, 5.0, 10.0), key=lambda step: abs(math.log(step * power / width))) * power


def _has_digits_of_a_code(values: pl.Series) -> bool:
    """Tell whether whole numbers have three to eight digits each, or one fewer where a zero in front was lost."""
    if len(values) <= FEW or values.min() < 0:  # type: ignore[operator]
        return False
    lengths = values.cast(pl.String).str.len_bytes()
    most = int(lengths.max())  # type: ignore[arg-type]
    return 3 <= most <= 8 and int(lengths.min()) >= most - 1  # type: ignore[arg-type]


# -- texts ---------------------------------------------------------------------------------------


def _of_bands(values: pl.Series) -> Hierarchy | None:
    """Join neighbouring bands two by two; what is no band stays as it is."""
    texts = values.to_list()
    bands = bands_of(texts)
    if bands is None:
        return None
    ordered = sorted(bands, key=lambda text: bands[text].start)
    paths = {text: [text] for text in texts}
    size = 2
    while size < len(ordered):
        for start in range(0, len(ordered), size):
            group = ordered[start : start + size]
            joined = (
                str(Band(bands[group[0]].low, bands[group[-1]].high))
                if len(group) > 1
                else paths[group[0]][-1]
            )
            for text in group:
                paths[text].append(joined)
        size *= 2
    height = max(map(len, paths.values()))
    return _tree([*path, *path[-1:] * (height - len(path)), ROOT] for path in paths.values())


def _of_quantities(values: pl.Series) -> Hierarchy | None:
    """Put numbers with a unit into intervals of that unit."""
    read = quantities_of(values.to_list())
    if read is None:
        return None
    number_of, unit = read
    numbers = pl.Series(sorted(set(number_of.values())))
    if len(numbers) <= FEW:
        return None
    chosen = {key: value for key, value in intervals_for(numbers).items() if key != "kind"}
    above = {float(path[0] or 0): path[1:-1] for path in Hierarchy.intervals(numbers, **chosen).rows()}
    return _tree(
        [text, *(f"{label} {unit}" for label in above[number]), ROOT] for text, number in number_of.items()
    )


def of_known_codes(values: pl.Series) -> Hierarchy | None:
    """Take the parts of codes that are known to have some.

    >>> of_known_codes(pl.Series(["E11.9", "E10.1", "I10"])).rows()[0]
    ('E11.9', 'E11', 'E00-E90', '*')
    """
    pattern = pattern_of(values)
    parts = PARTS.get(pattern.what) if pattern else None
    return _tree([code, *parts(code), ROOT] for code in values.to_list()) if parts else None


def _icd_parts(code: str) -> list[str]:
    category = code[:3]
    chapter = next((one for one in ICD_CHAPTERS if one[:3] <= category <= one[4:]), category)
    return [category, chapter]


def _british_parts(code: str) -> list[str]:
    outward = code.replace(" ", "")[:-3]
    return [outward, re.sub(r"\d.*", "", outward)]


PARTS: dict[str, Callable[[str], list[str]]] = {"ICD codes": _icd_parts, "British post codes": _british_parts}


def _is_code(values: pl.Series) -> bool:
    """Tell whether values look like post codes or classifications: many, equally long, with digits."""
    if values.dtype != pl.String or len(values) <= 2 * FEW:
        return False
    return values.str.len_chars().n_unique() == 1 and bool(values.str.contains("[0-9]").all())


def _tree(rows: Any) -> Hierarchy | None:
    """Make a hierarchy; none where the values cannot have one, as where the root is among them."""
    return tree_of([tuple(row) for row in rows])


def tree_of(rows: Sequence[Sequence[str]]) -> Hierarchy | None:
    """Make a hierarchy from rows that a draft came to, if they are one.

    >>> tree_of([("*", "x", "*")]) is None
    True
    """
    try:
        return Hierarchy.from_rows(rows)
    except InputError:
        return None
