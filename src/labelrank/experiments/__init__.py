"""The tables and figures of the papers, one function each, beside our own numbers.
A paper is a module; its functions import learners and data, so that listing them is quick."""

from labelrank.experiments.registry import Experiment, experiment, experiments, find, published, run
from labelrank.experiments.verdicts import Record, judge, to_json

__all__ = [
    "Experiment", "Record", "experiment", "experiments", "find", "judge", "published", "run",
    "to_json",
]  # fmt: skip
