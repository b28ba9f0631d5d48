"""`sudare randomize`: change every record at random by a known law."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from sudare.cli.arguments import (
    SCHEMA_FILE,
    Engine,
    LedgerFile,
    Memory,
    OutputFolder,
    Receiver,
    SchemaPath,
    Source,
    To,
    UnsafeSeed,
    by_name,
    lists_by_name,
    numbers_by_name,
    read_table,
    ready_to_write,
    schema_of,
)
from sudare.cli.output import Csv, Force, Formats, Json, print_table, say, working
from sudare.cli.show_release import print_release, show_caveats, show_what_holds
from sudare.errors import InputError
from sudare.privacy.differential_privacy import DifferentialPrivacy
from sudare.privacy.pk_anonymity import PkAnonymity
from sudare.randomization.budget import Split
from sudare.randomization.choices import HOWS, labelled_domain
from sudare.randomization.files import MatrixRows, read_matrix, read_points, read_prior
from sudare.randomization.laws import After
from sudare.randomization.methods import Area, Bits, Loss
from sudare.randomization.plan import Histogram
from sudare.release.release import Release
from sudare.verbs.randomize import randomize as randomize_table


def randomize(
    source: Source,
    output: OutputFolder,
    pk: Annotated[
        float | None, typer.Option(help="Pk-anonymity: nobody is found with a probability above 1/k.")
    ] = None,
    epsilon: Annotated[
        float | None, typer.Option(help="Or differential privacy, for each record: its epsilon.")
    ] = None,
    how: Annotated[
        list[str] | None,
        typer.Option(
            help=f"By which law, such as age=bins: {', '.join(HOWS)}. Several: give it again.",
            metavar="NAME=LAW",
        ),
    ] = None,
    joint: Annotated[
        list[str] | None,
        typer.Option(
            help="Attributes that get one law over all their combinations, under a name of their own.",
            metavar="NAME=ATTRIBUTE,ATTRIBUTE",
        ),
    ] = None,
    polygon: Annotated[
        list[str] | None,
        typer.Option(
            help="Noise in an area, for a joint law of two numbers: CSV, the attributes in the first line, then a corner in each.",
            metavar="NAME=FILE",
        ),
    ] = None,
    inequalities: Annotated[
        list[str] | None,
        typer.Option(
            help="The same for any number of them: the attributes and one column more; what they are times is that at most.",
            metavar="NAME=FILE",
        ),
    ] = None,
    precision: Annotated[
        list[str] | None,
        typer.Option(help="How fine the bits of a number are, such as pay=0.01.", metavar="NAME=NUMBER"),
    ] = None,
    split: Annotated[Split, typer.Option(help="How attributes share the budget.")] = "equal",
    after: Annotated[After, typer.Option(help="What is done with noise that leaves the bounds.")] = "clip",
    prior: Annotated[
        list[str] | None,
        typer.Option(
            help="A public histogram for an optimal law: CSV lines of value (of a joint law: values) and count.",
            metavar="NAME=FILE",
        ),
    ] = None,
    matrix: Annotated[
        list[str] | None,
        typer.Option(
            help="A transition matrix of your own: CSV, values (of a joint law: Female × White) in the first line and column.",
            metavar="NAME=FILE",
        ),
    ] = None,
    matrix_rows: Annotated[
        MatrixRows, typer.Option(help="What the rows of these are; sdcMicro writes inputs.")
    ] = "output",
    histogram: Annotated[
        Histogram,
        typer.Option(help="From what an optimal law is made, if no public histogram is given."),
    ] = "private-estimate",
    loss: Annotated[
        Loss,
        typer.Option(
            help="What an optimal law is best for: the published histogram, single records, what is reconstructed, or the worst case."
        ),
    ] = "published",
    estimate_share: Annotated[
        float | None,
        typer.Option(
            help="Of its budget, for an optimal law's estimate of the histogram; else what its size suggests."
        ),
    ] = None,
    schema: SchemaPath = Path(SCHEMA_FILE),
    engine: Engine = None,
    memory: Memory = None,
    ledger: LedgerFile = None,
    receiver: Receiver = None,
    unsafe_seed: UnsafeSeed = None,
    to: To = None,
    csv: Csv = None,
    formats: Formats = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Change every quasi and sensitive value at random by a known law, verify, and write the release."""
    asked = _requirement(pk, epsilon)
    laws = cast(dict[str, Any], by_name(how, "--how", "age=bins"))
    groups = lists_by_name(joint, "--joint", "who=sex,race")
    files = {
        "prior": by_name(prior, "--prior", "age=age.csv"),
        "matrix": by_name(matrix, "--matrix", "sex=sex.csv"),
    }
    declared = schema_of(schema)
    priors = {
        name: read_prior(path, name, labelled_domain(declared, name, laws, groups))
        for name, path in files["prior"].items()
    }
    matrices = {
        name: read_matrix(path, name, labelled_domain(declared, name, laws, groups), matrix_rows)
        for name, path in files["matrix"].items()
    }
    methods = laws | _with_options(laws, groups, polygon, inequalities, precision)
    writing = ready_to_write(output, ledger, receiver, force=force, to=to, formats=formats)
    table = read_table(source, declared, engine, memory)
    with working("Randomizing and verifying"):
        release = randomize_table(
            table,
            asked,
            how=methods,
            joint=groups,
            split=split,
            after=after,
            priors=priors,
            matrices=matrices,
            histogram=histogram,
            loss=loss,
            estimate_share=estimate_share,
            unsafe_seed=unsafe_seed,
        )
        writing.write(release, csv=csv)
    print_release(release, output, to, _show, json=json)
    if not json:
        say("[b]sudare reconstruct {}[/] estimates what the original was, from what is handed over.", output)


