"""What was really done to generalize a table, for the holder's record.

All of it tells about the original, also whether Mondrian would have done better: two tables that give the same output may differ
in that. So nothing of it is handed over.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sudare.generalization.mondrian import learn_mondrian
from sudare.generalization.moving import CUTTING, MOVING
from sudare.generalization.problem import Problem
from sudare.generalization.refining import DIVIDING, OPENING
from sudare.plans.generalization import GeneralizationPlan, Places
from sudare.privacy.blocks import Blocks
from sudare.privacy.in_population import of_blocks
from sudare.privacy.requirement import BlockRequirement, sensitive_attribute

ROUNDING = 1e-9
CHANGES = {
    MOVING: "moving somebody to another block, or dissolving one",
    CUTTING: "cutting a block",
    DIVIDING: "dividing small blocks anew, alone or with those near them",
    OPENING: "opening a block for those whom others can spare",
}


def method_record(
    whole: Places,
    plan: GeneralizationPlan,
    asked: Mapping[str, Any],
    distortion: float,
    bound: float | None,
) -> dict[str, Any]:
    """Say what was asked of a method, what it did, and what came of it beside Mondrian.

    Of a plan that was learned earlier, of which nothing is `asked` now, only the method is known.
    """
    record = {"name": plan.method, **asked}
    if record["name"] != plan.method:
        return record | {"text": f"{record['name']} gave way to {plan.method}, whose labels hardly overlap."}
    if not asked or not plan.search:
        return record | {"text": None}
    mondrian = _mondrian(whole, of_blocks(plan.requirements))
    found = {
        "parts": plan.search["parts"],
        "minimal_in": [kind for kind in CHANGES if kind in plan.search["settled"]],
        "out_of_time": plan.search["out_of_time"],
        "mondrian": mondrian,
        "better_than_mondrian": None if mondrian is None else distortion < mondrian - ROUNDING,
    }
    return record | found | {"text": _text(record | found, distortion, bound)}


def _mondrian(whole: Places, requirements: Sequence[BlockRequirement]) -> float | None:
    """Return the distortion of Mondrian on the same records, region by region where there are any.

    None where records lie in no region: then it is not known in which they would have been.
    """
    table = whole.table
    blocks = Blocks.of_table(table, [], sensitive_attribute(requirements, table))
    cost, records = 0.0, 0
    for piece in whole.pieces():
        if not piece.covered.any():
            return None
        problem = Problem.of(table, requirements, piece.counts, blocks)
        cost += learn_mondrian(problem).distortion() * piece.counts.total
        records += piece.counts.total
    return cost / records


def _text(record: Mapping[str, Any], distortion: float, bound: float | None) -> str:
    """Say it in words."""
    parts, effort = record["parts"], record["effort"]
    words = [f"Effort: {effort if isinstance(effort, str) else f'{effort:g} s'}"]
    if record["start"]:
        words.append(", from an earlier plan")
    words.append(f", in {parts:,} parts of the table. " if parts > 1 else ". ")
    tried = [text for kind, text in CHANGES.items() if kind in record["minimal_in"]]
    others = [text for kind, text in CHANGES.items() if kind not in record["minimal_in"]]
    if tried:
        words.append(
            f"Tried until none saved anything{', in each part' if parts > 1 else ''}: {'; '.join(tried)}. "
        )
    if others:
        words.append(f"Not tried to the end: {'; '.join(others)}. ")
    if record["out_of_time"]:
        words.append("Time ran out first. ")
    return "".join(words) + _beside_mondrian(record["mondrian"], distortion, bound)


def _beside_mondrian(mondrian: float | None, distortion: float, bound: float | None) -> str:
    if mondrian is None:
        return "Mondrian was not tried beside it."
    if distortion < mondrian - ROUNDING:
        return f"Mondrian would distort {mondrian:.4f}, this does {distortion:.4f}."
    if bound is not None and distortion <= bound + ROUNDING:
        return f"Mondrian would distort {mondrian:.4f}, and no method can do better."
    return f"This effort did not suffice to do better than Mondrian, which would distort {mondrian:.4f}; this does {distortion:.4f}."
