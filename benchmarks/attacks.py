"""What attacks that know the method gain on Adult, by method, and what it costs to deny it: `python -m benchmarks.attacks [--quick | --page]`.

With --page it measures what docs/proven.md shows, and writes it there.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import polars as pl

import sudare as sd
from benchmarks.common import QUASI, SENSITIVE, adult_table, show
from papers.page import Grid, rewrite
from sudare.attacks.composition import Composition
from sudare.attacks.definetti import DeFinetti
from sudare.attacks.downcoding import Downcoding
from sudare.attacks.minimality import Minimality
from sudare.generalization.methods import Method
from sudare.privacy.requirement import BlockRequirement
from sudare.utility.measures import utility_of

BLIND = {
    "blind": sd.methods.Blind(suppress=0.5),
    "blind, region labels": sd.methods.Blind(suppress=0.5, region_labels=True),
}
METHODS: dict[str, Method] = {
    "minimal": sd.methods.Minimal(),
    "mondrian": sd.methods.Mondrian(),
    "mondrian, strict": sd.methods.Mondrian(strict=True),
    **BLIND,
    "full-domain": sd.methods.FullDomain(suppress=0.05),
    "mdav": sd.methods.Mdav(),
}
ASKED: dict[str, list[BlockRequirement]] = {
    "k = 5": [sd.KAnonymity(5)],
    "k = 5, distinct l = 3": [sd.KAnonymity(5), sd.LDiversity(3)],
    "k = 5, entropy l = 3": [sd.KAnonymity(5), sd.LDiversity(3, "entropy")],
}
SIZES = (5, 10, 20)
ON_THE_PAGE = "k = 5, distinct l = 3"
PAGE = Path(__file__).parent.parent / "docs" / "proven.md"
HEADERS = [
    "method",
    "minimality:\nright",
    "believed more\nby a tenth",
    "deFinetti:\nright",
    "believed more\nby a tenth",
    "downcoding:\nundone",
    "composition:\npinned down",
    "values\nleft",
]
NOTES = """minimality, deFinetti: how often the likeliest occupation is right; for how many people it is believed more by a tenth.
downcoding: in how many records labels are undone rightly; half of the rows is published, the other half tells how values are spread.
composition: of people who are in two releases, each of two thirds of the rows, to how many one occupation is left, and how many are
left on average, by one release and by both."""


def main(quick: bool = False, page: bool = False) -> None:
    frame = rows_of_adult()
    frame = frame[:1_000] if quick else frame
    for what in [ON_THE_PAGE] if quick or page else ASKED:
        lines = [[name, *gains(frame, ASKED[what], method)] for name, method in METHODS.items()]
        title = f"Adult, {frame.height:,} rows, {what}: without the attack, and with it"
        if page:
            rewrite(PAGE, [Grid(title, HEADERS, lines).markdown()])
        show(title, HEADERS, lines)
    print(NOTES)
    if not page:
        _costs(frame, SIZES[:1] if quick else SIZES)


def rows_of_adult() -> pl.DataFrame:
    """Return the people, in an order of no meaning."""
    frame = sd.datasets.load("adult-train").drop_nulls().select(*QUASI, SENSITIVE)
    return frame.sample(frame.height, shuffle=True, seed=1)


def gains(frame: pl.DataFrame, requirements: list[BlockRequirement], method: Method) -> list[str]:
    """Make releases of all rows, of half of them and of two thirds each, and attack them."""
    table = adult_table(frame)
    release, known = sd.generalize(table, requirements, method), {"known": table}
    strict = isinstance(method, sd.methods.Mondrian) and method.strict
    told = {"requirements": requirements, "method": method.name}
    cut: Minimality = sd.attack(
        release.frame(), table.schema, kind="minimality", **known, **told, strict=strict
    )
    model: DeFinetti = sd.attack(release.frame(), table.schema, kind="definetti", **known)
    half, rest = (adult_table(part) for part in (frame[::2], frame[1::2]))
    of_half = sd.generalize(half, requirements, method).frame()
    undone: Downcoding = sd.attack(
        of_half, half.schema, kind="downcoding", population=rest, truth=half, **told
    )
    return [
        _rise(cut.gain.right_before, cut.gain.right_after),
        f"{cut.gain.risen / cut.gain.people:.2%}",
        _rise(model.gain.right_before, model.gain.right_after),
        f"{model.gain.risen / model.gain.people:.1%}",
        _rise(undone.right_before, undone.right_after),
        *_composed(frame, requirements, method),
    ]


def _rise(before: float | None, after: float | None) -> str:
    assert before is not None
    assert after is not None
    return f"{before:.1%} to {after:.1%}"


def _composed(frame: pl.DataFrame, requirements: list[BlockRequirement], method: Method) -> list[str]:
    third = frame.height // 3
    parts = {"one": frame[: 2 * third], "two": frame[third:]}
    tables = {name: adult_table(part) for name, part in parts.items()}
    releases = {name: sd.generalize(table, requirements, method).frame() for name, table in tables.items()}
    both = frame[third : 2 * third].select(QUASI)
    learned: Composition = sd.attack(releases, tables["one"].schema, kind="composition", known=both)
    alone, together = learned.by_attribute[SENSITIVE].alone["one"], learned.by_attribute[SENSITIVE].together
    return [_rise(alone.share, together.share), f"{alone.mean:.1f} to {together.mean:.1f}"]


def _costs(frame: pl.DataFrame, sizes: Sequence[int]) -> None:
    """What it costs not to look at sensitive values, and to publish the labels of regions."""
    table, lines = adult_table(frame), []
    for k in sizes:
        for kind in ("distinct", "entropy"):
            asked = [sd.KAnonymity(k), sd.LDiversity(3, kind)]
            located = {name: method.learn(table, asked).locate(table) for name, method in METHODS.items()}
            costs = [
                f"{utility_of(one.outcome(), one.block_sizes())['distortion']:.4f}"
                for one in located.values()
            ]
            blind = located["blind"]
            left_out = blind.counts.weights[~blind.covered].sum() / len(table)
            lines.append([f"k = {k}, {kind} l = 3", *costs, f"{left_out:.1%}"])
    show(
        f"Adult, {frame.height:,} rows: distortion, in which people who are left out count as 1",
        ["asked for", *METHODS, "left out\nby blind"],
        lines,
    )


if __name__ == "__main__":
    main(quick="--quick" in sys.argv, page="--page" in sys.argv)
