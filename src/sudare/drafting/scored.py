"""What a column is likely to be, by all that is seen of it: the sum of what its traits weigh, which `weights.toml` says.

The weights were learned from tables that people marked (`benchmarks/learn_roles.py`). They decide where nothing else does:
names and values that leave no doubt come first.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sudare.drafting.names import plain
from sudare.drafting.traits import UNKNOWN, Traits
from sudare.tables.attribute import Role

WEIGHTS = Path(__file__).with_name("weights.toml")
ROLES = (Role.quasi, Role.sensitive, Role.other)
"""The roles that are weighed; in doubt the first."""
FAMILY = 3  # columns with one stem are decided together
SURE_OF_OTHER = 0.6  # of what is passed on as it is
AHEAD = 1.6  # times as likely as quasi is what is drafted as sensitive: what is generalized in vain costs precision, and no person
DOUBTFUL = 0.7  # a person must look at what is less likely
TOLD = 2  # traits that a reason names
LEAST_TOLD = 0.1  # what each of them adds, at least


@dataclass(frozen=True)
class Likely:
    """How likely each role is for a column, and what speaks for the likeliest."""

    shares: Mapping[Role, float]
    speaks: Mapping[Role, list[str]]
    """The traits that speak for each role, the strongest first."""

    @property
    def role(self) -> Role:
        """The likeliest role, in doubt quasi; only what is surely nobody's is passed on as it is."""
        if self.shares[Role.other] >= SURE_OF_OTHER:
            return Role.other
        ahead = self.shares[Role.sensitive] > AHEAD * self.shares[Role.quasi]
        return Role.sensitive if ahead else Role.quasi

    @property
    def doubt(self) -> Role | None:
        """What it may be instead, if that is not unlikely."""
        if self.shares[self.role] >= DOUBTFUL:
            return None
        return max((role for role in ROLES if role != self.role), key=lambda role: self.shares[role])

    @property
    def reason(self) -> str:
        """Say what speaks for the role."""
        if self.role == Role.quasi and self.shares[Role.sensitive] > self.shares[Role.quasi]:
            return "little tells whether outsiders know it"
        return " and ".join(self.speaks[self.role][:TOLD]) or "nothing speaks for another role"


@cache
def weights() -> Mapping[Role, Mapping[str, float]]:
    """Return what each trait weighs for each role, beside quasi."""
    read = tomllib.loads(WEIGHTS.read_text(encoding="utf-8"))
    return {role: read.get(role.value, {}) for role in ROLES}


def likely(traits: Mapping[str, Traits]) -> dict[str, Likely]:
    """Weigh the traits of all columns of a table; those with one stem are decided together.

    >>> of = likely({"q7": {"its name means health": 1.0, "its name means something sensitive": 1.0}})
    >>> of["q7"].role.value, of["q7"].reason
    ('sensitive', 'its name means something sensitive and its name means health')
    """
    scores = {name: _scores(own) for name, own in traits.items()}
    stems: dict[str, list[str]] = defaultdict(list)
    for name in traits:
        stems[re.sub(r"[0-9]+", "#", plain(name))].append(name)
    found = {}
    for name, own in traits.items():
        family = stems[re.sub(r"[0-9]+", "#", plain(name))]
        together = family if len(family) >= FAMILY else [name]
        mean = {role: sum(scores[one][role] for one in together) / len(together) for role in ROLES}
        found[name] = Likely(_shares(mean), {role: _speaks(own, role) for role in ROLES})
    return found


def _scores(own: Traits) -> dict[Role, float]:
    return {
        role: sum(weight.get(trait, 0.0) * much for trait, much in own.items())
        for role, weight in weights().items()
    }


def _shares(scores: Mapping[Role, float]) -> dict[Role, float]:
    most = max(scores.values())
    powers = {role: math.exp(score - most) for role, score in scores.items()}
    return {role: power / sum(powers.values()) for role, power in powers.items()}


def _speaks(own: Traits, role: Role) -> list[str]:
    """Return the traits that speak for a role more than for any other, the strongest first."""
    gains = {}
    for trait, much in own.items():
        weight = {one: weights()[one].get(trait, 0.0) for one in ROLES}
        gains[trait] = much * (weight[role] - max(weight[one] for one in ROLES if one != role))
    told = (trait for trait in gains if gains[trait] > LEAST_TOLD and trait != UNKNOWN)
    return sorted(told, key=lambda trait: -gains[trait])
