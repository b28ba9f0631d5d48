"""Similarity: all pairs of tuples, on the processor and on a GPU."""
