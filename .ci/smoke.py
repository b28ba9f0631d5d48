"""What an installed Sudare must do without its checkout: every verb once, on a small table. It runs in an empty folder."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import polars as pl

import sudare as sd

assert "site-packages" in str(Path(sd.__file__)), f"this is not the installed package: {sd.__file__}"
assert importlib.util.find_spec("tests") is None

people = sd.datasets.health_survey(400).select("name", "age", "sex", "diagnosis")
schema = sd.Schema.from_roles(
    identifier=["name"],
    quasi=["age", "sex"],
    sensitive=["diagnosis"],
    bounds={"age": (0, 120)},
    domains={name: people[name].unique().sort().to_list() for name in ("sex", "diagnosis")},
)
table = sd.read(people, schema)
assert sd.assess(table, l=2, k=5).feasible[2]
release = sd.generalize(table, [sd.KAnonymity(5), sd.LDiversity(2)], method="mondrian")
release.write("out", ledger=sd.Ledger("releases.db"))
assert sd.verify("out").holds
assert Path("out/keep/report.html").stat().st_size > 10_000
assert sd.apply(sd.Plan.open("out"), table).frame().height == 400
assert sd.attack("out", schema, kind="reidentification").prosecutor.largest <= 0.2
assert "WITH" in sd.sql(release.plan, schema)
assert sd.randomize(table, sd.PkAnonymity(4)).frame().height == 400
assert isinstance(
    sd.materialize(table, sd.DifferentialPrivacy(1.0), method="independent").marginal("sex"), pl.DataFrame
)
print("smoke test passed")
