"""Can a table meet a requirement, and at what least cost."""
