"""Sudare: publish tables about people without giving the people away."""

from sudare import datasets
from sudare.attacks.attack import attack
from sudare.errors import InputError, LedgerError, ParameterError, RequirementError, SudareError
from sudare.privacy.differential_privacy import DifferentialPrivacy
from sudare.privacy.k_anonymity import KAnonymity
from sudare.privacy.l_diversity import LDiversity
from sudare.privacy.multi_view import MultiViewDiversity
from sudare.privacy.pk_anonymity import PkAnonymity
from sudare.privacy.t_closeness import TCloseness
from sudare.pview.view import PView
from sudare.randomization.invariant import invariant_pram
from sudare.randomization.pram import conventional_pram, optimal_pram
from sudare.release.certificate import Certificate
from sudare.release.generalize import generalize
from sudare.release.generalize_views import generalize_views
from sudare.release.ledger import Ledger
from sudare.release.materialize import materialize
from sudare.release.publish import publish
from sudare.release.randomize import randomize
from sudare.release.reconstruct import reconstruct
from sudare.release.release import Release
from sudare.release.servers import publish_view
from sudare.release.verify import verify
from sudare.suitability.assess import Assessment, assess
from sudare.suitability.histogram import max_blocks, min_block_distinct, min_block_entropy
from sudare.tables.counts import Counts
from sudare.tables.hierarchy import Hierarchy
from sudare.tables.policy import Policy
from sudare.tables.reading import read
from sudare.tables.schema import Attribute, CsvFormat, Role, Schema
from sudare.tables.table import Table

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
    "Policy",
    "Release",
    "RequirementError",
    "Role",
    "Schema",
    "SudareError",
    "TCloseness",
    "Table",
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
