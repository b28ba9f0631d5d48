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


FIRST = [
    ("source", ["source", "a file, a database,", "a cluster"], "v"),
    ("read", ["Table", "dictionaries,", "and an engine"], "v"),
    ("count", ["Counts", "distinct tuples,", "how often each"], "q"),
    ("learn", ["Plan", "data: cuts, levels,", "a law"], "q"),
]
THEN = [
    ("apply", ["files", "rewritten by", "the engine"], "v"),
    ("verify", ["Certificate", "recounted from", "the files alone"], "w"),
    ("record", ["Ledger", "remembers all", "that went out"], "w"),
]


def flow() -> str:
    """Draw how a table becomes a release: who sees rows, who sees counts, and what leaves the house."""
    wide, gap, high, top = 150, 48, 84, 58
    at = [18 + i * (wide + gap) for i in range(4)]
    below, low = top + high + 84, top + 2 * high + 122
    parts = [
        *_over(at[0], at[1] + wide, 46, "sees rows", "sb"),
        *_over(at[2], at[3] + wide, 46, "sees counts only, never a row", "sa"),
        *_over(at[1], at[1] + wide, below - 12, "rows again", "sb"),
        *_over(at[2], at[3] + wide, below - 12, "sees what is published", "sc"),
        *_row(at, top, FIRST, wide, gap, high),
        *_row(at[1:], below, THEN, wide, gap, high),
        box(at[0], below, wide, high, "q", ["keep/", "plan, report, holder's", "record: yours"]),
        box(at[1], low, 2 * wide + gap, 58, "q", ["hand-over/", "files and certificate: public for ever"]),
    ]
    turn, plan = top + high + 16, at[3] + wide / 2
    parts += [line(plan, top + high, plan, turn, "ink"), line(at[0] + wide / 2, turn, plan, turn, "ink")]
    parts += [
        arrow(at[0] + wide / 2, turn, at[0] + wide / 2, below - 3),
        text(plan - 70, turn + 16, "apply", "quiet small"),
    ]
    entry = at[1] - gap / 2
    parts += [
        line(entry, turn, entry, below + high / 2, "ink"),
        arrow(entry, below + high / 2, at[1] - 3, below + high / 2),
    ]
    parts += [arrow(x + wide / 2, below + high, x + wide / 2, low - 3) for x in at[1:3]]
    return picture(at[3] + wide + 18, low + 76, "How a table becomes a release", parts)


def _over(left: float, right: float, y: float, words: str, kind: str) -> list[str]:
    return [text(left, y - 10, words, "head"), line(left, y, right, y, f"{kind} thick")]


def _row(
    at: list[int], top: int, boxes: list[tuple[str, list[str], str]], wide: int, gap: int, high: int
) -> list[str]:
    parts = []
    for i, (verb, words, kind) in enumerate(boxes):
        parts.append(box(at[i], top, wide, high, kind, words))
        if i:
            parts += [
                arrow(at[i] - gap + 3, top + high / 2, at[i] - 3, top + high / 2),
                text(at[i] - gap / 2, top + high / 2 - 9, verb, "quiet small", "middle"),
            ]
    return parts


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
