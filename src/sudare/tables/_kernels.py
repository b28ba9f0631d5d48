"""Compiled loops over plain arrays: counting, and checking the structure of CSV bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from sudare.kernels import kernel

Array = np.ndarray[Any, Any]


@kernel
def count_dense(keys: Array, weights: Array) -> None:  # pragma: no cover
    """Count keys that are small enough to be positions."""
    for i in range(keys.size):
        weights[keys[i]] += 1


@kernel
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
LF, CR, BLANK = 10, 13, 32


@kernel
def scan_csv(
    data: Array, delimiter: int, quote: int, newline: int, trim: bool, fields: int, stop_at: int
) -> tuple[int, int, int, int, bool]:  # pragma: no cover
    """Walk over CSV bytes, record by record.

    Returns (fault, line, fields of the record, records, odd): the first fault and the line on which its record
    starts; or, if `stop_at` >= 0, the line on which that record starts (counting records from 0).
    `odd` tells whether the bytes must be made plain before others read them (see `plain_csv`).
    """
    line = record_line = 1
    records = 0
    record_fields = 1
    quoted = False
    start = True  # of a field
    odd = newline == CR
    if stop_at == 0:
        return 0, 1, 0, 0, odd
    i = 0
    while i < data.size:
        c = data[i]
        if quoted:
            if c == quote:
                if i + 1 < data.size and data[i + 1] == quote:
                    i += 1
                else:
                    quoted = False
                    after = i + 1
                    while trim and after < data.size and data[after] == BLANK:
                        after += 1
                        odd = True
                    if (
                        newline == LF
                        and after + 1 < data.size
                        and data[after] == CR
                        and data[after + 1] == LF
                    ):
                        after += 1
                    if after < data.size and data[after] != delimiter and data[after] != newline:
                        return AFTER_QUOTE, line, record_fields, records, odd
                    i = after - 1
            elif c == newline:
                line += 1
        elif c == delimiter:
            record_fields += 1
            start = True
        elif c == newline:
            if record_fields != fields or (start and record_fields == 1 and fields > 1):
                return RAGGED, record_line, record_fields, records, odd
            records += 1
            line += 1
            record_line = line
            if records == stop_at:
                return 0, record_line, 0, records, odd
            record_fields = 1
            start = True
        elif c == quote:
            if start:
                quoted = True
                odd = odd or (i > 0 and data[i - 1] == BLANK)
            else:
                odd = True
            start = False
        elif not (trim and start and c == BLANK) and c != CR:
            start = False
        i += 1
    if quoted:
        return OPEN_QUOTE, record_line, record_fields, records, odd
    if data.size > 0 and data[data.size - 1] != newline:
        if record_fields != fields:
            return RAGGED, record_line, record_fields, records, odd
        records += 1
    return 0, line, fields, records, odd


@kernel
def plain_csv(
    data: Array, delimiter: int, quote: int, newline: int, trim: bool, out: Array
) -> int:  # pragma: no cover
    """Rewrite CSV bytes that `scan_csv` has passed so that every reader takes them alike.

    A field with a quote inside but not at its start is quoted, blanks around a quoted field are left
    out if `trim`, and records end with LF. Returns how many bytes of `out` were written.
    """
    i = o = 0
    while i < data.size:
        start = i
        while trim and start < data.size and data[start] == BLANK:
            start += 1
        if start < data.size and data[start] == quote:
            out[o] = quote
            o += 1
            i = start + 1
            while data[i] != quote or (i + 1 < data.size and data[i + 1] == quote):
                if data[i] == quote:
                    out[o] = quote
                    o += 1
                    i += 1
                out[o] = data[i]
                o += 1
                i += 1
            out[o] = quote
            o += 1
            i += 1
            while i < data.size and data[i] != delimiter and data[i] != newline:
                i += 1
        else:
            end = i
            stray = False
            while end < data.size and data[end] != delimiter and data[end] != newline:
                stray = stray or data[end] == quote
                end += 1
            stop = end
            if newline == LF and stop > i and end < data.size and data[end] == LF and data[stop - 1] == CR:
                stop -= 1
            if stray:
                out[o] = quote
                o += 1
            for j in range(i, stop):
                if data[j] == quote:
                    out[o] = quote
                    o += 1
                out[o] = data[j]
                o += 1
            if stray:
                out[o] = quote
                o += 1
            i = end
        if i < data.size:
            out[o] = LF if data[i] == newline else delimiter
            o += 1
            i += 1
    return o
