"""Engines: who counts and rewrites rows, where the rows are."""
