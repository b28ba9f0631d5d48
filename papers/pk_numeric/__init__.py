"""Pk-anonymity for numeric attributes: the four theorems in numbers, and the error of each mechanism at equal k."""
