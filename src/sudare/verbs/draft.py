"""Drafting a schema: a guess for every column, with its reason, for a person to review."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from sudare.engines.read import EngineName, read
from sudare.tables.attribute import MAX_LABEL, Attribute, Role, attribute_lines
from sudare.tables.databases import DatabaseUrl, is_url
from sudare.tables.dictionary import Dictionary
from sudare.tables.parsing import infer_type
from sudare.tables.schema import MAX_NAME_LENGTH, CsvFormat, Schema
from sudare.tables.table import Table
from sudare.tables.toml import toml, toml_comment, toml_key
from sudare.tables.undeclared import suggestion, type_of

# Whole words of a column's name that tell who knows it. Checked in this order.
WORDS = {
    Role.identifier: """
        id uuid guid name firstname lastname surname forename email mail phone telephone mobile fax ssn mrn nhs
        passport license licence iban account url ip address street username login
        氏名 名前 住所 電話 電話番号 患者番号""".split(),
    Role.sensitive: """
        diagnosis disease illness condition icd symptom treatment medication drug hiv disability pregnant religion
        belief party orientation conviction crime offence income salary wage earnings gain loss debt credit score
        grade cost charge claim 病名 診断 疾患 収入 年収 所得""".split(),
    Role.other: "wgt fnlwgt fweight pweight".split(),
}
MEANING = {
    Role.identifier: "names a person",
    Role.sensitive: "to be kept from outsiders",
    Role.other: "a survey weight",
}
NEAR_UNIQUE = 0.95
FREE_TEXT = 40  # characters on average


# Texts that often stand for a missing value. The first means nothing else; the others count only where
# the rest of the column are numbers or dates.
UNKNOWN = "?"
UNKNOWN_AMONG_NUMBERS = (
    "NA",
    "N/A",
    "n/a",
    "na",
    "NaN",
    "nan",
    "NULL",
    "null",
    "None",
    "none",
    "-",
    ".",
    "#N/A",
)


@dataclass(frozen=True)
class Guess:
    """What a column seems to be, and why."""

    attribute: Attribute
    reason: str


def draft(
    source: Any,
    csv: CsvFormat | None = None,
    *,
    sheet: str | None = None,
    engine: EngineName | Any = None,
    memory: str | None = None,
) -> str:
    """Read a source and write a schema file for it: a guess for every column, with its reason in a comment.

    `sheet`, `engine` and `memory` are those of `read`.

    >>> print(draft(pl.DataFrame({"sex": ["f", "m", "f"]})).splitlines()[-5])
    # 2 distinct: outsiders may know it
    """
    table = read(source, csv=csv, sheet=sheet, engine=engine, memory=memory)
    unknown = sorted({text for name in table.columns for text in _unknown_texts(table[name])})
    if unknown:  # read again: a column of numbers and question marks is a column of numbers
        if table.source.csv is not None:
            unknown.insert(0, "")
        roles = Schema.from_roles(other=list(table.columns), missing_values=unknown)
        table = read(source, roles, csv=csv, sheet=sheet, engine=engine, memory=memory)
    guesses = {name: guess_attribute(table[name], len(table)) for name in table.columns}
    return (
        "\n".join([*_head(table, unknown, guesses, _named(source), sheet, csv), *_body(table, guesses)])
        + "\n"
    )


def _named(source: Any) -> str | None:
    """Return what a table is called: its file without endings, or the database's table; a frame has no name."""
    if not isinstance(source, str | Path):
        return None
    if not is_url(str(source)):
        return Path(Path(source).name.removesuffix(".gz").removesuffix(".zip")).stem
    parts = DatabaseUrl.parse(str(source))
    return (parts.options.get("table") or Path(parts.path).stem)[:MAX_NAME_LENGTH]


def _head(
    table: Table,
    unknown: list[str],
    guesses: dict[str, Guess],
    name: str | None,
    sheet: str | None,
    csv: CsvFormat | None,
) -> Iterator[str]:
    yield toml_comment(
        f"A draft for {table.source.name} ({len(table):,} rows). Review every role before you rely on it:"
    )
    yield "#   identifier   names a person; dropped from every release"
    yield "#   quasi        outsiders may know it; generalized or randomized"
    yield "#   sensitive    to be kept from outsiders"
    yield "#   other        passed on as it is"
    if not any(guess.attribute.role == Role.sensitive for guess in guesses.values()):
        yield "# No column looks sensitive: give that role to what outsiders must not learn."
    yield ""
    if name and name.isprintable():
        yield f"source = {toml(name)}   # its name in certificates and ledgers, whichever file it is read from"
    if any(table[name].missing for name in table.columns):
        yield 'missing = "own value"   # or "refuse": then a missing value is an error'
    else:
        yield 'missing = "refuse"   # none is missing; "own value" keeps a place for those that may be, at a little cost'
    if unknown:
        yield f"missing_values = {toml(unknown)}   # texts that seem to mean: not known"
    if sheet is not None:
        yield f"sheet = {toml(sheet)}"
    # Of a file of Stata or SPSS, only what was said is known.
    if (written := table.source.csv or csv) is not None and (fields := _unusual(written)):
        yield from ("", "[csv]", *(f"{key} = {toml(value)}" for key, value in fields.items()))


