"""An assessment as one HTML page that opens without a network, and its pictures as files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sudare.errors import InputError
from sudare.reports import charts
from sudare.reports.generalization import STYLE
from sudare.reports.svg import plain as escape
from sudare.suitability.assess import Assessment
from sudare.suitability.bounds import WORDS
from sudare.tables.text import text_of

MOST = 12  # bars and names that a person can take in
WIDE = 8  # attributes that fit into a table beside each other
BIN = 0.05  # of what records cost
NONE = "-"
LEAST, REACHED = (
    "least\ncost",
    "k-anonymity\nwith such\nblocks\ncosts",
)  # in lines: narrow enough for a terminal
MEANING = {
    "distinct": "every block has at least l different values",
    "entropy": "the values of every block are as spread as l equally frequent ones",
}


class Picture(NamedTuple):
    """A picture for a page, and the title it needs when it stands alone."""

    title: str
    svg: str


def write_assessment(assessment: Assessment) -> str:
    """Tell the holder what can be promised, what it costs at least, what drives the cost, and what to do.

    >>> import sudare as sd
    >>> table = sd.read(sd.datasets.health_survey(200).select("age", "sex", "diagnosis"), sd.Schema.from_roles(
    ...     quasi=["age", "sex"], sensitive=["diagnosis"]))
    >>> "For the holder of the data only" in write_assessment(sd.assess(table, l=2, k=2))
    True
    """
    drawn = pictures(assessment)
    name = escape(assessment.source)
    parts = [
        f"<h1>Assessment of {name}</h1>",
        '<p class="keep"><b>For the holder of the data only.</b> This page shows how frequent the sensitive values '
        "are, and original records that stand out. Do not pass it on.</p>",
        "<h2>1. What was asked</h2>",
        _asked(assessment),
        "<h2>2. Can it be done?</h2>",
        _possible(assessment),
        "<h2>3. What does it cost at least?</h2>",
        _costs(assessment, drawn["bounds"]),
        "<h2>4. What drives the cost?</h2>",
        _values(assessment, drawn["values"]),
        _attributes(assessment, drawn.get("attributes")),
        _records(assessment, drawn.get("records")),
        "<h2>5. What to do</h2>",
        _advice(assessment),
    ]
    head = f'<meta charset="utf-8"><title>Sudare: assessment of {name}</title><style>{STYLE}</style>'
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{"".join(parts)}</body></html>\n'


def pictures(assessment: Assessment) -> dict[str, Picture]:
    """Return the pictures by name; those of what drives the cost only where some l is feasible."""
    drawn = {"bounds": _bounds_picture(assessment), "values": _values_picture(assessment)}
    if assessment.without:
        drawn["attributes"] = _attributes_picture(assessment)
    if assessment.largest is not None:
        drawn["records"] = _records_picture(assessment)
    return drawn


def write_pictures(assessment: Assessment, folder: Path) -> list[Path]:
    """Write each picture as SVG and as PNG, and return the files. Files with these names are replaced."""
    render = charts.png_renderer()
    files: dict[Path, bytes] = {}
    for name, picture in pictures(assessment).items():
        alone = charts.standalone(picture.svg, picture.title)
        files |= {folder / f"{name}.svg": alone.encode(), folder / f"{name}.png": render(alone)}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, data in files.items():
            file.write_bytes(data)
    except OSError as error:
        raise InputError(f"Cannot write the pictures into {folder}: {error.strerror}.") from error
    return list(files)


def columns_by_l(assessment: Assessment) -> dict[str, list[str]]:
    """Return what is known of each l: a column of texts under a head that needs no paper."""
    ls = list(assessment.feasible)
    best = {l: bound.value for l, bound in assessment.best_l.items()}
    return {
        "l": [f"{l:g}" for l in ls],
        "possible": ["yes" if assessment.feasible[l] else "no" for l in ls],
        LEAST: [_cost(best.get(l)) for l in ls],
        "blocks\nat most": [f"{assessment.max_blocks[l]:,}" for l in ls],
        "largest\nblock if\ndistinct": [_whole(assessment.min_block_distinct[l]) for l in ls],
        "largest\nblock if\nentropy": [_whole(assessment.min_block_entropy[l]) for l in ls],
        REACHED: [_cost(assessment.reached_k[l]) for l in ls],
        "ratio": [NONE if (ratio := assessment.ratio[l]) is None else f"{ratio:.2f}" for l in ls],
    }


def columns_by_k(assessment: Assessment) -> dict[str, list[str]]:
    """Return what is known of each k."""
    return {
        "k": [str(k) for k in assessment.best_k],
        LEAST: [_cost(bound.value) for bound in assessment.best_k.values()],
    }


def stronger_bounds(assessment: Assessment) -> list[str]:
    """Say which least costs rest on a stronger argument than the paper's, and which figures the advice uses."""
    found = [(f"l = {l:g}", assessment.bound_l[l], bound) for l, bound in assessment.best_l.items()]
    found += [(f"k = {k}", assessment.bound_k[k], bound) for k, bound in assessment.best_k.items()]
    raised = [
        (name, _cost(plain), bound) for name, plain, bound in found if _cost(plain) != _cost(bound.value)
    ]
    if not raised:
        return []
    texts = [
        f"The least cost for {', '.join(name for name, _, bound in raised if bound.reason == reason)} follows from {reason}."
        for reason in dict.fromkeys(bound.reason for *_, bound in raised)
    ]
    plainly = ", ".join(f"{plain} for {name}" for name, plain, _ in raised)
    simple = f"Looking only at {WORDS['nearest']}, it is {plainly}; the ratio and the advice rest on that."
    return [*texts, simple]


