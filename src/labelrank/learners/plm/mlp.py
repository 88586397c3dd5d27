"""The rival in Lauriola et al. 2018: a network of the shape of an embedding and its codes."""

import importlib.util
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import expit
from sklearn.neural_network import MLPClassifier
from sklearn.utils import check_random_state

from labelrank._types import Array
from labelrank.declared import array, choice, number, seed, stored, value
from labelrank.errors import InputError, MissingError
from labelrank.learners.base import LabelRanker
from labelrank.learners.orders.levels import by_levels
from labelrank.resources import track


@stored(
    "MultilayerPerceptron",
    hidden=array("f4 f8", "d", "s", attribute="_hidden"),
    hidden_intercept=array("f4 f8", "s", attribute="_start"),
    output=array("f4 f8", "s", "K", attribute="_output"),
    output_intercept=array("f4 f8", "K", attribute="_end"),
    engine_=value(str),
)
@dataclass(eq=False, repr=False)
class MultilayerPerceptron(LabelRanker):
    """One hidden layer of s units, linear or sigmoid, and one logistic output per label (MLP).

    Parameters
    ----------
    n_components : int, default 50, hidden units
    activation : {"linear", "sigmoid"}
    epochs : int, default 20
    batch_size : int, default 200
    learning_rate : float, default 0.01, of Adam
    engine : {"auto", "torch", "sklearn"}
        What trains it: PyTorch if it is installed, else scikit-learn's MLPClassifier.
    random_state, verbose

    Attributes
    ----------
    weights_ : list of two (matrix, intercept) pairs
    engine_ : str, what trained it

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import MultilayerPerceptron
    >>> X = np.repeat(np.eye(3), 20, axis=0)
    >>> learner = MultilayerPerceptron(4, learning_rate=0.1, random_state=0).fit(X, X.astype(int))
    >>> learner.rank(np.eye(3), top=1).tolist()
    [[0], [1], [2]]
    """

    n_components: int = number(50, least=1, whole=True)
    _: KW_ONLY
    activation: str = choice("linear", "sigmoid")
    epochs: int = number(20, least=1, whole=True)
    batch_size: int = number(200, least=1, whole=True)
    learning_rate: float = number(0.01, above=0)
    engine: str = choice("auto", "torch", "sklearn")
    random_state: Any = seed()
    verbose: int = 0

    def _check_values(self, X: Any, Y: sp.csr_array) -> None:
        if np.isnan(Y.data).any():
            raise InputError("got unknown labels (NaN) in Y, which this network cannot leave out")

    def _learn(self, X: Any, Y: sp.csr_array) -> None:
        has_torch = importlib.util.find_spec("torch") is not None
        if self.engine == "torch" and not has_torch:
            raise MissingError("PyTorch is not installed; pip install 'labelrank[torch]'")
        use_torch = self.engine != "sklearn" and has_torch
        self.engine_ = "torch" if use_torch else "sklearn"
        X, Y = by_levels(X, Y)
        learn = self._by_torch if use_torch else self._by_sklearn
        (self._hidden, self._start), (self._output, self._end) = learn(X.astype(np.float32), Y)

    @property
    def weights_(self) -> list[tuple[Array, Array]]:
        """Matrix and intercept of the hidden layer, and of the output."""
        return [(self._hidden, self._start), (self._output, self._end)]

    def _batches(self, n: int, random: np.random.RandomState) -> list[Array]:
        order = random.permutation(n)
        return [order[i : i + self.batch_size] for i in range(0, n, self.batch_size)]

    def _by_sklearn(self, X: Any, Y: sp.csr_array) -> list[tuple[Array, Array]]:
        random = check_random_state(self.random_state)
        network = MLPClassifier(
            (self.n_components,),
            activation="identity" if self.activation == "linear" else "logistic",
            learning_rate_init=self.learning_rate,
            batch_size=self.batch_size,
            random_state=random.randint(2**31 - 1),
        )
        classes = np.arange(max(self.n_labels_, 2))
        for _ in track(range(self.epochs), "MLPClassifier", self.verbose):
            for rows in self._batches(X.shape[0], random):
                network.set_params(batch_size=len(rows))
                network.partial_fit(X[rows], _targets(Y[rows]), classes=classes)
        (hidden, output), (start, end) = network.coefs_, network.intercepts_
        K = self.n_labels_
        return [(hidden, start), (np.ascontiguousarray(output[:, :K]), end[:K])]

    def _by_torch(self, X: Any, Y: sp.csr_array) -> list[tuple[Array, Array]]:
        import torch

        random = check_random_state(self.random_state)
        chance = torch.Generator().manual_seed(int(random.randint(2**31 - 1)))
        shapes = [(X.shape[1], self.n_components), (self.n_components, self.n_labels_)]
        matrices = [_glorot(torch, shape, chance) for shape in shapes]
        intercepts = [torch.zeros(shape[1], requires_grad=True) for shape in shapes]
        adam = torch.optim.Adam([*matrices, *intercepts], lr=self.learning_rate)
        cross_entropy = torch.nn.functional.binary_cross_entropy_with_logits
        squash = torch.sigmoid if self.activation == "sigmoid" else torch.nn.Identity()
        for _ in track(range(self.epochs), "PyTorch", self.verbose):
            for rows in self._batches(X.shape[0], random):
                hidden = squash(_product(torch, X[rows], matrices[0]) + intercepts[0])
                wanted = torch.from_numpy((Y[rows].toarray() > 0).astype(np.float32))
                logits = hidden @ matrices[1] + intercepts[1]
                loss = cross_entropy(logits, wanted, reduction="sum")
                adam.zero_grad()
                (loss / len(rows)).backward()
                adam.step()
        pairs = zip(matrices, intercepts, strict=True)
        return [(matrix.detach().numpy(), start.detach().numpy()) for matrix, start in pairs]

    def _scores(self, X: Any) -> Array:
        hidden = np.asarray(X @ self._hidden) + self._start
        if self.activation == "sigmoid":
            hidden = expit(hidden)
        return np.asarray(hidden @ self._output + self._end)


def _targets(Y: sp.csr_array) -> Array:
    """0/1 labels; one label gets an empty second column, so that it stays a label matrix."""
    wanted = (Y.toarray() > 0).astype(np.int64)
    return wanted if wanted.shape[1] > 1 else np.hstack([wanted, np.zeros_like(wanted)])


def _glorot(torch: Any, shape: tuple[int, int], chance: Any) -> Any:
    bound = (6.0 / sum(shape)) ** 0.5
    return ((2 * torch.rand(shape, generator=chance) - 1) * bound).requires_grad_()


def _product(torch: Any, X: Any, matrix: Any) -> Any:
    if not sp.issparse(X):
        return torch.from_numpy(np.ascontiguousarray(X)) @ matrix
    X = sp.coo_array(X)
    places = torch.from_numpy(np.vstack(X.coords).astype(np.int64))
    values = torch.from_numpy(X.data)
    sparse = torch.sparse_coo_tensor(places, values, size=X.shape, check_invariants=False)
    return torch.sparse.mm(sparse, matrix)
