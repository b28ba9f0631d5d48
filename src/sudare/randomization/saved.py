"""A plan as a folder: `plan.json` with the law, `schema.toml` with what the law rests on, and large matrices apart.

plan.json               what was asked for, and the law in the form in which it is published
schema.toml             the published attributes with their domains, bounds and hierarchies
probabilities.parquet   the probabilities of laws that have very many of them; only where there are such laws

What is opened comes from outside: it has exactly this form, or is refused.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from sudare.errors import InputError
from sudare.plans.law import RandomizationPlanForm, TableLaw
from sudare.plans.plan import VERSION
from sudare.tables import text_files
from sudare.tables.parquet_files import Outline, read_parquet
from sudare.tables.recipes import FileRecipe
from sudare.tables.schema import Schema
from sudare.tables.text import shown

HEAD, SCHEMA, PROBABILITIES = "plan.json", "schema.toml", "probabilities.parquet"
FORMAT = {"kind": "randomization", "version": VERSION}
MAX_IN_JSON = 100_000  # probabilities of a law that stand in plan.json
MAX_PROBABILITIES = 2 * 10**7  # of all laws in the Parquet file
COLUMNS = {"law": pl.String(), "probability": pl.Float64()}


class SavedPlan(NamedTuple):
    """What the files of a plan say."""

    head: RandomizationPlanForm
    law: TableLaw
    schema: Schema


def plan_files(
    head: Mapping[str, Any], law: Mapping[str, Any], schema: Schema
) -> dict[str, Callable[[Path], object]]:
    """Return what writes each file of a plan, by name."""
    TableLaw.of(law)  # what could not be opened again is not written
    small, large = _parted(law)
    in_parquet = {name: key for name, (key, _) in large.items()}
    content = {**FORMAT, **head, "in_parquet": in_parquet, "law": small}
    texts = {
        HEAD: json.dumps(content, indent=2, ensure_ascii=False) + "\n",
        SCHEMA: schema.to_toml(),
    }
    for name, most in ((HEAD, text_files.MAX_BYTES), (SCHEMA, text_files.TOML_BYTES)):
        if len(texts[name].encode()) > most:
            raise InputError(
                f"The {name} of this plan would have more than {most:,} bytes. Declare fewer values, or bins."
            )
    files: dict[str, Callable[[Path], object]] = {name: _writer(text) for name, text in texts.items()}
    if large:
        files[PROBABILITIES] = _long_frame(large).write_parquet
    return files


def _writer(text: str) -> Callable[[Path], object]:
    return lambda path: path.write_text(text, encoding="utf-8")


def _parted(law: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, tuple[str, list[float]]]]:
    """Return the law without very long lists of probabilities, and these, row by row."""
    attributes, large = {}, {}
    for name, own in law["attributes"].items():
        attributes[name] = dict(own)
        for key in ("retention", "matrix", "weights"):
            numbers = own.get(key, [])
            flat = [number for row in numbers for number in row] if key == "matrix" else numbers
            if len(flat) > MAX_IN_JSON:
                del attributes[name][key]
                large[name] = key, flat
    return {**law, "attributes": attributes}, large


def _long_frame(large: Mapping[str, tuple[str, list[float]]]) -> pl.DataFrame:
    frames = [
        pl.DataFrame({"probability": flat}).select(pl.lit(name).alias("law"), "probability")
        for name, (_, flat) in large.items()
    ]
    return pl.concat(frames)


# -- Opening ------------------------------------------------------------------------------------------


def read_plan(folder: Path, data: dict[str, Any]) -> SavedPlan:
    """Read the files of a plan, of which `data` is the head; what is of another form is refused with an InputError."""
    path = folder / HEAD
    try:
        head = RandomizationPlanForm.of(data)
        law = TableLaw.of(_whole(head, folder) if head.in_parquet else head.law)
    except InputError as error:
        raise InputError(f"{path}: {str(error).removeprefix(f'{path}: ')}") from None
    return SavedPlan(head, law, _schema(folder / SCHEMA))


def _schema(path: Path) -> Schema:
    schema = Schema.from_toml(path)
    for name, attribute in schema.attributes.items():
        if isinstance(attribute.hierarchy, FileRecipe):
            raise InputError(
                f"{path}: the hierarchy of {shown(name)} is in another file. A plan has its hierarchies in itself."
            )
    return schema


def _whole(head: RandomizationPlanForm, folder: Path) -> dict[str, Any]:
    """Return the law with the probabilities that stand in a file of their own."""
    frame = read_parquet(folder / PROBABILITIES, check=_check_outline)
    if dict(frame.schema) != COLUMNS or any(column.null_count() for column in frame):
        raise InputError(f"{PROBABILITIES} must have a text and a number in every row.")
    attributes = head.law.get("attributes")
    if not isinstance(attributes, dict) or set(frame["law"].unique()) != set(head.in_parquet):
        raise InputError(f"{PROBABILITIES} is of other laws than the plan.")
    whole = dict(attributes)
    for name, key in head.in_parquet.items():
        own = attributes.get(name)
        if not isinstance(own, dict) or key in own:
            raise InputError(f"The probabilities of {shown(name)} stand nowhere, or twice.")
        flat = frame.filter(pl.col("law") == name)["probability"].to_list()
        whole[name] = {**own, key: _square(flat, name) if key == "matrix" else flat}
    return {**head.law, "attributes": whole}


def _square(flat: list[float], name: str) -> list[list[float]]:
    size = math.isqrt(len(flat))
    if size * size != len(flat):
        raise InputError(f"The matrix of {shown(name)} has not as many rows as columns.")
    return [flat[start : start + size] for start in range(0, len(flat), size)]


def _check_outline(outline: Outline) -> None:
    if outline.names != tuple(COLUMNS) or outline.rows > MAX_PROBABILITIES:
        raise InputError(
            f"{PROBABILITIES} must have the columns {', '.join(COLUMNS)}, and {MAX_PROBABILITIES:,} rows at most."
        )
