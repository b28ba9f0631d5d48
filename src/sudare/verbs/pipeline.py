"""A pipeline: what is read, what is made of it, and where that goes, as a file that a person wrote."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sudare.engines.read import EngineName
from sudare.errors import InputError
from sudare.privacy.beta_likeness import BetaLikeness, Likeness
from sudare.privacy.delta_disclosure import DeltaDisclosure
from sudare.privacy.delta_presence import DeltaPresence
from sudare.privacy.differential_privacy import DifferentialPrivacy
from sudare.privacy.k_anonymity import KAnonymity
from sudare.privacy.k_map import KMap
from sudare.privacy.l_diversity import LDiversity
from sudare.privacy.pk_anonymity import PkAnonymity
from sudare.privacy.requirement import BlockRequirement
from sudare.privacy.t_closeness import TCloseness
from sudare.tables.copies import Format
from sudare.tables.faults import problems_of, told
from sudare.tables.policy import Diversity
from sudare.tables.recipes import FileRecipe
from sudare.tables.schema import Schema
from sudare.tables.text import listed, shown
from sudare.tables.text_files import read_toml

Unseen = Literal["refuse", "suppress"]
Text = Annotated[str, Field(min_length=1, max_length=4096)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Read(_Part):
    """Where the table is, and what its columns are."""

    source: Text
    schema_file: Text = Field(alias="schema")
    engine: EngineName | None = None
    memory: Text | None = None


class Generalize(_Part):
    """Generalize under requirements that are named here."""

    verb: Literal["generalize"]
    k: int | None = None
    l: int | float | None = None
    diversity: Diversity = "distinct"
    c: float | None = None
    t: float | None = None
    beta: float | None = None
    likeness: Likeness = "enhanced"
    disclosure: float | None = None
    k_map: int | None = None
    d_max: float | None = None
    d_min: float = 0.0
    population: Text | None = None
    attribute: Text | None = None
    method: Literal["minimal", "mondrian", "full-domain", "blind"] = "minimal"
    suppress: float = 0.0

    def requirements(self, beside: Path) -> list[BlockRequirement]:
        """Return what is asked for; a population is a file that lies beside the pipeline's."""
        people = None if self.population is None else beside / self.population
        asked: list[BlockRequirement] = [] if self.k is None else [KAnonymity(self.k)]
        if self.l is not None:
            asked.append(LDiversity(self.l, self.diversity, self.c, self.attribute))
        if self.t is not None:
            asked.append(TCloseness(self.t, attribute=self.attribute))
        if self.beta is not None:
            asked.append(BetaLikeness(self.beta, self.likeness, self.attribute))
        if self.disclosure is not None:
            asked.append(DeltaDisclosure(self.disclosure, self.attribute))
        if self.k_map is not None:
            asked.append(KMap(self.k_map, population=people))
        if self.d_max is not None:
            asked.append(DeltaPresence(self.d_max, self.d_min, population=people))
        return asked

    def refuse_contradictions(self, where: str) -> None:
        """Refuse what asks for nothing, or counts in a population without one, or has one to count in for nothing."""
        of_blocks, counted = (self.k, self.l, self.t, self.beta, self.disclosure), (self.k_map, self.d_max)
        if all(one is None for one in (*of_blocks, *counted)):
            raise InputError(
                f"{where}: nothing is asked for. Give k, l or t, or beta, disclosure, k_map or d_max, or several of them."
            )
        if (self.population is None) != (counted == (None, None)):
            raise InputError(
                f"{where}: k_map and d_max are counted in a population. Give one of them and population, or neither."
            )
        if self.d_min and self.d_max is None:
            raise InputError(f"{where}: d_min is the lower end of d_max. Give that, too, or leave it out.")


class Publish(_Part):
    """Assess, decide by the schema's policy, and generalize."""

    verb: Literal["publish"]
    attribute: Text | None = None


class Apply(_Part):
    """Do what a saved plan says."""

    verb: Literal["apply"]
    plan: Text
    unseen: Unseen = "refuse"


class Randomize(_Part):
    """Change every record at random."""

    verb: Literal["randomize"]
    pk: float | None = None
    epsilon: float | None = None

    def requirement(self) -> PkAnonymity | DifferentialPrivacy:
        """Return what is asked for."""
        if self.epsilon is not None:
            return DifferentialPrivacy(self.epsilon, per="record")
        return PkAnonymity(self.pk if self.pk is not None else 0)


class Materialize(_Part):
    """Make a p-view."""

    verb: Literal["materialize"]
    epsilon: float
    delta: float = 0.0
    method: Text = "pairs"


class Write(_Part):
    """Where releases go, who gets them, and which ledger remembers them."""

    folder: Text
    ledger: Text | None = None
    receiver: Text | None = None
    formats: list[Format] = Field(default_factory=list, max_length=10)
    to: Text | None = None


Make = Annotated[Generalize | Publish | Apply | Randomize | Materialize, Field(discriminator="verb")]


