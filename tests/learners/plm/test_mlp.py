"""The network beside the preference learning machine: how its batches are drawn."""

import numpy as np

from labelrank import MultilayerPerceptron


def test_every_pass_has_every_example_once_in_another_order():
    network, random = MultilayerPerceptron(batch_size=7), np.random.RandomState(0)
    passes = [np.concatenate(network._batches(50, random)) for _ in range(3)]
    for order in passes:
        assert sorted(order.tolist()) == list(range(50))
        assert order.tolist() != list(range(50))
    assert passes[0].tolist() != passes[1].tolist()
