"""The preference learning machine, its embeddings, and its rival (001)."""

from labelrank.catalog.entry import Entry

_PAPER = "Lauriola et al., preference learning machine (001)"
_PLM = "labelrank.learners.plm.plm:PreferenceLearningMachine"
_EC = "labelrank.learners.plm.ec_plm:EmbeddingCodingPLM"
_EP = "labelrank.learners.plm.ec_plm:EmbeddingPCAPLM"
_MLP = "labelrank.learners.plm.mlp:MultilayerPerceptron"
_BAGGED = "labelrank.learners.bagged:BaggedRanker"

ENTRIES = (
    Entry(
        name="PLM",
        learner=_PLM,
        paper="Aiolli & Sperduti 2005, as in 001",
        summary="Preference learning machine: a perceptron on the worst arc of each instance",
        grid={"graph": ("all", "per_label", "per_pair"), "epochs": (5, 10, 30)},
    ),
    Entry(
        name="EC-PLM",
        learner=_EC,
        paper=_PAPER,
        summary="Embedding and label codes learned in turns by voted perceptrons",
        grid={"n_components": (25, 50, 100), "epochs": (10, 30, 100)},
    ),
    Entry(
        name="EP-PLM",
        learner=_EP,
        paper=_PAPER,
        summary="Label codes from co-occurrence, the embedding by a voted perceptron",
        grid={
            "n_components": (25, 50, 100),
            "epochs": (10, 30, 100),
            "code_scale": ("eigenvalue", "none"),
        },
    ),
    Entry(
        name="EC-PLM+",
        learner=_EC,
        paper=_PAPER,
        summary="Embedding and codes together, from hard negatives, with AdaGrad steps",
        settings={"init": "pca", "update": "adagrad", "learning_rate": 0.03, "negatives": 16},
        improves="EC-PLM",
        grid={"n_components": (50, 100, 200), "learning_rate": (0.01, 0.03, 0.1)},
    ),
    Entry(
        name="EP-PLM+",
        learner=_EP,
        paper=_PAPER,
        summary="Balanced codes, all labels of an instance against hard negatives, AdaGrad steps",
        settings={
            "code_scale": "balanced",
            "update": "adagrad",
            "learning_rate": 0.03,
            "negatives": 4,
            "epochs": 60,
        },
        improves="EP-PLM",
        grid={"n_components": (50, 100, 200), "learning_rate": (0.01, 0.03, 0.1)},
    ),
    Entry(
        name="bagged EC-PLM",
        learner=_BAGGED,
        paper=_PAPER,
        summary="Ten EC-PLM of different samples, their scores averaged",
        parts={"estimator": "EC-PLM"},
        grid={"estimator__n_components": (25, 50), "estimator__epochs": (10, 30, 100)},
    ),
    Entry(
        name="bagged EP-PLM",
        learner=_BAGGED,
        paper=_PAPER,
        summary="Ten EP-PLM of different samples, their scores averaged",
        parts={"estimator": "EP-PLM"},
        grid={"estimator__n_components": (25, 50), "estimator__epochs": (10, 30, 100)},
    ),
    Entry(
        name="MLP linear",
        learner=_MLP,
        paper=_PAPER,
        summary="Network of the shape of EC-PLM with a linear hidden layer",
        settings={"activation": "linear"},
        grid={"learning_rate": (0.001, 0.003, 0.01), "epochs": (20, 60)},
    ),
    Entry(
        name="MLP sigmoid",
        learner=_MLP,
        paper=_PAPER,
        summary="Network of the shape of EC-PLM with a sigmoid hidden layer",
        settings={"activation": "sigmoid"},
        grid={"learning_rate": (0.001, 0.003, 0.01), "epochs": (20, 60)},
    ),
)
