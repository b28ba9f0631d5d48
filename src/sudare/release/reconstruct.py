"""The verb `reconstruct`: estimate from a randomized table what the original was."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from sudare.errors import InputError
from sudare.randomization.estimate import Estimate, Method, estimate
from sudare.randomization.published import PublishedAttribute
from sudare.release.release import Release
from sudare.tables.text import listed


def reconstruct(
    release: Release | str | Path, attributes: str | Sequence[str], *, method: Method = "ml"
) -> Estimate:
    """Estimate how many records had which values of one attribute, or of several together.

    "ml" finds the counts under which the output is most likely; they are never below 0. "unbiased" is right on average.
    Both come with standard errors, and `count` answers how many records had given values, with an interval.

    >>> import polars as pl, sudare as sd
    >>> table = sd.read(pl.DataFrame({"ill": ["yes"] * 300 + ["no"] * 700}), sd.Schema.from_roles(
    ...     sensitive=["ill"], domains={"ill": ["yes", "no"]}))
    >>> release = sd.randomize(table, sd.PkAnonymity(20), unsafe_seed=1)
    >>> found = sd.reconstruct(release, "ill").count(ill="yes")
    >>> found.low < 300 < found.high
    True
    """
    names = [attributes] if isinstance(attributes, str) else list(attributes)
    data, laws = _published(release)
    if unknown := [name for name in names if name not in laws]:
        raise InputError(f"'{unknown[0]}' was not randomized. There are {listed(list(laws))}.")
    if not names or len(set(names)) < len(names):
        raise InputError("reconstruct needs one attribute or several different ones.")
    return estimate([PublishedAttribute.of(data[name], laws[name]) for name in names], method)


def _published(release: Release | str | Path) -> tuple[pl.DataFrame, dict[str, dict[str, object]]]:
    if isinstance(release, Release):
        plan = release.plan.to_json()
        data = release.frame()
    else:
        folder = Path(release)
        try:
            plan = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
            data = pl.read_parquet(folder / "data.parquet")
        except (OSError, ValueError, pl.exceptions.PolarsError) as error:
            raise InputError(f"{folder}: this is no release that can be read: {error}.") from None
    if plan.get("method") != "randomize":
        raise InputError("Only a randomized table can be reconstructed; this one was made otherwise.")
    return data, plan["attributes"]
