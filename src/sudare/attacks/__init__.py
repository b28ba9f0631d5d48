"""Attacks: what an outsider would try on a published table, from the output and the schema alone."""
