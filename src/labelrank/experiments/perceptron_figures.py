"""Paper 000: learning curves, epoch curves and counts of operations of the perceptron rankers."""

from collections.abc import Iterator
from typing import Any

from labelrank.experiments import Record, experiment, figures, published

_METHODS = ("BR", "MMP", "MLPP")
_CURVES = {"Figure 4": ("is_error", 1000), "Figure 5": ("error_set_size", None),
           "Figure 6": ("is_error", None)}  # fmt: skip
_EPOCHS = 10


@experiment(
    name="mlpp-operations", paper="000", table="Table IV", data=("rcv1v2",),
    settings="operations as multiples of BR's, one epoch, the given order; our RCV1 "
    "has 8,790 training documents instead of 535,987 and 101 topics instead of 103",
    minutes=0.3, tolerance=0.15,
)  # fmt: skip
def mlpp_operations(*, seed: int, jobs: int | None) -> Iterator[Record]:
    """Perceptron operations in training and prediction, relative to binary relevance."""
    from labelrank import datasets

    data = datasets.load("rcv1v2")
    counts = {}
    for name in _METHODS:
        learner = _made(name, seed, jobs).fit(data.train.X, data.train.Y)
        predicted = learner.count_operations(data.test.X)
        counts[name] = {**learner.n_operations_, "predict": predicted}
    for row, key in zip(published("mlpp_operations"), ("train", "predict"), strict=True):
        for name in _METHODS:
            ours = counts[name][key] / counts["BR"][key]
            note = f"{counts[name][key]:,} operations"
            yield Record(row["phase"], f"{name} / BR", row[name] / row["BR"], ours, note)


@experiment(
    name="mlpp-curves", paper="000", table="Figures 4 to 7", data=("rcv1v2",),
    settings="prequential losses over the training documents of RCV1 (figures 4 to 6), losses on "
    f"training and test documents after 1 to {_EPOCHS} epochs (figure 7); the figures have no "
    "printed numbers: what is judged is who is ahead",
    minutes=1.5, tolerance=0.0,
)  # fmt: skip
def mlpp_curves(*, seed: int, jobs: int | None) -> Iterator[Record]:
    """Learning curves and epoch curves of MMP and MLPP, as pictures."""
    from labelrank import datasets

    data = datasets.load("rcv1v2")
    curves = {name: _learning_curve(name, data.train, seed, jobs) for name in _METHODS}
    for figure, (loss, until) in _CURVES.items():
        path = figures.save(_draw_curves(curves, loss, until), f"mlpp-{figure}".replace(" ", "-"))
        for name, points in curves.items():
            last = [p for p in points if until is None or p.n_seen <= until][-1]
            where = f"{figure}, {loss} after {last.n_seen:,}"
            yield Record(where, name, None, last.overall[loss], str(path or ""))
    yield from _epoch_records(data, seed, jobs)


def _made(name: str, seed: int, jobs: int | None) -> Any:
    from labelrank import catalog

    return catalog.make(name, random_state=seed, n_jobs=jobs)


def _learning_curve(name: str, data: Any, seed: int, jobs: int | None) -> list[Any]:
    from labelrank.evaluation import prequential

    learner = _made(name, seed, jobs)
    return list(prequential(learner, data.X, data.Y, every=100, ties="random", random_state=seed))


def _draw_curves(curves: dict[str, list[Any]], loss: str, until: int | None) -> Any:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4))
    for name, points in curves.items():
        shown = [p for p in points if until is None or p.n_seen <= until]
        axes.plot([p.n_seen for p in shown], [p.overall[loss] for p in shown], label=name)
    axes.set(xlabel="examples seen", ylabel=f"mean {loss.replace('_', ' ')} so far")
    axes.grid(alpha=0.3)
    axes.legend()
    return figure


def _epoch_records(data: Any, seed: int, jobs: int | None) -> Iterator[Record]:
    """Error on training and test data after each epoch: pieces equal the whole, so one model."""
    errors = {name: _errors_by_epoch(_made(name, seed, jobs), data) for name in ("MMP", "MLPP")}
    path = figures.save(_draw_epochs(errors), "mlpp-Figure-7")
    for name, by_part in errors.items():
        for part, values in by_part.items():
            for epoch in (1, _EPOCHS):
                where = f"Figure 7, is_error on {part}, epoch {epoch}"
                yield Record(where, name, None, values[epoch - 1], str(path or ""))


def _errors_by_epoch(learner: Any, data: Any) -> dict[str, list[float]]:
    from labelrank import metrics

    errors: dict[str, list[float]] = {"train": [], "test": []}
    for _ in range(_EPOCHS):
        learner.partial_fit(data.train.X, data.train.Y)
        for part, found in errors.items():
            chosen = getattr(data, part)
            scores = learner.decision_function(chosen.X)
            found.append(float(metrics.is_error(chosen.Y, scores, ties="random", random_state=0)))
    return errors


def _draw_epochs(errors: dict[str, dict[str, list[float]]]) -> Any:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4))
    for name, by_part in errors.items():
        for part, values in by_part.items():
            style = "-" if part == "test" else "--"
            axes.plot(range(1, len(values) + 1), values, style, label=f"{name}, {part}")
    axes.set(xlabel="epochs", ylabel="is error", ylim=(0, None))
    axes.grid(alpha=0.3)
    axes.legend()
    return figure