def _asked(assessment: Assessment) -> str:
    quasi = assessment.worst.columns[:-1]
    more = f" and {len(quasi) - MOST} more" if len(quasi) > MOST else ""
    ls = ", ".join(f"{l:g}" for l in assessment.feasible)
    ks = ", ".join(str(k) for k in assessment.bound_k) or "none"
    return _grid(
        [],
        [
            ["Records", f"{assessment.records:,}"],
            ["Quasi attributes", ", ".join(quasi[:MOST]) + more],
            ["Sensitive attribute", f"{assessment.attribute}, with {len(assessment.values):,} values"],
            [
                f"{assessment.diversity} l-diversity".capitalize(),
                f"l = {ls}: {MEANING[assessment.diversity]}",
            ],
            ["k-anonymity", f"k = {ks}: everybody shares all quasi values with at least k - 1 others"],
        ],
    )


def _possible(assessment: Assessment) -> str:
    text = (
        "<p>A block is a set of records that are published with the same quasi values. The sensitive values alone limit "
        "how many blocks there can be, and how small the largest of them can be.</p>"
    )
    reasons = [assessment.choices[l][0].text for l, feasible in assessment.feasible.items() if not feasible]
    columns = columns_by_l(assessment)
    shown = ["l", "possible", *(head for head in columns if "block" in head and head != REACHED)]
    return text + _columns({head: columns[head] for head in shown}) + _paragraphs(reasons)


def _costs(assessment: Assessment, picture: Picture) -> str:
    text = (
        "<p>Distortion is 0 if all is published as it is, and 1 if all is suppressed. No method can stay below the least "
        "costs given here. The ratio compares the least cost of l-diversity with what k-anonymity reaches with blocks "
        "that are as large: above 2, the sensitive values make it dear, and not the size of the blocks.</p>"
    )
    columns = columns_by_l(assessment)
    shown = ["l", LEAST, REACHED, "ratio"]
    tables = _columns({head: columns[head] for head in shown}) + "<br>" + _columns(columns_by_k(assessment))
    beside = f'<div class="pair"><div>{picture.svg}</div><div style="flex: 1 1 420px">{tables}</div></div>'
    return text + beside + _paragraphs(stronger_bounds(assessment))


def _bounds_picture(assessment: Assessment) -> Picture:
    reached = {l: value for l, value in assessment.reached_k.items() if value is not None}
    series = [
        charts.Line(
            f"{assessment.diversity} l-diversity, at least",
            {l: bound.value for l, bound in assessment.best_l.items()},
        ),
        charts.Line(
            "k-anonymity with blocks as large as that l needs, reached", reached, charts.AMBER, "5 3"
        ),
        charts.Line(
            "k-anonymity, at least", {k: b.value for k, b in assessment.best_k.items()}, charts.BEFORE
        ),
    ]
    drawn = charts.lines([line for line in series if line.points], "l or k")
    return Picture("Distortion: what it costs at least", drawn)


def _values(assessment: Assessment, picture: Picture) -> str:
    text = (
        "<p>A dashed line stands at the share 1/l. Where a bar passes it, the records with that value are too many "
        "to be spread one to each block of l records: blocks must be larger, and that costs more.</p>"
    )
    more = len(assessment.values) - MOST
    note = [f"Less frequent values that are not shown: {more:,}."] if more > 0 else []
    return _section(picture.title, text + picture.svg, note)


