"""What columns and codes are called in statistics files: 1 is "male" there, and `q17` is "Age in years"."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from sudare.errors import InputError
from sudare.tables.text import shown, spelled

if TYPE_CHECKING:
    from sudare.tables.attribute import Kind


@dataclass(frozen=True)
class Labels:
    """The labels of a table's columns, and of the codes in them."""

    columns: Mapping[str, str] = field(default_factory=dict)
    codes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By column: the label of each code, which is written as text."""

    def applied(
        self, frame: pl.DataFrame, kinds: Mapping[str, Kind], where: str
    ) -> tuple[pl.DataFrame, Labels, list[str]]:
        """Put labels in the place of codes, where they are the values; return what is left of the labels, and notes.

        Labels are the values where every code that occurs has one of its own. What the schema says comes first: a number
        stays the code, and a text is the label, or the code where it has none.

        >>> frame = pl.DataFrame({"sex": [1, 2], "age": [30, 99]})
        >>> labels = Labels(codes={"sex": {"1": "male", "2": "female"}, "age": {"99": "not known"}})
        >>> changed, left, notes = labels.applied(frame, {}, "people.sav")
        >>> changed.rows(), list(left.codes)
        ([('male', 30), ('female', 99)], ['age'])
        >>> print(*notes)
        column 'age': some codes have no label of their own, so codes are its values; for labels, declare type = "text"
        """
        columns, left, notes = [], {}, []
        for series in frame.iter_columns():
            labels, kind = self.codes.get(series.name, {}), kinds.get(series.name)
            if not labels:
                columns.append(series)
                continue
            codes = series.drop_nulls().unique().sort()
            texts = [labels.get(spelled(code)) for code in codes.to_list()]
            if kind == "text":
                texts = [text or spelled(code) for code, text in zip(codes.to_list(), texts, strict=True)]
                _refuse_alike(texts, codes, series.name, where)
            elif kind is not None or not self.are_values(series):
                columns.append(series)
                left[series.name] = labels
                if kind is None and any(texts):
                    notes.append(
                        f"column '{series.name}': some codes have no label of their own, so codes are its values; for labels, "
                        'declare type = "text"'
                    )
                continue
            columns.append(series.replace_strict(codes, pl.Series(texts, dtype=pl.String), default=None))
        return pl.DataFrame(columns), Labels(self.columns, left), notes

    def are_values(self, series: pl.Series) -> bool:
        """Tell whether every code that occurs in a column has a label of its own.

        >>> Labels(codes={"sex": {"1": "male"}}).are_values(pl.Series("sex", [1, 2]))
        False
        """
        labels = self.codes.get(series.name, {})
        texts = [labels.get(spelled(code)) for code in series.drop_nulls().unique().to_list()]
        return bool(texts) and None not in texts and len(set(texts)) == len(texts)


def used_codes(column: pl.Series, codes: Mapping[str, str]) -> dict[str, str]:
    """Return the labels of the codes that are in a column: any other label could tell of people who were left out.

    >>> used_codes(pl.Series([1, 1, None]), {"1": "male", "2": "female"})
    {'1': 'male'}
    """
    if not codes or not column.dtype.is_numeric():
        return {}
    values = map(spelled, column.drop_nulls().unique().sort().to_list())
    return {code: codes[code] for code in values if code in codes}


def _refuse_alike(texts: list[str | None], codes: pl.Series, name: str, where: str) -> None:
    for place, text in enumerate(texts):
        if text in texts[:place]:
            first = codes[texts.index(text)]
            raise InputError(
                f"{where}, column '{name}': the codes {shown(first)} and {shown(codes[place])} have one label, {shown(text)}. Give "
                'them labels of their own, or declare type = "integer", which keeps codes.'
            )
