"""The verb `attack`: try on a published table what an outsider would try."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from sudare.attacks import background, homogeneity, proximity, reidentification, skewness
from sudare.attacks.composition import composition
from sudare.attacks.harmless import Harmless
from sudare.attacks.households import households
from sudare.attacks.intersection import Views, intersection
from sudare.attacks.k_map import k_map
from sudare.attacks.knowing import by_definetti, by_downcoding, by_minimality
from sudare.attacks.law_game import by_game
from sudare.attacks.population import population
from sudare.attacks.presence import presence
from sudare.attacks.published import Output, Published, rows_of
from sudare.attacks.randomized import by_law, law_of, refuse_noise_as_truth
from sudare.errors import InputError, ParameterError
from sudare.privacy.requirement import one_of
from sudare.tables.attribute import Role
from sudare.tables.given import published_given
from sudare.tables.schema import Schema, schema_given
from sudare.tables.table import Table


class Kind(NamedTuple):
    """A kind of attack."""

    attack: Callable[..., Any]
    """Takes the published table and its own options by name. Its result has `summary()` and `str()`."""
    join: Callable[..., Any]
    """Puts the results of some blocks each together."""


KINDS = {
    "homogeneity": Kind(homogeneity.homogeneity, homogeneity.joined),
    "background": Kind(background.background, background.joined),
    "reidentification": Kind(reidentification.reidentification, reidentification.joined),
    "skewness": Kind(skewness.skewness, skewness.joined),
    "proximity": Kind(proximity.proximity, proximity.joined),
}
KNOWING: dict[str, Callable[..., Any]] = {
    "minimality": by_minimality,
    "downcoding": by_downcoding,
    "definetti": by_definetti,
    "households": households,
}
"""Attacks of who knows the method, or who belongs together; each takes the output, the schema, and its own options."""
SAMPLED: dict[str, Callable[..., Any]] = {
    "population": population,
    "k_map": k_map,
    "presence": presence,
}
"""What is learned of people in the population behind a sample; each takes the output, the schema, and its own options."""
TOGETHER: dict[str, Callable[..., Any]] = {"intersection": intersection, "composition": composition}
"""Attacks on several outputs together."""
NEED_SENSITIVE = ("homogeneity", "background", "skewness", "proximity")


def attack(
    output: Output | Views, schema: Schema | None = None, kind: str | None = None, **options: Any
) -> Any:
    """Attack a published frame, file or release folder, and say what an outsider learns.

    `kind` is "homogeneity" (the usual one), "background" (option `known`), "reidentification" (options `threshold` and
    `population`), "skewness" (option `floor`) or "proximity" (options `within` and `relative`). The result is a Homogeneity,
    Background, Reidentification, Skewness or Proximity; print it to read it. All but the third take `harmless`, values
    of which it is no disclosure to learn them: a list, or lists by sensitive attribute. Attack the original table, which can be given as it
    is, to compare the risk before and after.

    Of a sample, kind "population" estimates the risk among the people that it was drawn from: the schema's weight says how many
    people a record stands for, or the option `sampling_fraction` which share of them was drawn (also `threshold`). The result is a
    PopulationRisk. Kind "k_map" counts how many people of a given `population`, as they are, each record could belong to; the
    result is a KMap. Kind "presence" counts how likely each of them is to be in the table at all; the result is a Presence.

    A randomized table is attacked by its law, kind "law": what its noise leaves to outsiders at most. The law lies beside
    the output, or is given as the option `law`; the schema is not needed. The result is a ByLaw. By kind "pk_game" somebody
    who knows the original (option `known`; else the output stands in for one) picks the person and the row that most likely
    belong together. The result is a PkGame, for the holder alone. The other kinds would take noise for truth, and are refused.

    Several views, a mapping from names to frames or files, or the folder they are in, are attacked together by
    kind "intersection"; its option `known` are the people who are looked up in them. The result is an Intersection.
    Releases that were made without each other are by kind "composition", where `known` are people who are in all of them.

    Three more kinds know how a release was made, as its certificate tells, or the options `requirements` and `method`:
    "minimality" (that no block could be cut; option `known`, all its people, and `strict`), "downcoding" (that no label
    climbs without need; options `population`, people like its own, and `truth`, to score by) and "definetti" (a
    model that is learned from the blocks; options `known` and `attribute`). If the known people have sensitive values,
    these are for scoring alone.

    Households and persons with several rows are looked up with all of them by kind "households", where the option `known` are people
    with their household; its options `unit`, `ties` and `k` say what ties rows together, and how many may be too few.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"zip": ["130**"] * 2 + ["148**"] * 2, "illness": ["flu", "HIV", "flu", "flu"]})
    >>> schema = Schema.from_roles(quasi=["zip"], sensitive=["illness"])
    >>> attack(frame, schema).by_attribute["illness"].records
    2
    >>> attack(frame, schema, kind="background", known=1).posterior
    1.0
    """
    for one in output.values() if isinstance(output, Mapping) else [output]:
        published_given(one, "attack", Table)
    if schema is not None:
        schema_given(schema, "attack")
    if kind is None:
        kind = "law" if "law" in options or law_of(output) is not None else "homogeneity"
    own = {name: known.attack for name, known in KINDS.items()} | SAMPLED | TOGETHER | KNOWING
    own |= {"law": by_law, "pk_game": by_game}
    if not isinstance(kind, str) or kind not in own:
        raise ParameterError(
            f"The 'kind' parameter of attack must be one of {', '.join(own)}. Got {kind!r} instead."
        )
    _check_options(kind, own[kind], options)
    if kind in TOGETHER:
        for view in output.values() if isinstance(output, Mapping) else [output]:
            refuse_noise_as_truth(view, kind)
        return TOGETHER[kind](output, _needed(schema, kind), **options)
    if isinstance(output, Mapping):
        raise InputError(
            f'The {kind} attack takes one output. Attack several views by kind="intersection" with known=people.'
        )
    if kind == "law":
        return by_law(output, **options)
    if kind == "pk_game":
        return by_game(output, schema, **options)
    refuse_noise_as_truth(output, kind)
    if kind in SAMPLED | KNOWING:
        return (SAMPLED | KNOWING)[kind](output, _needed(schema, kind), **options)
    if kind == "reidentification" and (needed := _needed(schema, kind)).unit is not None:
        return _of_units(output, needed, options)
    if options.get("population") is not None:  # which is looked up in at once
        return KINDS[kind].attack(Published.open(output, _needed(schema, kind)), **options)
    return _by_pieces(output, _needed(schema, kind), {kind: options})[kind]


def attack_each(output: Output, schema: Schema, kinds: Sequence[str]) -> dict[str, Any]:
    """Try several kinds of attacks on one output, each with its defaults; rows are counted once for all of them.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"zip": ["130**"] * 2 + ["148**"] * 2, "illness": ["flu", "HIV", "flu", "flu"]})
    >>> schema = Schema.from_roles(quasi=["zip"], sensitive=["illness"])
    >>> found = attack_each(frame, schema, ["reidentification", "homogeneity"])
    >>> found["reidentification"].marketer, found["homogeneity"].by_attribute["illness"].records
    (0.5, 2)
    """
    for kind in kinds:
        one_of(kind, "kind", "attack_each", tuple(KINDS))
        refuse_noise_as_truth(output, kind)
    units = ["reidentification"] if schema.unit is not None and "reidentification" in kinds else []
    together: dict[str, dict[str, Any]] = {kind: {} for kind in kinds if kind not in units}
    found = {kind: attack(output, schema, kind=kind) for kind in units}
    return found | (_by_pieces(output, schema, together) if together else {})


def _of_units(
    output: Output, schema: Schema, options: Mapping[str, Any]
) -> reidentification.Reidentification:
    """Look for persons or households where rows say whose they are, and else for records, saying so."""
    unit = schema.unit or ""
    if unit in (output.columns if isinstance(output, Table) else rows_of(output).columns):
        return reidentification.by_units(output, schema, **options)
    found = reidentification.reidentification(Published.open(output, schema), **options)
    return replace(found, uncounted=str(schema[unit].role))


def _by_pieces(output: Output, schema: Schema, kinds: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Try some kinds of attacks, each with its options, some blocks at a time."""
    results: dict[str, list[Any]] = {kind: [] for kind in kinds}
    for piece in Published.pieces(output, schema):
        for kind, options in kinds.items():
            results[kind].append(KINDS[kind].attack(piece, **options))
    return {kind: KINDS[kind].join(own, piece) for kind, own in results.items()}


