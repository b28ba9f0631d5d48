"""What an assessment tells as tables and sentences: the same on a page and in a terminal."""

from __future__ import annotations

from sudare.suitability.assess import Assessment
from sudare.suitability.bounds import WORDS

NOT_POSSIBLE = "-"
# In lines: narrow enough for a terminal.
LEAST_COST = "least\ncost"
REACHED_COST = "k-anonymity\nwith such\nblocks\ncosts"
LARGEST_BLOCK = {"distinct": "largest\nblock if\ndistinct", "entropy": "largest\nblock if\nentropy"}
BLOCKS = "blocks\nat most"


def columns_by_l(assessment: Assessment) -> dict[str, list[str]]:
    """Return what is known of each l: a column of texts under a head that needs no paper."""
    ls = list(assessment.feasible)
    best = {l: bound.value for l, bound in assessment.best_l.items()}
    return {
        "l": [f"{l:g}" for l in ls],
        "possible": ["yes" if assessment.feasible[l] else "no" for l in ls],
        LEAST_COST: [_cost(best.get(l)) for l in ls],
        BLOCKS: [f"{assessment.max_blocks[l]:,}" for l in ls],
        LARGEST_BLOCK["distinct"]: [_whole(assessment.min_block_distinct[l]) for l in ls],
        LARGEST_BLOCK["entropy"]: [_whole(assessment.min_block_entropy[l]) for l in ls],
        REACHED_COST: [_cost(assessment.reached_k[l]) for l in ls],
        "ratio": [NOT_POSSIBLE if (ratio := assessment.ratio[l]) is None else f"{ratio:.2f}" for l in ls],
    }


def columns_by_k(assessment: Assessment) -> dict[str, list[str]]:
    """Return what is known of each k."""
    return {
        "k": [str(k) for k in assessment.best_k],
        LEAST_COST: [_cost(bound.value) for bound in assessment.best_k.values()],
    }


def stronger_bounds(assessment: Assessment) -> list[str]:
    """Say why two least costs are told of one l or k: on which argument each rests, and which figures use the lower one."""
    bounds = [(f"l = {l:g}", assessment.bound_l[l], bound) for l, bound in assessment.best_l.items()]
    bounds += [(f"k = {k}", assessment.bound_k[k], bound) for k, bound in assessment.best_k.items()]
    raised = [
        (name, _cost(plain), bound) for name, plain, bound in bounds if _cost(plain) != _cost(bound.value)
    ]
    if not raised:
        return []
    texts = [
        f"The least cost for {', '.join(name for name, _, bound in raised if bound.reason == reason)} follows from {reason}."
        for reason in dict.fromkeys(bound.reason for *_, bound in raised)
    ]
    plainly = ", ".join(f"{plain} for {name}" for name, plain, _ in raised)
    lower = (
        f"A lower one, which looks only at {WORDS['nearest']}, is {plainly}. Both are true, and the higher one says more; but the lower one is "
        "found for every choice below, so the ratio and the advice compare by that."
    )
    return [*texts, lower]


def _cost(value: float | None) -> str:
    return NOT_POSSIBLE if value is None else f"{value:.4f}"


def _whole(value: int | None) -> str:
    return NOT_POSSIBLE if value is None else f"{value:,}"
