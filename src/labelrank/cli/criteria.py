"""`labelrank criteria`: by what answers can be judged."""

from typing import Any

from labelrank.cli.options import Json
from labelrank.cli.printing import as_json, table

EXAMPLE = "labelrank criteria"
_MEANS = {
    "example": ": mean over the documents", "macro": ": mean over the labels",
    "micro": ": over all documents and labels together",
}  # fmt: skip


def criteria(json: Json = False) -> None:
    """List the criteria that --criterion takes."""
    from labelrank.metrics import criteria

    found = [criteria.get(name) for name in criteria.names()]
    better = {1: "larger", -1: "smaller", 0: ""}
    rows = [(one.name, better[one.direction], one.needs, _about(one)) for one in found]
    columns = ("name", "better", "judges", "what it says")
    if json:
        as_json([dict(zip(columns, row, strict=True)) for row in rows])
    else:
        table("Criteria (precision_at_k and ndcg_at_k for any k)", columns, rows)


def _about(criterion: Any) -> str:
    """The first sentence of what the criterion's function says of itself."""
    said = (criterion.function.__doc__ or "").strip().split("\n")[0].partition(" (")[0]
    return said.rstrip(".") + _MEANS.get(criterion.options.get("average"), "")
