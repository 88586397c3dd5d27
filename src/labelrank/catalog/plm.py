"""The preference learning machine, its embeddings, and its rival."""

from functools import partial

from labelrank.catalog import row

_PAPER = "Lauriola et al. 2018"
_SIZES = {"n_components": (25, 50, 100), "epochs": (10, 30, 100)}
_RATES = {"n_components": (50, 100, 200), "learning_rate": (0.01, 0.03, 0.1)}

_ec = partial(row, learner="EmbeddingCodingPLM", paper=_PAPER)
_ep = partial(row, learner="EmbeddingPCAPLM", paper=_PAPER)
_bagged = partial(
    row, learner="BaggedRanker", paper=_PAPER,
    grid={"estimator__n_components": (25, 50), "estimator__epochs": (10, 30, 100)},
)  # fmt: skip
_mlp = partial(
    row, learner="MultilayerPerceptron", paper=_PAPER,
    grid={"learning_rate": (0.001, 0.003, 0.01), "epochs": (20, 60)},
)  # fmt: skip

ENTRIES = (
    row("PLM", "PreferenceLearningMachine", "Aiolli & Sperduti 2005, as in Lauriola et al. 2018",
        "Preference learning machine: a perceptron on the worst arc of each instance",
        {"graph": ("all", "per_label", "per_pair"), "epochs": (5, 10, 30)}),
    _ec("EC-PLM", summary="Embedding and label codes learned in turns by voted perceptrons",
        grid=_SIZES),
    _ep("EP-PLM", summary="Label codes from co-occurrence, the embedding by a voted perceptron",
        grid={**_SIZES, "code_scale": ("eigenvalue", "none")}),
    _ec("EC-PLM+", summary="Embedding and codes together, from hard negatives, with AdaGrad steps",
        grid=_RATES, init="pca", update="adagrad", learning_rate=0.03, negatives=16),
    _ep("EP-PLM+",
        summary="Balanced codes, all labels of an instance against hard negatives, AdaGrad steps",
        grid=_RATES, code_scale="balanced", update="adagrad", learning_rate=0.03, negatives=4,
        epochs=60),
    _bagged("bagged EC-PLM", parts={"estimator": "EC-PLM"},
            summary="Ten EC-PLM of different samples, their scores averaged"),
    _bagged("bagged EP-PLM", parts={"estimator": "EP-PLM"},
            summary="Ten EP-PLM of different samples, their scores averaged"),
    _mlp("MLP linear", activation="linear",
         summary="Network of the shape of EC-PLM with a linear hidden layer"),
    _mlp("MLP sigmoid", activation="sigmoid",
         summary="Network of the shape of EC-PLM with a sigmoid hidden layer"),
)  # fmt: skip
