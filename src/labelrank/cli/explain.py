"""`labelrank explain`: the words or features that decided for a label, exactly."""

from typing import Annotated, Any

import typer

from labelrank.cli.options import Json, Model
from labelrank.cli.reading import Source, reads

Label = Annotated[
    list[str], typer.Option("--label", help="The label to explain; default: the predicted ones.")
]
Over = Annotated[str | None, typer.Option(help="Why the label is ranked above this one.")]
Row = Annotated[int, typer.Option(min=1, help="Which document of DATA, counted from 1.")]
Top = Annotated[int, typer.Option(min=1, help="Features to show for a label.")]


@reads
def explain(
    model: Model,
    source: Source,
    row: Row = 1,
    label: Label = [],  # noqa: B006 - typer reads it and makes a new one
    over: Over = None,
    top: Top = 10,
    json: Json = False,
) -> None:
    """Show which features decided for a label, and by how much: they sum to its score."""
    from labelrank.cli import models
    from labelrank.cli.printing import as_json
    from labelrank.errors import InputError

    tagger = models.load_tagger(model)
    dataset = source.read("test")
    if row > dataset.n_instances:
        raise InputError(f"got --row {row}, but the data has {dataset.n_instances} documents")
    documents = models.documents_of(dataset, tagger)
    document = documents[row - 1] if isinstance(documents, list) else documents[row - 1 : row]
    chosen = list(label) or _predicted(tagger, document)
    names = tagger.get_feature_names_out()
    for name in chosen:
        reason = tagger.why(document, name, over=over)
        if json:
            as_json(_record(name, over, reason, names, top))
        else:
            _show(name, over, reason, names, top)


def _predicted(tagger: Any, document: Any) -> list[Any]:
    ranked = tagger.rank([document] if isinstance(document, str) else document)[0]
    return [place.label for place in ranked if place.in_set] or [ranked[0].label]


def _record(name: str, over: str | None, reason: Any, names: Any, top: int) -> dict[str, Any]:
    pairs = zip(reason.features[:top], reason.contributions[:top], strict=True)
    return {
        "label": name,
        "over": over,
        "margin": reason.margin,
        "constant": reason.constant,
        "features": [{"feature": str(names[j]), "contribution": float(c)} for j, c in pairs],
    }


def _show(name: str, over: str | None, reason: Any, names: Any, top: int) -> None:
    from labelrank.cli.printing import table

    shown = min(top, len(reason.features))
    pairs = zip(reason.features[:shown], reason.contributions[:shown], strict=True)
    rows = [(str(names[j]), float(c)) for j, c in pairs]
    rest = float(reason.contributions[shown:].sum())
    if len(reason.features) > shown:
        rows.append((f"{len(reason.features) - shown} more", rest))
    if reason.constant:
        rows.append(("constant", float(reason.constant)))
    rows.append(("sum", float(reason.margin)))
    against = f" over {over}" if over else ""
    table(f"{name}{against}: {reason.margin:.4f}", ("feature", "contribution"), rows)
