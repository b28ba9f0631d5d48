# %% [markdown]
# # OMOP as a table
# `person` has a row for each person, and `condition_occurrence` one for each diagnosis. People with several diagnoses have several rows in a release, which belong together: the role
# `person` lets blocks be counted by people, not by rows.

# %%
import polars as pl

import sudare as sd

person = pl.DataFrame(
    {
        "person_id": range(150),
        "gender_concept_id": [8507, 8532] * 75,
        "year_of_birth": [1930 + i % 70 for i in range(150)],
    }
)
condition_occurrence = pl.DataFrame(
    {
        "person_id": [i % 150 for i in range(220)],
        "condition_concept_id": [(201826, 316866, 317009)[i % 3] for i in range(220)],
    }
)
table = person.join(condition_occurrence.unique(), on="person_id").with_columns(
    pl.col("gender_concept_id").replace_strict({8507: "male", 8532: "female"}).alias("gender")
)
table = table.drop("gender_concept_id")
schema = sd.Schema.from_roles(
    person="person_id",
    quasi=["gender", "year_of_birth"],
    sensitive=["condition_concept_id"],
    hierarchies={"year_of_birth": sd.Hierarchy.intervals(range(1900, 2030), width=5)},
    source="omop conditions",
)
release = sd.generalize(sd.read(table, schema), sd.KAnonymity(5), method="mondrian")
assert release.certificate.unit == "person"
release
