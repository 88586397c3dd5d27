"""`labelrank explain`: the words or features that decided for a label, exactly."""

from typing import Any

from typer import Option

from labelrank.cli.options import Json, Source, Trained


def explain(
    trained: Trained,
    source: Source,
    row: int = Option(1, min=1, help="Which document of DATA, counted from 1."),
    label: list[str] = Option([], help="The label to explain; default: the predicted ones."),
    over: str | None = Option(None, help="Why the label is ranked above this one."),
    top: int = Option(10, min=1, help="Features to show for each label."),
    json: Json = False,
) -> None:
    """Show which features decided for a label, and by how much: they sum to its score."""
    from labelrank.cli import models
    from labelrank.cli.printing import as_json
    from labelrank.errors import InputError

    tagger = trained.load()
    dataset = source.read("test")
    if row > dataset.n_instances:
        raise InputError(f"got --row {row}, but the data has {dataset.n_instances} documents")
    x = tagger.features(models.documents_of(dataset, tagger)[row - 1 : row])
    names = tagger.get_feature_names_out()
    for name in label or _predicted(tagger, x):
        reason = tagger.why(x, name, over=over)
        if json:
            as_json(_record(name, over, reason, names, top))
        else:
            _show(name, over, reason, names, top)


def _predicted(tagger: Any, x: Any) -> list[Any]:
    ranked = tagger.rank(x, 1, whole_sets=True)[0]
    return [place.label for place in ranked if place.in_set] or [ranked[0].label]


def _record(name: str, over: str | None, reason: Any, names: Any, top: int) -> dict[str, Any]:
    features = [{"feature": feature, "contribution": contribution}
                for feature, contribution in _strongest(reason, names, top)]  # fmt: skip
    return {"label": name, "over": over, "margin": reason.margin, "constant": reason.constant,
            "features": features}  # fmt: skip


def _strongest(reason: Any, names: Any, top: int) -> list[tuple[str, float]]:
    pairs = zip(reason.features[:top], reason.contributions[:top], strict=True)
    return [(str(names[j]), float(contribution)) for j, contribution in pairs]


def _show(name: str, over: str | None, reason: Any, names: Any, top: int) -> None:
    from labelrank.cli.printing import table

    rows = _strongest(reason, names, top)
    if len(reason.features) > top:
        others = float(reason.contributions[top:].sum())
        rows.append((f"{len(reason.features) - top} more", others))
    if reason.constant:
        rows.append(("constant", float(reason.constant)))
    rows.append(("sum", float(reason.margin)))
    against = f" over {over}" if over else ""
    table(f"{name}{against}: {reason.margin:.4f}", ("feature", "contribution"), rows)
