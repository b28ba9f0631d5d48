# %% [markdown]
# # A hospital's release
# A hospital gives researchers a table of its patients: nobody may stand alone, and no block may tell one diagnosis.

# %%
import tempfile
from pathlib import Path

import sudare as sd

patients = sd.datasets.health_survey(1500).select("name", "age", "sex", "region", "diagnosis")
schema = sd.Schema.from_roles(
    identifier=["name"],
    quasi=["age", "sex", "region"],
    sensitive=["diagnosis"],
    hierarchies={"age": sd.Hierarchy.intervals(range(121), width=10)},
    source="patients",
)
table = sd.read(patients, schema)
table

# %% [markdown]
# What can be promised, at what least cost?

# %%
assessment = sd.assess(table, l=[2, 3], k=[5, 10])
print(assessment)

# %%
release = sd.generalize(table, [sd.KAnonymity(5), sd.LDiversity(2)], method="mondrian")
release.certificate

# %% [markdown]
# The release appears whole or not at all, and the ledger is told first. A receiver recounts it.

# %%
folder = Path(tempfile.mkdtemp()) / "release"
release.write(folder, ledger=sd.Ledger(folder.parent / "releases.db"), receiver="university")
found = sd.verify(folder / "hand-over")
assert found.holds
found

# %%
before, after = (sd.attack(rows, schema, kind="reidentification") for rows in (table, release.frame()))
print(before, after, sep="\n")
