"""`sudare demo`: the main job from start to finish, on a table that Sudare makes itself."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from sudare import datasets
from sudare.attacks.attack import attack
from sudare.cli.check import unique_people
from sudare.cli.output import Force, print_table, say, working
from sudare.cli.show_release import show_release
from sudare.engines.read import read
from sudare.ledger.ledger import Ledger
from sudare.privacy.differential_privacy import DifferentialPrivacy
from sudare.privacy.k_anonymity import KAnonymity
from sudare.privacy.l_diversity import LDiversity
from sudare.privacy.requirement import BlockRequirement
from sudare.suitability.assess import assess
from sudare.tables.atomic import refuse_unwritable
from sudare.tables.folders import HAND_OVER, KEEP, MARK, REPORT
from sudare.tables.schema import Schema
from sudare.tables.table import Table
from sudare.verbs.generalize import generalize
from sudare.verbs.materialize import materialize
from sudare.verification.verify import verify

PEOPLE, SUPPRESS = 5_000, 0.01
ONLY_ONE = "[b]{}[/] of {} people are the only ones with their quasi values."
PUBLIC = {"sex": ["Female", "Male"], "smoker": ["never", "former", "current"]}
ASKED: list[BlockRequirement] = [KAnonymity(5), LDiversity(3, attribute="diagnosis")]


def demo(
    folder: Annotated[Path, typer.Argument(help="Where to write.")] = Path("demo-output"),
    force: Force = False,
) -> None:
    """Protect a synthetic health survey of 5,000 people: read, assess, protect, verify, release."""
    release_folder = folder / "release"
    refuse_unwritable(release_folder, force=force, mark=MARK)
    folder.mkdir(parents=True, exist_ok=True)
    data, schema = folder / "survey.csv", folder / "sudare.toml"
    datasets.health_survey(PEOPLE).write_csv(data)
    schema.write_text(resources.files(datasets).joinpath("survey.toml").read_text("utf-8"), encoding="utf-8")

    _stage(1, f"Read {data} with its schema {schema}")
    table = read(data, schema)
    quasi = ", ".join(table.names("quasi"))
    say("{} people, {} columns; quasi: {}", f"{len(table):,}", len(table.columns), quasi)

    _stage(2, "Assess: who stands out, and what can be promised?")
    say(ONLY_ONE, f"{unique_people(table):,}", f"{len(table):,}")
    with working("Assessing"):
        say("{}", assess(table, l=3, k=5, attribute="diagnosis"))

    asked = " and ".join(str(requirement) for requirement in ASKED)
    _stage(3, f"Protect: {asked} with little distortion, leaving out at most {SUPPRESS:.0%} of the people")
    with working("Generalizing"):
        release = generalize(table, ASKED, suppress=SUPPRESS)
    published = release.frame().select(table.names("quasi"))
    sample = published.gather_every(published.height // 5).head(5)
    print_table("Five of the published records", sample.columns, sample.rows())

    _stage(4, "Verify: recount the output, by code that shares nothing with the method")
    verify(release.frame(), ASKED, table.schema).refuse_if_broken()
    show_release(release)

    _stage(5, "Attack it, as an outsider would")
    for kind in ("homogeneity", "reidentification"):
        say("on the original: {}", attack(table.frame(), table.schema, kind=kind))
        say("[green]on the output:[/] {}", attack(release.frame(), table.schema, kind=kind))

    _stage(6, "Release: write it whole, and record it in the ledger")
    release.write(release_folder, force=force, ledger=Ledger(folder / "ledger.db"))
    say("To hand over:")
    _list(*sorted((release_folder / HAND_OVER).iterdir()))
    say("To keep (they tell about the original):")
    _list(*sorted((release_folder / KEEP).iterdir()), folder / "ledger.db")
    say("The report, for you: [b]{}[/]", release_folder / KEEP / REPORT)

    _stage(7, "Or, where nobody may be told apart at all: a p-view with a privacy budget, for any count")
    _ask_a_p_view(table)


def _ask_a_p_view(table: Table) -> None:
    """Make a p-view of some columns, and ask it something."""
    columns = table.frame().select("age", "sex", "smoker")
    schema = Schema.from_roles(
        quasi=["age", "sex"], sensitive=["smoker"], bounds={"age": (0, 120)}, domains=PUBLIC
    )
    promise = DifferentialPrivacy(1.0)
    with working("Counting with noise"):
        pview = materialize(read(columns, schema), promise)
    asked = pl.col("age").is_between(20, 39) & (pl.col("smoker") == "never")
    answer = pview.count(age=(20, 39), smoker="never")
    truth = f"{columns.filter(asked).height:,}"
    say("{}: {} people of 20 to 39 never smoked; in the survey {} did not.", promise, answer, truth)
    sample = pview.sample(5)
    print_table("Five synthetic people", sample.columns, sample.rows())


def _stage(number: int, title: str) -> None:
    say("\n[b]{}. {}[/]", number, title)


def _list(*files: Path) -> None:
    for file in files:
        say("  {} ({} bytes)", file, f"{file.stat().st_size:,}")
