# %% [markdown]
# # FHIR as a table
# A bundle has a Patient for each person, and any number of Conditions that refer to them. A table for release has one row for each person: what outsiders
# may know from the Patient, and what they must not learn from the Conditions. Several conditions of one person become one text, so that nobody has several rows.
#
# What is not named here is not read: names, addresses but for the postcode, telephone numbers, texts, extensions. Bundles leave much out, and servers refer to
# patients in several ways; a reference that leads to nobody, or a patient who is there twice, stops the work.

# %%
from collections.abc import Mapping
from typing import Any

import polars as pl

import sudare as sd

Resource = Mapping[str, Any]
NOT_MEANT = {"refuted", "entered-in-error"}
"""Conditions that were found not to be there, or written by mistake."""


def flattened(bundle: Resource) -> pl.DataFrame:
    """Return one row for each patient of a bundle."""
    found = [
        (str(entry.get("fullUrl", "")), entry["resource"])
        for entry in bundle.get("entry", [])
        if "resource" in entry
    ]
    patients = {str(own.get("id") or url): own for url, own in found if own["resourceType"] == "Patient"}
    known = {url: str(own.get("id") or url) for url, own in found if own["resourceType"] == "Patient" and url}
    if len(patients) < sum(own["resourceType"] == "Patient" for _, own in found):
        raise ValueError("A patient is in the bundle twice, and would count as two people. Keep one of each.")
    told: dict[str, set[str]] = {patient: set() for patient in patients}
    for _, own in found:
        if own["resourceType"] == "Condition" and not NOT_MEANT & _codes(own.get("verificationStatus")):
            reference = str(own.get("subject", {}).get("reference", ""))
            patient = known.get(reference, reference.partition("Patient/")[2].partition("/_history/")[0])
            if patient not in patients:
                raise ValueError(
                    "A condition refers to nobody in the bundle. Take the patients along, or leave it out."
                )
            told[patient].add(_condition(own.get("code")))
    rows = [
        {
            "id": patient,
            "born": _year(own.get("birthDate")),
            "gender": own.get("gender"),
            "postcode": next(
                (one["postalCode"] for one in own.get("address", []) if "postalCode" in one), None
            ),
            "conditions": "; ".join(sorted(told[patient])) or "none",
        }
        for patient, own in patients.items()
    ]
    types = {
        "id": pl.String,
        "born": pl.Int64,
        "gender": pl.String,
        "postcode": pl.String,
        "conditions": pl.String,
    }
    return pl.DataFrame(rows, schema=types)


def _codes(concept: Resource | None) -> set[str]:
    return {str(one["code"]) for one in (concept or {}).get("coding", []) if "code" in one}


def _condition(concept: Resource | None) -> str:
    """Return the first code of a condition. A text that somebody typed may name its person, and is not read."""
    return next((str(one["code"]) for one in (concept or {}).get("coding", []) if "code" in one), "not coded")


def _year(born: str | None) -> int | None:
    """Return the year of a date, which may be a year or a month alone, or missing."""
    return None if born is None else int(born[:4])


# %% [markdown]
# A made-up bundle, as untidy as those of real servers: dates in part or missing, several names and codes, extensions, three ways to refer to a patient.

# %%
codes = ["E11", "I10", "J45"]
born: list[Resource] = [
    {},
    {"birthDate": "1950"},
    {"birthDate": "1950-05"},
    {"_birthDate": {"extension": [{"valueCode": "unknown"}]}},
]


def patient(i: int) -> Resource:
    """One of the people."""
    return {
        "resourceType": "Patient",
        "id": str(i),
        "name": [{"family": f"Family {i}"}, {"use": "maiden", "text": f"Other {i}"}],
        "gender": ("female", "male")[i % 2],
        "address": [{"use": "old"}, {"postalCode": f"{10000 + i % 7 * 10}"}] if i % 9 else [],
        **(born[i % 4] if i >= 112 else {"birthDate": f"{1940 + i % 60}-05-17"}),
    }


def condition(i: int) -> Resource:
    """What one of them has."""
    reference = (f"Patient/{i}", f"urn:uuid:{i}", f"https://here.example/fhir/Patient/{i}/_history/2")[i % 3]
    coded = {"coding": [{"system": "icd-10", "code": codes[i % 3]}, {"code": "73211009"}]}
    return {
        "resourceType": "Condition",
        "subject": {"reference": reference},
        "code": coded if i % 10 else {"text": "as the doctor typed it"},
        "verificationStatus": {"coding": [{"code": "refuted" if i % 11 == 0 else "confirmed"}]},
    }


bundle = {
    "resourceType": "Bundle",
    "entry": [{"fullUrl": f"urn:uuid:{i}", "resource": patient(i)} for i in range(120)]
    + [{"resource": condition(i)} for i in range(120)]
    + [{"resource": {"resourceType": "Organization"}}, {"response": {"status": "204"}}],
}
patients = flattened(bundle)
schema = sd.Schema.from_roles(
    identifier=["id"], quasi=["born", "gender", "postcode"], sensitive=["conditions"], source="fhir patients"
)
release = sd.generalize(sd.read(patients, schema), [sd.KAnonymity(4), sd.LDiversity(2)], method="mondrian")
assert release.certificate.measured["k"] >= 4
release
