"""What the words of column names mean, as `words.toml` has them, and words that names are taken apart by."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sudare.tables.attribute import Role


@dataclass(frozen=True)
class Meaning:
    """What some words of names mean."""

    role: Role
    what: str
    """Ends the sentence: 'x' in its name: ..."""
    words: Mapping[str, str]
    """By language; `codes` are names that well-known surveys give to their columns."""
    subject: str | None = None
    """What a table with several such columns is about, if that tells what its other columns are."""
    has_names: bool = False
    """Whether its own name, as in `clinic_name`, is not a person's."""
    weak: bool = False
    """Whether it counts only where no other word of the name means anything."""


_READ = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))

MEANINGS = tuple(Meaning(**{**meaning, "role": Role(meaning["role"])}) for meaning in _READ["meaning"])

NAME: Mapping[str, str] = _READ["name"]
"""What names what the other words of a name say, or else a person."""

ID: Mapping[str, str] = _READ["id"]
"""What numbers what the other words of a name say, or else a record."""

PEOPLE: Mapping[str, str] = _READ["people"]
"""Whom an identifier is of, if it is of a person."""

STAFF: Mapping[str, str] = _READ["staff"]
"""Who has to do with the people of a table, and is named or numbered there, too."""

HOUSEHOLDS: Mapping[str, str] = _READ["households"]
"""Whom an identifier is of, if it is of a household."""

CODED = frozenset(
    """code cd codes zip zipcode postcode postal plz postleitzahl cp fips isco isco08 naics sic nace occupation occ job beruf
    profession ocupacion industry ind indp sector branche race raceg ethnicity country region state county municipality
    district commune puma city town village ward precinct neighborhood prefecture province department location site center
    centre hospital clinic branch ort stadt ville ciudad""".split()
)
"""Words of names whose whole numbers are codes of something, and not amounts."""

PREPOSITIONS = frozenset(
    "of at in to from since before after per by for with von bei der des de du la le les d del al por en".split()
)
"""What comes after one says more of what came before it."""

AFFIXES = """hr yr mo lt ge gt le sq ln hh sp nr wk log tot total num avg mean max min cur pre post prev last first new old raw
    sum cnt pct per lag dum cat grp rec std adj hus husb wif wife fath moth fth mth dad mom kid resp any ever never has had
    own other both non wks mths days yrs hrs squ idx code cd flag int out sub all lvl type"""
"""What stands beside a known word in an abbreviation, and does not change what it is about."""

BEFORE = frozenset("hwmfsctlrx")
AFTER = frozenset("hwmf")
"""Letters that stand there: of the husband, the wife, the mother, the father, the spouse; logarithms; a respondent."""

ORDINARY = frozenset(
    """length calc prestige ship massage perf current walk walks talk talks incr disc dist spread trace space fact tact scar till
    treason possession window selection policeman policewoman disappointed outwards regress regression""".split()
)
"""Words that only look as if they were made of others."""
