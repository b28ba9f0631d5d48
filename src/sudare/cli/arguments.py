"""Arguments that several commands share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from sudare.cli.output import note, working
from sudare.engines.read import read
from sudare.errors import InputError
from sudare.ledger.ledger import Ledger
from sudare.privacy.beta_likeness import BetaLikeness
from sudare.privacy.beta_likeness import Likeness as BetaKind
from sudare.privacy.delta_disclosure import LEAST_DELTA, DeltaDisclosure
from sudare.privacy.delta_presence import DeltaPresence
from sudare.privacy.k_anonymity import KAnonymity
from sudare.privacy.k_map import KMap
from sudare.privacy.l_diversity import Kind as LKind
from sudare.privacy.l_diversity import LDiversity
from sudare.privacy.requirement import BlockRequirement
from sudare.privacy.t_closeness import Distance as TDistance
from sudare.privacy.t_closeness import TCloseness
from sudare.release.release import Release
from sudare.release.warehouses import Target
from sudare.tables.atomic import refuse_unwritable
from sudare.tables.copies import Format, formats_given
from sudare.tables.databases import safe_name
from sudare.tables.folders import MARK
from sudare.tables.schema import CsvFormat, Schema
from sudare.tables.table import Table

SCHEMA_FILE = "sudare.toml"

Source = Annotated[
    str,
    typer.Argument(
        help="A file: CSV, TSV (also .gz, .zip), Excel, ODS, Stata, SPSS, SAS, Parquet, Arrow or JSON; a folder with parts; or a "
        "database URL.",
        show_default=False,
    ),
]
SchemaPath = Annotated[
    Path, typer.Option("--schema", "-s", help="The schema file.", show_default=True, metavar="FILE")
]
OutputFolder = Annotated[
    Path, typer.Argument(help="The folder to write; it must be new.", show_default=False)
]
LedgerFile = Annotated[
    Path | None, typer.Option("--ledger", help="The ledger to record the release in.", metavar="FILE")
]
Receiver = Annotated[
    str | None, typer.Option(help="Who gets it; the ledger notes it.", show_default="anybody", metavar="NAME")
]
To = Annotated[
    str | None,
    typer.Option(
        help="Also write the rows to a table: duckdb:///FILE?table=NAME or postgresql://USER@HOST/DATABASE?table=NAME.",
        metavar="URL",
    ),
]
UnsafeSeed = Annotated[
    int | None,
    typer.Option(help="For tests and papers only: who knows the seed can undo it. The certificate shows it."),
]
Delimiter = Annotated[str | None, typer.Option(help="The delimiter of a CSV file.", show_default="detected")]
Encoding = Annotated[
    str | None,
    typer.Option(help="The encoding of a CSV, Stata or SPSS file.", show_default="detected"),
]
Sheet = Annotated[
    str | None,
    typer.Option(
        help="The sheet of a workbook, or the file in a zip archive.",
        show_default="the only one",
        metavar="NAME",
    ),
]
Decimal = Annotated[
    str | None, typer.Option(help="The decimal sign of a CSV file: . or ,", show_default="detected")
]


def csv_format(delimiter: str | None, encoding: str | None, decimal: str | None) -> CsvFormat | None:
    """Return the format that was asked for, or None if nothing was."""
    asked = {"delimiter": delimiter, "encoding": encoding, "decimal": decimal}
    given = {key: value for key, value in asked.items() if value is not None}
    return Schema.from_dict({"attributes": {}, "csv": given}, where="Options").csv if given else None


Engine = Annotated[
    str | None,
    typer.Option(
        help="Who holds the rows: memory; duckdb, which keeps on disk what is too large for it; spark; or sc://HOST:PORT, a "
        "Spark Connect server, whose token is taken from SPARK_CONNECT_AUTHENTICATE_TOKEN.",
        metavar="ENGINE",
        show_default="what has room for them",
    ),
]
Memory = Annotated[
    str | None, typer.Option(help="How much memory the engine may use, such as 2GB.", show_default="its own")
]

K = Annotated[int | None, typer.Option("-k", help="k-anonymity: everybody is like k - 1 others.", min=1)]
L = Annotated[
    float | None, typer.Option("-l", help="l-diversity: every block has l sensitive values.", min=1)
]
Mapped = Annotated[
    int | None,
    typer.Option("--k-map", help="k-map: every record could be of k people of the population.", min=1),
]
PopulationFile = Annotated[
    Path | None,
    typer.Option(
        "--population",
        help="--k-map, --d-max: a file of the people of the population, as they are.",
        metavar="FILE",
    ),
]
Diversity = Annotated[
    LKind, typer.Option(help="Which l-diversity: distinct, entropy, recursive or proximity.")
]
Harmless = Annotated[
    list[str] | None,
    typer.Option(
        help="A sensitive value that may be known of anybody; give several one by one.", metavar="VALUE"
    ),
]
Within = Annotated[
    float | None,
    typer.Option(help="proximity: an interval as wide as this has at most one in l records of a block."),
]
Relative = Annotated[
    bool, typer.Option("--relative", help="proximity: the width is a share of the value, such as 0.05.")
]
C = Annotated[float | None, typer.Option("-c", help="The c of recursive (c, l)-diversity.")]
T = Annotated[
    float | None, typer.Option("-t", help="t-closeness: no block is farther from the table than t.")
]
Distance = Annotated[
    TDistance, typer.Option(help="The distance of t-closeness: equal, ordered or hierarchical.")
]
Beta = Annotated[
    float | None,
    typer.Option("--beta", help="beta-likeness: no value's share grows by more than beta in a block.", min=0),
]
Likeness = Annotated[
    BetaKind,
    typer.Option(help="Which beta-likeness: enhanced, under which no value becomes certain, or basic."),
]
Disclosure = Annotated[
    float | None,
    typer.Option(
        "--disclosure",
        help="delta-disclosure privacy: no value's share grows or falls e^delta times in a block.",
        min=LEAST_DELTA,
    ),
]
MostPresent = Annotated[
    float | None,
    typer.Option(
        "--d-max",
        help="delta-presence: nobody of the population is in the table with a larger chance.",
        min=0,
        max=1,
    ),
]
LeastPresent = Annotated[
    float,
    typer.Option("--d-min", help="delta-presence: nor with a smaller one.", min=0, max=1),
]
SamplingFraction = Annotated[
    float | None,
    typer.Option(
        help="Which share of the population the table is, to estimate risks in it.",
        show_default="as weights tell",
    ),
]
SensitiveAttribute = Annotated[
    str | None,
    typer.Option("--attribute", help="The sensitive attribute that is meant.", show_default="the only one"),
]


def requirements_of(
    k: int | None,
    l: float | None,
    diversity: LKind,
    c: float | None,
    t: float | None,
    distance: TDistance,
    attribute: str | None,
    harmless: Sequence[str] | None,
    within: float | None,
    relative: bool,
    k_map: int | None = None,
    population: Path | None = None,
    *,
    beta: float | None = None,
    likeness: BetaKind = "enhanced",
    disclosure: float | None = None,
    d_max: float | None = None,
    d_min: float = 0.0,
) -> list[BlockRequirement]:
    """Return the requirements that were asked for; at least one must be."""
    asked: list[BlockRequirement] = []
    if k is not None:
        asked.append(KAnonymity(k))
    if l is not None:
        asked.append(
            LDiversity(
                whole_if_it_is(l),
                diversity,
                c,
                attribute,
                harmless=harmless or (),
                within=within,
                relative=relative,
            )
        )
    if t is not None:
        asked.append(TCloseness(t, distance=distance, attribute=attribute))
    if beta is not None:
        asked.append(BetaLikeness(beta, likeness, attribute))
    if disclosure is not None:
        asked.append(DeltaDisclosure(disclosure, attribute))
    if k_map is not None:
        asked.append(KMap(k_map, population=population))
    if d_max is not None:
        asked.append(DeltaPresence(d_max, d_min, population=population))
    elif d_min:
        raise InputError("--d-min is the lower end of --d-max. Give that, too, or leave it out.")
    if population is not None and k_map is None and d_max is None:
        raise InputError(
            "--population is counted for --k-map and --d-max. Give one of them, too, or leave it out."
        )
    if not asked:
        raise InputError(
            "Nothing is asked for. Give -k, -l, -t or --k-map, or --beta, --disclosure or --d-max, or several of them."
        )
    return asked


def whole_if_it_is(value: float) -> float:
    """Return a whole number that was read as a float as what it is, so that -l 3 is written as 3."""
    return int(value) if value.is_integer() else value


def lists_by_name(given: Sequence[str] | None, option: str, example: str) -> dict[str, list[str]]:
    """Read NAME=TEXT,TEXT."""
    return {name: text.split(",") for name, text in by_name(given, option, example).items()}


def numbers_by_name(given: Sequence[str] | None, option: str, example: str) -> dict[str, float]:
    """Read NAME=NUMBER."""
    numbers: dict[str, float] = {}
    for name, text in by_name(given, option, example).items():
        try:
            numbers[name] = float(text)
        except ValueError:
            like = f"{name}={example.rpartition('=')[2]}"
            raise InputError(
                f"{option} {name} must be a number, as in {like}. Got '{text}' instead."
            ) from None
    return numbers


def by_name(given: Sequence[str] | None, option: str, example: str) -> dict[str, str]:
    """Read NAME=TEXT; the text has no = if the name has one."""
    texts: dict[str, str] = {}
    for text in given or ():
        name, sign, value = text.rpartition("=")
        if not (name and sign and value):
            raise InputError(f"{option} must be like {example}. Got '{text}' instead.")
        if name in texts:
            raise InputError(f"{option} speaks of '{name}' twice. Give it once.")
        texts[name] = value
    return texts


def _opened(ledger: Path | None, receiver: str | None) -> Ledger | None:
    """Return the ledger, if there is to be one; only a ledger can note who gets a release."""
    if ledger is not None:
        return Ledger(ledger)
    if receiver is not None:
        raise InputError("--receiver is noted in a ledger. Give --ledger too.")
    return None


def schema_of(path: Path) -> Schema:
    """Read the schema file, or say how to make one."""
    if not path.exists():
        raise InputError(f"{path}: there is no schema file. Draft one: sudare init DATA --schema {path}")
    return Schema.from_toml(path)


def read_table(source: str, schema: Schema, engine: str | None, memory: str | None) -> Table:
    """Read the table, and show on a terminal that it is being read; what is to be noted about it is said."""
    with working(f"Reading {safe_name(source)}"):
        table = read(source, schema, engine=engine, memory=memory)
    for text in table.source.notes:
        note(text)
    return table


@dataclass(frozen=True)
class Destination:
    """Where a release goes, who gets it, and which ledger remembers it."""

    folder: Path
    ledger: Ledger | None
    receiver: str | None
    force: bool
    to: str | None
    formats: tuple[Format, ...]

    def write(self, release: Release, *, csv: bool | None) -> None:
        """Write a release, also as CSV if that is asked for."""
        release.write(
            self.folder,
            csv=csv,
            force=self.force,
            ledger=self.ledger,
            receiver=self.receiver,
            to=self.to,
            formats=self.formats,
        )


def ready_to_write(
    output: Path,
    ledger: Path | None,
    receiver: str | None,
    *,
    force: bool,
    to: str | None = None,
    frames: Iterable[str] = ("data",),
    formats: Sequence[str] | None = None,
) -> Destination:
    """Refuse, before the table is read, what could not be written: a release, a ledger, tables; return where all that goes."""
    refuse_unwritable(output, force=force, mark=MARK)
    asked = formats_given(formats or (), "--format")
    if to is not None:
        Target.parse(to).refuse_taken(frames, force=force)
    return Destination(output, _opened(ledger, receiver), receiver, force, to, asked)
