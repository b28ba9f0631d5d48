"""Drafting a schema: a guess for every column, with its reason, for a person to review."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, count
from pathlib import Path
from textwrap import wrap
from typing import Any

import polars as pl

from sudare.drafting.dates import ISO, written_as
from sudare.drafting.dependence import coarser_columns, tree_from
from sudare.drafting.guess import guess_roles
from sudare.drafting.numbering import Guess
from sudare.drafting.trees import Drafted, draft_hierarchy, is_nominal, of_known_codes
from sudare.engines.read import EngineName, read
from sudare.tables.attribute import MAX_LABEL, UNITS, Attribute, Role, attribute_lines
from sudare.tables.databases import DatabaseUrl, is_url
from sudare.tables.dictionary import Dictionary
from sudare.tables.hierarchy import Hierarchy
from sudare.tables.parsing import infer_type, parse
from sudare.tables.recipes import FileRecipe
from sudare.tables.schema import MAX_NAME_LENGTH, CsvFormat, Schema
from sudare.tables.table import Table
from sudare.tables.text_files import MAX_FIELDS
from sudare.tables.toml import toml, toml_comment, toml_key
from sudare.tables.undeclared import MAX_LISTED, suggestion, type_of

DOUBTFUL = "doubtful"  # begins the reason of what a person must look at first
WIDTH = 110  # signs of a line of columns

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
class Draft:
    """The text of a schema file, and the hierarchies that it names, which belong beside it."""

    text: str
    files: dict[str, str]
    """By their paths, seen from the schema file: what each has, in ARX's format."""
    reasons: dict[str, str]
    """Why each column has the role that it has."""


def draft(
    source: Any,
    csv: CsvFormat | None = None,
    *,
    sheet: str | None = None,
    engine: EngineName | Any = None,
    memory: str | None = None,
    hierarchies: bool = False,
    folder: str = "hierarchies",
) -> Draft:
    """Read a source and write a schema file for it: a guess for every column, with its reason in a comment.

    `sheet`, `engine` and `memory` are those of `read`. With `hierarchies`, every hierarchy becomes a file of a folder beside
    the schema, to be edited; without, only large ones do.

    >>> print(draft(pl.DataFrame({"sex": ["f", "m", "f"]})).text.splitlines()[-5])
    # 'sex' in its name: sex
    """
    table = read(source, csv=csv, sheet=sheet, engine=engine, memory=memory)
    unknown = sorted({text for name in table.columns for text in _unknown_texts(table[name])})
    if unknown:  # read again: a column of numbers and question marks is a column of numbers
        if table.source.csv is not None:
            unknown.insert(0, "")
        roles = Schema.from_roles(identifier=list(table.columns), missing_values=unknown)
        table = read(source, roles, csv=csv, sheet=sheet, engine=engine, memory=memory)
    guesses = guess_attributes(table)
    files: dict[str, str] = {}
    for name, guess in guesses.items():
        tree = guess.attribute.hierarchy
        if tree is not None and not isinstance(tree, Hierarchy) and hierarchies:
            tree = tree.build(_as_drafted(table[name].values, guess.attribute))
        large = isinstance(tree, Hierarchy) and len(tree.leaves) > MAX_LISTED
        if isinstance(tree, Hierarchy) and (hierarchies or large) and tree.codes.size <= MAX_FIELDS:
            path = _file_name(folder, name, files)
            files[path] = tree.to_csv()
            own = guess.attribute.model_copy(update={"hierarchy": FileRecipe(kind="file", path=Path(path))})
            guesses[name] = replace(guess, attribute=own)
    lines = [*_head(table, unknown, guesses, _named(source), sheet, csv), *_body(table, guesses)]
    reasons = {name: guess.reason for name, guess in guesses.items()}
    return Draft("\n".join(lines) + "\n", files, reasons)


def _as_drafted(values: pl.Series, attribute: Attribute) -> pl.Series:
    """Return values as they will be read by the draft: dates that are written in another form are texts so far."""
    if attribute.format is None or attribute.type is None:
        return values
    return parse(values, attribute.type, form=attribute.format).drop_nulls().unique().sort()


def _file_name(folder: str, column: str, taken: Mapping[str, str]) -> str:
    """Return a path for a column's hierarchy: plain letters, whatever the column is called."""
    stem = re.sub(r"[^\w-]+", "_", column)[:40].strip("_") or "column"
    names = chain([stem], (f"{stem}-{number}" for number in count(2)))
    lower = {path.lower() for path in taken}
    return next(path for name in names if (path := f"{folder}/{name}.csv").lower() not in lower)


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
    guesses: dict[str, DraftedAttribute],
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
    if {guess.attribute.role for guess in guesses.values()} & {Role.weight, *UNITS}:
        yield "#   weight       how many people a record stands for; outsiders may know it, unless known = false"
        yield "#   person, household   says which rows are protected together; dropped, unless linked = true"
    if not any(guess.attribute.role == Role.sensitive for guess in guesses.values()):
        yield "# No column looks sensitive: give that role to what outsiders must not learn."
    yield from _doubtful([column for column, guess in guesses.items() if guess.doubtful])
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