class Pipeline(_Part):
    """What `run` does, part by part. Paths in it are relative to its file."""

    read: Read
    make: Make
    write: Write

    @classmethod
    def open(cls, path: Path) -> Pipeline:
        """Read a pipeline's file; what is wrong in it is told with its line and key."""
        data, text = read_toml(path, "the pipeline")
        try:
            pipeline = cls.model_validate(data)
        except ValidationError as error:
            said = [_explained(problem, path, text) for problem in problems_of(error)[:20]]
            raise InputError("\n".join(said)) from None
        pipeline._refuse_contradictions(path, text)
        return pipeline

    def _refuse_contradictions(self, path: Path, text: str) -> None:
        """Refuse what cannot be meant, before anything is read."""
        make, write = self.make, self.write
        where = f"{path}{_line_of(text, ('make', 'verb'))}: make"
        if isinstance(make, Generalize):
            make.refuse_contradictions(where)
        if isinstance(make, Randomize) and (make.pk is None) == (make.epsilon is None):
            raise InputError(f"{where}: give either pk or epsilon.")
        if isinstance(make, Materialize) and (write.to or write.formats):
            raise InputError(
                f"{path}: write.to and write.formats are for rows, and a p-view has none. Leave them out."
            )
        if write.receiver is not None and write.ledger is None:
            line = _line_of(text, ("write", "receiver"))
            raise InputError(f"{path}{line}: write.receiver is noted in a ledger. Give write.ledger too.")

    def digest(self, schema: Schema, content: str, beside: Path) -> bytes:
        """Return what tells one run from another: what is made, and where it goes; the schema with the files it names, a plan or a population, and the table's content.

        From where the same content came, and by which password, makes no other release: another one would be charged once more.
        """
        data = self.model_dump(mode="json", by_alias=True, exclude={"read"})
        if self.write.to is not None:
            data["write"]["to"] = re.sub("://[^/@]*@", "://", self.write.to)
        files = [
            own.hierarchy.path for own in schema.attributes.values() if isinstance(own.hierarchy, FileRecipe)
        ]
        if isinstance(self.make, Apply):
            files += _files_in(beside / self.make.plan)
        if isinstance(self.make, Generalize) and self.make.population is not None:
            files += _files_in(beside / self.make.population)
        digests = [hashlib.sha256(Path(file).read_bytes()).hexdigest() for file in files]
        return json.dumps([data, schema.to_toml(), digests, content], sort_keys=True).encode()


def _files_in(path: Path) -> list[Path]:
    """Return a file, or the files of a folder."""
    files = [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())
    if not files:
        raise InputError(f"{path}: there is no such file or folder, which the pipeline names.")
    return files


def _explained(problem: Any, path: Path, text: str) -> str:
    """Say a problem of pydantic's in our own voice: in which line, at which key, and what to do."""
    verbs = {name: tuple(own.model_fields) for name, own in _MAKES.items()}
    keys = [str(part) for part in problem["loc"] if str(part) not in verbs]
    at = ["verb"] if problem["type"] == "union_tag_invalid" else []
    where = f"{path}{_line_of(text, [*keys, *at])}"
    known = f" here. {_known(keys, problem, verbs)}"
    return told(
        problem, where, [_printed(key) for key in keys], known=known, tag="verb", tags=listed(list(verbs))
    )


_MAKES: dict[str, type[_Part]] = {
    "generalize": Generalize,
    "publish": Publish,
    "apply": Apply,
    "randomize": Randomize,
    "materialize": Materialize,
}


def _printed(key: str) -> str:
    """Write a key of the file, which may be anything, in one line."""
    return key if key.isprintable() and len(key) <= 60 else shown(key)


def _known(keys: list[str], problem: Any, verbs: dict[str, tuple[str, ...]]) -> str:
    verb = next((str(part) for part in problem["loc"] if str(part) in verbs), None)
    parts = {"read": ("source", "schema", "engine", "memory"), "write": tuple(Write.model_fields)}
    if len(keys) < 2:
        return f"There are {listed(list(Pipeline.model_fields))}."
    return f"There are {listed(list(verbs[verb] if verb else parts.get(keys[0], ())))}."


def _line_of(text: str, keys: list[str] | tuple[str, ...]) -> str:
    """Say on which line a key stands, or else the part that it belongs to; nothing if neither can be told."""
    lines, found, part = text.splitlines(), 0, ""
    for number, line in enumerate(lines, start=1):
        if header := re.match(r"\s*\[\s*([\w-]+)\s*\]", line):
            part = header[1]
            found = number if [part] == list(keys[:1]) and not found else found
        own = re.match(r"\s*(?:([\w-]+)|\"([^\"]*)\"|'([^']*)')\s*=", line)
        name = next((group for group in own.groups() if group is not None), "") if own else ""
        if name and [*([part] if part else []), name] == list(keys[:2]):
            return f", line {number}"
        if name and not part and name == keys[0]:
            found = found or number
    return f", line {found}" if found else ""
