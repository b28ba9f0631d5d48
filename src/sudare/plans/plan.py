"""A plan: what a method learned, as plain data. It can be saved, read by a person, opened elsewhere, and applied to
other rows of the same schema.

On disk it is a folder: `plan.json` says what it is, and Parquet files beside it hold its large tables. It tells about the
table it was learned from, and stays with the holder.

Whoever can write a plan's file chooses what is asked for, how rows are grouped and which of them are covered; nothing else is
believed. Requirements are counted again on the output, labels are read again by the schema, and attributes keep the roles
of the schema, whatever the file says.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Self

import polars as pl

from sudare.errors import InputError, ParameterError
from sudare.tables.atomic import write_folder
from sudare.tables.folders import KEEP, PLAN
from sudare.tables.given import path_given
from sudare.tables.notebook import Shown
from sudare.tables.parquet_files import outline_of, read_outlined
from sudare.tables.text import listed, shown
from sudare.tables.text_files import read_json
from sudare.tables.typed import own_words, typed

VERSION = 1
MAX_ROWS = 10**7
"""Of a table of a plan."""
HEAD = ("kind", "version", "tables")
"""What the head of every plan with tables has."""
WriteFile = Callable[[Path], object]
METHOD = re.compile(r"[a-z-]{1,40}")


@typed
class Plan(Shown, ABC):
    """What a method learned."""

    kind: ClassVar[str]
    """What the plan's file calls it."""
    _kinds: ClassVar[dict[str, type[Plan]]] = {}

    def __init_subclass__(cls) -> None:
        if "kind" in cls.__dict__:
            Plan._kinds[cls.kind] = cls

    @abstractmethod
    def files(self) -> Mapping[str, WriteFile]:
        """Return what writes each of its files, by name."""

    @classmethod
    @abstractmethod
    def opened(cls, folder: Path, data: dict[str, Any]) -> Plan:
        """Make a plan from its files, of which `data` is the head; raises a ValueError if they are none."""

    def save(self, folder: str | Path, *, force: bool = False) -> Path:
        """Write the plan into a new folder, whole or not at all; only the owner can read it."""
        path_given(folder, "folder", "save")
        folder = Path(folder)
        files = {name: partial(_private, write) for name, write in self.files().items()}
        write_folder(folder, files, force=force, mark=PLAN)
        folder.chmod(0o700)
        return folder

    @staticmethod
    @own_words("folder")
    def open(folder: str | Path) -> Plan:
        """Open a saved plan: its own folder, or that of a release that keeps it.

        >>> Plan.open("nowhere")
        Traceback (most recent call last):
        sudare.errors.InputError: nowhere: there is no plan.json. Name a folder that a plan was saved to.
        """
        if not isinstance(folder, str | Path):
            raise ParameterError(f"Plan.open needs a folder. Got {type(folder).__name__} instead.")
        folder = Path(folder)
        if folder.is_file():
            raise InputError(f"{folder}: this is a file. Name the folder that the plan was saved to.")
        folder = folder / KEEP if (folder / KEEP / PLAN).is_file() else folder
        if not (folder / PLAN).is_file():
            raise InputError(f"{folder}: there is no {PLAN}. Name a folder that a plan was saved to.")
        data = read_json(folder / PLAN, "the plan")
        with refusing_other_files(folder):
            return _kind_of(data).opened(folder, data)


@contextmanager
def refusing_other_files(folder: Path) -> Iterator[None]:
    """Say of files that they are no plan, whatever it is that they lack."""
    try:
        yield
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
        reason = str(error).removesuffix(".") or type(error).__name__
        raise InputError(f"{folder}: this is not a plan of this version of Sudare: {reason}.") from None


def _kind_of(data: Any) -> type[Plan]:
    if not isinstance(data, dict):
        raise ValueError(f"{PLAN} must be an object")
    if data.get("version") != VERSION:
        raise ValueError(f"its version is {shown(data.get('version'))}, not {VERSION}")
    if data.get("kind") not in Plan._kinds:
        raise ValueError(f"its kind is {shown(data.get('kind'))}; there are {listed(sorted(Plan._kinds))}")
    return Plan._kinds[data["kind"]]


class TablePlan(Plan):
    """A plan with large tables, each in a Parquet file of its own."""

    table_names: ClassVar[tuple[str, ...]]

    method: str
    """The method that learned it."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """Return what a person would read of it, as plain data."""

    @abstractmethod
    def tables(self) -> Mapping[str, pl.DataFrame]:
        """Return its large tables, by name."""

    @classmethod
    @abstractmethod
    def read(cls, data: Mapping[str, Any], tables: Mapping[str, pl.DataFrame]) -> Self:
        """Make a plan from what was written; raises a ValueError if it cannot be one."""

    def files(self) -> Mapping[str, WriteFile]:
        """Return what writes each of its files, by name."""
        return files_of(self.kind, self.to_json(), self.tables())

    @classmethod
    def opened(cls, folder: Path, data: dict[str, Any]) -> Self:
        """Make a plan from its files."""
        rest = {key: value for key, value in data.items() if key not in HEAD}
        return cls.read(rest, read_tables(cls.table_names, cls.kind, folder, data))


def files_of(kind: str, data: Mapping[str, Any], tables: Mapping[str, pl.DataFrame]) -> dict[str, WriteFile]:
    """Return what writes the head of a plan, and its tables beside it."""
    head = {"kind": kind, "version": VERSION, "tables": list(tables), **data}
    text = json.dumps(head, ensure_ascii=False) + "\n"
    writers: dict[str, WriteFile] = {
        f"{name}.parquet": partial(frame.write_parquet, statistics=False) for name, frame in tables.items()
    }
    return writers | {PLAN: lambda path: path.write_text(text, encoding="utf-8")}


def read_tables(
    names: Sequence[str], kind: str, folder: Path, data: Mapping[str, Any]
) -> dict[str, pl.DataFrame]:
    """Read the tables of a plan, of which `data` is the head; raises a ValueError if they are others."""
    if data.get("tables") != list(names):
        raise ValueError(f"a plan of the kind '{kind}' has the tables {listed(list(names))}")
    return read_files({name: folder / f"{name}.parquet" for name in names})


def read_files(paths: Mapping[str, Path]) -> dict[str, pl.DataFrame]:
    """Read some tables of a plan; raises a ValueError if one is not there, or too long."""
    for path in paths.values():
        if not path.is_file():  # a pipe would be waited for
            raise ValueError(f"there is no file {path.name}")
        if (rows := outline_of(path, str(path)).rows) > MAX_ROWS:
            raise ValueError(f"{path.name} has {rows:,} rows. It may have {MAX_ROWS:,}")
    return dict(zip(paths, read_outlined(list(paths.values())), strict=True))


def method_from_json(method: object) -> str:
    """Read the name of a method, which a certificate will tell; raises a ValueError if it cannot be one."""
    if not isinstance(method, str) or not METHOD.fullmatch(method):
        raise ValueError(f"its method {shown(method)} is no name of one")
    return method


def _private(write: Callable[[Path], object], path: Path) -> None:
    path.touch(mode=0o600)  # before there is anything to read in it
    write(path)
