"""Utility: how much of the table is left in what is published."""
