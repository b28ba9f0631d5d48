"""The verb `reconstruct`: estimate from a randomized table what the original was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from sudare.errors import InputError, ParameterError
from sudare.plans.law import LawForm, TableLaw
from sudare.plans.law_files import law_in
from sudare.randomization.estimate import Estimate, Method, estimate
from sudare.randomization.published import PublishedCounts
from sudare.release.release import Release
from sudare.tables.file_rows import data_in
from sudare.tables.folders import LAW, existing
from sudare.tables.given import kind_given, published_given
from sudare.tables.runs import PublishedRows
from sudare.tables.text import listed

NOT_RANDOMIZED = "Only a randomized table can be reconstructed; this one was made otherwise."


def reconstruct(
    release: Release | pl.DataFrame | str | Path,
    attributes: str | Sequence[str],
    *,
    method: Method = "ml",
    law: Mapping[str, Any] | None = None,
) -> Estimate:
    """Estimate how many records had which values of one attribute, or of several together.

    "ml" finds the counts under which the output is most likely; they are never below 0. "unbiased" is right on average.
    Both come with standard errors, and `count` answers how many records had given values, with an interval. Attributes
    that were randomized together may be named by their group, or one by one; what is not asked for is summed out. The law lies beside
    a release; that of a frame, such as collected answers of a `Randomizer`, is given as `law`.

    >>> import polars as pl, sudare as sd
    >>> table = sd.read(pl.DataFrame({"ill": ["yes"] * 300 + ["no"] * 700}), sd.Schema.from_roles(
    ...     sensitive=["ill"], domains={"ill": ["yes", "no"]}))
    >>> release = sd.randomize(table, sd.PkAnonymity(20), unsafe_seed=1)
    >>> answer = sd.reconstruct(release, "ill").count(ill="yes")
    >>> answer.low < 300 < answer.high
    True
    """
    kind_given(attributes, (str, Sequence), "attributes", "reconstruct", "a name, or several")
    data, table = _published(release, law)
    laws, columns = table.attributes, table.columns()
    asked = [attributes] if isinstance(attributes, str) else list(attributes)
    names = [column for name in asked for column in _columns(name, laws)]
    if unknown := [name for name in names if name not in columns]:
        raise InputError(f"'{unknown[0]}' was not randomized. There are {listed(list(columns))}.")
    if not names or len(set(names)) < len(names):
        raise InputError("reconstruct needs one attribute or several different ones.")
    used = {columns[name]: laws[columns[name]] for name in names}
    return estimate(PublishedCounts.of(data, used), method, names)


def _columns(name: str, laws: dict[str, LawForm]) -> list[str]:
    """Return what a name stands for: the attributes of a joint law, or the attribute of that name."""
    return list(laws[name].values_by_column(name)) if name in laws else [name]


def _published(
    release: Release | pl.DataFrame | str | Path, law: Mapping[str, Any] | None
) -> tuple[pl.DataFrame | PublishedRows, TableLaw]:
    published_given(release, "reconstruct", Release)
    if isinstance(release, pl.DataFrame):
        if law is None:
            raise ParameterError("A frame has no law beside it. Give law=..., as it was published.")
        return release, TableLaw.of(law)
    if law is not None:
        raise ParameterError("A release has its law beside it: law=... is for frames.")
    if isinstance(release, Release):
        if (own := release.handed_over.law) is None:
            raise InputError(NOT_RANDOMIZED)
        return release.handed_over.frames["data"], TableLaw.of(own)
    folder = existing(release)
    if not (folder / LAW).is_file():
        raise InputError(f"{folder}: there is no {LAW}. {NOT_RANDOMIZED}")
    return data_in(folder), law_in(folder)
