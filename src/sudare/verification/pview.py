"""What a p-view promises: its budget, added up again from its folder."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeGuard

from pydantic import ValidationError

from sudare.errors import InputError, ParameterError, RequirementError
from sudare.privacy.certificate import Certificate
from sudare.privacy.differential_privacy import DifferentialPrivacy
from sudare.privacy.promises import Promise
from sudare.pview.combined import Combined
from sudare.pview.files import DATA, MANIFEST, PAGE, open_pview
from sudare.pview.pview import PView
from sudare.tables.folders import CERTIFICATE, handed_over
from sudare.tables.runs import Runs
from sudare.tables.text import shown
from sudare.verification import recount_budget
from sudare.verification.claims import promised_by, refuse_figures, refuse_texts
from sudare.verification.files import refuse_changed, refuse_other_bytes, refuse_other_json
from sudare.verification.findings import Finding, Verification
from sudare.verification.utility import refuse_unlike_figures

OF_ATTRIBUTES = {"table": range(1, 2), "pair": range(2, 3), "set": range(3, 13)} | dict.fromkeys(
    ("total", "probe", "choice", "tree", "partition", "cells", "counts"), range(1)
)
"""What a share of the budget can be spent on, and of how many attributes that can be."""


def is_pview(output: object) -> TypeGuard[str | Path]:
    """Say whether this is the folder of a p-view."""
    return isinstance(output, str | Path) and all(
        (handed_over(output) / name).is_file() for name in (DATA, MANIFEST)
    )


def find_in_pview(folder: Path, promised: Sequence[Promise] | None) -> Verification:
    """Add up the budget of a p-view, if its files are as they were written; and hold its certificate against it."""
    folder = handed_over(folder)
    files = {path.name: path for path in sorted(folder.iterdir())}
    for name, path in files.items():
        if name not in (DATA, MANIFEST, CERTIFICATE, PAGE) or path.is_symlink():
            raise RequirementError(f"{path} is no part of a p-view. Take it out.")
    pview = open_pview(folder)
    certificate = _certificate(pview.facts, folder)
    notes = _refuse_other_certificate(files, certificate)
    claimed, budget = _claimed(pview.facts, pview, folder)
    parts = pview.facts["parts"] if isinstance(pview.model, Combined) and "parts" in pview.facts else None
    if more := set(pview.facts) - {"certificate", "budget", *([] if parts is None else ["parts"])}:
        raise RequirementError(f"{folder}: the facts of the p-view have {shown(min(more))}. Take it out.")
    if isinstance(pview.model, Combined):
        _refuse_other_sum(pview.model, parts, pview, folder)
    note = refuse_other_bytes(folder / DATA, Runs.of(pview.model.frame()), certificate.versions.get("polars"))
    refuse_other_json(folder / MANIFEST)
    roles = {name: column.role for name, column in certificate.attributes.items()}
    findings = claimed if promised is None else _findings(promised, budget, folder)
    return replace(findings, roles=roles, notes=(*notes, *([note] if note else [])))


def _claimed(facts: Mapping[str, Any], pview: PView, folder: Path) -> tuple[Verification, Mapping[str, Any]]:
    """Hold what is certified of a p-view against its budget and its size; return what was found, and the budget."""
    budget = _budget(facts, pview.domain.names, folder)
    certificate = _certificate(facts, folder)
    own = promised_by(certificate)
    claimed = _findings(own, budget, folder)
    delta = max(promise.delta for promise in own if isinstance(promise, DifferentialPrivacy))
    refuse_figures(certificate, claimed.measured | {"delta": delta})
    refuse_texts(certificate)
    _refuse_other_claims(certificate, pview, own)
    _refuse_other_whole(budget, own, folder)
    if budget.get("rows", 1) > 1 and certificate.unit is None:
        raise RequirementError(
            f"{folder}: the p-view protects several rows together, and does not say of whom."
        )
    return claimed, budget


def _refuse_other_sum(model: Combined, parts: object, pview: PView, folder: Path) -> None:
    """Refuse a combined p-view that is not the sum of its parts: each holds, and together they spent what it says."""
    if not isinstance(parts, list) or len(parts) != len(model.parts):
        raise RequirementError(f"{folder}: the p-view does not say what each of its parts promises.")
    inputs, shares, wholes = [], [], []
    budget = pview.facts["budget"]
    for facts, own in zip(parts, model.parts, strict=True):
        if set(facts) != {"certificate", "budget"}:
            raise RequirementError(
                f"{folder}: a part of the p-view says more, or less, than it promises and spent."
            )
        claimed, spent = _claimed(facts, replace(pview, model=own), folder)
        claimed.refuse_if_broken()
        if spent["unit"] != budget["unit"] or spent.get("rows", 1) != budget.get("rows", 1):
            raise RequirementError(f"{folder}: the parts of the p-view are counted in different units.")
        inputs.append(facts["certificate"]["input"]["sha256_salted"])
        shares += spent["shares"]
        wholes.append(Fraction(spent["whole"]))
    together = hashlib.sha256("".join(inputs).encode()).hexdigest()
    if shares != budget["shares"] or sum(wholes) != Fraction(budget["whole"]):
        raise RequirementError(f"{folder}: the budget of the p-view is not the sum of what its parts spent.")
    if pview.facts["certificate"]["input"]["sha256_salted"] != together:
        raise RequirementError(f"{folder}: the p-view is tied to other inputs than its parts are.")
    power = 0 if model.of == "mean" else 2 if budget["unit"] == "epsilon" else 1
    expected = [float(one**power / sum(other**power for other in wholes)) for one in wholes]
    if not all(math.isclose(*pair, abs_tol=1e-12) for pair in zip(model.weights, expected, strict=True)):
        raise RequirementError(f"{folder}: the parts of the p-view do not weigh what they spent.")


def _refuse_other_certificate(files: Mapping[str, Path], certificate: Certificate) -> list[str]:
    """Refuse files beside a certificate that does not name them, or says something else than the manifest's.

    What the page says is not added up here; that is returned as a note.
    """
    if not files.keys() & {CERTIFICATE, PAGE}:
        return []  # a p-view that was saved by itself: its certificate is in its manifest alone
    if CERTIFICATE not in files:
        raise RequirementError(
            f"{files[PAGE]} lies there without {CERTIFICATE}, which names it. Take it out."
        )
    beside = Certificate.open(files[CERTIFICATE])
    if beside.model_copy(update={"output": {}}) != certificate:
        raise RequirementError(f"{files[CERTIFICATE]} is not the certificate that stands in {MANIFEST}.")
    refuse_changed(files, beside)
    note = f"{PAGE} is the one that was certified; what it says was not compared with the p-view"
    return [note] if PAGE in files else []


def _refuse_other_claims(certificate: Certificate, pview: PView, own: Sequence[Promise]) -> None:
    """Refuse a certificate that says more than its promise, the size of the p-view, and which attributes it is of."""
    rows, columns = pview.model.frame().shape
    promise = certificate.promises[0]
    expected = {
        "attributes": list(pview.domain.names),
        "measured": {key: promise[key] for key in ("epsilon", "delta") if promise[key]},
        "records": {},
        "attacks": {},
        "output": {},
        "utility": {
            "model": pview.model.kind,
            "rows": rows,
            "columns": columns,
            "cells_of_domain": float(min(pview.domain.cells, 10**300)),
        },
    }
    claimed = certificate.model_dump(include=set(expected)) | {"attributes": list(certificate.attributes)}
    refuse_unlike_figures("p-view", claimed, expected)
    if any(column.domain or column.hierarchy or column.type for column in certificate.attributes.values()):
        raise RequirementError("The certificate of the p-view describes its attributes by more than roles.")
    if len(own) != 1 or certificate.missing_values is not None:
        raise RequirementError("The certificate of the p-view says more than one promise.")


def _refuse_other_whole(budget: Mapping[str, Any], own: Sequence[Promise], folder: Path) -> None:
    """Refuse a budget whose whole is not what was spent and what remains, or is more than was promised."""
    whole = {**budget, "shares": [{"amount": budget["whole"]}]}
    parts = [*(share["amount"] for share in budget["shares"]), budget["remaining"]]
    promise = own[0]
    if (
        sum(map(Fraction, parts)) != Fraction(budget["whole"])
        or not isinstance(promise, DifferentialPrivacy)
        or not recount_budget.keeps(whole, promise)
    ):
        raise RequirementError(
            f"{folder}: the whole budget, {budget['whole']} of {budget['unit']}, is not what was spent and what remains, or "
            f"more than {promise} allows. Do not rely on it."
        )


def _budget(facts: Mapping[str, Any], names: Sequence[str], folder: Path) -> Mapping[str, Any]:
    """Return what was spent on what, if it can be added up, and was spent on the p-view's own attributes."""
    budget: Any = facts.get("budget")
    match budget:
        case {"unit": "epsilon" | "rho", "shares": [_, *_] as shares} if all(
            _is_share(share, names) for share in shares
        ):
            rows = budget.get("rows", 1)
            if type(rows) is int and rows >= 1:
                return dict(budget)
    raise InputError(f"{folder}: the p-view does not say what its budget was spent on.")


