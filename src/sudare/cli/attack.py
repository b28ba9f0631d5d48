"""`sudare attack`: what an outsider would try on a published table, or on several views together."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from sudare.attacks.attack import KINDS, NEED_SENSITIVE
from sudare.attacks.attack import attack as attack_output
from sudare.attacks.households import with_unit
from sudare.attacks.intersection import views_of
from sudare.attacks.population import NoWeightToldError, is_sample
from sudare.attacks.published import people_of
from sudare.attacks.randomized import law_of
from sudare.cli.arguments import (
    SCHEMA_FILE,
    Engine,
    Harmless,
    Memory,
    SamplingFraction,
    SchemaPath,
    SensitiveAttribute,
    schema_of,
)
from sudare.cli.output import Json, note, print_json, say, working
from sudare.errors import InputError
from sudare.tables.attribute import Role
from sudare.tables.table import Table

Kind = Literal[
    "homogeneity", "background", "reidentification", "skewness", "proximity", "intersection", "law",
    "pk_game", "composition", "minimality", "downcoding", "definetti",
    "households", "population", "k_map", "presence",
]  # fmt: skip


def attack(
    output: Annotated[
        list[Path],
        typer.Argument(
            help="A release folder, or a published file; with --known also several.",
            show_default=False,
            metavar="OUTPUT...",
        ),
    ],
    schema: SchemaPath = Path(SCHEMA_FILE),
    kind: Annotated[
        Kind | None, typer.Option(help="Which attack.", show_default="all that can be tried")
    ] = None,
    known: Annotated[
        str | None,
        typer.Option(
            help="People whose quasi values an outsider knows: look them up in all views together (intersection) or in "
            "releases that were made without each other (composition); all people of the release (minimality, definetti); "
            "the original of a randomized table (pk_game); people with their household or person number (households). "
            "Or, for background, how many values an outsider can rule out.",
            metavar="PEOPLE|NUMBER",
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(help="reidentification, population, k_map: a record is at risk above this."),
    ] = None,
    population: Annotated[
        str | None,
        typer.Option(
            help="reidentification: a file of all people, generalized alike. k_map, presence: of all people, as they are. downcoding: of "
            "people like those of the release, as they are.",
            metavar="FILE",
        ),
    ] = None,
    sampling_fraction: SamplingFraction = None,
    truth: Annotated[
        str | None,
        typer.Option(help="downcoding: the original, to count how often guesses are right.", metavar="FILE"),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="minimality, downcoding: by which method the output was made.",
            show_default="as its certificate says",
        ),
    ] = None,
    attribute: SensitiveAttribute = None,
    strict: Annotated[
        bool | None,
        typer.Option(
            "--strict", help="minimality: the release was made by mondrian --strict.", show_default=False
        ),
    ] = None,
    unit: Annotated[
        str | None,
        typer.Option(
            help="households: the column of the known people that says who belongs together.",
            show_default="the schema's household or person",
        ),
    ] = None,
    ties: Annotated[
        list[str] | None,
        typer.Option(
            "--tie",
            help="households: a column of the output in which rows that belong together agree. Give it again for more.",
            show_default="all that are passed on",
        ),
    ] = None,
    k: Annotated[
        int | None,
        typer.Option(
            "-k", help="households: fewer groups that may be theirs are too few.", show_default="as promised"
        ),
    ] = None,
    floor: Annotated[
        int | None, typer.Option(help="skewness: only blocks of so many records are looked at.")
    ] = None,
    within: Annotated[
        float | None, typer.Option(help="proximity: how close numbers are that count as nearly the same.")
    ] = None,
    relative: Annotated[
        bool | None,
        typer.Option(
            "--relative/--no-relative", help="proximity: the width is a share of the value, such as 0.05."
        ),
    ] = None,
    harmless: Harmless = None,
    engine: Engine = None,
    memory: Memory = None,
    json: Json = False,
) -> None:
    """Attack a published table as an outsider would, and say what that reaches."""
    given: dict[str, Any] = {
        "known": known,
        "threshold": threshold,
        "population": population,
        "sampling_fraction": sampling_fraction,
        "truth": truth,
        "method": method,
        "attribute": attribute,
        "strict": strict,
        "unit": unit,
        "ties": ties,
        "k": k,
        "floor": floor,
        "within": within,
        "relative": relative,
        "harmless": harmless,
    }
    options: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if kind is None and known is not None and (len(output) > 1 or law_of(output[0]) is None):
        kind = _kind_with_known(output, schema, unit)
    if kind == "background" and known is not None:
        options["known"] = _number(known)
    with working(f"Attacking {', '.join(map(str, output))}"):
        options |= _people(options, kind, schema, engine, memory)
        outcomes = _outcomes(output, schema, kind, options)
    if json:
        print_json({name: outcome.summary() for name, outcome in outcomes.items()})
        return
    for name, outcome in outcomes.items():
        say("[b]{}[/]\n{}", name, outcome)


def _kind_with_known(output: list[Path], schema: Path, unit: str | None) -> Kind:
    """Look known people up with all their rows, where it is said which these are, and by themselves in several views."""
    one_table = len(output) == 1 and len(views_of(output[0])) == 1
    return "households" if one_table and (unit or schema_of(schema).unit) else "intersection"


def _number(known: str) -> int:
    if not known.isdecimal():
        raise InputError(
            f"--known of the background attack is how many values an outsider can rule out. Got '{known}' instead."
        )
    return int(known)


def _people(
    options: dict[str, Any], kind: Kind | None, schema: Path, engine: str | None, memory: str | None
) -> dict[str, Table]:
    """Read the people that an outsider knows, where they are a table of their own."""
    own = () if kind in ("background", "reidentification") else ("known", "population", "truth")
    given = [name for name in own if name in options]
    if not given and (engine or memory):
        raise InputError(
            "--engine and --memory are for people that an outsider knows, who are read from a table of their own. Give "
            "--known, or --population and --truth. What was published is read some rows at a time."
        )
    people = {}
    for name in given:
        declared = with_unit(schema_of(schema), options.get("unit"))
        people[name] = people_of(options[name], declared, engine=engine, memory=memory)
    for text in dict.fromkeys(text for table in people.values() for text in table.source.notes):
        note(text)
    return people


def _outcomes(output: list[Path], schema: Path, kind: Kind | None, options: dict[str, Any]) -> dict[str, Any]:
    """Try one attack, or all that can be tried; the outcomes by kind."""
    if kind == "composition":
        releases = {str(path): path for path in output}
        return {kind: attack_output(releases, schema_of(schema), kind, **options)}
    if kind == "intersection":
        views = {str(file): file for path in output for file in views_of(path).values()}
        return {kind: attack_output(views, schema_of(schema), kind, **options)}
    if len(output) > 1:
        raise InputError(
            "Several outputs are attacked together. Say whose values an outsider knows: --known PEOPLE."
        )
    if kind == "law":
        return {"law": attack_output(output[0], kind="law", **options)}
    if kind is None and law_of(output[0]) is not None:
        return {"law": attack_output(output[0], kind="law")} | _game(output[0], schema, options)
    if kind == "pk_game":
        return _game(output[0], schema, options)
    declared = schema_of(schema)
    if kind is not None:
        return {kind: attack_output(output[0], declared, kind, **options)}
    if of_one := set(options) - {"harmless", "sampling_fraction"}:
        raise InputError(f"--{min(of_one)} is of one attack. Say which: --kind.")
    kinds = [*KINDS] if declared.names(Role.sensitive) else ["reidentification"]
    outcomes = {one: attack_output(output[0], declared, one, **_own(options, one)) for one in kinds}
    if is_sample(declared) or "sampling_fraction" in options:
        try:
            outcomes["population"] = attack_output(
                output[0], declared, "population", **_own(options, "population")
            )
        except NoWeightToldError as error:
            note(f"The attack on the population was not tried. {str(error).removesuffix('.')}")
    return outcomes


def _own(options: dict[str, Any], kind: str) -> dict[str, Any]:
    """Return those options that can be given for all attacks at once which are this one's."""
    own = "harmless" if kind in NEED_SENSITIVE else "sampling_fraction" if kind == "population" else None
    return {name: value for name, value in options.items() if name == own}


def _game(output: Path, schema: Path, options: dict[str, Any]) -> dict[str, Any]:
    """Play the Pk game; the schema says of what type the columns of a known original are."""
    declared = schema_of(schema) if "known" in options else None
    return {"pk_game": attack_output(output, declared, "pk_game", **options)}
