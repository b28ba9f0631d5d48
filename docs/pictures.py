"""The pictures of the site, made by this script: python -m docs.pictures writes them, and a test holds them to it.

What they draw is written here, read from the project's own files, or measured (measured.json, by `python -m docs.measured`).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path

from docs.drawing import arrow, box, line, picture, text
from docs.method_pictures import METHOD_PICTURES

HERE = Path(__file__).parent
PROJECT = HERE.parent / "pyproject.toml"

QUESTIONS = [
    ("May anybody hold the true answers?", "no", "Randomizer: people randomize their own answers"),
    (
        "Do receivers need rows, one for each person?",
        "no",
        "materialize: a p-view answers counts, with a budget",
    ),
    ("Must every published value be true?", "no", "randomize: rows by a known law; reconstruct counts"),
    ("Several tables of the same people?", "yes", "generalize_views: safe together"),
]
LAST = "generalize, or publish: rows with coarser values"


def verbs() -> str:
    """Draw the questions that lead to a verb, from above to below."""
    row, high, margin = 92, 56, 18
    parts = []
    for place, (question, answer, verb) in enumerate(QUESTIONS):
        top = place * row + margin
        other = "yes" if answer == "no" else "no"
        parts += [
            box(margin, top, 350, high, "q", [question]),
            arrow(margin + 350, top + high / 2, margin + 430, top + high / 2),
            text(margin + 376, top + high / 2 - 7, answer, "small"),
            box(margin + 430, top, 410, high, "v", [verb]),
            arrow(margin + 175, top + high, margin + 175, top + row),
            text(margin + 185, top + high + 22, other, "small"),
        ]
    last = len(QUESTIONS) * row + margin
    parts.append(box(margin, last, 410, high, "v", [LAST]))
    return picture(876, last + high + margin, "Which verb?", parts)


FLOW = [
    ("source", ["source", "a file, a", "database, Spark"]),
    ("read", ["Table", "dictionaries,", "and an engine"]),
    ("count", ["Counts", "distinct tuples,", "how often each"]),
    ("learn", ["Plan", "data: cuts,", "levels, a law"]),
    ("apply", ["files", "rewritten by", "the engine"]),
    ("verify", ["Certificate", "recounted from", "the files alone"]),
    ("record", ["Ledger", "remembers all", "that went out"]),
]


def flow() -> str:
    """Draw how a table becomes a release: who sees rows, who sees counts, and what leaves the house."""
    wide, gap, top, high = 112, 50, 74, 84
    at = [18 + i * (wide + gap) for i in range(len(FLOW))]
    right = at[-1] + wide
    parts = [
        text(18, 30, "sees rows", "head"),
        line(18, 40, at[1] + wide, 40, "sb thick"),
        text(at[2], 30, "sees counts only, never a row", "head"),
        line(at[2], 40, at[3] + wide, 40, "sa thick"),
        text(at[4], 30, "rows again", "head"),
        line(at[4], 40, at[4] + wide, 40, "sb thick"),
        text(at[5], 30, "sees what is published", "head"),
        line(at[5], 40, right, 40, "sc thick"),
    ]
    kinds = ["v", "v", "q", "q", "v", "w", "w"]
    for i, (verb, words) in enumerate(FLOW):
        parts.append(box(at[i], top, wide, high, kinds[i], words))
        if i:
            parts += [
                arrow(at[i] - gap + 3, top + high / 2, at[i] - 3, top + high / 2),
                text(at[i] - gap / 2, top + high / 2 - 9, verb, "quiet small", "middle"),
            ]
    low = top + high + 46
    parts += [
        arrow(at[4] + wide / 2, top + high, at[4] + wide / 2, low),
        arrow(at[5] + wide / 2, top + high, at[5] + wide / 2, low),
        box(
            at[4],
            low,
            at[5] + wide - at[4],
            56,
            "q",
            ["hand-over/", "the files and their certificate: public for ever"],
        ),
        arrow(at[3] + wide / 2, top + high, at[3] + wide / 2, low),
        box(at[2], low, at[3] + wide - at[2], 56, "v", ["keep/", "plan, report, holder's record: yours"]),
    ]
    return picture(right + 18, low + 74, "How a table becomes a release", parts)


LAYERS = {
    "cli": "what you type",
    "studio": "what you click",
    "sklearn": "transformers for pipelines",
    "verbs": "one composition for each verb",
    "release": "whole or not at all",
    "ledger": "what went out before",
    "reports": "pages for people",
    "verification": "recounts what was published",
    "suitability": "what it must cost",
    "attacks": "what outsiders try",
    "generalization": "coarser values",
    "pview": "a budget",
    "randomization": "a known law",
    "plans": "what was learned, as data",
    "noise": "exact draws",
    "similarity": "pairs of tuples",
    "privacy": "what must hold",
    "utility": "what is left",
    "engines": "who counts and rewrites rows",
    "drafting": "what a column seems to be",
    "datasets": "public tables",
    "tables": "schema, values, counts",
}


def layer_rows() -> list[list[str]]:
    """Return the rooms of each layer, from above to below, as the project's own contract has them."""
    contract = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"][0]
    rows = [
        [name.strip().removeprefix("sudare.") for name in layer.split("|")] for layer in contract["layers"]
    ]
    known = [[name for name in row if name in LAYERS] for row in rows]
    return [row for row in known if row]


