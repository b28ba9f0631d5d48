"""The evidence pack: what a board or an office files of a release. What was done, by whom, which risks in which model, Safe Harbor's
identifiers column by column, and what laws and standards ask beside what our figures say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from sudare.reports.evidence_figures import figures_of
from sudare.reports.evidence_known import Evidence
from sudare.reports.evidence_risks import risks_of
from sudare.reports.frameworks import FRAMEWORKS, Criterion, Framework, Topic
from sudare.reports.page import render
from sudare.reports.safe_harbor import IDENTIFIERS, Found


def write_evidence(evidence: Evidence) -> str:
    """Write the page: one file, to be read, printed and filed."""
    found = [(name, one) for name, all_ in evidence.identifiers.items() for one in all_]
    findings, figures = evidence.verification.findings, figures_of(evidence)
    return render(
        "evidence",
        evidence=evidence,
        certificate=evidence.certificate,
        measured=[
            (
                one.requirement,
                f"{one.name} = {one.value:.4g}{evidence.in_records}",
                "yes" if one.holds else "no",
            )
            for one in findings
        ],
        nearest={one.requirement: one.where for one in findings},
        notes=evidence.verification.notes,
        columns=[(name, one.role, f"{len(one.values):,}") for name, one in evidence.columns.items()],
        risks=list(risks_of(evidence)),
        found=found,
        found_rows=[
            (name, f"{one.letter}. {one.identifier}", one.verdict, one.reason) for name, one in found
        ],
        nothing=[name for name, all_ in evidence.identifiers.items() if not all_],
        by_identifier=list(by_identifier(evidence.identifiers)),
        frameworks=[(one, list(_answered(one, figures))) for one in FRAMEWORKS],
        releases=figures["releases"],
    )


def _answered(
    framework: Framework, figures: Mapping[Topic, Sequence[str]]
) -> Iterator[tuple[Criterion, list[str]]]:
    """Put to each criterion the figures that speak to it, each once."""
    for criterion in framework.criteria:
        yield criterion, list(dict.fromkeys(text for topic in criterion.topics for text in figures[topic]))


class ByIdentifier(NamedTuple):
    """What was found of one of the eighteen identifiers."""

    letter: str
    name: str
    found: list[str]
    judged: list[str]


def by_identifier(identifiers: Mapping[str, Sequence[Found]]) -> Iterator[ByIdentifier]:
    """Turn what columns have into what has each identifier."""
    for letter, name in IDENTIFIERS.items():
        columns = {
            verdict: [
                column
                for column, own in identifiers.items()
                if any((one.letter, one.verdict) == (letter, verdict) for one in own)
            ]
            for verdict in ("found", "to be judged")
        }
        yield ByIdentifier(letter, name, columns["found"], columns["to be judged"])
