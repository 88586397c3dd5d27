"""Rivals of ProSVM in its paper (002): nearest neighbours, boosting, graded classification."""

from labelrank.catalog.entry import Entry

ENTRIES = (
    Entry(
        name="MLkNN",
        learner="labelrank.learners.neighbors.mlknn:MLkNN",
        paper="Zhang & Zhou 2007, as in 002",
        summary="Ten nearest neighbours and Bayes' rule over how many of them carry a label",
        grid={"n_neighbors": (5, 10, 20, 40)},
    ),
    Entry(
        name="BoosTexter",
        learner="labelrank.learners.boosting:AdaBoostMH",
        paper="Schapire & Singer 2000, as in 002",
        summary="AdaBoost.MH with real-valued decision stumps, a thousand rounds",
        grid={"n_rounds": (100, 300, 1000)},
    ),
    Entry(
        name="GMLC",
        learner="labelrank.learners.graded:GradedClassifier",
        paper="Cheng, Dembczyński & Hüllermeier 2010, as in 002",
        summary="Graded classification: a logistic regression a label and place in the order",
        settings={"levels": "ranks"},
        parts={"estimator": "IC"},
        grid={"estimator__estimator__C": (0.01, 0.1, 1.0, 10.0)},
    ),
)