def _requirement(pk: float | None, epsilon: float | None) -> PkAnonymity | DifferentialPrivacy:
    if pk is not None and epsilon is not None:
        raise InputError("Give either --pk or --epsilon, not both: each follows from the other.")
    if pk is not None:
        return PkAnonymity(pk)
    if epsilon is not None:
        return DifferentialPrivacy(epsilon, per="record")
    raise InputError("Nothing is asked for. Give --pk 10, or --epsilon 2.")


def _with_options(
    laws: Mapping[str, str],
    groups: Mapping[str, list[str]],
    polygon: list[str] | None,
    inequalities: list[str] | None,
    precision: list[str] | None,
) -> dict[str, Area | Bits]:
    """Return the methods with options of their own: areas from files, and bits of a precision."""
    towns, sides = (
        {name: (path, _members(groups, name)) for name, path in by_name(given, option, example).items()}
        for given, option, example in (
            (polygon, "--polygon", "where=town.csv"),
            (inequalities, "--inequalities", "where=area.csv"),
        )
    )
    made: list[tuple[str, Area | Bits]] = [
        *((name, Area(polygon=read_points(*file))) for name, file in towns.items()),
        *((name, Area(inequalities=read_points(*file, beside=1))) for name, file in sides.items()),
        *((name, Bits(one)) for name, one in numbers_by_name(precision, "--precision", "pay=0.01").items()),
    ]
    for name, method in made:
        if laws.get(name, method.name) != method.name or [other for other, _ in made].count(name) > 1:
            raise InputError(f"Several options say what the law of '{name}' is. Give one of them.")
    return dict(made)


def _members(groups: Mapping[str, list[str]], name: str) -> list[str]:
    if name not in groups:
        raise InputError(
            f"An area is of several attributes, and no joint law is called '{name}': --joint {name}=lon,lat."
        )
    return groups[name]


def _show(release: Release) -> None:
    """Print what holds, and what was done to each attribute."""
    certificate, laws = release.certificate, (release.handed_over.law or {})["attributes"]
    show_what_holds(certificate, certificate.measured)
    rows = [
        [
            _named(name, law),
            law["how"],
            f"{law['epsilon']:.3f}",
            _changes(release.holder["utility"]["changes"][name]),
        ]
        for name, law in laws.items()
    ]
    print_table("What was done", ["attribute", "law", "epsilon", "values that change"], rows)
    show_caveats(certificate.caveats)


def _named(name: str, law: dict[str, Any]) -> str:
    return f"{name} ({', '.join(law['columns'])})" if "columns" in law else name


def _changes(change: dict[str, float]) -> str:
    moved = f", by {change['moved']:.4g} on average" if "moved" in change else ""
    moved += f", by a factor of {change['factor']:.4g} on average" if "factor" in change else ""
    return f"{change['changed']:.1%}{moved}"