def _values_picture(assessment: Assessment) -> Picture:
    frequent = list(assessment.values.items())[:MOST]
    shares = [count / assessment.records for _, count in frequent]
    marks = {f"1/{l:g}": 1 / l for l in assessment.feasible}
    top = min(1.0, 1.1 * max(*shares, *marks.values()))
    drawn = charts.shares([value for value, _ in frequent], shares, top=top, marks=marks)
    return Picture(f"How frequent the values of {assessment.attribute} are", drawn)


def _attributes(assessment: Assessment, picture: Picture | None) -> str:
    if picture is None:
        return ""
    text = (
        "<p>By how much the least cost, as the mean over the quasi attributes, would fall if an attribute were left out. "
        "Below 0 it would rise: the attribute costs less than the others.</p>"
    )
    more = len(assessment.without) - MOST
    note = [f"Attributes that add less and are not shown: {more:,}."] if more > 0 else []
    return _section(picture.title, text + picture.svg, note)


def _attributes_picture(assessment: Assessment) -> Picture:
    added = dict(list(_added(assessment).items())[:MOST])
    drawn = charts.lying(
        list(added),
        list(added.values()),
        [f"{value:+.4f}" for value in added.values()],
        colours=[charts.AFTER if value > 0 else charts.BEFORE for value in added.values()],
        top=max(0.0, *added.values()),
    )
    return Picture(f"What each quasi attribute adds, for l = {assessment.largest:g}", drawn)


def _added(assessment: Assessment) -> dict[str, float]:
    """Return by how much the bound falls without each attribute, the most first."""
    bound = None if assessment.largest is None else assessment.bound_l[assessment.largest]
    if bound is None:
        return {}
    falls = {name: bound - other for name, other in assessment.without.items()}
    return dict(sorted(falls.items(), key=lambda fall: -fall[1]))


def _records(assessment: Assessment, picture: Picture | None) -> str:
    if picture is None:
        return _paragraphs(["No l that was asked for is possible, so there is no cost to share out."])
    none = int((assessment.row_costs == 0).sum())
    text = f"<p>The bars count records. {none:,} of {assessment.records:,} may stay as they are.</p>"
    return _section(picture.title, text + picture.svg, []) + _worst(assessment)


def _records_picture(assessment: Assessment) -> Picture:
    at = np.ceil(assessment.row_costs / BIN - 1e-9).astype(np.int64)
    counts = np.bincount(at)
    labels = ["0", *(f"to {i * BIN:.2f}" for i in range(1, len(counts)))]
    drawn = charts.bars(labels, counts.tolist())
    return Picture(f"What the records cost at least, for l = {assessment.largest:g}", drawn)


def _worst(assessment: Assessment) -> str:
    """Show the records that cost most, by the attributes that add most if there are many."""
    *quasi, cost = assessment.worst.columns
    dear = list(_added(assessment))[:WIDE]
    shown = quasi if len(quasi) <= WIDE else [name for name in quasi if name in dear]
    note = [] if shown == quasi else [f"Only the {len(shown)} attributes that add most are shown."]
    rows = [
        [f"{row[cost]:.4f}", *("(missing)" if row[name] is None else text_of(row[name]) for name in shown)]
        for row in assessment.worst.to_dicts()
    ]
    return _section("The records that cost most", _grid([cost, *shown], rows), note)


def _advice(assessment: Assessment) -> str:
    lists = []
    for l, found in assessment.choices.items():
        first, *others = (escape(choice.text) for choice in found)
        items = f"<li><b>{first}</b></li>" + "".join(f"<li>{text}</li>" for text in others)
        lists.append(f"<h3>l = {l:g}</h3><ul>{items}</ul>")
    return "".join(lists)


def _cost(value: float | None) -> str:
    return NONE if value is None else f"{value:.4f}"


def _whole(value: int | None) -> str:
    return NONE if value is None else f"{value:,}"


def _section(title: str, body: str, notes: Iterable[str]) -> str:
    return f"<h3>{escape(title)}</h3>{body}{_paragraphs(notes)}"


def _paragraphs(texts: Iterable[str]) -> str:
    return "".join(f"<p>{escape(text)}</p>" for text in texts)


def _columns(columns: dict[str, list[str]]) -> str:
    return _grid(list(columns), list(zip(*columns.values(), strict=True)))


def _grid(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Write a table; without heads, the first cell of each row is one."""
    top = "".join(f"<th>{escape(head)}</th>" for head in heads)
    start, end = ("<td>", "</td>") if heads else ('<th style="white-space: nowrap">', "</th>")
    lines = [
        f"<tr>{start}{escape(row[0])}{end}{''.join(f'<td>{escape(cell)}</td>' for cell in row[1:])}</tr>"
        for row in rows
    ]
    return f"<table>{f'<tr>{top}</tr>' if heads else ''}{''.join(lines)}</table>"
