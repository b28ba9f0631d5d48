"""`sudare verify`: recount what is published, from the output alone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from sudare.cli.arguments import (
    SCHEMA_FILE,
    Beta,
    C,
    Disclosure,
    Distance,
    Diversity,
    Harmless,
    K,
    L,
    LeastPresent,
    Likeness,
    Mapped,
    MostPresent,
    PopulationFile,
    Relative,
    SensitiveAttribute,
    T,
    Within,
    requirements_of,
    schema_of,
)
from sudare.cli.output import Json, print_json, say, working
from sudare.errors import InputError
from sudare.privacy.differential_privacy import DifferentialPrivacy
from sudare.privacy.pk_anonymity import PkAnonymity
from sudare.privacy.promises import Promise
from sudare.tables.folders import CERTIFICATE, existing
from sudare.tables.schema import Schema
from sudare.verification.findings import Finding, Verification
from sudare.verification.one_view import has_certificate
from sudare.verification.pview import is_pview
from sudare.verification.verify import verify as verify_output

ROLES = {
    "quasi": "Known to outsiders (quasi)",
    "sensitive": "Sensitive",
    "other": "Passed on as they are (other)",
}


def verify(
    output: Annotated[
        Path,
        typer.Argument(
            help="A release folder, a p-view, or a published file; of several views, the file of one beside its certificate.",
            show_default=False,
        ),
    ],
    k: K = None,
    l: L = None,
    diversity: Diversity = "distinct",
    c: C = None,
    t: T = None,
    distance: Distance = "equal",
    attribute: SensitiveAttribute = None,
    harmless: Harmless = None,
    within: Within = None,
    relative: Relative = False,
    k_map: Mapped = None,
    population: PopulationFile = None,
    beta: Beta = None,
    likeness: Likeness = "enhanced",
    disclosure: Disclosure = None,
    d_max: MostPresent = None,
    d_min: LeastPresent = 0.0,
    pk: Annotated[
        float | None, typer.Option(help="The k of Pk-anonymity of a randomized table.", min=1)
    ] = None,
    epsilon: Annotated[
        float | None, typer.Option(help="The epsilon of a randomized table or a p-view.", min=0)
    ] = None,
    delta: Annotated[float, typer.Option(help="The delta of a p-view.", min=0)] = 0.0,
    schema: Annotated[
        Path | None,
        typer.Option(
            "--schema",
            "-s",
            help="The schema file. A release folder has its own.",
            show_default=SCHEMA_FILE,
            metavar="FILE",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Verify a published table; ends with 1 if a requirement does not hold.

    A release folder or a p-view is verified against its own certificate, unless something else is asked for.
    """
    asked: list[Promise] = []
    if pk is not None:
        asked.append(PkAnonymity(pk))
    if epsilon is not None:
        asked.append(DifferentialPrivacy(epsilon, delta, per="table" if is_pview(output) else "record"))
    counted = (k_map, d_max)
    if d_min or any(one is not None for one in (k, l, t, beta, disclosure, population, *counted)):
        asked += requirements_of(
            k, l, diversity, c, t, distance, attribute, harmless, within, relative, k_map, population,
            beta=beta, likeness=likeness, disclosure=disclosure, d_max=d_max, d_min=d_min,
        )  # fmt: skip
    certified = is_pview(output) or (existing(output) / CERTIFICATE).is_file()
    if not asked and not certified and not has_certificate(output):
        raise InputError(
            f"{output} has no certificate that says what it promises. Give -k, -l, -t, --beta, --disclosure, --k-map or "
            "--d-max, --pk or --epsilon."
        )
    with working(f"Verifying {output}"):
        verification = verify_output(
            output,
            asked or None,
            _schema(schema, needed=bool(asked) and (not certified or counted != (None, None))),
        )
    if json:
        notes = {finding.name: finding.note for finding in verification.findings if finding.note}
        if verification.notes:
            notes["folder"] = "; ".join(verification.notes)
        print_json(
            {
                "holds": verification.holds,
                "measured": {
                    name: value if math.isfinite(value) else None  # which JSON has no word for
                    for name, value in verification.measured.items()
                },
                "worst": verification.worst,
                "rows": dict(verification.rows),
                "columns": _by_role(verification),
                "notes": notes,
            }
        )
    else:
        if verification.rows:
            say("Recounted: {}", _rows(verification.rows))
        for what, names in _by_role(verification).items():
            say("{}: {}", ROLES[what], ", ".join(names) or "none")
        for finding in verification.findings:
            _show(finding)
        for note in verification.notes:
            say("Note: {}.", note)
    raise typer.Exit(0 if verification.holds else 1)


def _by_role(verification: Verification) -> dict[str, list[str]]:
    """List the columns by what they were taken for: a certificate that calls them otherwise promises less."""
    return {what: [name for name, role in verification.roles.items() if role == what] for what in ROLES}


def _rows(rows: Mapping[str, int]) -> str:
    """Say how many rows were recounted: all of them, of each table."""
    return ", ".join(
        f"all {number:,} rows" + (f" of '{name}'" if list(rows) != ["data"] else "")
        for name, number in rows.items()
    )


def _schema(path: Path | None, *, needed: bool) -> Schema | None:
    """Read the schema that was named, or the usual one where there is no other."""
    if path is None and not needed:
        return None
    return schema_of(path or Path(SCHEMA_FILE))


def _show(finding: Finding) -> None:
    note = f"; {finding.note}." if finding.note else ""
    values = finding.requirement, finding.name, f"{finding.value:g}", finding.where, note
    if finding.holds:
        say("[green]{} holds[/]: {} = {}; worst: {}{}", *values)
    else:
        say("[red]{} does not hold[/]: {} = {}; worst: {}{}", *values)
