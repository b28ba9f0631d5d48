"""`sudare run`: a pipeline on a schedule, with a log for people or for machines."""

from __future__ import annotations

import json as as_json
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from sudare.cli.output import Json, print_json, printable, say
from sudare.errors import SudareError
from sudare.verbs.pipeline import Pipeline
from sudare.verbs.run import run as run_pipeline

ERROR = "error.txt"


def run(
    pipeline: Annotated[Path, typer.Argument(help="The pipeline's file.", show_default=False)],
    log: Annotated[
        Literal["text", "json"], typer.Option(help="How each event is written to the standard error output.")
    ] = "text",
    json: Json = False,
) -> None:
    """Read, decide, publish, verify and record, as a pipeline's file says; nothing is done twice for the same content.

    Ends with 0 if there is a release of this content, new or from before; 1 if a requirement does not hold or cannot be met; 2 if the pipeline,
    the table or the ledger is not what it must be; 3 if another run of it is under way; 130 after Ctrl-C.
    """
    tell = _json_line if log == "json" else _line
    tell("started", {"pipeline": str(pipeline)})
    releases: Path | None = None
    try:
        releases = pipeline.parent / Pipeline.open(pipeline).write.folder
        done = run_pipeline(pipeline, tell=tell)
    except SudareError as error:
        tell(
            "failed", {"error": type(error).__name__, "exit_code": error.exit_code, **_told(error, releases)}
        )
        if log == "text":
            raise
        raise typer.Exit(error.exit_code) from None
    tell("finished", {"status": done.status, "exit_code": 0})
    if json:
        print_json(
            {"status": done.status, "folder": str(done.folder), "measured": done.verification.measured}
        )
        return
    say("{}: [b]{}[/]", done.status, done.folder)


def _told(error: SudareError, releases: Path | None) -> dict[str, str]:
    """Return what a log may say of an error. Logs are read by many, and an error in a table names its values: that stays with the releases."""
    if releases is None:
        return {"message": str(error)}  # the pipeline's file says nothing of anybody
    file = releases / ERROR
    try:
        releases.mkdir(parents=True, exist_ok=True)
        file.touch(mode=0o600)
        file.write_text(f"{error}\n", encoding="utf-8", errors="backslashreplace")
    except OSError:
        return {}
    return {"told_in": str(file)}


def _json_line(event: str, facts: dict[str, Any]) -> None:
    """Write an event as one line of JSON, in plain signs."""
    typer.echo(as_json.dumps({"at": _now(), "event": event, **facts}), err=True)


def _line(event: str, facts: dict[str, Any]) -> None:
    told = ", ".join(f"{name} {value}" for name, value in facts.items())
    typer.echo(printable(f"{_now()} {event}: {told}"), err=True)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
