"""The verb `reconstruct`: estimate from a randomized table what the original was."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from sudare.errors import InputError
from sudare.randomization.estimate import Estimate, Method, estimate
from sudare.randomization.published import PublishedLaw, columns_of
from sudare.release.release import Release
from sudare.tables.folders import LAW, handed_over
from sudare.tables.text import listed

NOT_RANDOMIZED = "Only a randomized table can be reconstructed; this one was made otherwise."


def reconstruct(
    release: Release | str | Path, attributes: str | Sequence[str], *, method: Method = "ml"
) -> Estimate:
    """Estimate how many records had which values of one attribute, or of several together.

    "ml" finds the counts under which the output is most likely; they are never below 0. "unbiased" is right on average.
    Both come with standard errors, and `count` answers how many records had given values, with an interval. Attributes
    that were randomized together may be named by their group, or one by one; what is not asked for is summed out.

    >>> import polars as pl, sudare as sd
    >>> table = sd.read(pl.DataFrame({"ill": ["yes"] * 300 + ["no"] * 700}), sd.Schema.from_roles(
    ...     sensitive=["ill"], domains={"ill": ["yes", "no"]}))
    >>> release = sd.randomize(table, sd.PkAnonymity(20), unsafe_seed=1)
    >>> found = sd.reconstruct(release, "ill").count(ill="yes")
    >>> found.low < 300 < found.high
    True
    """
    data, laws = _published(release)
    columns = {column: law for law, found in laws.items() for column in columns_of(law, found)}
    asked = [attributes] if isinstance(attributes, str) else list(attributes)
    names = [column for name in asked for column in _columns(name, laws)]
    if unknown := [name for name in names if name not in columns]:
        raise InputError(f"'{unknown[0]}' was not randomized. There are {listed(list(columns))}.")
    if not names or len(set(names)) < len(names):
        raise InputError("reconstruct needs one attribute or several different ones.")
    used = dict.fromkeys(columns[name] for name in names)
    return estimate([PublishedLaw.of(data, law, laws[law]) for law in used], method, names)


def _columns(name: str, laws: dict[str, dict[str, Any]]) -> list[str]:
    """Return what a name stands for: the attributes of a joint law, or the attribute of that name."""
    return list(columns_of(name, laws[name])) if name in laws else [name]


def _published(release: Release | str | Path) -> tuple[pl.DataFrame, dict[str, dict[str, Any]]]:
    if isinstance(release, Release):
        if (law := release.handed_over.law) is None:
            raise InputError(NOT_RANDOMIZED)
        plan, data = dict(law), release.frame()
    else:
        folder = handed_over(release)
        if not (folder / LAW).is_file():
            raise InputError(f"{folder}: there is no {LAW}. {NOT_RANDOMIZED}")
        try:
            plan = json.loads((folder / LAW).read_text(encoding="utf-8"))
            data = pl.read_parquet(folder / "data.parquet")
        except (OSError, ValueError, pl.exceptions.PolarsError) as error:
            raise InputError(f"{folder}: this is no release that can be read: {error}.") from None
    if plan.get("method") != "randomize":
        raise InputError(NOT_RANDOMIZED)
    return data, plan["attributes"]
