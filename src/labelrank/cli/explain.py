"""`labelrank explain`: the words or features that decided for a label, exactly."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from typer import Option

from labelrank.cli.options import Json, Trained
from labelrank.cli.sources import Source

EXAMPLE = "labelrank explain tags.labelrank new.csv --row 3"

_ROWS_AT_ONCE = 2000


def explain(
    trained: Trained,
    source: Source,
    row: int = Option(1, metavar="N", min=1, help="Which document of DATA, counted from 1."),
    label: list[str] = Option(
        [], metavar="LABEL", help="A label to explain; by default the predicted ones."
    ),
    over: str | None = Option(
        None, metavar="LABEL", help="Why the label is ranked above this one."
    ),
    trellis: Path | None = Option(
        None, metavar="FILE", help="Draw the paths of a chain here, as .svg, .png or .pdf."
    ),
    top: int = Option(10, metavar="N", min=1, help="Features to show for each label."),
    json: Json = False,
) -> None:
    """Show which features decided for a label, and by how much.

    What they add sums to the score of the label."""
    from labelrank.cli import models
    from labelrank.cli.printing import as_json

    tagger = trained.load()
    dataset, before = _batch_of(row, source, tagger)
    documents = models.documents_of(dataset, tagger)
    x = tagger.features(models.rows_of(documents, slice(row - 1 - before, row - before)))
    if trellis is not None:
        _draw(tagger, x, trellis)
        return
    _check(tagger, [*label, *([over] if over else [])])
    names = tagger.names_in(x)
    for name in label or _predicted(tagger, x):
        reason = tagger.why(x, name, over=over)
        pairs = zip(reason.features[:top], reason.contributions[:top], strict=True)
        strongest = [(str(names[j]), float(addend)) for j, addend in pairs]
        if json:
            features = [{"feature": one, "contribution": addend} for one, addend in strongest]
            as_json({"label": name, "over": over, "margin": reason.margin,
                     "constant": reason.constant, "features": features,
                     "corrections": _corrections(reason)})  # fmt: skip
        else:
            _show(f"{name} over {over}" if over else name, reason, strongest)


def _batch_of(row: int, source: Source, tagger: Any) -> tuple[Any, int]:
    """The documents among which the row is, as `predict` reads them, and how many come before."""
    from labelrank.errors import InputError

    before = 0
    for dataset, _ in source.batches(_ROWS_AT_ONCE, tagger, source.answered):
        if row <= before + dataset.n_instances:
            return dataset, before
        before += dataset.n_instances
    raise InputError(f"got --row {row}, but the data has {before} documents")


def _check(tagger: Any, labels: list[str]) -> None:
    """Refuse labels that the model does not know, and a model that gives no reasons."""
    from labelrank.errors import InputError, unknown_label

    for name in labels:
        if name not in tagger.label_names_:
            raise unknown_label(name, tagger.label_names_)
    if not hasattr(tagger.learner_, "why"):
        learner = getattr(tagger.learner_, "best_", type(tagger.learner_).__name__)
        raise InputError(
            f"the model ({learner}) gives no reasons; learn one that does by "
            "labelrank fit --fast or --learner BR+"
        )


def _draw(tagger: Any, x: Any, place: Path) -> None:
    """The trellis of one instance as a picture."""
    from labelrank.atomic import check_writable
    from labelrank.errors import InputError

    learner, names = tagger.learner_, tagger.label_names_
    if not hasattr(learner, "trellis"):
        raise InputError(
            f"got --trellis with a {type(learner).__name__}, which has no paths; "
            "use it with a chain: CC, PCC, MCC, VCC, MsCC or VsCC"
        )
    kinds = (".svg", ".png", ".pdf")
    if place.suffix.lower() not in kinds:
        raise InputError(f"got --trellis {place}; name a file that ends in {', '.join(kinds)}")
    check_writable(place)
    import matplotlib
    import numpy as np

    matplotlib.use("Agg")
    drawn = learner.trellis(x)
    columns = [int(column) for column in drawn.columns]
    if hasattr(learner, "sizes"):  # labels are "target=class"
        firsts = np.concatenate(([0], np.cumsum(learner.sizes)))[columns]
        pairs = zip(firsts, drawn.classes, strict=True)
        labels = [[names[int(first + code)] for code in codes] for first, codes in pairs]
        targets = [str(names[first]).partition("=")[0] for first in firsts]
        classes = [[str(label).partition("=")[2] for label in ones] for ones in labels]
        drawn = replace(drawn, columns=targets, classes=classes)
    else:
        drawn = replace(drawn, columns=[str(names[column]) for column in columns])
    drawn.draw().figure.savefig(place)


def _corrections(reason: Any) -> list[dict[str, Any]]:
    """What past steps of a corrected model add, counted from 1."""
    pairs = zip(reason.steps.tolist(), reason.shares.tolist(), strict=True)
    return [{"step": step + 1, "contribution": share} for step, share in pairs]


def _predicted(tagger: Any, x: Any) -> list[Any]:
    ranked = tagger.rank(x, 1, whole_sets=True)[0]
    return [place.label for place in ranked if place.in_set] or [ranked[0].label]


def _show(title: str, reason: Any, rows: list[tuple[str, float]]) -> None:
    from labelrank.cli.printing import table

    n_others = len(reason.features) - len(rows)
    if n_others:
        rows.append((f"{n_others} more", float(reason.contributions[len(rows) :].sum())))
    rows += [(f"correction {one['step']}", one["contribution"]) for one in _corrections(reason)]
    if reason.constant:
        rows.append(("constant", float(reason.constant)))
    rows.append(("sum", float(reason.margin)))
    table(f"{title}: {reason.margin:.4f}", ("feature", "contribution"), rows)
