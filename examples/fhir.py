# %% [markdown]
# # FHIR as a table
# A bundle has a Patient for each person, and any number of Conditions that refer to them. A table for release has one row for each person: what outsiders
# may know from the Patient, and what they must not learn from the Conditions. Several conditions of one person become one text, so that nobody has several rows.

# %%
from collections.abc import Mapping
from typing import Any

import polars as pl

import sudare as sd

Resource = Mapping[str, Any]


def flattened(bundle: Resource) -> pl.DataFrame:
    """Return one row for each patient of a bundle."""
    resources: list[Resource] = [entry["resource"] for entry in bundle["entry"]]
    told: dict[str, set[str]] = {}
    for one in resources:
        if one["resourceType"] == "Condition":
            patient = str(one["subject"]["reference"]).removeprefix("Patient/")
            told.setdefault(patient, set()).add(str(one["code"]["coding"][0]["code"]))
    rows = [
        {
            "id": one["id"],
            "born": int(str(one["birthDate"])[:4]),
            "gender": one.get("gender"),
            "postcode": next((address.get("postalCode") for address in one.get("address", [])), None),
            "conditions": "; ".join(sorted(told.get(str(one["id"]), {"none"}))),
        }
        for one in resources
        if one["resourceType"] == "Patient"
    ]
    return pl.DataFrame(rows)


# %% [markdown]
# A made-up bundle:

# %%
codes = ["E11", "I10", "J45"]
bundle = {
    "resourceType": "Bundle",
    "entry": [
        {
            "resource": {
                "resourceType": "Patient",
                "id": str(i),
                "birthDate": f"{1940 + i % 60}-05-17",
                "gender": "fm"[i % 2].replace("f", "female").replace("m", "male"),
                "address": [{"postalCode": f"{10000 + i % 7 * 10}"}],
            }
        }
        for i in range(120)
    ]
    + [
        {
            "resource": {
                "resourceType": "Condition",
                "subject": {"reference": f"Patient/{i}"},
                "code": {"coding": [{"code": codes[i % 3]}]},
            }
        }
        for i in range(120)
    ],
}
patients = flattened(bundle)
schema = sd.Schema.from_roles(
    identifier=["id"], quasi=["born", "gender", "postcode"], sensitive=["conditions"], source="fhir patients"
)
release = sd.generalize(sd.read(patients, schema), [sd.KAnonymity(4), sd.LDiversity(2)], method="mondrian")
assert release.certificate.measured["k"] >= 4
release
