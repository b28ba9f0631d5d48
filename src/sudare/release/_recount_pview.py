"""What a differentially private view promises: its budget, added up again from its folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeGuard

from pydantic import ValidationError

from sudare.errors import InputError, ParameterError, RequirementError
from sudare.privacy.differential_privacy import DifferentialPrivacy
from sudare.privacy.promises import Promise
from sudare.pview.files import DATA, MANIFEST, open_view
from sudare.release import _recount_budget
from sudare.release._recount_certificate import promised_by, refuse_figures
from sudare.release.certificate import Certificate
from sudare.release.findings import Finding, Verification


def is_private_view(output: object) -> TypeGuard[str | Path]:
    """Say whether this is the folder of a differentially private view."""
    return isinstance(output, str | Path) and all(
        (Path(output) / name).is_file() for name in (DATA, MANIFEST)
    )


def find_in_view(folder: Path, promised: Sequence[Promise] | None) -> Verification:
    """Add up the budget of a view, if its files are as they were written; and hold its certificate against it."""
    for path in sorted(folder.iterdir()):
        if path.name not in (DATA, MANIFEST) or path.is_symlink():
            raise RequirementError(f"{path} is no part of a differentially private view. Take it out.")
    facts = open_view(folder).facts
    budget = _budget(facts, folder)
    certificate = _certificate(facts, folder)
    own = promised_by(certificate)
    claimed = _found(own, budget, folder)
    delta = max(promise.delta for promise in own if isinstance(promise, DifferentialPrivacy))
    refuse_figures(certificate, claimed.measured | {"delta": delta})
    return claimed if promised is None else _found(promised, budget, folder)


def _budget(facts: Mapping[str, Any], folder: Path) -> Mapping[str, Any]:
    """Return what was spent on what, if it can be added up."""
    budget: Any = facts.get("budget")
    match budget:
        case {"unit": "epsilon" | "rho", "shares": {**shares}} if shares and all(
            map(_is_share, shares.values())
        ):
            return dict(budget)
    raise InputError(f"{folder}: the view does not tell what its budget was spent on.")


def _is_share(part: object) -> bool:
    try:
        return isinstance(part, str) and Fraction(part) >= 0
    except (ValueError, ZeroDivisionError):
        return False


def _certificate(facts: Mapping[str, Any], folder: Path) -> Certificate:
    try:
        return Certificate.model_validate(facts.get("certificate"))
    except (ValidationError, RecursionError):
        raise InputError(
            f"{folder}: the certificate of the view cannot be read. Save the view again."
        ) from None


def _found(promised: Sequence[Promise], budget: Mapping[str, Any], folder: Path) -> Verification:
    most = max(budget["shares"], key=lambda what: Fraction(budget["shares"][what]))
    findings = []
    for promise in promised:
        if not isinstance(promise, DifferentialPrivacy) or promise.per != "table":
            raise ParameterError(
                f"{folder}: this is a differentially private view, of which {promise} cannot be verified. "
                "Ask for its epsilon (and delta)."
            )
        epsilon = _recount_budget.epsilon_spent(budget, promise.delta)
        holds = _recount_budget.keeps(budget, promise)
        findings.append(Finding(str(promise), "epsilon", epsilon, holds, {"largest share": most}))
    return Verification(tuple(findings))
