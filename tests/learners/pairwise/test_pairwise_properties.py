"""What must hold for pairwise perceptrons whatever the data."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from labelrank import PairwisePerceptron


@st.composite
def problems(draw):
    n, d, K = draw(st.integers(2, 12)), draw(st.integers(1, 5)), draw(st.integers(2, 9))
    X = draw(hnp.arrays(float, (n, d), elements=st.integers(-3, 3).map(float)))
    Y = draw(hnp.arrays(float, (n, K), elements=st.sampled_from([0.0, 0.0, 1.0, 2.0, np.nan])))
    return X, Y


def fitted(X, Y, **options):
    # margin=0 moves at 0 on either side: the rule of the paper prefers the smaller index there.
    learner = PairwisePerceptron(margin=0.0, shuffle=False, representation="primal", **options)
    return learner.fit(X, Y)


@given(problem=problems(), ordered=st.booleans(), data=st.data())
@settings(max_examples=60, deadline=None)
def test_renaming_labels_renames_the_duels(problem, ordered, data):
    X, Y = problem
    name = np.array(data.draw(st.permutations(range(Y.shape[1]))))
    duels = fitted(X, Y, ordered=ordered).duels(X)
    renamed = fitted(X, Y[:, name], ordered=ordered).duels(X)
    with_threshold = np.append(name, Y.shape[1])
    np.testing.assert_array_equal(renamed, duels[:, with_threshold][:, :, with_threshold])


@given(problem=problems(), data=st.data())
@settings(max_examples=40, deadline=None)
def test_permuting_features_changes_no_score(problem, data):
    X, Y = problem
    order = data.draw(st.permutations(range(X.shape[1])))
    first, second = fitted(X, Y), fitted(X[:, order], Y)
    np.testing.assert_array_equal(first.decision_function(X), second.decision_function(X[:, order]))


@given(problem=problems())
@settings(max_examples=40, deadline=None)
def test_rows_of_zeros_teach_nothing(problem):
    X, Y = problem
    more = np.vstack([X, np.zeros_like(X)]), np.vstack([Y, Y])
    np.testing.assert_array_equal(fitted(X, Y).duels(X), fitted(*more).duels(X))


@given(problem=problems(), calibrated=st.booleans())
@settings(max_examples=40, deadline=None)
def test_every_duel_gives_one_vote_and_margins_cancel(problem, calibrated):
    X, Y = problem
    learner = fitted(X, Y, calibrated=calibrated, tie_break=None)
    duels = learner.duels(X)
    np.testing.assert_array_equal(duels, -duels.transpose(0, 2, 1))
    width = duels.shape[1]
    from labelrank.rows import as_rows

    votes, sums = learner.scorer_.votes(as_rows(X))
    assert (votes.sum(axis=1) == width * (width - 1) / 2).all()
    np.testing.assert_allclose(sums.sum(axis=1), 0, atol=1e-3)


@given(problem=problems(), voting=st.sampled_from(["votes", "weighted", "coupling"]))
@settings(max_examples=40, deadline=None)
def test_the_set_is_a_prefix_of_the_ranking(problem, voting):
    X, Y = problem
    learner = fitted(X, Y, voting=voting)
    members, order = learner.predict(X), learner.rank(X)
    sizes = members.sum(axis=1)
    for member, ranked, size in zip(members, order, sizes, strict=True):
        assert member[ranked[:size]].all()
