"""The rival of 001: a network with one hidden layer of the shape of an embedding and its codes."""

import importlib.util
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import expit
from sklearn.neural_network import MLPClassifier
from sklearn.utils import check_random_state

from labelrank._types import Array
from labelrank.declared import check_at_least, check_choice
from labelrank.errors import InputError, MissingError
from labelrank.learners.base import LabelRanker
from labelrank.resources import track


class MultilayerPerceptron(LabelRanker):
    """One hidden layer of s units, linear or sigmoid, and one logistic output a label (MLP).

    Parameters
    ----------
    n_components : int, default 50
        Hidden units.
    activation : {"linear", "sigmoid"}
    epochs : int, default 20
    batch_size : int, default 200
    learning_rate : float, default 0.01
        Of Adam.
    engine : {"auto", "torch", "sklearn"}
        What trains it: PyTorch if it is installed, else scikit-learn's MLPClassifier.
    random_state : int, RandomState or None
    verbose : int, default 0

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

    def __init__(
        self,
        n_components: int = 50,
        *,
        activation: str = "linear",
        epochs: int = 20,
        batch_size: int = 200,
        learning_rate: float = 0.01,
        engine: str = "auto",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.activation = activation
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.engine = engine
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("activation", self.activation, ("linear", "sigmoid"))
        check_choice("engine", self.engine, ("auto", "torch", "sklearn"))
        for name in ("n_components", "epochs", "batch_size"):
            check_at_least(name, getattr(self, name), 1)
        if not self.learning_rate > 0:
            raise InputError(f"got learning_rate={self.learning_rate!r}; give a number above 0")

    def _learn(self, X: Any, Y: sp.csr_array) -> None:
        if np.isnan(Y.data).any():
            raise InputError("got unknown labels (NaN) in Y, which this network cannot leave out")
        has_torch = importlib.util.find_spec("torch") is not None
        if self.engine == "torch" and not has_torch:
            raise MissingError("PyTorch is not installed; pip install 'labelrank[torch]'")
        use_torch = self.engine != "sklearn" and has_torch
        self.engine_ = "torch" if use_torch else "sklearn"
        X = X.astype(np.float32)
        self.weights_ = self._by_torch(X, Y) if use_torch else self._by_sklearn(X, Y)

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
        for _ in track(range(self.epochs), "MLPClassifier", self.verbose):
            for rows in self._batches(X.shape[0], random):
                network.set_params(batch_size=len(rows))
                network.partial_fit(X[rows], _targets(Y[rows]), classes=np.arange(self._width()))
        matrices, intercepts = network.coefs_, network.intercepts_
        return [
            (matrices[0], intercepts[0]),
            (matrices[1][:, : self.n_labels_], intercepts[1][: self.n_labels_]),
        ]

    def _width(self) -> int:
        return max(self.n_labels_, 2)

    def _by_torch(self, X: Any, Y: sp.csr_array) -> list[tuple[Array, Array]]:
        import torch

        random = check_random_state(self.random_state)
        chance = torch.Generator().manual_seed(int(random.randint(2**31 - 1)))
        shapes = [(X.shape[1], self.n_components), (self.n_components, self.n_labels_)]
        matrices = [_glorot(torch, shape, chance) for shape in shapes]
        intercepts = [torch.zeros(shape[1], requires_grad=True) for shape in shapes]
        adam = torch.optim.Adam([*matrices, *intercepts], lr=self.learning_rate)
        squash = torch.sigmoid if self.activation == "sigmoid" else torch.nn.Identity()
        for _ in track(range(self.epochs), "PyTorch", self.verbose):
            for rows in self._batches(X.shape[0], random):
                hidden = squash(_product(torch, X[rows], matrices[0]) + intercepts[0])
                wanted = torch.from_numpy((Y[rows].toarray() > 0).astype(np.float32))
                loss = torch.nn.functional.binary_cross_entropy_with_logits(
                    hidden @ matrices[1] + intercepts[1], wanted, reduction="sum"
                )
                adam.zero_grad()
                (loss / len(rows)).backward()
                adam.step()
        return [
            (matrix.detach().numpy(), intercept.detach().numpy())
            for matrix, intercept in zip(matrices, intercepts, strict=True)
        ]

    def _scores(self, X: Any) -> Array:
        (first, start), (second, end) = self.weights_
        hidden = np.asarray(X @ first) + start
        if self.activation == "sigmoid":
            hidden = expit(hidden)
        return np.asarray(hidden @ second + end)


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
    sparse = torch.sparse_coo_tensor(
        places, torch.from_numpy(X.data), size=X.shape, check_invariants=False
    )
    return torch.sparse.mm(sparse, matrix)
