"""What the experiments share: making learners of the catalog, and holding out a random part."""

from collections.abc import Iterable
from typing import Any

import labelrank


def learner(name: str, seed: int, jobs: int | None, **settings: Any) -> Any:
    """A learner of the catalog with these settings; seed and threads are set where it has them."""
    return with_known(labelrank.catalog.make(name, **settings), random_state=seed, n_jobs=jobs)


def with_known(estimator: Any, **settings: Any) -> Any:
    """Set the parameters that the estimator has, and ignore the others."""
    known = estimator.get_params(deep=True)
    return estimator.set_params(**{key: settings[key] for key in settings if key in known})


def held(methods: Iterable[str]) -> list[str]:
    """The methods that the catalog holds, each once."""
    known = set(labelrank.catalog.names())
    return [name for name in dict.fromkeys(methods) if name in known]


def hold_out(data: Any, one_in: int, seed: int) -> tuple[Any, Any]:
    """The data without a random third (`one_in` 3), and that third."""
    import numpy as np

    order = np.random.default_rng(seed).permutation(data.n_instances)
    cut = data.n_instances // one_in
    return data.subset(order[cut:]), data.subset(order[:cut])
