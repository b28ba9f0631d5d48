"""Randomness that protects people: a cryptographic source, and exact samplers that draw from it."""
