"""What is believed about a person's sensitive value by who knows all the rest: exactly, for small tables whose rows are shuffled.

Let person i have the values u. With the value s in the place of the true one, the rows have the probability sum over j of A[u with s, j] times
the weight of all matchings of the others with the other rows. Those weights do not depend on s; they are what the pairs (i, j)
have in the Pk game, divided by A[u, j].
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sudare.attacks.chances import Chances, Codes, Floats
from sudare.attacks.matching import MAX_SETS, can_match, matched
from sudare.attacks.pk_game import across, distinct, likelihoods
from sudare.errors import ParameterError


def believed(
    people: Mapping[str, Codes],
    rows: Mapping[str, Codes],
    chances: Mapping[str, Chances],
    sensitive: str,
    prior: Floats,
) -> Floats:
    """Return with which probability each value of a sensitive attribute is believed of each kind of person.

    `people` and `rows` are codes by the name of the law; `prior` has a probability for each code of `sensitive`.

    >>> from sudare.plans.law import LawForm
    >>> form = {"how": "retain", "epsilon": 1.1, "spread": 2.2, "values": ["no", "yes"], "retention": [0.75, 0.75]}
    >>> chances = {"ill": Chances.of(LawForm.of("ill", form))}
    >>> believed({"ill": np.array([1])}, {"ill": np.array([1])}, chances, "ill", np.array([0.5, 0.5])).round(6).tolist()
    [[0.25, 0.75]]
    """
    inputs, persons = distinct(people)
    outputs, published = distinct(rows)
    if not can_match(persons, published, MAX_SETS):
        raise ParameterError("There are too many matchings of persons and rows to look at all of them.")
    own = likelihoods(chances, across(inputs), outputs)
    posterior = matched(np.exp(own - own.max(axis=1, keepdims=True)), persons, published)
    if posterior is None:
        raise ParameterError("These rows cannot have come from these people.")
    others = [name for name in chances if name != sensitive]
    rest = likelihoods({name: chances[name] for name in others}, across(inputs), outputs) if others else 0.0
    with np.errstate(divide="ignore"):
        weights = np.log(posterior * published) - own + rest
    values = np.arange(len(prior))
    of_value = chances[sensitive].likelihood(values[:, None], outputs[sensitive])  # value, row
    together = weights[:, None, :] + of_value
    together -= together.max(axis=(1, 2), keepdims=True)
    told = prior * np.exp(together).sum(axis=2)
    return np.asarray(told / told.sum(axis=1, keepdims=True))
