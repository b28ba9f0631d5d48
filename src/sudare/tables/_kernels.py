"""Compiled loops over plain arrays: counting, and checking the structure of CSV bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

Array = np.ndarray[Any, Any]


@njit(cache=True, nogil=True)
def count_dense(keys: Array, weights: Array) -> None:  # pragma: no cover
    """Count keys that are small enough to be positions."""
    for i in range(keys.size):
        weights[keys[i]] += 1


@njit(cache=True, nogil=True)
def unpack(keys: Array, spans: Array, codes: Array) -> None:  # pragma: no cover
    """Turn packed keys back into tuples of codes."""
    for i in range(keys.size):
        key = keys[i]
        for j in range(spans.size - 1, 0, -1):
            rest = key // spans[j]
            codes[i, j] = key - rest * spans[j]
            key = rest
        codes[i, 0] = key


RAGGED, OPEN_QUOTE, AFTER_QUOTE = 1, 2, 3


@njit(cache=True, nogil=True)
def scan_csv(
    data: Array, delimiter: int, quote: int, fields: int, stop_at: int
) -> tuple[int, int, int, int]:  # pragma: no cover
    """Walk over CSV bytes, record by record.

    Returns (fault, line, fields found, records): the first fault and the line its record starts on;
    or, if `stop_at` >= 0, the line on which that record starts (counting records from 0).
    """
    newline, carriage = 10, 13
    line = 1
    record_line = 1
    records = 0
    found = 1
    quoted = False
    field_start = True
    i = 0
    if stop_at == 0:
        return 0, 1, 0, 0
    while i < data.size:
        c = data[i]
        if quoted:
            if c == quote:
                if i + 1 < data.size and data[i + 1] == quote:
                    i += 1
                else:
                    quoted = False
                    if i + 1 < data.size:
                        after = data[i + 1]
                        if after != delimiter and after != newline and after != carriage:
                            return AFTER_QUOTE, line, found, records
            elif c == newline:
                line += 1
        elif c == delimiter:
            found += 1
            field_start = True
        elif c == newline:
            if found != fields or (field_start and found == 1 and fields > 1):
                return RAGGED, record_line, found, records
            records += 1
            line += 1
            record_line = line
            if records == stop_at:
                return 0, record_line, 0, records
            found = 1
            field_start = True
        elif c == quote and field_start:
            quoted = True
            field_start = False
        elif c != carriage:
            field_start = False
        i += 1
    if quoted:
        return OPEN_QUOTE, record_line, found, records
    if data.size > 0 and data[data.size - 1] != newline:
        if found != fields:
            return RAGGED, record_line, found, records
        records += 1
    return 0, line, fields, records
