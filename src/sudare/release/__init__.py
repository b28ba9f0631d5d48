"""Releases: plans applied, verified on the output, certified, written whole, and remembered."""
