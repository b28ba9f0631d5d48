"""Pl-diversity: what the values of a randomized table tell about a person's sensitive value, at most.

Pk-anonymity is about rows: nobody finds a given person's. Pl-diversity is about values. Somebody knows the whole original table but one
person's value of a sensitive attribute, which they believe to be t with the probability p(t) beforehand. A randomized table is
Pl-diverse if after it is published they believe no value with a probability above 1/l.

**Theorem.** If the sensitive attribute is randomized, record by record, with epsilon e, and no value is believed with more than p
beforehand, then the table is Pl-diverse with l = 1 + (1/p - 1) e^-e. For d values that are equally likely, l = 1 + (d - 1) e^-e.

*Proof.* Suppose it were known which row is the person's, with the published value a. By Bayes' rule the value s is then believed with
p(s) A[s, a] / sum_t p(t) A[t, a] = 1 / (1 + sum over t other than s of p(t) A[t, a] / (p(s) A[s, a])). No A[t, a] / A[s, a] is below
e^-e, and the p(t) sum to 1 - p(s); so it is at most 1 / (1 + (1/p(s) - 1) e^-e). Which row it is is not known; but what is believed
is a mean of the above over all rows, and a mean is no more than the largest. (Other attributes are known, and their laws say nothing new.)

It looks like k = 1 + (N - 1) e^-spread, with values in the place of persons. The spread counts two records that are exchanged;
here one value is, so that it is e and not 2 e.
"""

from __future__ import annotations

import math

from sudare.privacy.requirement import number


def l_of(epsilon: float, likeliest: float) -> float:
    """Return the l that an epsilon gives, where no value was likelier than that beforehand.

    >>> l_of(0.0, 0.25), round(l_of(math.log(3), 0.5), 4), l_of(math.inf, 0.5)
    (4.0, 1.3333, 1.0)
    """
    if epsilon != math.inf:
        number(epsilon, "epsilon", "l_of", "a number of 0 or more", low=0)
    number(likeliest, "likeliest", "l_of", "a probability above 0", low=math.ulp(0.0), high=1)
    return 1 + (1 / likeliest - 1) * math.exp(-epsilon)
