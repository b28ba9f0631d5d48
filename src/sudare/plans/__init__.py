"""Plans: what was learned, as plain data that was checked when it was read."""
