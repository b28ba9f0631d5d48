"""`sudare combine`: several p-views as one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sudare.cli.arguments import OutputFolder
from sudare.cli.output import Force, Json, print_json, say, working
from sudare.pview.combined import Of
from sudare.pview.files import DATA
from sudare.pview.pview import PView
from sudare.tables.atomic import refuse_unwritable
from sudare.verbs.combine import combine as combine_pviews


def combine(
    pviews: Annotated[
        list[Path], typer.Argument(help="The folders of p-views over one domain.", show_default=False)
    ],
    output: OutputFolder,
    of: Annotated[
        Of,
        typer.Option(
            help="What they are of: the same rows; or tables that may differ, whose mean is counted."
        ),
    ] = "same rows",
    force: Force = False,
    json: Json = False,
) -> None:
    """Combine p-views of one table, or of its states over time, into one that answers with all of them."""
    refuse_unwritable(output, force=force, mark=DATA)
    with working("Combining"):
        combined = combine_pviews([PView.open(folder) for folder in pviews], of)
        combined.save(output, force=force)
    if json:
        print_json({"folder": str(output), **combined.facts})
        return
    certificate = combined.certificate
    say("[b]{}[/], for {} p-views together", certificate.requirements[0], len(combined.facts["parts"]))
    say("To hand over: [b]{}[/]. Who gets it has all of them; record each in your ledger for them.", output)
