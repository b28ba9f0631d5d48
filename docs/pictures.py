"""The pictures of the site, made by this script: python docs/pictures.py writes them, and a test holds them to it."""

from __future__ import annotations

from html import escape
from pathlib import Path

WIDTH, ROW, BOX = 860, 92, 56
STYLE = (
    "<style>text{font:14px sans-serif;fill:#222}.q{fill:#e6f2f1;stroke:#2a7f79}.v{fill:#fff7e0;stroke:#b58900}line{stroke:#777;stroke-width:1.4}"
    "@media(prefers-color-scheme:dark){text{fill:#ddd}.q{fill:#17403d;stroke:#5fb9b1}.v{fill:#4a3c10;stroke:#d9b64a}line{stroke:#aaa}}</style>"
)
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
    height = ROW * (len(QUESTIONS) + 1)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
        "<title>Which verb?</title>",
        STYLE,
    ]
    for place, (question, answer, verb) in enumerate(QUESTIONS):
        top = place * ROW + 8
        other = "yes" if answer == "no" else "no"
        parts += [
            _box(10, top, 350, "q", question),
            _line(360, top + BOX / 2, 440, top + BOX / 2),
            _text(385, top + BOX / 2 - 6, answer),
        ]
        parts += [
            _box(440, top, 410, "v", verb),
            _line(185, top + BOX, 185, top + ROW),
            _text(195, top + BOX + 24, other),
        ]
    parts += [_box(10, len(QUESTIONS) * ROW + 8, 410, "v", LAST), "</svg>\n"]
    return "\n".join(parts)


def _box(x: float, y: float, width: float, kind: str, words: str) -> str:
    return f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{BOX}" rx="8"/>{_text(x + 14, y + BOX / 2 + 5, words)}'


def _text(x: float, y: float, words: str) -> str:
    return f'<text x="{x:g}" y="{y:g}">{escape(words)}</text>'


def _line(x: float, y: float, right: float, bottom: float) -> str:
    return f'<line x1="{x:g}" y1="{y:g}" x2="{right:g}" y2="{bottom:g}"/>'


PICTURES = {"verbs.svg": verbs}

if __name__ == "__main__":
    for name, draw in PICTURES.items():
        (Path(__file__).parent / name).write_text(draw(), encoding="utf-8")
