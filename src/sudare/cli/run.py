"""`sudare run`: a pipeline on a schedule, with a log for people or for machines."""

from __future__ import annotations

import json as as_json
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from sudare.cli.app import INTERRUPTED
from sudare.cli.output import Json, print_json, printable, say
from sudare.errors import InputError, SudareError
from sudare.tables.atomic import write_file
from sudare.verbs.pipeline import Pipeline
from sudare.verbs.run import run as run_pipeline

ERROR = "error.txt"
UNFORESEEN = 4


def run(
    pipeline: Annotated[Path, typer.Argument(help="The pipeline's file.", show_default=False)],
    log: Annotated[
        Literal["text", "json"], typer.Option(help="How each event is written to the standard error output.")
    ] = "text",
    json: Json = False,
) -> None:
    """Read, decide, publish, verify and record, as a pipeline's file says; nothing is done twice for the same content.

    Ends with 0 if there is a release of this content, new or from before; 1 if a requirement does not hold or cannot be met; 2 if the pipeline,
    the table or the ledger is not what it must be; 3 if another run of it is under way; 4 if something happened that nobody foresaw, such as a full
    disk; 130 after Ctrl-C. The log names no values: what an error says of them is in error.txt beside the releases, for you alone.
    """
    tell = _json_line if log == "json" else _line
    tell("started", {"pipeline": str(pipeline)})
    releases: Path | None = None
    try:
        releases = pipeline.parent / Pipeline.open(pipeline).write.folder
        done = run_pipeline(pipeline, tell=tell)
    except KeyboardInterrupt:
        tell("stopped", {"exit_code": INTERRUPTED})
        raise
    except Exception as error:
        foreseen = isinstance(error, SudareError)
        code = error.exit_code if isinstance(error, SudareError) else UNFORESEEN
        said = str(error) if foreseen else traceback.format_exc()
        tell("failed", {"error": type(error).__name__, "exit_code": code, **_told(said, releases)})
        if log == "text" and foreseen:
            raise
        raise typer.Exit(code) from None
    (releases / ERROR).unlink(missing_ok=True)  # what it said is over
    tell("finished", {"status": done.status, "exit_code": 0})
    if json:
        print_json(
            {"status": done.status, "folder": str(done.folder), "measured": done.verification.measured}
        )
        return
    say("{}: [b]{}[/]", done.status, done.folder)


def _told(said: str, releases: Path | None) -> dict[str, str]:
    """Return what a log may say of an error. Logs are read by many, and an error in a table names its values: that stays with the releases."""
    if releases is None:
        return {"message": said}  # the pipeline's file says nothing of anybody
    try:
        releases.mkdir(parents=True, exist_ok=True)
        write_file(releases / ERROR, f"{said}\n".encode(errors="backslashreplace"), private=True)
    except (OSError, InputError):
        return {}
    return {"told_in": str(releases / ERROR)}


def _json_line(event: str, facts: dict[str, Any]) -> None:
    """Write an event as one line of JSON, in plain signs."""
    typer.echo(as_json.dumps({"at": _now(), "event": event, **facts}), err=True)


def _line(event: str, facts: dict[str, Any]) -> None:
    told = ", ".join(f"{name} {value}" for name, value in facts.items())
    typer.echo(printable(f"{_now()} {event}: {told}"), err=True)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
