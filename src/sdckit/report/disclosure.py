"""What a report may show: the rules of the two audiences, in one place."""

import re
import unicodedata
from collections.abc import Mapping
from typing import Any, Literal

from sdckit._support.number_text import SPACE, display, number, percent
from sdckit.choose.quantity import Quantity
from sdckit.data.microdata import Microdata
from sdckit.methods.spec import Kind, Spec

Audience = Literal["internal", "public"]

FEW = 5  # public: the smallest number of records that may be shown
OTHER = "other"
HIDDEN = "not shown"
CLOSE = f"withheld: its difference from another number of the report would be a count below {FEW}"
SHARE = re.compile(r"(mean )?(share|probability|overlap)\b")  # not a distance of shares
EXTREME = re.compile(r"(^|_)(min|max|minimum|maximum|smallest|largest|lowest|highest)(_|$)")


def visible(*files: Microdata) -> tuple[str, ...]:
    """The columns a report may name: those of the first file that are a direct identifier in none."""
    direct = {column for data in files for column in data.roles.direct}
    return tuple(column for column in files[0].columns if column not in direct)


def is_share(spec: Spec) -> bool:
    """Whether a measure reads best in percent."""
    return spec.bounds == (0, 1) and SHARE.match(spec.unit) is not None


def counts_records(spec: Spec) -> bool:
    """Whether a measure is a number of records, not a mean of such numbers over cells."""
    return spec.unit.startswith("records") and not spec.unit.endswith(" a cell")


def measured(spec: Spec, value: float, records: int, *, public: bool) -> str:
    """A measure in its unit; for the public fewer than 5 records, or a share of them, as an upper limit.

    >>> from sdckit.methods.registry import find
    >>> measured(find("k_anonymity"), 0.001, 3000, public=True).replace(SPACE, " ")
    '<0.17 %'
    """
    shown = drawable(spec, value, records, public=public)
    return f"{'<' if shown > value else ''}{display(shown, share=is_share(spec))}"


def drawable(spec: Spec, value: float, records: int, *, public: bool) -> float:
    """A measure as a chart may draw it: for the public, fewer than 5 records, or a share of them, as 5."""
    least = FEW if counts_records(spec) else 0.0
    if is_share(spec) and "records" in spec.unit:
        least = FEW / records
    return least if public and 0 < value < least else value


def drawable_quantity(q: Quantity, value: float, records: int, *, public: bool) -> float | None:
    """A measure or figure as a chart may draw it; None where the public may not see it.

    A figure has no unit that tells what it counts. For the public those named as an extreme, which may be
    that of one record, are not shown; other figures of risks, and whole numbers, are taken for records.
    """
    if not q.figure:
        return drawable(q.spec, value, records, public=public)
    if not public:
        return value
    if EXTREME.search(q.figure):
        return None
    least = 0.0
    if q.spec.kind is Kind.RISK:
        least = FEW / records if q.bounds == (0, 1) else FEW
    elif float(value).is_integer() and q.bounds != (0, 1):
        least = FEW
    return least if 0 < value < least else value


def counted(count: float, *, public: bool) -> str:
    """A number of records; for the public, small ones are not told apart."""
    return f"<{FEW}" if public and 0 < count < FEW else number(count)


def records_share(count: int, records: int, *, public: bool) -> str:
    """A number of records in percent; for the public in whole percent, and small ones not told apart."""
    if not public:
        return percent(count / records)
    if 0 < count < FEW:
        return f"<{FEW} records"
    share = round(100 * count / records)
    return f"<1{SPACE}%" if count and not share else f"{share}{SPACE}%"


def clean(content: Any) -> Any:
    """Plain data whose texts hold no control characters, which XML does not allow."""
    if isinstance(content, str):
        return "".join(
            c if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cs") else "�" for c in content
        )
    if isinstance(content, Mapping):
        return {clean(str(key)): clean(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [clean(value) for value in content]
    return content


def in_words(name: str) -> str:
    """A figure's name as people write it."""
    words = name.replace("_", " ").strip()
    return words[:1].upper() + words[1:]
