"""What verbs ask of their arguments, before any work."""

from __future__ import annotations

from collections.abc import Sequence

from sudare.errors import ParameterError
from sudare.privacy.beta_likeness import BetaLikeness
from sudare.privacy.delta_disclosure import DeltaDisclosure
from sudare.privacy.delta_presence import DeltaPresence
from sudare.privacy.in_population import in_population
from sudare.privacy.k_anonymity import KAnonymity
from sudare.privacy.k_map import KMap
from sudare.privacy.l_diversity import LDiversity
from sudare.privacy.requirement import BlockRequirement
from sudare.privacy.t_closeness import TCloseness

OfBlocks = KAnonymity | KMap | DeltaPresence | LDiversity | TCloseness | BetaLikeness | DeltaDisclosure


def requirements_given(requirements: object, verb: str) -> list[BlockRequirement]:
    """Return one or several requirements of blocks as a list, and refuse whatever else is given.

    >>> requirements_given(KAnonymity(5), "generalize")
    [KAnonymity(k=5)]
    """
    given = requirements if isinstance(requirements, Sequence) else [requirements]
    if not given:
        raise ParameterError(f"{verb} needs at least one requirement, such as KAnonymity(5).")
    asked: list[BlockRequirement] = []
    for one in given:
        if not isinstance(one, OfBlocks):
            raise ParameterError(
                f"{verb} needs requirements of blocks: KAnonymity, LDiversity, TCloseness, BetaLikeness, DeltaDisclosure, KMap or "
                f"DeltaPresence. Got {one!r} instead."
            )
        asked.append(one)
    if len(in_population(asked)) > 1:
        raise ParameterError(f"{verb} counts in one population: give one KMap or DeltaPresence.")
    return asked