def layers() -> str:
    """Draw the layers: a room imports from those below only."""
    wide, row, high = 760, 54, 44
    rows = layer_rows()
    parts = [text(18, 28, "Every room uses only what is below it; a linter holds that.", "head")]
    for i, names in enumerate(rows):
        room = (wide - 8 * (len(names) - 1)) / len(names)
        for j, name in enumerate(names):
            kind = (
                "w"
                if name == "verification"
                else "v"
                if name in ("cli", "studio", "sklearn", "verbs")
                else "q"
            )
            parts.append(box(18 + j * (room + 8), 46 + i * row, room, high, kind, [name, LAYERS[name]]))
    parts.append(
        text(
            18,
            46 + len(rows) * row + 12,
            "Verification shares no code with the rooms that make releases.",
            "quiet small",
        )
    )
    return picture(wide + 36, 46 + len(rows) * row + 30, "The layers", parts)


def badges() -> dict[str, str]:
    """Return what is true of the project, and stands in its own files: no server is asked, and none learns who reads."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))
    own = project["project"]
    versions = [
        found[1]
        for one in own["classifiers"]
        if (found := re.search(r"Python :: (3\.\d+)$", one)) is not None
    ]
    status = next(one for one in own["classifiers"] if one.startswith("Development Status"))
    return {
        "licence": own["license"],
        "python": " | ".join(versions),
        "types": "mypy, strict" if project["tool"]["mypy"]["strict"] else "none",
        "status": status.split(" - ")[-1].lower(),
    }


def badge(name: str, value: str) -> str:
    """Draw a badge: a word, and what is so."""
    left, right = 7 * len(name) + 16, 7 * len(value) + 18
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="22" role="img">'
        f"<title>{name}: {value}</title>"
        "<style>text{font:12px Arial,Helvetica,'DejaVu Sans',sans-serif;fill:#fff}</style>"
        f'<rect width="{left + right}" height="22" rx="4" fill="#1d6f68"/>'
        f'<path d="M4 0H{left}V22H4a4 4 0 0 1-4-4V4a4 4 0 0 1 4-4" fill="#3d4a45"/>'
        f'<text x="{left / 2:g}" y="15" text-anchor="middle">{name}</text>'
        f'<text x="{left + right / 2:g}" y="15" text-anchor="middle">{value}</text></svg>\n'
    )


def _badge(name: str) -> Callable[[], str]:
    return lambda: badge(name, badges()[name])


PICTURES: dict[str, Callable[[], str]] = {
    "verbs.svg": verbs,
    "flow.svg": flow,
    "layers.svg": layers,
    **{f"badges/{name}.svg": _badge(name) for name in ("licence", "python", "types", "status")},
    **{f"methods/{name}": draw for name, draw in METHOD_PICTURES.items()},
}


def write() -> None:
    """Write all pictures beside this script."""
    for name, draw in PICTURES.items():
        (HERE / name).parent.mkdir(parents=True, exist_ok=True)
        (HERE / name).write_text(draw(), encoding="utf-8")


if __name__ == "__main__":
    write()
