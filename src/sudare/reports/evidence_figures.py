"""The figures of a release as sentences, by what they speak of: each criterion of a law or a standard asks for some of them."""

from __future__ import annotations

from sudare.reports.evidence_known import Evidence, where
from sudare.reports.evidence_risks import KNOWING, POPULATION, TIES, noise_of, risks_of
from sudare.reports.frameworks import Topic
from sudare.tables.attribute import Role
from sudare.tables.text import listed


def figures_of(evidence: Evidence) -> dict[Topic, list[str]]:
    """Write the figures as sentences, by what they speak of."""
    return {
        "done": _done(evidence),
        "columns": _columns(evidence),
        "identifiers": _identifiers(evidence),
        "singling out": _singling_out(evidence),
        "linking": _linking(evidence),
        "inference": _inference(evidence),
        "knowing": _knowing(evidence),
        "releases": _releases(evidence),
        "use": _use(evidence),
        "kept": _kept(evidence),
    }


def _done(evidence: Evidence) -> list[str]:
    certificate = evidence.certificate
    what = f"{' and '.join(certificate.requirements)}, by the method {certificate.method}, counted in {evidence.unit}s."
    holds = ", ".join(
        f"{one.name} = {one.value:.4g}{evidence.in_records}" for one in evidence.verification.findings
    )
    return [what, f"Recounted from the files when this page was made: {holds}.", *_in_units(evidence)]


def _in_units(evidence: Evidence) -> list[str]:
    """Say what was measured of units that files do not tell apart."""
    unit = evidence.units
    if unit is None:
        return []
    measured = ", ".join(f"{name} = {value:g}" for name, value in unit["measured"].items())
    return [
        f"Counted in {unit['role']}s when it was released, of which there are {unit['units']:,} with up to {unit['most_rows']:,} rows each: "
        f"{measured}."
    ]


def _columns(evidence: Evidence) -> list[str]:
    roles = {
        role: [name for name, own in evidence.verification.roles.items() if own == role] for role in Role
    }
    words = [f"{role}: {listed(names)}" for role, names in roles.items() if names]
    return [
        f"Published columns by role: {'; '.join(words)}. Columns that were called identifiers are not published."
    ]


def _identifiers(evidence: Evidence) -> list[str]:
    found = [name for name, own in evidence.identifiers.items() if any(one.verdict == "found" for one in own)]
    judged = [name for name, own in evidence.identifiers.items() if own and name not in found]
    words = [
        f"Of {len(evidence.identifiers)} published columns {len(found)} have values that look like one of HIPAA's identifiers"
    ]
    words.append(f" ({listed(found)})" if found else "")
    words.append(f", and of {len(judged)} more it is to be judged ({listed(judged)})." if judged else ".")
    return ["".join(words)]


def _singling_out(evidence: Evidence) -> list[str]:
    if evidence.pview is not None:
        return ["No records are published, but counts with noise.", *noise_of(evidence)]
    if evidence.law:
        pk = evidence.certificate.measured.get("pk")
        held = (
            []
            if pk is None
            else [
                f"Who knows the whole original finds a person's record with a probability of 1/{pk:.4g} at most."
            ]
        )
        return [f"Every {evidence.unit} was changed at random.", *held, *noise_of(evidence)]
    words = [
        f"{where(name)}The smallest block has {size:,} records{_shared(evidence, size)}"
        for name, size in evidence.smallest.items()
    ]
    words += _in_units(evidence)
    for name, alone in evidence.alone.items():
        others = [column for column in evidence.tables[name].columns if column not in evidence.quasi]
        known = f" Who also knows their {listed(others)} can look them up." if alone and others else ""
        words.append(
            f"{where(name)}{alone:,} of {evidence.tables[name].height:,} records differ from every other one in all columns together.{known}"
        )
    return words


def _shared(evidence: Evidence, size: int) -> str:
    """Say with how many others everybody shares their quasi values, counted in what is protected as one."""
    unit = evidence.units
    if unit is None:
        return f": nobody shares their quasi values with fewer than {size - 1:,} others."
    alike = unit["alike"]["output"]
    return f"; what is published of a {unit['role']} could be that of {alike:,} or more, itself included, by quasi values."


def _linking(evidence: Evidence) -> list[str]:
    if evidence.pview is not None:
        return noise_of(evidence)
    return _lines(
        evidence, "Prosecutor", "Journalist", "Marketer", POPULATION, TIES, "Pk game", "Intersection"
    )


def _inference(evidence: Evidence) -> list[str]:
    if evidence.pview is not None or evidence.law:
        many = "What holds for many people can be learned, and guessed of each: that is what data are for."
        return [*noise_of(evidence), many]
    measured = _lines(evidence, "Inference", "Intersection")
    return measured or ["No column was called sensitive: nothing was measured."]


def _knowing(evidence: Evidence) -> list[str]:
    beyond = "What the promise does not cover stands in stage 2."
    if evidence.certificate.randomness.startswith("UNSAFE"):
        return [
            "The noise comes from a seed: who knows it undoes it. This release is for tests, and promises nothing.",
            beyond,
        ]
    if evidence.pview is not None or evidence.law:
        return ["What is promised holds against who knows the method, since it rests on the noise.", beyond]
    tried = _lines(evidence, *(name for name, _, _ in KNOWING.values()))
    return [*(tried or ["Attacks that know the method were not tried on this release."]), beyond]


def _lines(evidence: Evidence, *models: str) -> list[str]:
    """Return the risks in some models."""
    risks = [one for one in risks_of(evidence) if one.model.startswith(models)]
    return [f"{one.model}: {one.published}. Before: {one.original}." for one in risks]


def _releases(evidence: Evidence) -> list[str]:
    ledger = evidence.ledger
    if ledger is None:
        return [
            "No ledger was given: which other releases of these people are out, and who has them, is not known here."
        ]
    who = "anybody" if ledger.receiver is None else ledger.receiver
    words = [
        f"Entry {ledger.number} of the ledger, of {ledger.at}: released for {who}; {ledger.other_count:,} other releases of the source are recorded."
    ]
    return [*words, f"Budget: {ledger.budget}." if ledger.budget else "No budget was set for the source."]


def _use(evidence: Evidence) -> list[str]:
    utility, errors = evidence.holder.get("utility", {}), evidence.holder.get("errors")
    if errors:
        return [
            f"{one['name']}: off by {one['relative']:.1%} of the truth on average, the interval holds it in {one['covered']:.0%}."
            for one in errors
        ]
    if "changes" in utility:
        return [
            f"{name}: {own['changed']:.1%} of the values were changed."
            for name, own in utility["changes"].items()
        ]
    if "distortion" in utility:
        wrong = utility["query_error"]
        return [
            f"Distortion {utility['distortion']:.4f} (0 as it was, 1 all suppressed). Of {wrong['queries']:,} random counts half are off by "
            f"{wrong['median']:.1%} or less."
        ]
    return [f"View {name}: distortion {own['distortion']:.4f}." for name, own in utility.items()]


def _kept(evidence: Evidence) -> list[str]:
    certificate = evidence.certificate
    return [
        f"Handed over: {len(certificate.output)} files, each with its SHA-256 in the certificate. Kept by the holder, apart from them: the plan, the "
        "report and the holder's record.",
        f"Tied to the input by a salted commitment, {certificate.input.sha256_salted[:16]}…; Sudare {certificate.versions.get('sudare', '?')}, "
        f"{certificate.created}.",
    ]
