"""The report: one HTML page, for the holder, that opens without a network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from sudare.reports import charts
from sudare.reports.svg import plain as escape
from sudare.tables.schema import Role
from sudare.tables.table import Table
from sudare.tables.text import text_of
from sudare.verification.certificate import Certificate
from sudare.verification.findings import Verification

MOST_BARS = 120
SIZES = (
    (1, 1, "1"),
    (2, 4, "2-4"),
    (5, 9, "5-9"),
    (10, 49, "10-49"),
    (50, 249, "50-249"),
    (250, None, "250+"),
)

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #22302b; max-width: 980px; margin: 2em auto; padding: 0 1em; }
h1 { font-weight: 600; margin-bottom: 0; } h2 { margin-top: 2em; border-bottom: 1px solid #d9dfda; }
.keep { background: #fff4d6; border-left: 5px solid #d39b00; padding: .6em 1em; }
.good { color: #2f6f5e; font-weight: 600; } table { border-collapse: collapse; } td, th { padding: .25em .9em .25em 0; text-align: left; vertical-align: top; }
.pair { display: flex; flex-wrap: wrap; gap: 1.5em; } .pair div { min-width: 420px; } code { font-size: 85%; } td code { word-break: break-all; }
svg text { font: 11px system-ui, sans-serif; fill: #22302b; } svg text.axis { fill: #6b7a72; }
"""


def write_report(
    table: Table,
    data: pl.DataFrame,
    certificate: Certificate,
    holder: Mapping[str, Any],
    verification: Verification,
) -> str:
    """Tell the holder in pictures what was asked, what was measured, and what it cost."""
    quasi = table.names(Role.quasi)
    before, after = pl.DataFrame([table[name].decode() for name in quasi]), data.select(quasi)
    parts = [
        f"<h1>Release of {escape(table.source.name)}</h1><p>{certificate.created}, Sudare {certificate.versions['sudare']}</p>",
        '<p class="keep"><b>For the holder of the data only.</b> This page shows the original table. Hand '
        "over the folder <code>hand-over</code>, and keep this one.</p>",
        "<h2>1. What was asked, and what holds</h2>",
        _asked(certificate, holder),
        _worst(verification),
        "<h2>2. Who stood out, and who does now</h2>",
        _standing_out(before, after),
        "<h2>3. What attacks reach</h2>",
        _attacks(holder["attacks"]),
        "<h2>4. What it cost</h2>",
        _cost(holder),
        "<h2>5. The quasi attributes, before and after</h2>",
        *(_attribute(table, name, before[name], after[name]) for name in quasi),
    ]
    head = f'<meta charset="utf-8"><title>Sudare: {escape(table.source.name)}</title><style>{STYLE}</style>'
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{"".join(parts)}</body></html>\n'


def _asked(certificate: Certificate, holder: Mapping[str, Any]) -> str:
    measured = ", ".join(f"{name} = {value:g}" for name, value in certificate.measured.items())
    records = holder["records"]
    return _rows(
        ("Asked for", escape(" and ".join(certificate.requirements))),
        (
            "Measured on the output",
            f'<span class="good">{escape(measured)}</span>, by code that shares nothing with the method',
        ),
        ("Method", escape(certificate.method)),
        (
            "Records",
            f"{records['read']:,} read, {records['published']:,} published, {records['suppressed']:,} left out",
        ),
        *([("Decided before", escape(holder["decision"]))] if holder["decision"] else []),
        ("Randomness", escape(certificate.randomness)),
        ("Input", f"<code>{certificate.input.sha256_salted}</code> (salted; the ledger has the salt)"),
    )


def _worst(verification: Verification) -> str:
    """Show the block that comes nearest to breaking each requirement."""
    names = list(verification.findings[0].worst)
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    rows = [
        f"<tr><td>{escape(finding.requirement)}</td><td>{finding.value:g}</td>"
        + "".join(f"<td>{escape(_shown(finding.worst[name]))}</td>" for name in names)
        + "</tr>"
        for finding in verification.findings
    ]
    return f"<p>The blocks that come nearest to breaking it:</p><table><tr><th></th><th></th>{head}</tr>{''.join(rows)}</table>"


def _shown(value: object) -> str:
    return "(missing)" if value is None else text_of(value)


def _standing_out(before: pl.DataFrame, after: pl.DataFrame) -> str:
    """Count people by how many share their quasi values."""
    labels = [label for *_, label in SIZES]
    unique = int((_block_sizes(before) == 1).sum())
    text = (
        f"<p>In the original table <b>{unique:,} of {before.height:,} people</b> were the only one with their quasi "
        f"values. In the output <b>{int((_block_sizes(after) == 1).sum()):,}</b> are. The bars count people by how "
        "many, themselves included, share their quasi values.</p>"
    )
    return text + _pair(
        charts.bars(labels, _people_by_size(before), colour=charts.BEFORE),
        charts.bars(labels, _people_by_size(after)),
    )


def _block_sizes(frame: pl.DataFrame) -> pl.Series:
    return frame.group_by(frame.columns).len("_size")["_size"]


def _people_by_size(frame: pl.DataFrame) -> list[float]:
    sizes = _block_sizes(frame)
    return [float(sizes.filter(sizes.is_between(low, high or frame.height)).sum()) for low, high, _ in SIZES]


