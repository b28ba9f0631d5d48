"""The command `sudare`: its commands, and how their errors reach a person.

A command is imported when it is run, so that `sudare --help` and `sudare --version` wait for no library.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from sudare import __version__
from sudare.errors import SudareError

COMMANDS = {
    "init": "Draft a schema file for a table: a guess for every column, with its reason.",
    "check": "Check a table against its schema, and show what would be protected.",
    "count": "Count the records that share their values in some columns.",
    "draw": "Draw some of a table's people at random, as a table of its own with a schema.",
    "assess": "Say whether l-diversity and k-anonymity can be had, what they cost at least, and what to do.",
    "generalize": "Generalize the quasi attributes with little distortion, verify, and write the release.",
    "generalize-views": "Generalize several views so that all together tell nobody's sensitive value, verify, and write them.",
    "randomize": "Change every quasi and sensitive value at random by a known law, verify, and write the release.",
    "reconstruct": "Estimate how many records of the original had which values, with 95% intervals.",
    "apply": "Apply a plan that was learned before to other rows of the same schema, verify, and write the release.",
    "sql": "Write a plan of generalization as a SELECT, by which a warehouse publishes its own rows.",
    "run": "Read, decide, publish, verify and record, as a pipeline's file says; nothing is done twice for the same content.",
    "publish": "Say whether the table suits l-diversity, decide what to do about it, and publish.",
    "materialize": "Make a p-view of a table: a differentially private stand-in that answers any range count.",
    "combine": "Combine p-views of one table, or of its states over time, into one that answers with all of them.",
    "query": "Count with a p-view, with 95% intervals. It costs no budget, however often you ask.",
    "verify": "Verify a published table; ends with 1 if a requirement does not hold.",
    "attack": "Attack a published table as an outsider would, and say what that reaches.",
    "evidence": "Write what an ethics board or an office can file of a release: what was done, and which risks are left.",
    "studio": "Walk from a file to a certificate in a browser, on this machine; nothing is sent anywhere.",
    "demo": "Protect a synthetic health survey of 5,000 people: read, assess, protect, verify, release.",
    "warm-up": "Compile everything now, on all cores, so that no later command waits for it: once after installing.",
    "ledger": "Show and verify the ledger of releases, and what it allows.",
}
"""Each command, and what `sudare --help` says of it: the first line of its own help."""

INTERRUPTED = 130

OLD_COMMANDS = {"views": "generalize-views"}
OLD_OPTIONS = {"--sensitive": "--attribute"}
"""What had other names before, and still works under them."""


class Command(TyperCommand):
    """A command that also takes options by their old names."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments."""
        return super().parse_args(ctx, [_by_new_name(argument) for argument in args])


def _by_new_name(argument: str) -> str:
    option, sign, value = argument.partition("=")
    return OLD_OPTIONS.get(option, option) + sign + value


class Commands(TyperGroup):
    """All commands: known by name and one line each, and imported when they are run."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands.update({name: TyperCommand(name, help=line) for name, line in COMMANDS.items()})
        self.commands.update({name: TyperCommand(name, hidden=True) for name in OLD_COMMANDS})

    def invoke(self, ctx: Any) -> Any:
        """Run the command. Ctrl-C ends it, after everybody has cleaned up, with the exit code that shells know."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            typer.echo("Stopped. What was not finished is not there.", err=True)
            raise typer.Exit(INTERRUPTED) from None

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Return the command that is to be run, imported."""
        name, _, rest = super().resolve_command(ctx, args)
        return name, None if name is None else imported(name), rest


def imported(name: str) -> Any:
    """Import a command, and return it with all its options."""
    name = OLD_COMMANDS.get(name, name)
    own = name.replace("-", "_")
    module = import_module(f"sudare.cli.{own}")
    if hasattr(module, "app"):  # a group of commands
        return typer.main.get_command(module.app)
    single = typer.Typer(add_completion=False)
    single.command(name, cls=Command)(getattr(module, own))
    return typer.main.get_command(single)


app = typer.Typer(
    name="sudare",
    cls=Commands,
    help="Publish tables about people without giving the people away.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"sudare {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None: ...


def main() -> None:
    """Run the command line: 0 done, 1 a requirement does not hold, 2 bad input, 3 somebody else is at it, 130 stopped by Ctrl-C."""
    try:
        app()
    except SudareError as error:
        from sudare.cli.output import complain  # rich takes long to load

        complain(error)
        sys.exit(error.exit_code)
