"""Which risks a release leaves in which model of an outsider, in words; the figures are those of its records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from sudare.reports.evidence_known import Evidence
from sudare.reports.generalization import PopulationLine, population_lines
from sudare.reports.words import times_as_likely

POPULATION = "Population behind the sample, estimated"
TIES = "All rows"


class Risk(NamedTuple):
    """What somebody reaches who knows something, in the original and in what is published."""

    model: str
    knows: str
    original: str
    published: str


def risks_of(evidence: Evidence) -> Iterator[Risk]:
    """Say what is reached in which model of an outsider: what they know, and what they want."""
    holder, output = evidence.holder, evidence.certificate.attacks.get("output", {})
    if evidence.pview is not None or evidence.law:
        yield from _risks_of_noise(evidence)
        return
    attacks = holder["attacks"]
    if "intersection" in attacks["output"]:
        yield from _risks_of_views(attacks, evidence)
    else:
        yield from _risks_of_blocks(attacks["input"], output, evidence.units)
        for line in population_lines(holder.get("population")):
            yield Risk(
                POPULATION,
                "all quasi values of the person, but not who of the population is in the table",
                *_named(line),
            )
        yield from _risks_knowing(attacks["knowing"])
    for name, guesses in evidence.guesses.items():
        where = "" if name == "data" else f" (view {name})"
        for guess in guesses:
            yield Risk(
                f"Inference of {guess.attribute}{where}",
                "all quasi values of the person; guesses the most frequent value of their block",
                f"{guess.base:.1%} by guessing the most frequent value of all",
                f"right for {guess.right:.1%}; {guess.nearly_known:,} of {guess.people:,} are in blocks where one value has over 90%",
            )


def _named(line: PopulationLine) -> tuple[str, str]:
    """Return both figures of a line, with what they are of."""
    return line.original, f"{line.published} ({line.risk[0].lower()}{line.risk[1:]})"


def _risks_of_blocks(
    before: Mapping[str, Any], after: Mapping[str, Any], unit: Mapping[str, Any] | None
) -> Iterator[Risk]:
    known = "all quasi values of the person"
    if unit is not None:
        yield Risk(
            "Prosecutor",
            f"all quasi values of the {unit['role']}, in all its records, and that it is in the table",
            f"at most {1 / unit['alike']['input']:.1%}",
            f"at most {1 / unit['alike']['output']:.1%}, counted in {unit['role']}s",
        )
        yield from _risks_of_ties(unit["role"], unit["looked_up"])
    else:
        yield from _risks_of_records(before["reidentification"], after["reidentification"], known)
    for name, own in after.get("homogeneity", {}).items():
        yield Risk(
            f"Homogeneity of {name}",
            known,
            f"certain for {before['homogeneity'][name]['share']:.1%}",
            f"certain for {own['share']:.1%}",
        )


def _risks_of_ties(role: str, looked_up: Mapping[str, Any]) -> Iterator[Risk]:
    """Say what looking up persons or households with all their rows found, in the worst way to tie rows together."""
    ties, worst = max(
        looked_up["by_ties"].items(),
        key=lambda tied: (tied[1]["alone"], tied[1]["learned"], tied[1]["named"]),
        default=("", None),
    )
    if worst is not None:
        yield Risk(
            f"{TIES} of a {role} looked up together",
            f"the quasi values of all of them, and that published rows agree in {ties}",
            "not tried",
            f"one group of rows is left to {worst['candidates'].get('1', 0):,} of {looked_up['known']:,}: it is that of {worst['learned']:,}, and has "
            f"just the rows of {worst['alone']:,}; who names a group of rows for every {role} is right for {worst['named']:.1%}",
        )
    for name, certain in looked_up["certain"].items():
        yield Risk(
            f"Homogeneity of {name}, by {role}",
            "the same",
            "not tried",
            f"some value is certain of {certain:,} of {looked_up['known']:,}",
        )


def _risks_of_records(first: Mapping[str, Any], second: Mapping[str, Any], known: str) -> Iterator[Risk]:
    yield Risk(
        "Prosecutor",
        f"{known}, and that they are in the table",
        f"at most {first['prosecutor']['largest']:.1%}",
        f"at most {second['prosecutor']['largest']:.1%}; {second['prosecutor']['at_risk']:,} records above {second['threshold']:.0%}",
    )
    population = second["population"]
    of = (
        "no population was given: put at the prosecutor's, which it cannot exceed"
        if population is None
        else f"of {population:,} people"
    )
    yield Risk(
        "Journalist",
        f"{known}, but not whether they are in the table",
        f"at most {first['journalist']['largest']:.1%}",
        f"at most {second['journalist']['largest']:.1%} ({of})",
    )
    yield Risk(
        "Marketer",
        "all quasi values of everybody; wants as many right as possible",
        f"{first['marketer']:.1%} on average",
        f"{second['marketer']:.1%} on average",
    )


KNOWING = {
    "minimality": (
        "Minimality",
        "the method, and everybody's quasi values",
        "sensitive values guessed rightly",
    ),
    "definetti": ("deFinetti", "a model that is learned from the blocks", "sensitive values guessed rightly"),
    "downcoding": (
        "Downcoding",
        "the method, and how people are distributed",
        "records whose labels are undone by a level",
    ),
}


def _risks_knowing(knowing: Mapping[str, Any] | None) -> Iterator[Risk]:
    for kind, own in (knowing or {}).items():
        if own["right_after"] is not None:
            name, knows, what = KNOWING[kind]
            seen = f"tried on {own['blocks']:,} of {own['of_blocks']:,} blocks"
            yield Risk(
                f"{name}, knowing the method",
                knows,
                f"{own['right_before']:.1%} without knowing it",
                f"{own['right_after']:.1%} of {what}, {seen}",
            )


def _risks_of_views(attacks: Mapping[str, Any], evidence: Evidence) -> Iterator[Risk]:
    before = attacks["input"]["intersection"]
    for name, own in attacks["output"]["intersection"]["by_attribute"].items():
        yield Risk(
            f"Intersection of all views, for {name}",
            "all quasi values of the person, in every view",
            f"{int(before['candidates'].get('1', 0)):,} people have one value left; belief up to {before['posterior']:.1%}",
            f"{own['given_away']:,} people have one value left, everybody {own['least']} or more; belief up to {own['posterior']:.1%}",
        )


def _risks_of_noise(evidence: Evidence) -> Iterator[Risk]:
    for sentence in noise_of(evidence):
        yield Risk(
            "Differential privacy", f"everything but the {evidence.unit} in question", "not bounded", sentence
        )
    game = evidence.holder.get("attacks", {}).get("output", {}).get("pk_game")
    if game is not None:
        unit = evidence.certificate.unit
        whose, one = (
            ("one person's record", "one person") if unit is None else (f"one row of a {unit}", "one row")
        )
        several = "" if unit is None else f"; of a {unit} with several, any is found as many times as often"
        yield Risk(
            "Pk game",
            f"the whole original; looks for {whose}",
            "certain, where values are unique",
            f"wins {game['win_rate']:.2%} on average, {game['largest']:.2%} at most for {one}; no more than {game['limit']:.1%} is possible{several}",
        )


def noise_of(evidence: Evidence) -> list[str]:
    """Say what noise promises, in words."""
    measured = evidence.certificate.measured
    if "epsilon" not in measured:
        return []
    epsilon, delta = float(measured["epsilon"]), float(measured.get("delta", 0.0))
    change = (
        f"with or without one {evidence.unit}"
        if evidence.pview is not None
        else f"with another {evidence.unit} in its place"
    )
    but = f", but for a probability of {delta:g}" if delta else ""
    return [
        f"epsilon = {epsilon:.4g}{f', delta = {delta:g}' if delta else ''}: whatever is published is at most {times_as_likely(epsilon)} times "
        f"as likely {change}{but}, whatever else is known."
    ]