def _attacks(attacks: Mapping[str, Any]) -> str:
    """Compare what an outsider reaches on the original and on the output."""
    before, after = attacks["input"], attacks["output"]
    lines = [
        (
            "Highest risk that one person is re-identified (prosecutor)",
            "reidentification",
            ("prosecutor", "largest"),
        ),
        ("Expected share of people re-identified (marketer)", "reidentification", ("marketer",)),
    ]
    for name in before.get("homogeneity", {}):
        lines += [
            (f"People whose {escape(name)} is known for sure (homogeneity)", "homogeneity", (name, "share")),
            (
                f"... if one other value of {escape(name)} can be ruled out (background knowledge)",
                "background",
                ("by_attribute", name, "share"),
            ),
        ]
    rows = [
        f"<tr><td>{text}</td><td>{_at(before[kind], path):.1%}</td><td><b>{_at(after[kind], path):.1%}</b></td></tr>"
        for text, kind, path in lines
    ]
    head = "<tr><th>attack</th><th>original</th><th>published</th></tr>"
    return f"<table>{head}{''.join(rows)}</table>"


def _at(data: Any, path: tuple[str, ...]) -> float:
    for key in path:
        data = data[key]
    return float(data)


def _cost(holder: Mapping[str, Any]) -> str:
    utility, least = holder["utility"], holder["bound"]
    bound = "not computed: too large a table" if least is None else f"{least:.4f}"
    if holder["gap"] is not None:
        bound += f"; this release has {holder['gap']:.2f} times that"
    table = _rows(
        ("Distortion (0 = as it was, 1 = all suppressed)", f"{utility['distortion']:.4f}"),
        ("No method can distort less than", bound),
        ("Normalised certainty penalty", f"{utility['ncp']:.4f}"),
        ("Information lost (non-uniform entropy)", f"{utility['non_uniform_entropy']:.1%}"),
        ("Discernibility", f"{utility['discernibility']:,}"),
        ("Blocks", f"{utility['blocks']:,}, of {utility['average_block']:,.1f} records on average"),
    )
    costs = utility["distortion_by_attribute"]
    pictures = "<p>By attribute:</p>" + charts.shares(list(costs), list(costs.values()))
    return table + pictures + _counting(utility["query_error"]) + _predicting(utility.get("prediction"))


def _counting(error: dict[str, Any]) -> str:
    return (
        f"<h3>Counting</h3><p>Of {error['queries']:,} random counts (how many people lie in a range or a set of values "
        f"of 1 to 3 quasi attributes?) half are off by <b>{error['median']:.1%}</b> or less when they are answered from "
        f"the output; on average they are off by {error['mean']:.1%}. Small counts err most.</p>"
    )


def _predicting(scores: dict[str, Any] | None) -> str:
    """Compare what can be learned from the original, from the output, and without learning."""
    if scores is None:
        return ""
    text = (
        f"<h3>Predicting {escape(scores['target'])}</h3><p>How often a model is right that learned to predict "
        f"{escape(scores['target'])} from the quasi attributes, asked about {scores['tested']:,} original records "
        "that it had not seen:</p>"
    )
    bars = {
        "learned from original": (scores["original"], charts.BEFORE),
        "learned from published": (scores["published"], charts.AFTER),
        "most frequent guessed": (scores["guess"], charts.BEFORE),
    }
    values, colours = zip(*bars.values(), strict=True)
    return text + charts.shares(list(bars), values, colours)


def _attribute(table: Table, name: str, before: pl.Series, after: pl.Series) -> str:
    hierarchy = table[name].hierarchy
    order = [label for level in hierarchy.labels for label in level] if hierarchy is not None else []
    pictures = _histogram(before, charts.BEFORE, []), _histogram(after, charts.AFTER, order)
    return f"<h3>{escape(name)}</h3>" + _pair(*pictures)


def _histogram(values: pl.Series, colour: str, order: list[str | None]) -> str:
    """Draw how often each value occurs, in the values' own order, or as generalized labels follow each other."""
    counted = values.alias("value").value_counts(name="count").sort("value", nulls_last=True)
    place = {label: i for i, label in reversed(list(enumerate(order)))}
    if values.dtype == pl.String and place:
        counted = counted.sort(
            pl.col("value").replace_strict(place, default=len(order), return_dtype=pl.Int64)
        )
    note = ""
    if counted.height > MOST_BARS:
        note = f"<p>{counted.height:,} distinct values; the {MOST_BARS} most frequent:</p>"
        counted = counted.filter(pl.col("count").rank("ordinal", descending=True) <= MOST_BARS)
    labels = [_shown(value) for value in counted["value"].to_list()]
    return note + charts.bars(labels, counted["count"].to_list(), colour=colour)


def _pair(before: str, after: str) -> str:
    return f'<div class="pair"><div><i>original</i><br>{before}</div><div><i>published</i><br>{after}</div></div>'


def _rows(*rows: tuple[str, str]) -> str:
    return (
        "<table>" + "".join(f"<tr><th>{name}</th><td>{value}</td></tr>" for name, value in rows) + "</table>"
    )