def _is_share(share: object, names: Sequence[str]) -> bool:
    """Say whether this is a share: of a kind that methods have, and of no other attributes than these."""
    match share:
        case {"kind": str(kind), "attributes": [*attributes], "amount": str(amount), **more} if not more:
            try:
                fits = Fraction(amount) >= 0
            except (ValueError, ZeroDivisionError):
                return False
            several = len(attributes) in OF_ATTRIBUTES.get(kind, ()) and len(set(attributes)) == len(
                attributes
            )
            return fits and several and all(a in names for a in attributes)
    return False


def _certificate(facts: Mapping[str, Any], folder: Path) -> Certificate:
    try:
        return Certificate.model_validate(facts.get("certificate"))
    except (ValidationError, RecursionError):
        raise InputError(
            f"{folder}: the certificate of the p-view cannot be read. Save the p-view again."
        ) from None


def _findings(promised: Sequence[Promise], budget: Mapping[str, Any], folder: Path) -> Verification:
    largest = max(budget["shares"], key=lambda share: Fraction(share["amount"]))
    most = " of ".join(
        [largest["kind"], *([" and ".join(largest["attributes"])] if largest["attributes"] else [])]
    )
    findings = []
    for promise in promised:
        if not isinstance(promise, DifferentialPrivacy) or promise.per != "table":
            raise ParameterError(
                f"{folder}: this is a p-view, of which {promise} cannot be verified. "
                "Ask for its epsilon (and delta)."
            )
        epsilon = recount_budget.epsilon_spent(budget, promise.delta)
        holds = recount_budget.keeps(budget, promise)
        findings.append(Finding(str(promise), "epsilon", epsilon, holds, {"largest share": most}))
    return Verification(tuple(findings))
