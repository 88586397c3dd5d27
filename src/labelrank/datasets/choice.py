"""Which column is which: as the user says, as another file was read, else as is usual."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from labelrank.datasets import stated
from labelrank.datasets.frames import Frame
from labelrank.datasets.options import Options
from labelrank.errors import FormatError, InputError, meant

_USUAL = {
    "text": ("text", "document", "content", "body", "sentence", "title"),
    "labels": ("labels", "label", "tags", "tag", "topics", "topic", "classes", "class",
               "targets", "target"),
    "id": ("id", "_id", "uuid", "guid"),
    "split": ("split",),
}  # fmt: skip


@dataclass
class Choice:
    """The columns of labels (and their layout), of ids, of the split, and of what is learned from.

    `features` is None where what they are must be found; `texts` are those that are texts for
    sure, and `is_text` says that the one text is all there is. `known` are those of another file.
    `prefer` is the column of preferences (see `stated`).
    """

    labels: list[str]
    layout: str
    ids: str | None
    split: str | None
    features: list[str] | None = None
    texts: list[str] = field(default_factory=list)
    is_text: bool = False
    known: list[str] | None = None
    prefer: str | None = None


class Known:
    """How another file was read, as `Dataset.reading` has it, checked."""

    _KINDS: Mapping[str, Any] = {
        "label_columns": list, "layout": str, "label_separator": str, "graded": bool,
        "ordered": bool, "blank": bool, "id_column": str, "columns": list, "used": list,
        "numbers": list, "text_column": list, "is_text": bool, "roles": dict, "decimal": str,
        "spellings": list, "separator": str, "decimals": dict,
        "joined": bool,
    }  # fmt: skip

    def __init__(self, reading: Mapping[str, Any] | None) -> None:
        given = reading or {}
        for key, kind in self._KINDS.items():
            value = given.get(key)
            if not isinstance(value, kind | None) or (
                kind is list and not all(isinstance(one, str) for one in value or ())
            ):
                raise InputError(
                    f"got a reading whose {key!r} is {type(value).__name__}; give one that "
                    "Dataset.reading holds"
                )
        self._given = given

    def after(self, reading: Mapping[str, Any]) -> "Known":
        """For the next rows of a file whose first ones were read so: they are read alike."""
        if not self:
            return Known(reading)
        settled = {key: reading.get(key) for key in ("blank", "decimals", "separator")}
        return Known({**self._given, **settled})

    def of_another_file(self) -> "Known":
        """For another file: where empty cells did not say no, its own cells decide."""
        return Known({**self._given, "blank": True if self.blank else None})

    def __bool__(self) -> bool:
        return "columns" in self._given

    def __getattr__(self, name: str) -> Any:
        found = self._given.get(name)
        return [] if found is None and self._KINDS[name] is list else found


def choose(frame: Frame, options: Options, known: Known) -> Choice:
    """The columns of the frame by what they are."""
    given = {name for name, role in (options.roles or {}).items() if role == "id"}
    ids = options.id_column or (min(given & set(frame.columns), default=None))
    taken = set(known.columns) | set(_several(options.text_column))
    labels, layout = _labels(frame, options, known, taken)
    choice = Choice(
        labels,
        layout,
        _find(frame, "id", ids, [known.id_column], taken),
        _find(frame, "split", options.split_column, [], taken),
        prefer=stated.column_of(frame, [*taken, *labels, *(options.roles or {})]),
    )
    if options.text_column:
        _take_texts(frame, options, choice)
    elif known and known.is_text:
        _take_known_text(frame, known, choice)
    elif known:
        choice.features = choice.known = _known_columns(frame, known)
    return choice


def may_be_labels(name: str, options: Options, known: Known) -> bool:
    """Whether the labels may be in the column of this name, even as objects of grades."""
    given = _several(options.label_column) or known.label_columns or _USUAL["labels"]
    return any(fnmatchcase(name.lower(), one.lower()) for one in given)


def _several(names: str | Sequence[str] | None) -> list[str]:
    return [names] if isinstance(names, str) else [str(name) for name in names or ()]


def listed(frame: Frame) -> str:
    """The first columns, for a message."""
    names = list(frame.columns)
    return ", ".join(map(repr, names[:8])) + (", ..." if len(names) > 8 else "")


def no_column(frame: Frame, names: Sequence[str], rest: str = "") -> FormatError:
    """The error that columns are not there, with the nearest names."""
    columns = f"column{'s' * (len(names) > 1)} {' and '.join(map(repr, names))}"
    near = meant(names[0], frame.columns)
    return FormatError(f"{frame.source.name}: no {columns}{rest}; {near}it has {listed(frame)}")


def _find(
    frame: Frame, what: str, given: str | None, before: Iterable[str | None], taken: set[str]
) -> str | None:
    """The column given, or that of another file, or one of a usual name that nothing else takes."""
    if given is not None:
        if str(given) not in frame.columns:
            raise no_column(frame, [str(given)])
        return str(given)
    there = next((name for name in before if name in frame.columns), None)
    if there is not None or frame.is_plain_text:
        return there
    lowered = {name.lower(): name for name in reversed(frame.columns) if name not in taken}
    return next((lowered[usual] for usual in _USUAL[what] if usual in lowered), None)


def usual_text(names: Iterable[str]) -> str | None:
    """The column whose name says that it holds the texts."""
    lowered = {name.lower(): name for name in reversed(list(names))}
    return next((lowered[usual] for usual in _USUAL["text"] if usual in lowered), None)


def _labels(frame: Frame, options: Options, known: Known, taken: set[str]) -> tuple[list[str], str]:
    """The label columns and their layout."""
    if options.n_labels is not None:
        return _at_the_end(frame, options), "columns"
    given = options.label_column
    if given is not None:
        names = _fitting(frame, _several(given))
        one = isinstance(given, str) and len(names) == 1 and names[0] == given
        return names, "names" if one else "columns"
    there = [name for name in known.label_columns if name in frame.columns]
    if known.layout in ("columns", "pooled") and there:
        missing = [name for name in known.label_columns if name not in frame.columns]
        if missing:
            raise no_column(frame, missing[:5], ", of labels that the model has learned")
        return there, known.layout
    found = _find(frame, "labels", None, there, taken)
    return ([] if found is None else [found]), "names"


def _at_the_end(frame: Frame, options: Options) -> list[str]:
    """The last (or first) columns, so many as there are labels."""
    names, n = list(frame.columns), options.n_labels or 0
    if not 0 < n < len(names):
        raise FormatError(
            f"{frame.source.name}: got {n} label columns, but it has {len(names)} columns; "
            "leave at least one to learn from"
        )
    if options.labels_at not in (None, "first", "last"):
        raise InputError(f"got labels_at={options.labels_at!r}; use 'first' or 'last'")
    if options.label_column is not None:
        raise InputError("got both a number of label columns and their names; give one of them")
    return names[:n] if options.labels_at == "first" else names[-n:]


def _fitting(frame: Frame, patterns: Sequence[str]) -> list[str]:
    """The columns of these names, or that fit a pattern such as tag_*, in their order."""
    chosen: dict[str, None] = {}
    for pattern in patterns:
        fitting = [pattern] if pattern in frame.columns else []
        if not fitting and set(pattern) & set("*?["):
            fitting = [name for name in frame.columns if fnmatchcase(name, pattern)]
        if not fitting:
            raise no_column(frame, [pattern])
        chosen.update(dict.fromkeys(fitting))
    return list(chosen)


def _take_texts(frame: Frame, options: Options, choice: Choice) -> None:
    """The text columns that the user named, and those that were given another role."""
    texts = list(dict.fromkeys(_several(options.text_column)))
    missing = [name for name in texts if name not in frame.columns]
    if frame.is_plain_text:
        texts = missing = []
    if missing:
        raise no_column(frame, missing)
    both = next((name for name in texts if name in choice.labels), None)
    if both is not None:
        raise InputError(f"got {both!r} as text and as label column; name another one")
    roles = options.roles or {}
    further = [name for name, role in roles.items() if role not in ("id", "ignore", "text")]
    further += [name for name, role in roles.items() if role == "text" and name not in texts]
    choice.texts = texts or ["text"]
    choice.features = [*choice.texts, *(name for name in further if name not in texts)]
    choice.is_text = len(choice.features) == 1


def _take_known_text(frame: Frame, known: Known, choice: Choice) -> None:
    """The text column of another file; lines of plain text are texts in any case."""
    name = "text" if frame.is_plain_text else known.text_column[0] if known.text_column else ""
    if name not in frame.columns:
        raise no_column(
            frame, [name], ", which the model reads its texts from (text_column=... names another)"
        )
    choice.features = choice.texts = [name]
    choice.is_text = True


def _known_columns(frame: Frame, known: Known) -> list[str]:
    """The columns of another file, in the order of that; further ones are ignored."""
    missing = [name for name in known.used if name not in frame.columns]
    if missing:
        raise no_column(frame, missing[:5], ", which the model has learned")
    return [name for name in known.columns if name in frame.columns]
