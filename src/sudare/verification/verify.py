"""Verification: recount what is published, from the output alone.

Nothing here comes from the methods or from what `privacy` measures with: every file is read and grouped by polars, by
what a receiver can distinguish, and of a requirement only its parameters are used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from sudare.errors import InputError, ParameterError, RequirementError
from sudare.plans.law import TableLaw
from sudare.privacy.certificate import Certificate
from sudare.privacy.differential_privacy import DifferentialPrivacy
from sudare.privacy.multi_view import MultiViewDiversity
from sudare.privacy.pk_anonymity import PkAnonymity
from sudare.privacy.promises import Promise
from sudare.privacy.requirement import Requirement
from sudare.tables.attribute import Role
from sudare.tables.folders import CERTIFICATE, LAW, handed_over
from sudare.tables.given import published_given
from sudare.tables.runs import PublishedRows
from sudare.tables.schema import Schema, schema_given
from sudare.tables.text import listed
from sudare.verification import recount_laws
from sudare.verification.claims import (
    promised_by,
    refuse_figures,
    refuse_labels,
    refuse_needless_values,
    refuse_other_columns,
    refuse_records,
    refuse_texts,
    refuse_without_quasi,
)
from sudare.verification.columns import refuse_columns
from sudare.verification.compositions import find_in_compositions, linked_unit
from sudare.verification.files import (
    PublishedTable,
    files_in,
    open_copies,
    open_table,
    refuse_changed,
    refuse_other_copies,
    refuse_other_json,
    refuse_rewritten,
    tables_in,
)
from sudare.verification.finders import find_by_law, find_in_blocks, find_in_views
from sudare.verification.findings import Finding, Verification
from sudare.verification.numbers_beside import refuse_false_numbers
from sudare.verification.one_view import has_certificate, verify_view
from sudare.verification.pview import find_in_pview, is_pview
from sudare.verification.utility import refuse_other_utility

ROWS_OF_A_UNIT = "That no {0} has more rows in the output than its law protects together (rows = {1:,}) was believed: no row says whose it is."


def verify(
    output: pl.DataFrame | PublishedRows | str | Path,
    requirements: Promise | Sequence[Promise] | None = None,
    schema: Schema | None = None,
    *,
    plan: Mapping[str, Any] | None = None,
) -> Verification:
    """Recount a published frame, file or release folder, and say whether the requirements hold.

    A release folder states what it promises in its certificate: without `requirements` that is verified, and
    without `schema` its columns are what the certificate says they are. Every file in it is read: what was not
    certified, was changed, or promises less than the certificate claims, is refused with a RequirementError. For a frame
    or a single file both must be given. Columns that the schema does not publish, or that look like others, are refused.

    What a randomized table promises is a property of its law, which is published with it: in law.json beside the
    output, or given as `plan`.

    Of the table that t-closeness, beta-likeness and delta-disclosure compare a block with, only the output is known: a block's
    distance is that from the sensitive column of the whole output, without records that were left out. Likewise, a hierarchy that
    the schema gives by a recipe is built from the output's values (or the declared domain).

    What a p-view promises is a property of its noise: its budget is added up again. Of several views, who was given one names its
    file: it is held to the certificate beside it, and what it leaves by itself is recounted.

    Findings are named k, l_distinct, l_entropy, l_recursive, l_proximity, t, beta, disclosure, k_map and presence. Several of one name are distinguished by what
    they differ in: l_distinct:illness, t:ordered, l_recursive:c=3.

    >>> import sudare as sd
    >>> output = pl.DataFrame({"age": ["[20, 30)"] * 3 + ["[30, 40)"] * 2, "illness": list("abcab")})
    >>> schema = sd.Schema.from_roles(quasi=["age"], sensitive=["illness"])
    >>> verify(output, sd.KAnonymity(2), schema)
    Verification(holds: 2-anonymity, k = 2)
    >>> verify(output, sd.KAnonymity(2), schema).worst
    {'age': '[30, 40)'}
    >>> verify(output, [sd.LDiversity(2), sd.TCloseness(0.3)], schema).measured
    {'l_distinct': 2, 't': 0.2}
    """
    published_given(output, "verify")
    if schema is not None:
        schema_given(schema, "verify")
    promised = _listed(requirements)
    if not isinstance(output, pl.DataFrame | PublishedRows) and not Path(output).exists():
        raise InputError(f"{output}: there is no such file or folder, and the output cannot be read.")
    if is_pview(output):
        return find_in_pview(Path(output), promised)
    if not isinstance(output, pl.DataFrame | PublishedRows) and handed_over(output).is_dir():
        return _verify_folder(handed_over(output), promised, schema, plan)
    if promised is None or schema is None:
        if (
            promised is None
            and schema is None
            and isinstance(output, str | Path)
            and has_certificate(Path(output))
        ):
            return verify_view(Path(output))
        raise ParameterError(
            "verify needs the requirements and the schema of a table; only a release folder, a view beside its certificate and a p-view "
            "state their own."
        )
    single = output if isinstance(output, pl.DataFrame | PublishedRows) else Path(output)
    tables = {"data": [open_table([single] if isinstance(single, Path) else single, schema)]}
    law = _given(plan) or (_law_beside(single) if _by_law(promised) else None)
    return _verification(tables, promised, schema, law)


def _verification(
    tables: Mapping[str, list[PublishedTable]],
    asked: Sequence[Promise],
    schema: Schema,
    law: TableLaw | None,
    notes: Sequence[str] = (),
) -> Verification:
    names = dict.fromkeys(name for copies in tables.values() for name in copies[0].columns)
    for copies in tables.values():
        for table in copies:
            refuse_false_numbers(table, schema)
    roles = {name: schema[name].treated_as for name in names}
    rows = {name: copies[0].rows.height for name, copies in tables.items()}
    return Verification(tuple(_find(tables, asked, schema, law)), roles, tuple(notes), rows)


def _listed(requirements: Promise | Sequence[Promise] | None) -> list[Promise] | None:
    if requirements is None:
        return None
    if isinstance(requirements, Requirement):
        return [requirements]
    if not isinstance(requirements, Sequence) or not requirements:
        raise ParameterError("verify needs at least one requirement, such as KAnonymity(5).")
    return list(requirements)


def _verify_folder(
    folder: Path, promised: list[Promise] | None, schema: Schema | None, plan: Mapping[str, Any] | None
) -> Verification:
    """Read every file of a folder, and verify what its certificate claims, and what else is asked for."""
    files = files_in(folder)
    if CERTIFICATE not in files:
        if promised is None or schema is None:
            raise ParameterError(
                f"{folder} has no {CERTIFICATE} that says what it promises. Give the requirements and the schema."
            )
        law = _given(plan) or (TableLaw.open(files[LAW]) if LAW in files else None)
        tables = _read(files, schema)
        refuse_other_copies(files, tables, schema, {})
        return _verification(tables, promised, schema, law)
    certificate = Certificate.open(files[CERTIFICATE])
    refuse_changed(files, certificate)
    law = TableLaw.open(files[LAW]) if LAW in files else None
    own = certificate.schema_of_output()
    tables = _read(files, own)
    refuse_other_columns(certificate, tables)
    refuse_texts(certificate)
    refuse_labels(certificate, tables, files)
    notes = refuse_rewritten(files, tables, certificate.versions)
    notes += refuse_other_copies(files, tables, own, certificate.versions)
    own_promises = promised_by(certificate)
    refuse_without_quasi(certificate, own_promises)
    refuse_needless_values(certificate, own_promises)
    claimed = _verification(tables, own_promises, own, law)
    refuse_figures(certificate, claimed.measured)
    refuse_records(certificate, tables)
    published = {name: copies[0].rows for name, copies in tables.items()}
    if law is not None:
        if law.caveats != certificate.caveats:
            raise RequirementError(
                f"{files[LAW]} has other caveats than the certificate. Ask for the folder again."
            )
        if law.rows > 1 and certificate.unit is None:
            raise RequirementError(
                f"{files[LAW]} protects several rows together, and the certificate does not say of whom."
            )
        if certificate.unit is not None:
            notes.append(ROWS_OF_A_UNIT.format(certificate.unit, law.rows))
        recount_laws.refuse_better(law, certificate.records["published"], claimed.measured)
        refuse_other_json(files[LAW])
    notes.append(refuse_other_utility(certificate, own_promises, published, own, randomized=law is not None))
    notes = [note for note in notes if note]
    if promised is None and schema is None:
        return replace(claimed, notes=tuple(notes))
    claimed.refuse_if_broken()
    if schema is not None:  # the rows were read; what they may be called is another question
        for copies in tables.values():
            for table in copies:
                refuse_columns(table.columns, schema, table.where)
    return _verification(tables, promised or own_promises, schema or own, _given(plan) or law, notes)


def _read(files: Mapping[str, Path], schema: Schema) -> dict[str, list[PublishedTable]]:
    """Read all tables of a folder, each from all files that hold it."""
    tables = {name: open_copies(copies, schema) for name, copies in tables_in(files).items()}
    if not tables:
        raise InputError("There is no published table in this folder: no Parquet file, and no CSV file.")
    return tables


def _find(
    tables: Mapping[str, list[PublishedTable]], asked: Sequence[Promise], schema: Schema, law: TableLaw | None
) -> list[Finding]:
    """Say what the output has of each requirement: in each file of a table, and of that the worst."""
    if any(isinstance(promise, MultiViewDiversity) for promise in asked):
        return [find_in_views(promise, tables, schema) for promise in asked]
    if len(tables) > 1:
        raise InputError(
            f"There are several views, {listed(list(tables))}, and {asked[0]} is what a single table can have. Ask for "
            "MultiViewDiversity, or attack them together: sudare attack FOLDER --known PEOPLE."
        )
    (copies,) = tables.values()
    in_each = [_find_in_table(table, asked, schema, law) for table in copies]
    return [min(findings, key=lambda finding: finding.holds) for findings in zip(*in_each, strict=True)]


def _find_in_table(
    table: PublishedTable, asked: Sequence[Promise], schema: Schema, law: TableLaw | None
) -> list[Finding]:
    if absent := [name for name in schema.names(Role.quasi) if name not in table.columns]:
        raise InputError(f"{table.where} has no column '{absent[0]}', which the schema calls quasi.")
    by_law = _by_law(asked)
    if not by_law:
        unit = linked_unit(schema, table.columns)
        return (
            find_in_blocks(table, asked, schema)
            if unit is None
            else find_in_compositions(table, asked, schema, unit)
        )
    if len(by_law) < len(asked):
        raise ParameterError("Ask either for what blocks have, or for what a randomized table promises.")
    if law is None:
        raise InputError(
            f"A randomized table is verified by its law, and there is no {LAW}. Name the release's folder, or give plan=..."
        )
    return list(find_by_law(by_law, table, law))


# -- What a randomized table promises ------------------------------------------------------------------


def _by_law(asked: Sequence[Promise]) -> list[PkAnonymity | DifferentialPrivacy]:
    return [promise for promise in asked if isinstance(promise, PkAnonymity | DifferentialPrivacy)]


def _given(plan: Mapping[str, Any] | None) -> TableLaw | None:
    return None if plan is None else TableLaw.of(plan)


def _law_beside(output: pl.DataFrame | PublishedRows | Path) -> TableLaw | None:
    """Read the law that was published with a file, if there is one."""
    if isinstance(output, pl.DataFrame | PublishedRows) or not (output.parent / LAW).exists():
        return None
    return TableLaw.open(output.parent / LAW)
