"""Random records and requirements, small enough for the plain twins."""

from __future__ import annotations

from hypothesis import strategies as st

from sudare.privacy.beta_likeness import LIKENESSES, BetaLikeness
from sudare.privacy.delta_disclosure import DeltaDisclosure
from sudare.privacy.k_anonymity import KAnonymity
from sudare.privacy.l_diversity import LDiversity
from sudare.privacy.t_closeness import DISTANCES, TCloseness
from tests.privacy.plain import NUMBERS, VALUES

records = st.lists(
    st.tuples(st.integers(0, 4), st.one_of(st.integers(0, 1), st.integers(0, VALUES - 1))),
    min_size=1,
    max_size=50,
)
ls = st.integers(1, VALUES + 1)
cs = st.sampled_from([0.1, 0.3, 0.5, 0.7, 1, 1.5, 2, 3.3, 10])
ts = st.sampled_from([0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.75, 0.9, 1])
harmless = st.lists(st.sampled_from([f"{number:g}" for number in NUMBERS]), max_size=VALUES)
diversities = st.one_of(
    st.builds(LDiversity, ls, st.sampled_from(["distinct", "entropy"]), harmless=harmless),
    st.builds(LDiversity, ls, st.just("recursive"), cs, harmless=harmless),
)
proximities = st.builds(
    LDiversity,
    st.sampled_from([1, 1.5, 2, 2.5, 3, 4]),
    st.just("proximity"),
    within=st.sampled_from([0, 0.05, 0.5, 1, 1.05, 2, 9]),
    relative=st.booleans(),
    harmless=harmless,
)
shares = st.one_of(
    st.builds(
        BetaLikeness,
        st.sampled_from([0, 0.1, 0.25, 0.3, 0.5, 1, 1.5, 2, 3, 4, 10]),
        st.sampled_from(LIKENESSES),
    ),
    st.builds(DeltaDisclosure, st.sampled_from([0.001, 0.1, 0.3, 0.5, 0.7, 1, 1.5, 2, 4])),
)
requirements = st.one_of(
    st.builds(KAnonymity, st.integers(1, 12)),
    diversities,
    st.builds(TCloseness, ts, st.sampled_from(DISTANCES)),
    shares,
)
requirements_of_numbers = st.one_of(requirements, proximities)
