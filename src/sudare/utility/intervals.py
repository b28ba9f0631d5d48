"""Intervals that cover in 95 of 100 cases."""

from statistics import NormalDist

REACH = NormalDist().inv_cdf(0.975)
"""So many standard errors they reach to either side."""
