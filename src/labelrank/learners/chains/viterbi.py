"""The Viterbi classifier chain (Read, Martino & Luengo, "Viterbi classifier chains").

A link sees x and the label before it alone (Eq. 9):

    p(y|x) = p_1(y_1|x) Π_l p_l(y_l | x, y_{l-1})

so that the most probable path is found by the recursion of Table 2, in a time linear in L:

    δ_1(j) = p_1(y_1 = j | x)
    δ_l(j) = max_i  δ_{l-1}(i) p_l(y_l = j | x, y_{l-1} = i)        l = 2, ..., L
    φ_l(j) = argmax_i  δ_{l-1}(i) p_l(y_l = j | x, y_{l-1} = i)
    ŷ_L = argmax_j δ_L(j),   ŷ_{l-1} = φ_l(ŷ_l)
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from labelrank._types import Float64, Int32
from labelrank.declared import stored
from labelrank.learners.chains.base import Order
from labelrank.learners.chains.greedy import ClassifierChain
from labelrank.learners.chains.scorers import Decoding, Scorer


def transitions(scorer: Scorer) -> list[Float64]:
    """log p_l(y_l | x, y_{l-1}) of every link: (n × K_before × K), the first with K_before 1."""
    codes, steps = scorer.no_labels(scorer.n_rows), []
    for position, link in enumerate(scorer.links):
        if not link.parents:
            steps.append(scorer.log_proba(position, codes)[:, None, :])
            continue
        (before,) = link.parents
        after = []
        for c in range(scorer.sizes[before]):
            codes[:, before] = c
            after.append(scorer.log_proba(position, codes))
        steps.append(np.stack(after, axis=1))
    return steps


def viterbi(steps: list[Float64]) -> Int32:
    """The most probable path through the trellis (n × L, in chain order): Table 2, in logs."""
    n = len(steps[0])
    delta, phi = np.zeros((n, 1)), []
    for step in steps:
        through = delta[:, :, None] + step
        phi.append(through.argmax(axis=1))
        delta = through.max(axis=1)
    path = np.empty((n, len(steps)), dtype=np.int32)
    path[:, -1] = delta.argmax(axis=1)
    for position in range(len(steps) - 1, 0, -1):
        path[:, position - 1] = phi[position][np.arange(n), path[:, position]]
    return path


def forward(steps: list[Float64]) -> list[Float64]:
    """Exact log marginals in chain order; what follows a label sums to one: no backward message."""
    marginals = [steps[0][:, 0, :]]
    for step in steps[1:]:
        marginals.append(logsumexp(marginals[-1][:, :, None] + step, axis=1))
    return marginals


@stored("ViterbiClassifierChain", 1)
@dataclass(kw_only=True, eq=False, repr=False)
class ViterbiClassifierChain(ClassifierChain):
    """The most probable path of a Markov chain of labels, exactly (VCC).

    A link sees x and the label before it: the Viterbi algorithm finds the path in a time linear in
    the number of labels. Scores are the log odds of exact marginal probabilities. Parameters are
    those of `ClassifierChain`.

    Examples
    --------
    >>> from labelrank import ViterbiClassifierChain
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]], [[0, 2], [0, 2], [1, 0], [1, 1]]
    >>> ViterbiClassifierChain().fit(X, Y).predict([[0.0]])
    array([[0, 2]])
    """

    def parents(self, order: Order, position: int) -> Order:
        return order[max(position - 1, 0) : position]

    def after_loading(self) -> None:
        super().after_loading()
        if any(len(link.parents) > 1 for link in self.model_.links):
            raise ValueError("a link of a Viterbi chain sees more than one label")

    def choose(self, scorer: Scorer, seed: int) -> Decoding:
        steps = transitions(scorer)
        codes = np.column_stack(scorer.by_column(list(viterbi(steps).T)))
        return Decoding(codes, lambda: scorer.by_column(forward(steps)))
