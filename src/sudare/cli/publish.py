"""`sudare publish`: assess, decide, generalize and verify, in one walk."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, get_args

import typer
from rich.progress import Progress

from sudare.cli.arguments import (
    SCHEMA_FILE,
    C,
    Engine,
    Harmless,
    K,
    LedgerFile,
    Memory,
    Receiver,
    SchemaPath,
    SensitiveAttribute,
    Source,
    Within,
    read_table,
    ready_to_write,
    schema_of,
)
from sudare.cli.output import Csv, Force, Formats, Json, console, print_json, say, working
from sudare.cli.show_release import print_release, show_release
from sudare.errors import InputError
from sudare.pview.pview import PView
from sudare.pview.servers import publish_pview
from sudare.release.release import Release
from sudare.suitability.assess import Assessment
from sudare.suitability.choices import Advice
from sudare.tables.databases import load_extra, quoted
from sudare.tables.policy import Compromise, Diversity, Policy
from sudare.tables.schema import Schema
from sudare.verbs.publish import Decide
from sudare.verbs.publish import publish as publish_table


def publish(
    source: Source,
    output: Annotated[
        Path | None,
        typer.Argument(help="The folder to write; it must be new. None with --to.", show_default=False),
    ] = None,
    l: Annotated[
        float | None,
        typer.Option("-l", help="l-diversity to publish under.", min=1, show_default="the schema's"),
    ] = None,
    k: K = None,
    diversity: Annotated[
        Diversity | None,
        typer.Option(
            help="Which l-diversity: distinct, entropy, recursive or proximity.",
            show_default="the schema's, or distinct",
        ),
    ] = None,
    c: C = None,
    harmless: Harmless = None,
    within: Within = None,
    relative: Annotated[
        bool | None,
        typer.Option("--relative", help="proximity: the width is a share of the value, such as 0.05."),
    ] = None,
    accept: Annotated[
        list[str] | None,
        typer.Option(
            help=f"What may be done if it fits badly: {', '.join(get_args(Compromise))}. Give several, what you like best first. Name a "
            "harmless value: --accept 'harmless value: No finding'. retry: try again where the release costs far more than it must."
        ),
    ] = None,
    attribute: SensitiveAttribute = None,
    schema: SchemaPath = Path(SCHEMA_FILE),
    engine: Engine = None,
    memory: Memory = None,
    ledger: LedgerFile = None,
    receiver: Receiver = None,
    to: Annotated[
        str | None,
        typer.Option(
            help="Also write the rows to a table: duckdb:///FILE?table=NAME or postgresql://USER@HOST/DATABASE?table=NAME. Without "
            "OUTPUT: put the p-view in the folder SOURCE on a server, a postgresql:// URL or duckdb:PATH.",
            metavar="URL",
        ),
    ] = None,
    name: Annotated[str, typer.Option(help="What the p-view is called on the server.")] = "view",
    csv: Csv = None,
    formats: Formats = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Say whether the table suits l-diversity, decide what to do about it, and publish.

    What to ask for stands in the schema's \\[publish] section, or in the options here. Where it fits the table
    badly and nothing is accepted beforehand, you are asked, if this is a terminal.

    With --to and no folder to write, SOURCE is that of a p-view (the differentially private stand-in), and it is written to
    a database.
    """
    if to is not None and output is None:
        asked = (l, k, diversity, c, harmless, within, relative, accept, attribute, ledger, receiver)
        if any(given is not None for given in asked):
            raise InputError(
                "With --to and no folder to write, a p-view is published as it is. Leave out -l, -k and the like, or name a folder."
            )
        _publish_pview(Path(source), to, name, force=force, json=json)
        return
    if output is None:
        raise InputError(
            "Give the folder to write, such as: sudare publish people.csv out -l 3. Or give --to for a p-view."
        )
    declared = schema_of(schema)
    options = {"l": l, "k": k, "diversity": diversity, "c": c, "harmless": harmless, "within": within}
    policy = _policy(declared, schema, options | {"relative": relative, "accept": accept})
    place = ready_to_write(output, ledger, receiver, force=force, to=to, formats=formats)
    table = read_table(source, declared, engine, memory)
    with working("Assessing, generalizing and verifying") as progress:
        decide: Decide | None = _asking(progress) if console.is_terminal and not json else None
        release = publish_table(table, policy, attribute=attribute, decide=decide)
        place.write(release, csv=csv)
    print_release(release, output, to, _show, json=json)


def _show(release: Release) -> None:
    """Print what was decided, what holds, what it cost, and whether another try may cost less."""
    say("{}", release.holder["decision"])
    show_release(release)
    if (retry := release.holder["retry"]) is not None:
        say("{}{}", retry["text"], "" if retry["tried"] else " Here that is --accept retry.")


def _publish_pview(folder: Path, to: str, name: str, *, force: bool, json: bool) -> None:
    if to.lower().startswith(("postgresql:", "postgres:")):
        load_extra("psycopg", "Writing to PostgreSQL", "postgres")
    else:
        load_extra("duckdb", "Writing to DuckDB")
    with working(f"Publishing {folder}"):
        names = publish_pview(PView.open(folder), to, name, force=force)
    if json:
        print_json(names)
        return
    say(
        "Published [b]{}[/] (on {} and {}). Count with it: [b]SELECT {}(...)[/]",
        *(quoted(names[part]) for part in ("view", "rows", "domain", "function")),
    )


def _policy(schema: Schema, path: Path, options: Mapping[str, Any]) -> Policy:
    """Return what was asked for here, or else what the schema says."""
    given = {key: value for key, value in options.items() if value is not None}
    if "l" in given:
        return _checked(given)
    if schema.publish is None:
        raise InputError(f"Nothing is asked for. Give -l, or add a section [publish] with l = 2 to {path}.")
    return _checked(schema.publish.model_dump() | given)


def _checked(policy: dict[str, Any]) -> Policy:
    """Make a policy with errors in our own voice."""
    checked = Schema.from_dict({"attributes": {}, "publish": policy}, where="Options").publish
    assert checked is not None
    return checked


def _asking(progress: Progress) -> Decide:
    """Return how a person is let choose, while nothing else writes to the terminal."""

    def ask(assessment: Assessment, offered: list[Advice]) -> Advice:
        progress.stop()
        say("[b]{}[/], {}:", assessment.source, assessment.attribute)
        for number, choice in enumerate(offered, start=1):
            say("  [b]{}[/]  {}: {}", number, choice.action, choice.text)
        chosen = 0
        while not 1 <= chosen <= len(offered):
            chosen = typer.prompt(f"Which one, 1 to {len(offered)}", type=int)
        progress.start()
        return offered[chosen - 1]

    return ask
