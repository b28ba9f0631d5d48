"""Generalization: publish coarser values, so that records become alike."""
