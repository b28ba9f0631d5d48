"""Requirements that are counted among the people of a population, which whoever counts brings along."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sudare.privacy.delta_presence import DeltaPresence
from sudare.privacy.k_anonymity import KAnonymity
from sudare.privacy.k_map import KMap
from sudare.privacy.requirement import BlockRequirement

InPopulation = KMap | DeltaPresence


def in_population(requirements: Sequence[object]) -> list[InPopulation]:
    """Return the requirements that are counted in a population."""
    return [one for one in requirements if isinstance(one, InPopulation)]


def of_blocks(requirements: Sequence[BlockRequirement]) -> list[BlockRequirement]:
    """Return the requirements that are measured in blocks; where there are none, one that any block meets.

    >>> of_blocks([KMap(5)])
    [KAnonymity(k=1)]
    """
    return [one for one in requirements if not isinstance(one, InPopulation)] or [KAnonymity(1)]


def among(requirements: Sequence[BlockRequirement], population: Any) -> list[BlockRequirement]:
    """Return requirements that are counted in a population, where they are counted in one."""
    return [
        replace(one, population=population) if isinstance(one, InPopulation) else one for one in requirements
    ]


def promised(requirement: InPopulation) -> float:
    """Return the figure that was promised: what was counted would tell of a population that receivers need not know."""
    return requirement.k if isinstance(requirement, KMap) else requirement.d_max
