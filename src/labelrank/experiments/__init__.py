"""The tables and figures of the papers, one function each, beside our own numbers.

A paper is a module of this package. Listing experiments is quick: modules import learners and
data only inside their functions.
"""

from labelrank.experiments.registry import Experiment, experiment, experiments, find, published, run
from labelrank.experiments.verdicts import Record, judge, to_json

__all__ = [
    "Experiment", "Record", "experiment", "experiments", "find", "judge", "published", "run",
    "to_json",
]  # fmt: skip
