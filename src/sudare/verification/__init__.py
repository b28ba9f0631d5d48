"""Verification: recount what was published, by code that shares nothing with the methods."""
