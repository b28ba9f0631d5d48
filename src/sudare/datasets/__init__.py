"""Tables to try things on: public ones by name, and a synthetic health survey."""

from sudare.datasets.catalogue import Dataset, describe, load, names
from sudare.datasets.files import path
from sudare.datasets.survey import health_survey

__all__ = ["Dataset", "describe", "health_survey", "load", "names", "path"]
