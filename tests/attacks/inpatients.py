"""The inpatient table of Machanavajjhala et al. (2006): figure 1, and its 4-anonymous figure 2."""

from __future__ import annotations

import polars as pl

import sudare as sd

SCHEMA = sd.Schema.from_roles(quasi=["zip", "age", "nationality"], sensitive=["condition"])
ILLNESSES = ["Heart", "Heart", "Viral", "Viral", "Cancer", "Heart", "Viral", "Viral", *["Cancer"] * 4]
ORIGINAL = pl.DataFrame(
    {
        "zip": "13053 13068 13068 13053 14853 14853 14850 14850 13053 13053 13068 13068".split(),
        "age": [28, 29, 21, 23, 50, 55, 47, 49, 31, 37, 36, 35],
        "nationality": "Russian American Japanese American Indian Russian American American American Indian Japanese"
        " American".split(),
        "condition": ILLNESSES,
    }
)
PUBLISHED = pl.DataFrame(
    {
        "zip": ["130**"] * 4 + ["1485*"] * 4 + ["130**"] * 4,
        "age": ["< 30"] * 4 + [">= 40"] * 4 + ["3*"] * 4,
        "nationality": ["*"] * 12,
        "condition": ILLNESSES,
    }
)
