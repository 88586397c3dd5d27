"""How paper 001 is measured: samples, codes of all labels, what follows from counts of words."""

import numpy as np
import pytest
import scipy.sparse as sp

from labelrank import LabelCodes, metrics
from labelrank.experiments.plm import REAL, Part, made, part, records


def small_part(size=20):
    random = np.random.default_rng(0)
    X = sp.csr_array(random.poisson(0.4, (60, 15)).astype(np.float32))
    Y = sp.csr_array((random.random((60, 8)) < 0.3).astype(float))
    return Part(X[:40], Y[:40], X[40:], Y[40:], Y[:40], size)


def test_a_model_learns_from_its_own_sample_of_the_documents():
    data = small_part()
    X, Y = data.sample(3)
    assert X.shape == (20, 15)
    np.testing.assert_array_equal(X.toarray(), data.sample(3)[0].toarray())
    assert (data.sample(4)[0] != X).nnz > 0
    rows = {(*x, *y) for x, y in zip(data.X.toarray(), data.Y.toarray(), strict=True)}
    assert {(*x, *y) for x, y in zip(X.toarray(), Y.toarray(), strict=True)} <= rows


def test_the_codes_of_ep_plm_come_from_all_labels_at_the_scale_of_the_learner():
    data = small_part()
    for method, scale in (("EP-PLM", "eigenvalue"), ("EP-PLM+", "balanced")):
        learner = made(method, data, 0, None, n_components=4, epochs=1).fit(*data.sample(0))
        wanted = LabelCodes(4, scale=scale).fit(data.Y).codes_
        np.testing.assert_allclose(learner.codes_, wanted, rtol=1e-5)


def test_a_network_makes_twenty_passes_unless_told():
    assert made("MLP linear", small_part(), 0, None).epochs == 20
    assert made("MLP sigmoid", small_part(), 0, None, epochs=60).epochs == 60


def test_records_carry_the_criteria_of_the_test_documents():
    data = small_part()
    scores = np.random.default_rng(1).random(data.Y_test.shape)
    found = {r.column: r.ours for r in records("row", "EC-PLM", data, scores)}
    assert found["EC-PLM micro AUC"] == metrics.auc(data.Y_test, scores, "micro")
    assert found["EC-PLM P@5"] == metrics.precision_at_k(data.Y_test, scores, 5)
    assert len(records("row", "EC-PLM", data, scores, precision=False)) == 2


@pytest.mark.data
@pytest.mark.parametrize("name", REAL)
def test_after_ten_epochs_on_counts_ep_plm_leads_in_macro_and_but_for_pubmed_in_micro_auc(name):
    data = part(name, 0)
    areas = {}
    for method in ("EC-PLM", "EP-PLM"):
        scores = made(method, data, 0, None, epochs=10).fit(*data.sample(0))
        found = records(name, method, data, scores.decision_function(data.X_test))
        areas[method] = found[0].ours, found[1].ours
    assert areas["EP-PLM"][1] > areas["EC-PLM"][1]
    if name != "pubmed-mesh":
        assert areas["EP-PLM"][0] > areas["EC-PLM"][0]