def _unusual(csv: CsvFormat) -> dict[str, Any]:
    """What of a CSV file's format is worth writing down."""
    plain = CsvFormat(delimiter=",", encoding="utf-8", decimal=".", trim=False)
    return {
        key: value for key, value in csv.model_dump(exclude_none=True).items() if value != getattr(plain, key)
    }


def _body(table: Table, guesses: dict[str, Guess]) -> Iterator[str]:
    for name, guess in guesses.items():
        attribute = guess.attribute.model_copy(update=_labels(name, table))
        yield from (
            "",
            f"[attributes.{toml_key(name)}]",
            toml_comment(guess.reason),
            *attribute_lines(attribute),
        )
        if guess.attribute.role != Role.identifier and (line := suggestion(table[name])):
            yield line


def _labels(name: str, table: Table) -> dict[str, Any]:
    """Return what a column and its codes are called in the source, as far as a schema can say so."""
    labels = table.source.labels
    column = _short(labels.columns.get(name, ""))
    codes = {code: short for code, text in labels.codes.get(name, {}).items() if (short := _short(text))}
    return {"label": column or None, "codes": codes or None}


def _short(text: str) -> str:
    return "".join(sign if sign.isprintable() else " " for sign in text).strip()[:MAX_LABEL].strip()


def _unknown_texts(column: Dictionary) -> list[str]:
    if column.values.dtype != pl.String:
        return []
    values = column.values
    texts = [UNKNOWN] if UNKNOWN in values.str.strip_chars() else []
    rest = values.filter(~values.is_in([*UNKNOWN_AMONG_NUMBERS, UNKNOWN]))
    if len(rest) > 0 and infer_type(rest) != "text":
        texts += [text for text in UNKNOWN_AMONG_NUMBERS if text in values]
    return texts


# -- one column ----------------------------------------------------------------------------------


def guess_attribute(column: Dictionary, rows: int) -> Guess:
    """Guess a column's role, type and hierarchy."""
    role, reason = _guess_role(column, rows)
    hierarchy = _guess_hierarchy(column) if role == Role.quasi else None
    dtype = column.values.dtype
    # A time zone must be in the schema's bounds, too: without them no type is declared.
    zoned = isinstance(dtype, pl.Datetime) and dtype.time_zone is not None
    attribute = {"role": role, "type": None if zoned else type_of(dtype), "hierarchy": hierarchy}
    return Guess(Attribute.model_validate(attribute), reason)


def _guess_role(column: Dictionary, rows: int) -> tuple[Role, str]:
    distinct = len(column.values)
    words = set(re.findall(r"[A-Z]?[a-z]+|[A-Z]+|[^\W\d_a-zA-Z]+", column.name))
    words = {word.lower() for word in words} | {column.name.lower()}
    for role, known in WORDS.items():
        if hit := sorted(words & set(known)):
            return role, f"'{hit[0]}' in its name: {MEANING[role]}"
    share = f"{distinct:,} of {rows:,} distinct"
    if rows > 20 and distinct >= NEAR_UNIQUE * rows and not column.values.dtype.is_float():
        return Role.identifier, f"{share}: looks like an identifier"
    if column.values.dtype == pl.String and column.values.str.len_chars().sum() >= FREE_TEXT * distinct:
        return Role.identifier, f"{share}: looks like free text, which can name people"
    return Role.quasi, f"{distinct:,} distinct: outsiders may know it"


def _guess_hierarchy(column: Dictionary) -> dict[str, Any] | str:
    values = column.values
    if values.dtype.is_numeric() and len(values) > 10:
        spread = float(values.max()) - float(values.min())  # type: ignore[arg-type]
        width = _round_width(spread / 16)
        whole = values.dtype.is_integer()
        return {"kind": "intervals", "width": max(2, int(width)) if whole else width}
    if isinstance(values.dtype, pl.Date | pl.Datetime):
        return "dates"
    return "mask" if _is_code(values) else "suppress"


def _round_width(width: float) -> float:
    """Return a width that people would choose: 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(width))
    return min((1.0, 2.0, 5.0, 10.0), key=lambda step: abs(math.log(step * power / width))) * power


def _is_code(values: pl.Series) -> bool:
    """Tell whether values look like post codes: many, equally long, with digits."""
    if values.dtype != pl.String or len(values) <= 20:
        return False
    return values.str.len_chars().n_unique() == 1 and bool(values.str.contains("[0-9]").all())
