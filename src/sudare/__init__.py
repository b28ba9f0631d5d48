"""Sudare: publish tables about people without giving the people away."""

from sudare.errors import InputError, LedgerError, ParameterError, RequirementError, SudareError
from sudare.tables.counts import Counts
from sudare.tables.hierarchy import Hierarchy
from sudare.tables.reading import read
from sudare.tables.schema import Attribute, CsvFormat, Role, Schema
from sudare.tables.table import Table

__version__ = "0.1.0"

__all__ = [
    "Attribute",
    "Counts",
    "CsvFormat",
    "Hierarchy",
    "InputError",
    "LedgerError",
    "ParameterError",
    "RequirementError",
    "Role",
    "Schema",
    "SudareError",
    "Table",
    "read",
]
