"""Drafting: what a column seems to be, from its name, its values and the columns beside it."""
