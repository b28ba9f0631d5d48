"""One of several views, verified by who was given no other: against the certificate that came with it.

A certificate names the files of all views. A receiver of one can hold that one to it: its bytes, its columns, its figures, and how many
values it leaves by itself. What it leaves together with others cannot be counted from it, and is not said to hold.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from sudare.errors import InputError, RequirementError
from sudare.privacy.certificate import Certificate
from sudare.privacy.multi_view import MultiViewDiversity
from sudare.tables.copies import LABELLED
from sudare.tables.folders import CERTIFICATE
from sudare.tables.parts import table_of
from sudare.tables.text import listed, shown
from sudare.verification.claims import (
    promised_by,
    refuse_figures,
    refuse_labels,
    refuse_needless_values,
    refuse_records,
    refuse_texts,
    refuse_without_quasi,
)
from sudare.verification.files import (
    DATA_ENDINGS,
    PublishedTable,
    open_copies,
    refuse_changed,
    refuse_other_copies,
    refuse_rewritten,
    refuse_unplain,
    tables_in,
)
from sudare.verification.finders import find_in_views
from sudare.verification.findings import Verification
from sudare.verification.numbers_beside import refuse_false_numbers
from sudare.verification.utility import refuse_other_utility_of_views

ALONE = (
    "this is what the view '{}' leaves by itself; what it leaves together with {} was not counted, nor can it be without the people whom the views "
    "are of: ask the holder"
)
MAX_NAME = 255  # letters of a file's name
HASH = re.compile("[0-9a-f]{64}")
BELIEVED = "what the certificate says of {} was believed: no file of it is here"


def has_certificate(path: Path) -> bool:
    """Tell whether this is a file that a certificate lies beside."""
    return path.is_file() and path.name != CERTIFICATE and (path.parent / CERTIFICATE).is_file()


def verify_view(path: Path) -> Verification:
    """Recount one view of several, as far as it tells something by itself."""
    refuse_unplain(path.parent / CERTIFICATE)
    certificate = Certificate.open(path.parent / CERTIFICATE)
    promises = promised_by(certificate)
    if not all(isinstance(promise, MultiViewDiversity) for promise in promises):
        raise InputError(
            f"{path}: what {CERTIFICATE} beside it promises is of the folder. Verify that: sudare verify {path.parent}; or say what to ask of this "
            "file, such as -k 5, with its schema."
        )
    if path.name not in certificate.output:
        raise InputError(
            f"{path} is not named by {CERTIFICATE} beside it. Give the requirements and the schema."
        )
    _refuse_strange_files(certificate)
    view = table_of(path)
    others = sorted({table_of(Path(name)) for name in certificate.output} - {view})
    if not others:
        raise InputError(
            f"{path} is all that {CERTIFICATE} beside it names. Verify the folder: sudare verify {path.parent}."
        )
    hashes = {name: own for name, own in certificate.output.items() if table_of(Path(name)) == view}
    # In whichever formats it was given. Where a part of its rows is missing, there are fewer than the certificate says.
    files = {file.name: file for file in sorted(path.parent.iterdir()) if file.name in hashes}
    for file in files.values():
        refuse_unplain(file)
    refuse_changed(files, certificate.model_copy(update={"output": {name: hashes[name] for name in files}}))
    schema = certificate.schema_of_output()
    copies = tables_in(files)
    if not copies:
        raise InputError(f"{path} is a copy of a Parquet file, which is needed beside it. Ask for it, too.")
    tables = {view: open_copies(copies[view], schema)}
    refuse_false_numbers(tables[view][0], schema)
    refuse_texts(certificate)
    refuse_without_quasi(certificate, promises)
    refuse_needless_values(certificate, promises)
    notes = refuse_rewritten(files, tables, certificate.versions)
    notes += refuse_other_copies(files, tables, schema, certificate.versions)
    findings = [find_in_views(promise, tables, schema) for promise in promises]
    refuse_figures(certificate, {finding.name: finding.value for finding in findings})
    refuse_records(certificate, tables)
    table = tables[view][0]
    _refuse_own_labels(certificate, tables)
    refuse_other_utility_of_views(certificate, view, others, table.rows, schema)
    findings = [
        replace(
            finding,
            requirement=f"{finding.requirement}, as far as '{view}' alone shows it,",
            note=ALONE.format(view, listed(others)),
        )
        for finding in findings
    ]
    notes.append(BELIEVED.format(listed(others)))
    roles = {name: schema[name].treated_as for name in table.columns}
    return Verification(
        tuple(findings), roles, tuple(note for note in notes if note), {view: table.rows.height}
    )


def _refuse_strange_files(certificate: Certificate) -> None:
    """Refuse names and hashes that no release writes: those of files that are not here are compared with nothing else."""
    for name, own in certificate.output.items():
        plain = len(name) <= MAX_NAME and name.isprintable() and Path(name).name == name
        if not (plain and Path(name).suffix in DATA_ENDINGS and HASH.fullmatch(own)):
            raise RequirementError(
                f"{CERTIFICATE} names a file that is none of a release: {shown(name)}, with the hash {shown(own)}. Do not rely on it."
            )


def _refuse_own_labels(certificate: Certificate, tables: Mapping[str, list[PublishedTable]]) -> None:
    """Refuse labels of this view's columns that nothing in it has, and such of no column; those of other views are believed."""
    columns = {name for copies in tables.values() for table in copies for name in table.columns}
    own = {
        name: labels
        for name, labels in certificate.labels.items()
        if name in columns or name not in certificate.attributes
    }
    if certificate.labels and not any(Path(name).suffix in LABELLED for name in certificate.output):
        raise RequirementError(
            f"{CERTIFICATE} lists labels, which no file that it names has. Do not rely on it."
        )
    refuse_labels(certificate.model_copy(update={"labels": own}), tables, certificate.output)