def _needed(schema: Schema | None, kind: str) -> Schema:
    if schema is None:
        raise ParameterError(f"The {kind} attack needs the schema: it says what outsiders know.")
    return schema


def _check_options(kind: str, attack_kind: Callable[..., Any], options: Mapping[str, Any]) -> None:
    parameters = inspect.signature(attack_kind).parameters.values()
    allowed = [one for one in parameters if one.kind is one.KEYWORD_ONLY]
    known = ", ".join(one.name for one in allowed) or "none"
    if unknown := set(options) - {one.name for one in allowed}:
        raise ParameterError(f"The {kind} attack has no option '{min(unknown)}'. Its options: {known}.")
    if absent := [one.name for one in allowed if one.default is one.empty and one.name not in options]:
        raise ParameterError(f"The {kind} attack needs the option '{absent[0]}'. Its options: {known}.")


def attack_all(output: Output, schema: Schema, harmless: Harmless = ()) -> dict[str, Any]:
    """Try every attack with its defaults; return the numbers as plain data, for a certificate.

    But for proximity, which needs a width that means something: of that, l-diversity by proximity is measured.

    No block or value is named: a certificate travels with the output, and should not point at anybody.
    Without a sensitive attribute there is only the re-identification attack to try.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"zip": ["130**"] * 2 + ["148**"] * 2, "illness": ["flu", "HIV", "flu", "flu"]})
    >>> figures = attack_all(frame, Schema.from_roles(quasi=["zip"], sensitive=["illness"]))
    >>> figures["homogeneity"]
    {'illness': {'blocks': 1, 'records': 2, 'share': 0.5}}
    """
    with_sensitive = [kind for kind in NEED_SENSITIVE if kind != "proximity"]
    able = [*(with_sensitive if schema.names(Role.sensitive) else []), "reidentification"]
    kinds = {kind: {"harmless": harmless} if kind in NEED_SENSITIVE else {} for kind in KINDS if kind in able}
    results = _by_pieces(output, schema, kinds)
    return {kind: result.summary() for kind, result in results.items()}
