"""The command line: one small file per verb."""

from sudare.cli.app import main

__all__ = ["main"]
