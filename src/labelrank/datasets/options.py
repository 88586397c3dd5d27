"""What a user may say of records: which column is which, and how they are written."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Options:
    """Which column is which, and how labels are written; what is left open is found.

    Parameters
    ----------
    encoding : str or None
        None is UTF-8 or what the file itself says; CSV, TSV and plain text that are neither are
        read as windows-1252 if they may be.
    separator : what stands between the cells of CSV or TSV, such as ";" or "tab"
    header : whether the first row of CSV, TSV or a sheet names the columns
    columns : their names, instead of those of the header
    sheet : name of the sheet of a workbook; None is the first of two rows or more
    text_column : name of the column of texts, or a list of several; all others are left out
    label_column : name of the column with the labels, or a list of columns, one per label
        A pattern such as "tag_*" names all columns that fit. No label at all is fine: Y then has
        no column.
    n_labels, labels_at : that the "last" (or "first") columns, so many, are the labels
    id_column, split_column : names; None looks for the usual ones
        The split column makes `train` and `test` of the records that say so.
    label_delimiter : between the labels of a cell; None finds one of | ; , or line breaks
    graded : whether labels are written `label:grade`; None: if all of them are
    ordered : labels stand most relevant first, the grades of m labels are m, ..., 1
    label_names : the label columns, in order; None takes the sorted labels of the file
    targets : "relevance" or "classes" of several label columns; "auto" lets the cells decide
    roles : roles of columns by name, see `labelrank.table.TablePreparation`
    joined : whether rows that differ in their label alone are one row with all these labels
        None: where at least one row in ten is such a row, and an identifier or texts tell which
        document it is of, or where the file of `reading` was so.
    decimal : decimal mark where the numbers of a column leave it open, as 1,234 does
    reading : how another file was read (`Dataset.reading`): this one is read alike
    """

    encoding: str | None = None
    separator: str | None = None
    header: bool = True
    columns: Sequence[str] | None = None
    sheet: str | None = None
    text_column: str | Sequence[str] | None = None
    label_column: str | Sequence[str] | None = None
    n_labels: int | None = None
    labels_at: str | None = None
    id_column: str | None = None
    split_column: str | None = None
    label_delimiter: str | None = None
    graded: bool | None = None
    ordered: bool = False
    label_names: Sequence[str] | None = None
    targets: str = "auto"
    roles: Mapping[str, str] | None = None
    joined: bool | None = None
    decimal: str | None = None
    reading: Mapping[str, Any] | None = None
