"""The methods as objects with documented fields: `sd.methods.DPMondrian(theta=10)`. A string is short for one's defaults.

>>> from sudare import methods
>>> methods.DPMondrian(theta=10).theta
10.0
"""

from sudare.generalization.methods import Blind, FullDomain, Mdav, Minimal, Mondrian
from sudare.pview.baselines import Identity, Independent
from sudare.pview.dawa import Dawa
from sudare.pview.hdmm import Hdmm
from sudare.pview.mondrian import DPMondrian
from sudare.pview.pairs import Pairs
from sudare.pview.privbayes import PrivBayes
from sudare.randomization.methods import Area, Bins, Bits, Factor, Matrix, Noise, Optimal, Retain

__all__ = [
    "Area",
    "Bins",
    "Bits",
    "Blind",
    "DPMondrian",
    "Dawa",
    "Factor",
    "FullDomain",
    "Hdmm",
    "Identity",
    "Independent",
    "Matrix",
    "Mdav",
    "Minimal",
    "Mondrian",
    "Noise",
    "Optimal",
    "Pairs",
    "PrivBayes",
    "Retain",
]
