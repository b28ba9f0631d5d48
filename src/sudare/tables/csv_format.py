"""What a CSV file is written in: its encoding, newline, delimiter, decimal sign, and blanks; and how it is guessed."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sudare.errors import InputError
from sudare.tables import _kernels
from sudare.tables.schema import CsvFormat
from sudare.tables.text import shown

SAMPLE = 2**16  # bytes looked at to detect the format
CHUNK = 2**24
MANY = 20  # bytes, fewer of which tell nothing
DELIMITERS = ",;\t|"
DECLARE = """Say which encoding the file has: encoding = "{0}" under [csv] in the schema, sudare init --encoding {0}, or in Python \
csv=CsvFormat(encoding="{0}")"""


# -- Encoding ------------------------------------------------------------------------------------


def guess_encoding(name: str, data: NDArray[np.uint8]) -> str:
    """Return the encoding of some bytes: UTF-16 or UTF-32 with its mark, UTF-8 or Shift_JIS; others must be said."""
    start = data[:4].tobytes()
    if start.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "utf-32"
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    _refuse_zeros(name, data[:SAMPLE])
    fault = _undecodable(data, "utf-8")
    if fault is None:
        return "utf-8"
    if _undecodable(data, "cp932") is None and _looks_japanese(data):
        return "shift_jis"
    if 0 in data[:SAMPLE]:
        raise no_text(name)
    raise _undecodable_error(name, data, "UTF-8", fault)


def _refuse_zeros(name: str, sample: NDArray[np.uint8]) -> None:
    """Refuse what is valid UTF-8 and yet no text: half of it, and more, are zeros."""
    zeros = np.flatnonzero(sample == 0)
    if len(sample) < MANY or len(zeros) < 0.4 * len(sample):
        return
    for place, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        if (zeros % 2 == place).mean() > 0.9:
            raise InputError(
                f"{name}: this looks like UTF-16 text without its mark. {DECLARE.format(encoding)}."
            )
    raise no_text(name)


def no_text(name: str) -> InputError:
    """Say that a file is no text, and of no kind that is known."""
    return InputError(
        f"{name}: this is no CSV file, but a binary one of no known kind. Export the table as .csv, .xlsx or .parquet."
    )


def _undecodable(data: NDArray[np.uint8], encoding: str) -> int | None:
    """Return the position of the first byte that the encoding cannot have; None if there is none."""
    decoder = codecs.getincrementaldecoder(encoding)()
    for start in range(0, len(data), CHUNK):
        held = decoder.getstate()[0]
        chunk = data[start : start + CHUNK]
        if not held and encoding in ("utf-8", "cp932") and chunk.max() < 0x80:
            continue  # plain ASCII
        try:
            decoder.decode(chunk.tobytes(), final=start + CHUNK >= len(data))
        except UnicodeDecodeError as error:
            return start - len(held) + error.start
    return None


def _looks_japanese(data: NDArray[np.uint8]) -> bool:
    """Tell Shift_JIS from other 8-bit text: kana, signs and the common kanji start with 0x81 to 0x97."""
    high = data[data >= 0x80]
    return len(high) > 0 and ((high >= 0x81) & (high <= 0x97)).mean() > 0.25


def _undecodable_error(name: str, data: NDArray[np.uint8], encoding: str, position: int) -> InputError:
    newlines = np.flatnonzero(data[:position] == 10)
    start = int(newlines[-1]) + 1 if len(newlines) else 0
    near = (
        data[max(start, position - 20) : position + 10].tobytes().decode("ascii", errors="backslashreplace")
    )
    western = (
        "latin-1" if codecs.lookup(encoding).name == "cp1252" else "cp1252"
    )  # what Excel on Windows writes in the West, its own signs among it
    return InputError(
        f"{name}, line {len(newlines) + 1}, byte {position - start + 1} of the line: 0x{data[position]:02X} is not "
        f"{encoding} (near {shown(near)}). {DECLARE.format(western)}, if that is what it is, or export it as UTF-8."
    )


def as_utf8(path: Path, data: NDArray[np.uint8], encoding: str) -> NDArray[np.uint8]:
    """Return the bytes to parse: those of the file if it is UTF-8, else of a copy that is."""
    try:
        name = codecs.lookup(encoding).name
    except LookupError:
        raise InputError(
            f'{path.name}: there is no encoding \'{encoding}\'. Use one such as "utf-8" or "shift_jis".'
        ) from None
    name = "cp932" if name == "shift_jis" else name  # what Japanese software writes under that name
    plain = name in ("utf-8", "utf-8-sig", "ascii")
    if (fault := _undecodable(data, "utf-8" if plain else name)) is not None:
        raise _undecodable_error(path.name, data, encoding, fault)
    text = data[3:] if plain and data[:3].tobytes() == codecs.BOM_UTF8 else data
    if plain:
        return text
    return np.frombuffer(text.tobytes().decode(name).encode(), dtype=np.uint8)


# -- Newline, delimiter, decimals, blanks -----------------------------------------------------------------


def newline_of(sample: str, quote: str) -> int:
    """Return the byte that ends records: LF (also after a CR), or CR in files from old Macs."""
    unquoted = re.sub(f"{re.escape(quote)}.*?{re.escape(quote)}", "", sample, flags=re.DOTALL)
    return _kernels.CR if "\r" in unquoted and "\n" not in unquoted else _kernels.LF


def csv_reader(text: str, format: CsvFormat) -> Iterator[list[str]]:
    """Split text into records, as Python's own reader does."""
    return csv.reader(
        io.StringIO(text, newline=""),
        delimiter=format.delimiter or ",",
        quotechar=format.quote,
        skipinitialspace=bool(format.trim),
    )


def records_of(sample: str, format: CsvFormat) -> list[list[str]]:
    """Split a sample; its last record may be cut off and is left out if there are others."""
    try:
        records = list(csv_reader(sample, format))
    except csv.Error:
        return []
    return records[:-1] if len(records) > 1 and len(sample) >= SAMPLE // 2 else records


def guess_delimiter(sample: str, quote: str) -> str:
    """Take the delimiter that gives most records the header's number of fields, and most fields."""

    def score(delimiter: str) -> tuple[float, int]:
        # With trim: a quote after a blank opens a field, so that delimiters inside it do not count.
        records = records_of(sample, CsvFormat(delimiter=delimiter, quote=quote, trim=True))
        fields = len(records[0]) if records else 1
        if fields < 2:
            return 0.0, 0
        return sum(len(record) == fields for record in records) / len(records), fields

    return max(DELIMITERS, key=score)


def guess_decimal(records: list[list[str]], delimiter: str) -> Literal[".", ","]:
    """Take the comma for the decimal sign if more numbers have one than have a point."""
    if delimiter == ",":
        return "."
    fields = [field.strip() for record in records[1:] for field in record]
    commas = sum(re.fullmatch(r"[+-]?[0-9]+,[0-9]+", field) is not None for field in fields)
    points = sum(re.fullmatch(r"[+-]?[0-9]+\.[0-9]+", field) is not None for field in fields)
    return "," if commas > points else "."


def guess_trim(records: list[list[str]]) -> bool:
    """Blanks after nearly every delimiter (`39, State-gov, 77516`) belong to the format, not to the values."""
    later = [field for record in records for field in record[1:] if field]
    return bool(later) and sum(field.startswith(" ") for field in later) > 0.9 * len(later)
