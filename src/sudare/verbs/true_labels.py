"""Whether the labels that a plan publishes are true, as whoever reads them would take them.

A plan comes from a file, and a label is a text in it. That a requirement holds can be counted on the output; that nobody
of 35 is published as "[20, 30)" cannot. So every label is read again, by the code that outsiders' attacks read labels with,
from the schema of the table that the plan is applied to, and not from the plan's own hierarchies.
"""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sudare.attacks.labels import LISTING, MISSING, PARTS, LabelReader
from sudare.engines.rewriting import Labels, Rewriting
from sudare.errors import InputError
from sudare.tables.attribute import Attribute
from sudare.tables.counts import count
from sudare.tables.dictionary import Dictionary
from sudare.tables.paths import ROOT
from sudare.tables.recipes import MaskRecipe
from sudare.tables.table import Table
from sudare.tables.text import shown, text_of


def refuse_false_labels(table: Table, rewriting: Rewriting) -> None:
    """Raise an InputError if a label is not true of a value that it is published for."""
    for name, labels in rewriting.published.items():
        if labels is None or name not in rewriting.keys:
            continue  # values are published as they are; numbers beside ranges are made from labels and rows
        codes = rewriting.tuples[:, rewriting.keys.index(name)]
        false = _first_false(table[name], table.schema[name], codes, labels)
        if false is not None:
            value, label = false
            raise InputError(
                f"{table.source.name}: the plan publishes the {name} {shown(value)} as {shown(label)}, which is not true by the schema. "
                "Apply it with the schema that it was learned with; if that is so, its file was changed."
            )


def _first_false(
    dictionary: Dictionary, attribute: Attribute, codes: NDArray[np.int32], labels: Labels
) -> tuple[object, str | None] | None:
    """Return a value with a label that is not true of it; None if there is none."""
    reader = LabelReader(dictionary)
    pairs = count({"label": labels.of_tuple, "value": codes}, [len(labels.values), dictionary.size])
    label_of, code_of = pairs.codes.T
    ends = np.flatnonzero(np.diff(label_of, append=-1)) + 1
    covered_by = np.full(reader.missing + 1, -1)  # which label was the last to cover each value
    texts = labels.values.to_list()
    for start, end in pairwise([0, *ends.tolist()]):
        label, own = label_of[start], code_of[start:end]
        text = texts[label]
        for reading in reader.readings(text):
            covered_by[reading] = label
        for code in own[covered_by[own] != label].tolist():
            value = dictionary.decode([code])[0]
            if any(code in reading for part in _parts(text) for reading in reader.readings(part)):
                continue
            if not any(_masked(part, value, attribute) for part in [text, *_parts(text)]):
                return value, text
    return None


def _parts(label: str | None) -> list[str | None]:
    """Return what a label lists. Of a list, one part is enough, even if nobody is left who has the others."""
    if label is None or not LISTING.fullmatch(label):
        return []
    parts = PARTS.findall(label[1:])
    try:
        return [
            None if part == MISSING else json.loads(part) if part.startswith('"') else part for part in parts
        ]
    except ValueError:  # quoted as no label is
        return []


def _masked(label: str | None, value: object, attribute: Attribute) -> bool:
    """Tell whether a label is what masking from the right leaves of a value, however wide the other values are."""
    if label is None or not label.endswith(ROOT) or not isinstance(attribute.hierarchy, MaskRecipe):
        return False
    left = label.rstrip(ROOT)
    if not left or value is None:
        return not left  # nothing is told of any value
    text, pads = text_of(value), [attribute.hierarchy.pad] if attribute.hierarchy.pad else ["0", " "]
    return len(text) <= len(label) and any(text.rjust(len(label), pad).startswith(left) for pad in pads)
