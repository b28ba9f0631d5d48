"""Privacy: requirements, each of which can measure Counts exactly and say whether it holds."""
