"""The errors that a user can cause. Each says what is wrong, where, and what to do."""

from __future__ import annotations


class SudareError(Exception):
    """Anything Sudare refuses. The command line prints the message and ends with `exit_code`."""

    exit_code = 2


class InputError(SudareError):
    """The data, the schema or a hierarchy is not what it must be."""


class ParameterError(SudareError, ValueError):
    """A parameter has a value it cannot have."""


class RequirementError(SudareError):
    """The requirement does not hold, or cannot be met."""

    exit_code = 1


class LedgerError(SudareError):
    """The ledger is damaged or cannot be used."""


class BusyError(SudareError):
    """Somebody else is at work on the same."""

    exit_code = 3


class MissingExtraError(SudareError):
    """An optional part is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional part. Install it: pip install 'sudare[{extra}]'")
