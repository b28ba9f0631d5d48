# %% [markdown]
# # OMOP as a table
# `person` has a row for each person, and `condition_occurrence` one for each diagnosis. People with several diagnoses have several rows in a release, which belong together: the role
# `person` lets blocks be counted by people, not by rows.

# %%
import polars as pl

import sudare as sd

GENDERS = {8507: "male", 8532: "female"}  # all others, 0 and unknown among them, are missing


def conditions(person: pl.DataFrame, condition_occurrence: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each condition that each person had at least once; who had none has no row."""
    if person["person_id"].is_duplicated().any():
        raise ValueError("A person is there twice, and would count as two people. Keep one row of each.")
    had = condition_occurrence.select("person_id", "condition_concept_id").unique(maintain_order=True)
    if not had["person_id"].is_in(person["person_id"].to_list()).all():
        raise ValueError("A condition is of nobody in `person`. Take the people along, or leave it out.")
    gender = pl.col("gender_concept_id").replace_strict(GENDERS, default=None)
    return person.select("person_id", gender.alias("gender"), "year_of_birth").join(had, on="person_id")


# %%
person = pl.DataFrame(
    {
        "person_id": range(150),
        "gender_concept_id": [8507, 8532, 8507, 8532, 0] * 30,
        "year_of_birth": [1930 + i % 70 for i in range(150)],
    }
)
condition_occurrence = pl.DataFrame(
    {
        "person_id": [i % 140 for i in range(220)],
        "condition_concept_id": [(201826, 316866, 317009, 0)[i % 4] for i in range(220)],
    }
)
table = conditions(person, condition_occurrence)
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
