"""Numbers and dates as people write them: texts in, numbers and instants out.

Each text is read alone. What a whole column decides (the decimal mark, a unit, the order of day and
month) is its *form*, found once when a model learns and kept.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from labelrank._types import Array

if TYPE_CHECKING:
    import polars as pl

# An example of each way to write numbers: the decimal mark, and the mark between thousands.
PLAIN = "1234.5"
FORMS = {
    PLAIN: (".", ""), "1,234.5": (".", ","), "1.234,5": (",", "."), "1 234.5": (".", " "),
    "1 234,5": (",", " "), "1'234.5": (".", "'"), "1'234,5": (",", "'"),
}  # fmt: skip
UNITS = "%‰$€£¥₹₽₩₺₫฿"
# Yes and no as people write them, in any case.
YES = frozenset({
    "1", "true", "yes", "t", "y", "x", "✓", "✔", "on", "+", "ja", "j", "wahr", "oui", "vrai", "sí",
    "si", "sì", "verdadero", "vero", "sim", "verdadeiro", "да", "tak", "evet",
})  # fmt: skip
NO = frozenset({
    "0", "false", "no", "f", "n", "off", "nein", "falsch", "non", "faux", "falso", "não", "nao",
    "nee", "нет", "nie", "hayır",
})  # fmt: skip
MONTH_FIRST, DAY_FIRST = "month first", "day first"

_NEARLY_ALL = 0.9
_WORD = r"[^\W\d_][^\W_]{0,11}"
_UNIT = re.compile(rf"[+-]?\s*([{UNITS}])|.*?([{UNITS}])$|.*\d[ \u00a0]?({_WORD})$", re.DOTALL)
_BEGINS_A_NUMBER = rf"^[{UNITS}]?\s*[+-]?\s*[{UNITS}]?\s*[.,]?\d"
_SPACES, _APOSTROPHES = "[\u00a0\u2009\u202f]", "\u2019"
_TIME = (
    r"(?:(?:[Tt]|,? +)(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,]\d{1,9})?)?"
    r" *(?P<half>[AaPp][Mm])?(?P<zone>Z|z| ?UTC|[+-]\d\d:?\d\d)?)?$"
)
_YEAR_FIRST = r"^(?P<year>\d{4})[-/](?P<month>\d{1,2})[-/](?P<day>\d{1,2})" + _TIME
_YEAR_LAST = r"^(?P<first>\d{1,2})(?P<mark>[./-])(?P<then>\d{1,2})[./-](?P<year>\d{4})" + _TIME
# Two digits each, or a number of a version might be a date. From 69 on, a year is of 19...
_SHORT = r"^(\d\d)([./])(\d\d)([./])"
_THIS_CENTURY, _LAST_CENTURY = rf"{_SHORT}([0-6]\d)(\D.*)?$", rf"{_SHORT}([7-9]\d|69)(\D.*)?$"
# English and German; the first three letters tell them apart.
_MONTHS = {
    "jan": "01", "feb": "02", "mar": "03", "mär": "03", "mrz": "03", "apr": "04", "may": "05",
    "mai": "05", "jun": "06", "jul": "07", "aug": "08", "sep": "09", "oct": "10", "okt": "10",
    "nov": "11", "dec": "12", "dez": "12",
}  # fmt: skip
_MONTH = (
    r"(jan(?:uary|uar)?|feb(?:ruary|ruar)?|mar(?:ch)?|märz?|mrz|apr(?:il)?|may|mai|june?|juni"
    r"|july?|juli|aug(?:ust)?|sept?(?:ember)?|o[ck]t(?:ober)?|nov(?:ember)?|de[cz](?:ember)?)\.?"
)
_MONTH_THEN_DAY = rf"(?i)^{_MONTH}[ -](\d{{1,2}})(?:st|nd|rd|th)?,?[ -](\d{{4}})(\D.*)?$"
_DAY_THEN_MONTH = rf"(?i)^(\d{{1,2}})(?:st|nd|rd|th|\.)?[ -]?{_MONTH},?[ -]?(\d{{4}}|\d\d)(\D.*)?$"
_LOOKS_LIKE_A_DATE = rf"^\d{{1,4}}[-/.]\d{{1,2}}[-/.]\d|{_DAY_THEN_MONTH}|{_MONTH_THEN_DAY}"


def is_form(form: Any) -> bool:
    """Whether this is a form of numbers, or one with a unit."""
    if not isinstance(form, str):
        return False
    unit = unit_of(form)
    bare = form.removesuffix(unit)
    return bare in FORMS and (unit in (*UNITS, "") or re.fullmatch(_WORD, unit) is not None)


def unit_of(form: str) -> str:
    """The unit (%, a currency, a word such as kg) that every number of this form has, or ""."""
    return next((form[len(bare) :] for bare in FORMS if form.startswith(bare)), "")


def units_of(texts: pl.Series) -> list[str]:
    """The words behind the numbers, if nearly all of the texts are a number and a word."""
    found = texts.str.extract(rf"^[+-]?\d[\d.,]*[ \u00a0]?({_WORD})$", 1).drop_nulls()
    return sorted(found.unique().to_list()) if len(found) > _NEARLY_ALL * len(texts) else []


def number_form(texts: pl.Series, decimal: str | None = None, *, marked: str | None = None) -> str:
    """The form in which most of the texts are numbers.

    Where all have one mark before three digits ("1,234"), `decimal=","` makes it the decimal mark;
    otherwise a comma stands between thousands, and a point before decimals. With `marked`, only
    forms of this decimal mark are tried.
    """
    n_begun = texts.str.contains(_BEGINS_A_NUMBER).sum()
    if not len(texts) or n_begun < len(texts) / 2:
        return PLAIN
    met = _UNIT.match(texts[0])
    unit = next(filter(None, met.groups()), "") if met else ""
    if len(texts) < 2 and unit not in UNITS:  # one mistake among numbers: 1O
        unit = ""
    forms = [form for form, marks in FORMS.items() if marks[0] == (marked or marks[0])]
    forms.sort(key=lambda form: form != PLAIN and FORMS[form][0] != (decimal or "."))
    best, most = forms[0], -1
    for form in [form + unit for form in forms] + (forms if unit else []):
        count = int(np.isfinite(numbers_in(texts, form)).sum())
        if count > most:
            best, most = form, count
        if most == len(texts):
            break
    return best


def decimal_of(texts: pl.Series, form: str) -> str | None:
    """The decimal mark of numbers of this form; None where plain ones have none."""
    if form == PLAIN and not texts.str.contains(".", literal=True).any():
        return None
    return FORMS[form.removesuffix(unit_of(form))][0]


def numbers_in(texts: pl.Series, form: str) -> Array:
    """The texts as numbers; NaN where they are none in this form."""
    import polars as pl

    unit = unit_of(form)
    decimal, thousands = FORMS[form.removesuffix(unit)]
    if unit:
        around = rf"^([+-]?)\s*[{unit}]\s*|\s*[{unit}]$" if unit in UNITS else rf"()\s?{unit}$"
        bare = texts.str.replace(around, "${1}")
        texts = pl.select(pl.when(bare != texts).then(bare)).to_series()
    if thousands:
        texts = _without_marks(texts, decimal, thousands)
    found = texts.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
    return np.where(np.isfinite(found), found, np.nan)


def _without_marks(texts: pl.Series, decimal: str, thousands: str) -> pl.Series:
    import polars as pl

    if thousands == " ":
        texts = texts.str.replace_all(_SPACES, " ")
    if thousands == "'":
        texts = texts.str.replace_all(_APOSTROPHES, "'", literal=True)
    whole = rf"(?:\d+|[1-9]\d{{0,2}}(?:[{thousands}]\d{{3}})+)"
    fits = texts.str.contains(rf"^[+-]?{whole}?(?:[{decimal}]\d*)?(?:[eE][+-]?\d+)?$")
    bare = texts.str.replace_all(thousands, "", literal=True).str.replace(
        decimal, ".", literal=True
    )
    return pl.select(pl.when(fits).then(bare)).to_series()


def look_like_dates(texts: pl.Series) -> pl.Series:
    """Which of the texts may be dates."""
    return texts.str.contains(_LOOKS_LIKE_A_DATE)


def _spelled_out(texts: pl.Series) -> pl.Series:
    """The texts with months as numbers and years of four digits: 30.01.2024 for 30 Jan 24."""
    texts = texts.str.replace(_MONTH_THEN_DAY, "${2} ${1} ${3}${4}")
    if texts.str.contains(_DAY_THEN_MONTH).any():
        month = texts.str.extract(_DAY_THEN_MONTH, 2).str.to_lowercase().str.slice(0, 3)
        number = month.replace_strict(_MONTHS, default="")
        for name in number.drop_nulls().unique().to_list():
            numbered = texts.str.replace(_DAY_THEN_MONTH, f"${{1}}.{name}.${{3}}${{4}}")
            texts = numbered.zip_with((number == name).fill_null(False), texts)
        texts = texts.str.replace(r"^(\d)\.", "0${1}.")
    texts = texts.str.replace(_THIS_CENTURY, "${1}${2}${3}${4}20${5}${6}")
    return texts.str.replace(_LAST_CENTURY, "${1}${2}${3}${4}19${5}${6}")


def date_form(texts: pl.Series) -> tuple[str, bool]:
    """The order of day and month, and whether the texts leave it open.

    A part above 12 is a day. Only texts such as 3/4/2024 or 3-4-2024 need an order.
    """
    import polars as pl

    found = _spelled_out(texts).str.extract_groups(_YEAR_LAST).struct.unnest()
    found = found.filter((found["mark"] != ".").fill_null(False))
    days = [int((found[part].cast(pl.Int32) > 12).sum()) for part in ("first", "then")]
    if not len(found):
        return "", False
    return (DAY_FIRST if days[0] > days[1] else MONTH_FIRST), not any(days)


def instants_in(texts: pl.Series, form: str) -> Array:
    """The texts as datetime64[s] in UTC; NaT where they are no dates in this form."""
    texts = _spelled_out(texts).str.replace(r"^(\d{4})(\d\d)(\d\d)$", "${1}-${2}-${3}")
    parts = texts.str.extract_groups(_YEAR_FIRST).struct.unnest()
    instants = _instants(parts, parts["month"], parts["day"])
    left = np.isnat(instants) & texts.is_not_null().to_numpy()
    if not left.any():
        return instants
    parts = texts.filter(left).str.extract_groups(_YEAR_LAST).struct.unnest()
    day_first = (parts["mark"] == ".").fill_null(False) | (form == DAY_FIRST)
    known = (parts["mark"] == ".").fill_null(False) | (form != "")
    first, then = (
        parts[part].zip_with(known, parts[part].clear(len(parts))) for part in ("first", "then")
    )
    instants[left] = _instants(
        parts, then.zip_with(day_first, first), first.zip_with(day_first, then)
    )
    return instants


def _whole(texts: pl.Series) -> Array:
    """Digits as numbers, 0 where there are none."""
    import polars as pl

    return texts.cast(pl.Int64, strict=False).fill_null(0).to_numpy()


def _instants(parts: pl.DataFrame, months: pl.Series, days: pl.Series) -> Array:
    """Instants of dates and times; NaT for a day that does not exist."""
    month, day = _whole(months), _whole(days)
    begin = ((_whole(parts["year"]) - 1970) * 12 + month - 1).astype("M8[M]")
    date = begin.astype("M8[D]") + (day - 1)
    seconds, is_time = _seconds(parts)
    exists = (month >= 1) & (month <= 12) & (day >= 1) & (date.astype("M8[M]") == begin)
    return np.where(exists & is_time, date.astype("M8[s]") + seconds, np.datetime64("NaT", "s"))


def _seconds(parts: pl.DataFrame) -> tuple[Array, Array]:
    """Seconds from midnight UTC, and whether the time exists."""
    hour, minute, second = (_whole(parts[part]) for part in ("hour", "minute", "second"))
    half = parts["half"].str.to_lowercase()
    is_half = half.is_not_null().to_numpy()
    exists = (hour < 24) & (minute < 60) & (second < 60) & (~is_half | ((hour > 0) & (hour < 13)))
    hour = np.where(is_half, hour % 12 + 12 * (half == "pm").fill_null(False).to_numpy(), hour)
    zone = parts["zone"].str.extract(r"([+-]\d\d:?\d\d)").str.replace(":", "", literal=True)
    ahead = 60 * _whole(zone.str.slice(1, 2)) + _whole(zone.str.slice(3, 2))
    ahead = np.where(zone.str.starts_with("-").fill_null(False).to_numpy(), -ahead, ahead)
    return 3600 * hour + 60 * (minute - ahead) + second, exists
