"""Real sets with hundreds and thousands of labels: memory, agreement, quick voting."""

import json
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from labelrank.datasets import load
from labelrank.learners.pairwise.mistakes import DualPairScorer
from labelrank.learners.pairwise.scorer import quick_voting
from labelrank.learners.pairwise.weights import PrimalPairScorer
from labelrank.rows import as_rows
from labelrank.text import TextVectorizer

DEBTAGS = """
import json, resource
import numpy as np, scipy.sparse as sp
from labelrank import PairwisePerceptron, TextVectorizer
from labelrank.datasets import load
whole = load("debtags")
Y = sp.csr_array(whole.Y)
Y = Y[:, np.bincount(Y.indices, minlength=Y.shape[1]) >= 10]
X = TextVectorizer(sublinear_tf=True).fit_transform(whole.texts)
learner = PairwisePerceptron(representation="auto", inference="quick", tie_break=None)
learner.fit(X, Y)
found = learner.predict(X[:50])
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"labels": Y.shape[1], "peak_mib": peak, "found": int(found.sum()),
                  "scorer": type(learner.scorer_).__name__}))
"""


@pytest.mark.data
@pytest.mark.slow
def test_all_of_debtags_fits_in_two_gibibytes():
    done = subprocess.run(
        [sys.executable, "-c", DEBTAGS], check=True, stdout=subprocess.PIPE, text=True
    )
    told = json.loads(done.stdout)
    assert told["labels"] > 450
    assert told["scorer"] == "DualPairScorer"
    assert told["found"] > 0
    assert told["peak_mib"] <= 2048


@pytest.fixture(scope="module")
def titles():
    """The first titles of EUR-Lex, some hundred of their labels."""
    train = load("eurlex-titles").train
    X = TextVectorizer().fit_transform(train.texts[:1500])
    Y = sp.csr_array(train.Y)[:1500]
    often = np.argsort(-np.bincount(Y.indices, minlength=Y.shape[1]), kind="stable")[:120]
    return as_rows(X), sp.csr_array(Y[:, np.sort(often)])


@pytest.mark.data
def test_primal_and_dual_make_the_same_mistakes_on_real_titles(titles):
    X, Y = titles
    scorers = [
        kind(X.n_columns, Y.shape[1], calibrated=True, ordered=False)
        for kind in (PrimalPairScorer, DualPairScorer)
    ]
    lessons = [scorer.course(X, Y)(np.arange(X.n_rows)) for scorer in scorers]
    assert abs(lessons[0].mistakes - lessons[1].mistakes) <= 1e-4 * lessons[0].mistakes
    votes = [scorer.votes(X)[0] for scorer in scorers]
    assert (votes[0] == votes[1]).mean() > 0.999


@pytest.mark.data
def test_quick_voting_finds_the_sets_of_real_titles_by_few_duels(titles):
    X, Y = titles
    scorer = DualPairScorer(X.n_columns, Y.shape[1], calibrated=True, ordered=False)
    scorer.course(X, Y)(np.arange(X.n_rows))
    votes, _ = scorer.votes(X)
    quick = quick_voting(scorer, X)
    np.testing.assert_array_equal(quick.scores > 0, votes[:, :-1] > votes[:, -1:])
    assert quick.evaluations.mean() < 121 * 120 / 2 / 3
