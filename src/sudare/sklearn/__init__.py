"""Transformers for scikit-learn: what is learned from the rows for training is done to all that come later.

>>> import polars as pl, sudare as sd
>>> from sudare.sklearn import Generalizer
>>> people = sd.datasets.health_survey(300).select("age", "sex")
>>> generalizer = Generalizer(sd.KAnonymity(10)).fit(people)
>>> generalizer.transform(people).columns, generalizer.measured_["k"] >= 10
(['age', 'sex'], True)
"""

from sudare.tables.databases import load_extra

load_extra("sklearn", "sudare.sklearn")

from sudare.sklearn.generalizer import Generalizer  # noqa: E402
from sudare.sklearn.randomizer import Randomizer  # noqa: E402

__all__ = ["Generalizer", "Randomizer"]
