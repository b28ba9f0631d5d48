"""What a view promises, in words: the same for the holder and for analysts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from sudare.pview.spending import Spending
from sudare.reports import charts
from sudare.reports.randomization_charts import figure
from sudare.reports.svg import plain as escape

MOST = 16  # shares of the budget that are drawn one by one
METHODS = {
    "pairs": "a cloud of points that agrees with noisy tables of single attributes and of the pairs that matter most",
    "dp-mondrian": "the table of all counts is cut into blocks, each with one noisy count, spread evenly over its cells",
    "independent": "noisy histograms of single attributes, as if these had nothing to do with each other",
    "identity": "every count of the domain, with noise",
    "dawa": "neighbouring counts that are alike are put into buckets, each with one noisy count",
}


def promise(certificate: Mapping[str, Any]) -> str:
    """Say in words what epsilon and delta mean, and what is not covered."""
    epsilon, delta = certificate["measured"]["epsilon"], certificate["measured"].get("delta", 0.0)
    odds = 1 / (1 + math.exp(-epsilon))
    but = f", but for events of a probability of {delta:g} (<b>delta</b>) at most" if delta else ""
    text = (
        f"<p>With any one record in the table, whatever the view says is at most e<sup>{epsilon:g}</sup> = {_times(epsilon)} times "
        f"as likely as without it, and the other way round{but} (<b>epsilon = {epsilon:g}</b>). Somebody "
        "who holds it for as likely as not that a person's record is in the table, and then studies the view with all other "
        f"knowledge there is, comes to at most <b>{odds:.1%}</b>{' or so' if delta else ''}. Asking costs nothing more: this is "
        "the promise for all questions together, whoever asks them.</p>"
    )
    return text + _unsafe(certificate["randomness"]) + _caveats(certificate["caveats"])


def _times(epsilon: float) -> str:
    return "very many" if epsilon >= 20 else figure(math.exp(epsilon))


def _unsafe(randomness: str) -> str:
    if not randomness.startswith("UNSAFE"):
        return ""
    return (
        '<p class="keep"><b>Made with a seed, for tests and papers only.</b> Who knows the seed can undo the noise: nothing is '
        "promised, and such a view of real people must not be handed over.</p>"
    )


def _caveats(caveats: list[str]) -> str:
    several = (
        "One record is protected. Somebody with several records in the table is protected as much less: epsilon times "
        "their number.",
        "Domains and bounds are taken from the schema, and taken for public.",
    )
    items = "".join(f"<li>{escape(text)}</li>" for text in (*caveats, *several))
    return f'<div class="keep"><b>What the promise does not cover:</b><ul>{items}</ul></div>'


def method(certificate: Mapping[str, Any]) -> str:
    """Name the method, and say how it works."""
    name = certificate["method"]
    return escape(name) + (f": {METHODS[name]}" if name in METHODS else "")


def rows(found: Mapping[str, str]) -> str:
    """Write facts below each other."""
    lines = (f"<tr><th>{title}</th><td>{text}</td></tr>" for title, text in found.items())
    return f"<table>{''.join(lines)}</table>"


def spending(budget: Mapping[str, Any]) -> str:
    """Draw what the budget was spent on; many things of one kind are taken together."""
    unit, whole = budget["unit"], Fraction(budget["whole"])
    parts = shares(budget)
    left = Fraction(budget["remaining"]) / whole
    words = {
        "epsilon": f"The budget is epsilon = {float(whole):g}; what is spent adds up.",
        "rho": f"Epsilon and delta together allow rho = {float(whole):.4g} (zero-concentrated differential privacy); rhos add up.",
    }[unit]
    rest = f" {float(left):.1%} was not needed, and stays unspent." if left else " All of it was spent."
    drawn = [float(part) for part in parts.values()]
    return f"<p>{words}{rest} What gets more has less noise.</p>" + charts.shares(
        list(parts), drawn, top=max(drawn, default=1.0)
    )


def shares(budget: Mapping[str, Any]) -> dict[str, Fraction]:
    """Return what share of the budget went to what; if there are many, those of one kind together."""
    return Spending.from_json(budget).parts(MOST)
