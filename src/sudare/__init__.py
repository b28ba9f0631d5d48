"""Sudare: publish tables about people without giving the people away."""

from sudare import datasets
from sudare.attacks.attack import attack
from sudare.engines.read import read
from sudare.errors import InputError, LedgerError, ParameterError, RequirementError, SudareError
from sudare.ledger.ledger import Ledger
from sudare.privacy.differential_privacy import DifferentialPrivacy
from sudare.privacy.k_anonymity import KAnonymity
from sudare.privacy.l_diversity import LDiversity
from sudare.privacy.multi_view import MultiViewDiversity
from sudare.privacy.pk_anonymity import PkAnonymity
from sudare.privacy.t_closeness import TCloseness
from sudare.pview.pview import PView
from sudare.pview.servers import publish_view
from sudare.randomization.invariant import invariant_pram
from sudare.randomization.pram import conventional_pram, optimal_pram
from sudare.release.release import Release
from sudare.suitability.assess import Assessment, assess
from sudare.suitability.histogram import max_blocks, min_block_distinct, min_block_entropy
from sudare.tables.counts import Counts
from sudare.tables.hierarchy import Hierarchy
from sudare.tables.policy import Policy
from sudare.tables.schema import Attribute, CsvFormat, Role, Schema
from sudare.tables.table import Table
from sudare.verbs.apply import Plan, apply
from sudare.verbs.generalize import generalize
from sudare.verbs.generalize_views import generalize_views
from sudare.verbs.materialize import materialize
from sudare.verbs.publish import publish
from sudare.verbs.randomize import randomize
from sudare.verbs.reconstruct import reconstruct
from sudare.verification.certificate import Certificate
from sudare.verification.verify import verify

__version__ = "0.1.0"

__all__ = [
    "Assessment",
    "Attribute",
    "Certificate",
    "Counts",
    "CsvFormat",
    "DifferentialPrivacy",
    "Hierarchy",
    "InputError",
    "KAnonymity",
    "LDiversity",
    "Ledger",
    "LedgerError",
    "MultiViewDiversity",
    "PView",
    "ParameterError",
    "PkAnonymity",
    "Plan",
    "Policy",
    "Release",
    "RequirementError",
    "Role",
    "Schema",
    "SudareError",
    "TCloseness",
    "Table",
    "apply",
    "assess",
    "attack",
    "conventional_pram",
    "datasets",
    "generalize",
    "generalize_views",
    "invariant_pram",
    "materialize",
    "max_blocks",
    "min_block_distinct",
    "min_block_entropy",
    "optimal_pram",
    "publish",
    "publish_view",
    "randomize",
    "read",
    "reconstruct",
    "verify",
]
