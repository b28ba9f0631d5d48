"""Sudare: publish tables about people without giving the people away.

At the top stand the verbs and the nouns; papers' helpers are in `sudare.pram` and `sudare.bounds`. What is named here is
imported when it is first used, so that `import sudare` waits for no library.

>>> import sudare as sd
>>> str(sd.KAnonymity(5)), sd.bounds.max_blocks([3, 2, 2], l=2)
('5-anonymity', 3)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any
from warnings import warn

if TYPE_CHECKING:
    from sudare import bounds, datasets, methods, pram
    from sudare.attacks.attack import attack
    from sudare.engines.read import read
    from sudare.errors import (
        BusyError,
        InputError,
        LedgerError,
        ParameterError,
        RequirementError,
        SudareError,
    )
    from sudare.ledger.ledger import Ledger
    from sudare.ledger.schedule import Schedule
    from sudare.privacy.beta_likeness import BetaLikeness
    from sudare.privacy.certificate import Certificate
    from sudare.privacy.delta_disclosure import DeltaDisclosure
    from sudare.privacy.delta_presence import DeltaPresence
    from sudare.privacy.differential_privacy import DifferentialPrivacy
    from sudare.privacy.k_anonymity import KAnonymity
    from sudare.privacy.k_map import KMap
    from sudare.privacy.l_diversity import LDiversity
    from sudare.privacy.multi_view import MultiViewDiversity
    from sudare.privacy.pk_anonymity import PkAnonymity
    from sudare.privacy.t_closeness import TCloseness
    from sudare.progress_shown import show_progress
    from sudare.pview.design import PViewDesign
    from sudare.pview.interest import Interest
    from sudare.pview.pview import PView
    from sudare.pview.servers import publish_pview
    from sudare.pview.servers import publish_view as publish_view
    from sudare.randomization.invariant import invariant_pram as invariant_pram
    from sudare.randomization.pram import conventional_pram as conventional_pram
    from sudare.randomization.pram import optimal_pram as optimal_pram
    from sudare.randomization.randomizer import Randomizer
    from sudare.release.release import Release
    from sudare.suitability.assess import Assessment, assess
    from sudare.suitability.histogram import max_blocks as max_blocks
    from sudare.suitability.histogram import min_block_distinct as min_block_distinct
    from sudare.suitability.histogram import min_block_entropy as min_block_entropy
    from sudare.tables.attribute import Attribute, Role
    from sudare.tables.counts import Counts
    from sudare.tables.hierarchy import Hierarchy
    from sudare.tables.policy import Policy
    from sudare.tables.schema import CsvFormat, Schema
    from sudare.tables.table import Table
    from sudare.verbs.apply import Plan, apply
    from sudare.verbs.combine import combine
    from sudare.verbs.draw import draw
    from sudare.verbs.evidence import evidence
    from sudare.verbs.generalize import generalize
    from sudare.verbs.generalize_views import generalize_views
    from sudare.verbs.materialize import materialize, materialize_design
    from sudare.verbs.publish import publish
    from sudare.verbs.randomize import randomize
    from sudare.verbs.reconstruct import reconstruct
    from sudare.verbs.run import run
    from sudare.verbs.sql import sql
    from sudare.verification.verify import verify

__version__ = "0.1.0"

__all__ = [
    "Assessment",
    "Attribute",
    "BetaLikeness",
    "BusyError",
    "Certificate",
    "Counts",
    "CsvFormat",
    "DeltaDisclosure",
    "DeltaPresence",
    "DifferentialPrivacy",
    "Hierarchy",
    "InputError",
    "Interest",
    "KAnonymity",
    "KMap",
    "LDiversity",
    "Ledger",
    "LedgerError",
    "MultiViewDiversity",
    "PView",
    "PViewDesign",
    "ParameterError",
    "PkAnonymity",
    "Plan",
    "Policy",
    "Randomizer",
    "Release",
    "RequirementError",
    "Role",
    "Schedule",
    "Schema",
    "SudareError",
    "TCloseness",
    "Table",
    "apply",
    "assess",
    "attack",
    "bounds",
    "combine",
    "datasets",
    "draw",
    "evidence",
    "generalize",
    "generalize_views",
    "materialize",
    "materialize_design",
    "methods",
    "pram",
    "publish",
    "publish_pview",
    "randomize",
    "read",
    "reconstruct",
    "run",
    "show_progress",
    "sql",
    "verify",
]

# Which module each name comes from: what the imports above say to type checkers, said to Python.
_MODULES = {
    "sudare": "bounds datasets methods pram",
    "sudare.attacks.attack": "attack",
    "sudare.errors": "BusyError InputError LedgerError ParameterError RequirementError SudareError",
    "sudare.ledger.ledger": "Ledger",
    "sudare.ledger.schedule": "Schedule",
    "sudare.privacy.beta_likeness": "BetaLikeness",
    "sudare.privacy.delta_disclosure": "DeltaDisclosure",
    "sudare.privacy.delta_presence": "DeltaPresence",
    "sudare.privacy.differential_privacy": "DifferentialPrivacy",
    "sudare.privacy.k_anonymity": "KAnonymity",
    "sudare.privacy.k_map": "KMap",
    "sudare.privacy.l_diversity": "LDiversity",
    "sudare.privacy.multi_view": "MultiViewDiversity",
    "sudare.privacy.pk_anonymity": "PkAnonymity",
    "sudare.privacy.t_closeness": "TCloseness",
    "sudare.progress_shown": "show_progress",
    "sudare.pview.design": "PViewDesign",
    "sudare.pview.interest": "Interest",
    "sudare.pview.pview": "PView",
    "sudare.pview.servers": "publish_pview publish_view",
    "sudare.randomization.invariant": "invariant_pram",
    "sudare.randomization.randomizer": "Randomizer",
    "sudare.randomization.pram": "conventional_pram optimal_pram",
    "sudare.release.release": "Release",
    "sudare.suitability.assess": "Assessment assess",
    "sudare.suitability.histogram": "max_blocks min_block_distinct min_block_entropy",
    "sudare.tables.counts": "Counts",
    "sudare.tables.hierarchy": "Hierarchy",
    "sudare.tables.policy": "Policy",
    "sudare.engines.read": "read",
    "sudare.tables.attribute": "Attribute Role",
    "sudare.tables.schema": "CsvFormat Schema",
    "sudare.tables.table": "Table",
    "sudare.verbs.apply": "Plan apply",
    "sudare.verbs.combine": "combine",
    "sudare.verbs.draw": "draw",
    "sudare.verbs.evidence": "evidence",
    "sudare.verbs.generalize": "generalize",
    "sudare.verbs.generalize_views": "generalize_views",
    "sudare.verbs.materialize": "materialize materialize_design",
    "sudare.verbs.publish": "publish",
    "sudare.verbs.randomize": "randomize",
    "sudare.verbs.reconstruct": "reconstruct",
    "sudare.verbs.run": "run",
    "sudare.verbs.sql": "sql",
    "sudare.privacy.certificate": "Certificate",
    "sudare.verification.verify": "verify",
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names.split()}

# What had other names before: they work until the next minor version, and warn.
_NEW_NAMES = {
    "conventional_pram": "pram.conventional_pram",
    "invariant_pram": "pram.invariant_pram",
    "max_blocks": "bounds.max_blocks",
    "min_block_distinct": "bounds.min_block_distinct",
    "min_block_entropy": "bounds.min_block_entropy",
    "optimal_pram": "pram.optimal_pram",
    "publish_view": "publish_pview",
}


def __getattr__(name: str) -> Any:
    """Import what is named here when it is first used."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'sudare' has no attribute {name!r}")
    module = _MODULE_OF[name]
    if module == __name__:
        return import_module(f"{module}.{name}")  # which also becomes an attribute
    value = getattr(import_module(module), name)
    if name in _NEW_NAMES:
        warn(f"sudare.{name} is called sudare.{_NEW_NAMES[name]} now", DeprecationWarning, stacklevel=2)
    else:
        globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
