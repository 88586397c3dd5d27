"""What users may expect of chains beyond scikit-learn's own checks."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from labelrank import (
    ChainEnsemble,
    ChainSearch,
    ClassifierChain,
    IndependentClassifiers,
    MonteCarloClassifierChain,
    ProbabilisticClassifierChain,
    ViterbiClassifierChain,
    datasets,
    metrics,
)
from labelrank.errors import InputError
from labelrank.learners.chains.logistic import LogisticLink


def learners(base=None):
    return [
        IndependentClassifiers(base, random_state=0),
        ClassifierChain(base, order="random", random_state=0),
        ProbabilisticClassifierChain(base, order="random", random_state=0),
        MonteCarloClassifierChain(base, order="random", n_samples=10, random_state=0),
        ViterbiClassifierChain(base, order="random", random_state=0),
        ChainSearch(ViterbiClassifierChain(base), n_chains=4, random_state=0),
        ChainSearch(ClassifierChain(base), n_chains=4, proposal="swap", random_state=0),
        ChainEnsemble(ClassifierChain(base), n_chains=3, random_state=0),
        ChainEnsemble(
            ViterbiClassifierChain(base),
            n_chains=3,
            voting="soft",
            sample_size=0.7,
            random_state=0,
        ),
    ]


every = pytest.mark.parametrize("learner", learners(), ids=lambda m: str(m)[:60])
every_chain = pytest.mark.parametrize("learner", learners()[:7], ids=lambda m: str(m)[:60])


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([*learners(), LogisticLink()])
def test_scikit_learn_check(estimator, check):
    check(estimator)


def multilabel(n=120, d=6, n_labels=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    Y = (X @ rng.normal(size=(d, n_labels)) + rng.normal(size=(n, n_labels)) > 0.3).astype(int)
    return X, Y


def multidimensional(n=120, seed=0):
    X, _ = multilabel(n, seed=seed)
    return X, np.column_stack(
        [
            np.digitize(X[:, 0], [0]),
            np.digitize(X[:, 1], [-0.5, 0.5]) + 3,
            np.digitize(X[:, 2], [0]),
        ]
    )


@every
def test_sparse_and_dense_input_give_one_answer(learner):
    X, Y = multilabel()
    dense = learner.fit(X, Y).predict(X)
    found = learner.fit(sp.csr_array(X), sp.csr_array(Y)).predict(sp.csr_array(X))
    assert sp.issparse(found)
    np.testing.assert_array_equal(found.toarray(), dense)


@every
def test_the_predicted_set_is_a_prefix_of_the_ranking(learner):
    X, Y = multilabel()
    learner.fit(X, Y)
    predicted, ranking = learner.predict(X), learner.rank(X)
    for members, order in zip(predicted, ranking, strict=True):
        assert sorted(order[: members.sum()]) == np.flatnonzero(members).tolist()


@every
def test_scores_are_finite_and_order_labels_as_probabilities_do(learner):
    X, Y = multilabel()
    learner.fit(X, Y)
    scores, proba = learner.decision_function(X), learner.predict_proba(X)
    assert scores.shape == proba.shape == Y.shape
    assert np.isfinite(scores).all()
    marginals = 1 / (1 + np.exp(-scores))
    agree = (np.diff(np.take_along_axis(marginals, learner.rank(X), 1), axis=1) <= 0).all(axis=1)
    assert agree.mean() > 0.5
    np.testing.assert_allclose(marginals[agree], proba[agree], atol=1e-9)
    np.testing.assert_allclose(marginals.sum(axis=1), proba.sum(axis=1), atol=1e-9)


@every
def test_columns_of_classes_are_predicted_by_their_values(learner):
    X, Y = multidimensional()
    learner.fit(X, Y)
    predicted = learner.predict(X)
    assert predicted.shape == Y.shape
    assert set(predicted[:, 1]) <= {3, 4, 5}
    assert metrics.hamming_score(Y, predicted) > 0.85
    assert learner.score(X, Y) == pytest.approx(metrics.exact_match(Y, predicted))
    assert [p.shape for p in learner.predict_proba(X)] == [(120, 2), (120, 3), (120, 2)]
    with pytest.raises(InputError, match=r"columns of classes.*predict_proba"):
        learner.decision_function(X)


@every
def test_strings_are_classes(learner):
    X, Y = multidimensional()
    words = np.array(["low", "high"])[Y[:, [0, 2]]]
    assert set(learner.fit(X, words).predict(X).ravel()) == {"low", "high"}


def test_what_a_matrix_holds_is_detected_by_its_type_or_declared():
    X, Y = multidimensional()
    as_classes, as_relevance = (
        ClassifierChain().fit(X, Y),
        ClassifierChain().fit(X, Y.astype(float)),
    )
    assert as_classes.predict(X).max() == 5
    assert as_relevance.predict(X).max() == 1
    declared = ClassifierChain(targets="classes").fit(X, Y.astype(float))
    np.testing.assert_array_equal(declared.predict(X), as_classes.predict(X))
    assert ClassifierChain(targets="relevance").fit(X, Y).predict(X).max() == 1
    with pytest.raises(InputError, match="targets='wrong'; use one of 'auto'"):
        ClassifierChain(targets="wrong").fit(X, Y)


@pytest.mark.parametrize("base", [None, GaussianNB()], ids=str)
def test_an_unknown_label_is_left_out_of_its_own_link_only(base):
    X, Y = multilabel(200)
    Y = Y.astype(float)
    Y[::3, 0] = np.nan
    chain = ClassifierChain(base).fit(X, Y)
    known = ~np.isnan(Y[:, 0])
    alone = IndependentClassifiers(base).fit(X[known], Y[known])
    np.testing.assert_allclose(
        chain.predict_proba(X)[:, 0], alone.predict_proba(X)[:, 0], atol=2e-3
    )
    whole = IndependentClassifiers(base).fit(X, Y)
    complete = IndependentClassifiers(base).fit(X, np.nan_to_num(Y))
    np.testing.assert_allclose(
        whole.predict_proba(X)[:, 1:], complete.predict_proba(X)[:, 1:], atol=2e-3
    )


@every
def test_unknown_labels_sparse_or_dense_train_and_count_for_nothing(learner):
    X, Y = multilabel(150)
    Y = Y.astype(float)
    Y[::4, 1], Y[:5] = np.nan, np.nan
    learner.fit(X, Y)
    assert np.isfinite(learner.decision_function(X)).all()
    np.testing.assert_allclose(learner.log_joint(X[:5], Y[:5]), 0.0, atol=1e-12)
    np.testing.assert_array_equal(
        learner.predict(X), learner.fit(X, sp.csr_array(Y)).predict(X).toarray()
    )


@every
def test_constant_columns_are_predicted_as_they_were(learner):
    X, Y = multilabel()
    Y[:, 1], Y[:, 3] = 0, 1
    predicted = learner.fit(X, Y).predict(X)
    assert (predicted[:, 1] == 0).all()
    assert (predicted[:, 3] == 1).all()


@pytest.mark.parametrize("kind", [IndependentClassifiers, ClassifierChain, ViterbiClassifierChain])
def test_a_base_that_gives_the_frequencies_of_the_classes_is_asked_for_them(kind):
    X, Y = np.zeros((10, 1)), np.zeros((10, 3), int)
    Y[:8, 0], Y[:3, 1], Y[:, 2] = 1, 1, 1
    chain = kind(DummyClassifier()).fit(X, Y)
    np.testing.assert_allclose(chain.predict_proba(X), np.tile([0.8, 0.3, 1.0], (10, 1)))
    assert chain.predict(X).tolist() == [[1, 0, 1]] * 10


def test_a_chain_after_a_class_vector_answers_with_one_class():
    X, _ = multilabel()
    y = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    for learner in learners():
        answer = learner.fit(X, y).answer(X)
        assert answer.members.shape == answer.scores.shape == (120, 3)
        np.testing.assert_array_equal(
            learner.classes_[answer.members.argmax(axis=1)], learner.predict(X)
        )
        with pytest.raises(InputError, match="Y has 3 columns but the chain has 1"):
            learner.log_joint(X, np.zeros((120, 3)))


def test_a_seed_decides_what_is_random_inside_the_links():
    X, Y = multilabel()
    base = BaggingClassifier(DecisionTreeClassifier(max_features=1), n_estimators=2)
    first, second = (
        ClassifierChain(make_pipeline(StandardScaler(), base), random_state=3).fit(X, Y)
        for _ in range(2)
    )
    np.testing.assert_array_equal(first.decision_function(X), second.decision_function(X))


@every
def test_a_refused_fit_leaves_a_chain_as_it_was(learner):
    X, Y = multilabel()
    before = learner.fit(X, Y).predict(X)
    with pytest.raises(InputError):
        learner.fit(X[:, :2], np.full(Y.shape, -1.0))
    np.testing.assert_array_equal(learner.predict(X), before)


@every_chain
def test_a_class_never_met_has_probability_zero(learner):
    X, Y = multidimensional()
    learner.fit(X, Y)
    unseen = Y.copy()
    unseen[0, 1] = 9
    found = learner.log_joint(X, unseen)
    assert found[0] == -np.inf
    np.testing.assert_allclose(found[1:], learner.log_joint(X, Y)[1:])


@every
def test_classes_missing_in_a_part_of_the_training_data_do_no_harm(learner):
    X, Y = multidimensional(60)
    Y[:, 1] = 3
    Y[7, 1] = 4
    Y[9, 1] = 5
    assert learner.fit(X, Y).predict(X).shape == Y.shape


@pytest.mark.parametrize("base", [RidgeClassifier(), SVC(), "tree"], ids=str)
def test_a_base_without_probabilities_is_refused_in_one_sentence(base):
    X, Y = multilabel()
    for learner in learners(base):
        with pytest.raises(
            InputError, match=r"has no predict_proba; .*give a classifier|give an estimator"
        ):
            learner.fit(X, Y)


@pytest.mark.parametrize("base", [None, RandomForestClassifier(5), LogisticRegression()], ids=str)
def test_the_answer_does_not_depend_on_the_number_of_jobs(base):
    X, Y = multilabel()
    for learner in learners(base):
        alone = learner.set_params(n_jobs=1).fit(X, Y).decision_function(X)
        together = learner.set_params(n_jobs=2).fit(X, Y).decision_function(X)
        np.testing.assert_array_equal(alone, together)


@pytest.mark.parametrize("order", [[0, 1], [0, 1, 2, 3, 3], "sorted"])
def test_an_order_that_is_none_is_refused(order):
    X, Y = multilabel()
    with pytest.raises(InputError, match=r"give each of the columns 0\.\.4 once"):
        ClassifierChain(order=order).fit(X, Y)


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (ProbabilisticClassifierChain(inference="guess"), "inference='guess'"),
        (ProbabilisticClassifierChain(beam_width=0), "beam_width=0"),
        (ProbabilisticClassifierChain(epsilon=2), "epsilon=2"),
        (MonteCarloClassifierChain(n_samples=0), "n_samples=0"),
        (ChainSearch(payoff="luck"), "payoff='luck'"),
        (ChainSearch(proposal="luck"), "proposal='luck'"),
        (ChainSearch(n_chains=0), "n_chains=0"),
        (ChainSearch(validation_fraction=1.0), "validation_fraction=1.0"),
        (ChainSearch(LogisticRegression()), "give a chain such as"),
        (ChainSearch(ClassifierChain(cv=3)), "use cv=None"),
        (ChainEnsemble(voting="loud"), "voting='loud'"),
        (ChainEnsemble(sample_size=0), "sample_size=0"),
        (ClassifierChain(LogisticLink(C=0)), "C=0"),
    ],
)
def test_wrong_parameters_are_refused(learner, message):
    X, Y = multilabel()
    with pytest.raises(InputError, match=message):
        learner.fit(X, Y)


@pytest.mark.parametrize("payoff", ["exact_match", "jaccard", "log_likelihood"])
def test_search_keeps_the_order_of_the_highest_payoff(payoff):
    X, Y = multilabel()
    search = ChainSearch(n_chains=8, payoff=payoff, random_state=0).fit(X, Y)
    assert search.payoffs_.shape == (8,)
    np.testing.assert_array_equal(search.order_, search.orders_[search.payoffs_.argmax()])
    np.testing.assert_array_equal(search.chain_.predict(X), search.predict(X))


def _shared(relevant, predicted):
    """Shared labels over those of either; nothing is missing where both are empty."""
    either = np.count_nonzero(relevant | predicted)
    return np.count_nonzero(relevant & predicted) / either if either else 1.0


PAYOFFS = {
    "exact_match": lambda truth, found: (truth == found).all(axis=1).mean(),
    "jaccard": lambda truth, found: np.mean([_shared(*rows) for rows in zip(truth, found)]),
}


@pytest.mark.parametrize("payoff", PAYOFFS)
def test_payoffs_are_the_criteria_of_the_held_out_instances(payoff):
    X, Y = multilabel()
    search = ChainSearch(n_chains=1, payoff=payoff, refit=False, random_state=0).fit(X, Y)
    held = np.random.RandomState(0).permutation(len(X))[: round(0.33 * len(X))]
    expected = PAYOFFS[payoff](Y[held], search.chain_.predict(X[held]))
    assert 0.0 < expected < 1.0
    assert search.payoffs_[0] == pytest.approx(expected)


def test_jaccard_is_refused_for_columns_of_classes():
    X, Y = multidimensional()
    with pytest.raises(InputError, match="payoff='jaccard' for columns of classes"):
        ChainSearch(payoff="jaccard").fit(X, Y)


def test_swaps_never_end_below_where_they_began():
    X, Y = multilabel()
    search = ChainSearch(n_chains=25, proposal="swap", payoff="log_likelihood", random_state=0)
    search.fit(X, Y)
    assert search.payoffs_.max() > search.payoffs_[0]


def test_search_without_refit_keeps_the_links_it_judged():
    X, Y = multilabel()
    search = ChainSearch(n_chains=5, refit=False, payoff="log_likelihood", random_state=0)
    search.fit(X, Y)
    held = np.random.RandomState(0).permutation(len(X))[:40]
    assert search.log_joint(X[held], Y[held]).mean() == pytest.approx(search.payoffs_.max())


@every_chain
def test_the_trellis_shows_the_path_that_is_predicted(learner):
    X, Y = multidimensional()
    learner.fit(X, Y)
    trellis = learner.trellis(X[3])
    predicted = learner.predict(X[3:4])[0]
    values = [c[k] for c, k in zip(trellis.classes, trellis.path, strict=True)]
    assert values == predicted[learner.order_].tolist()
    assert trellis.columns == [str(c) for c in learner.order_]
    joint = np.exp(learner.log_joint(X[3:4], predicted[None]))[0]
    assert trellis.probability == pytest.approx(joint)
    for table in trellis.probabilities:
        np.testing.assert_allclose(table.sum(axis=1), 1.0)


@every_chain
def test_a_trellis_can_be_drawn(learner):
    import matplotlib.pyplot as plt

    X, Y = multidimensional()
    ax = learner.fit(X, Y).trellis(X[0]).draw()
    assert len(ax.texts) >= 2 + 3 + 2
    assert [text.get_text()[:6] for text in ax.get_legend().get_texts()] == ["chosen", "greedy"]
    plt.close(ax.figure)


def test_the_tree_of_a_long_chain_keeps_only_the_paths_that_matter():
    X, Y = multilabel(n_labels=12)
    trellis = ClassifierChain().fit(X, Y).trellis(X[0])
    assert not trellis.complete
    assert max(map(len, trellis.before)) <= 64
    assert len(trellis.before[-1]) <= 2


def test_a_trellis_shows_one_instance():
    X, Y = multilabel()
    with pytest.raises(InputError, match="got 2 instances"):
        ClassifierChain().fit(X, Y).trellis(X[:2])


def test_label_names_come_from_the_columns_of_y():
    import polars as pl

    X, Y = multilabel(n_labels=3)
    chain = ViterbiClassifierChain().fit(X, pl.DataFrame(Y, schema=["a", "b", "c"]))
    assert chain.classes_.tolist() == ["a", "b", "c"]
    assert chain.trellis(X[0]).columns == ["a", "b", "c"]


def test_chains_work_in_pipelines_and_grid_search():
    X, Y = multilabel()
    pipeline = make_pipeline(StandardScaler(), ClassifierChain(LogisticRegression()))
    grid = {"classifierchain__estimator__C": [0.01, 1.0]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, Y)
    assert search.best_score_ > 0.7


@pytest.mark.data
@pytest.mark.parametrize("name", ["solar-flare", "bridges", "edm", "sf1"])
def test_chains_beat_the_most_frequent_class_on_multidimensional_sets(name):
    data = datasets.load(name)
    train = np.arange(data.n_instances) % 3 > 0
    X, Y = np.nan_to_num(data.X), data.Y
    for learner in (ViterbiClassifierChain(), ClassifierChain()):
        model = make_pipeline(StandardScaler(), learner.set_params(targets="classes"))
        predicted = model.fit(X[train], Y[train]).predict(X[~train])
        usual = [_most_frequent(column[train]) for column in Y.T]
        baseline = np.tile(usual, ((~train).sum(), 1))
        ours = metrics.hamming_score(Y[~train], predicted)
        assert ours >= metrics.hamming_score(Y[~train], baseline) - 0.02


def _most_frequent(column):
    values, counts = np.unique(column[~np.isnan(column)], return_counts=True)
    return values[counts.argmax()]