def _doubtful(columns: list[str]) -> Iterator[str]:
    """Name the columns that a person must look at first."""
    if columns:
        yield f"# Doubtful, to be looked at first ({len(columns):,}):"
        yield from (toml_comment(f"  {line}") for line in wrap(", ".join(columns), WIDTH))


def _unusual(csv: CsvFormat) -> dict[str, Any]:
    """What of a CSV file's format is worth writing down."""
    plain = CsvFormat(delimiter=",", encoding="utf-8", decimal=".", trim=False)
    return {
        key: value for key, value in csv.model_dump(exclude_none=True).items() if value != getattr(plain, key)
    }


def _body(table: Table, guesses: dict[str, DraftedAttribute]) -> Iterator[str]:
    for name, guess in guesses.items():
        attribute = guess.attribute.model_copy(update=_labels(name, table))
        yield from (
            "",
            f"[attributes.{toml_key(name)}]",
            toml_comment(guess.reason),
            *attribute_lines(attribute),
        )
        if guess.attribute.role in UNITS:
            most = int(table.counts([name]).weights.max())
            yield "# linked = true   # to publish which rows belong together, by numbers of our own"
            yield f"# most_rows = {most}   # the most that one has in the data; declare how many a p-view protects"
        elif guess.attribute.role != Role.identifier:
            column = table[name]
            if line := suggestion(replace(column, values=_as_drafted(column.values, guess.attribute))):
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


# -- the columns -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class DraftedAttribute:
    """What a column seems to be, and why."""

    attribute: Attribute
    reason: str
    doubtful: bool = False
    """Whether a person must look at it first."""


def guess_attributes(table: Table) -> dict[str, DraftedAttribute]:
    """Guess the role, type and hierarchy of every column."""
    columns = (table[name] for name in table.columns)
    guesses = guess_roles(columns, len(table), table.source.labels.columns)
    trees, follows = _trees_of_columns(table, guesses)
    drafted = {}
    for name, guess in guesses.items():
        attribute = _attribute(table[name], guess.role, trees.get(name))
        reasons = [guess.reason, *follows.get(name, ()), *_doubts(table[name], attribute)]
        if guess.doubt:
            reasons.insert(0, f"{DOUBTFUL}, it may be {guess.doubt.value}")
        drafted[name] = DraftedAttribute(attribute, "; ".join(reasons), bool(guess.doubt))
    return drafted


def _doubts(column: Dictionary, attribute: Attribute) -> Iterator[str]:
    """Say what else a person must look at."""
    if attribute.format is not None and len(forms := written_as(column.values)) > 1:
        yield f"day and month may be the other way round, {forms[1]}"
    if attribute.role in UNITS and column.missing:
        yield "it is missing in some rows: fill it in, or leave these out, since nobody knows whose they are"
    if isinstance(attribute.hierarchy, Hierarchy):
        yield "its hierarchy lists the data's own values, which declares them: keep those that are public"


def _trees_of_columns(
    table: Table, guesses: Mapping[str, Guess]
) -> tuple[dict[str, Hierarchy], dict[str, list[str]]]:
    """Find the hierarchies that columns make for others of their kind, and say what follows from what."""
    kinds: dict[str | None, list[str]] = defaultdict(list)
    for name, guess in guesses.items():
        if guess.role == Role.quasi and is_nominal(table[name]):
            kinds[guess.kind].append(name)
    trees: dict[str, Hierarchy] = {}
    follows: dict[str, list[str]] = defaultdict(list)
    for names in kinds.values():
        for name, above in coarser_columns(table, names).items():
            tree = tree_from(table, name, above)
            if tree is None:
                continue
            trees[name] = tree
            follows[name].append(f"each has one {' > '.join(above)}, which is its hierarchy")
            follows[above[0]].append(f"it follows from '{name}'")
    return trees, follows


def _attribute(column: Dictionary, role: Role, tree: Hierarchy | None) -> Attribute:
    attribute = Attribute(role=role, **_types(column, role))
    drafted: Drafted | None = None
    if role == Role.weight:
        return attribute  # whose hierarchy keeps it a number
    if attribute.treated_as == Role.quasi:
        drafted = "dates" if attribute.type == "date" else tree or draft_hierarchy(column)
    elif role == Role.sensitive:  # how far codes are from each other, for t-closeness
        drafted = of_known_codes(column.values)
    return Attribute.model_validate({**attribute.model_dump(), "hierarchy": drafted})


def _types(column: Dictionary, role: Role) -> dict[str, Any]:
    """Say what type a column has, and how its dates are written."""
    values = column.values
    # A time zone must be in the schema's bounds, too: without them no type is declared.
    zoned = isinstance(values.dtype, pl.Datetime) and values.dtype.time_zone is not None
    if zoned or len(values) == 0:
        return {}
    if role == Role.weight and values.dtype == pl.String:
        return {"type": infer_type(values)}
    if role not in (Role.identifier, *UNITS) and (forms := written_as(values)):
        return {"type": "date", "format": None if forms[0] == ISO else forms[0]}
    return {"type": type_of(values.dtype)}
