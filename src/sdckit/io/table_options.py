"""How a text file or a workbook is laid out, and which codebook goes with a file: options of `read`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sdckit._support.messages import join_names, require_flag
from sdckit.errors import OptionError, preview
from sdckit.io.formats import DELIMITED, READABLE, ending_of

WORKBOOKS = (".xlsx",)
NAMED = {"comma": ",", "semicolon": ";", "tab": "\t", "space": " ", "bar": "|", "\\t": "\t"}
DECIMALS = (".", ",")
CODEBOOKS = (".xml", ".csv")  # the first is of no data file
FRAME = ""  # the ending of what is no file
# What each option is for; one that is not given is left to the reader.
MEANT_FOR = {
    "encoding": DELIMITED,
    "separator": DELIMITED,
    "decimal": DELIMITED,
    "header": (*DELIMITED, *WORKBOOKS),
    "sheet": WORKBOOKS,
    "codebook": (*READABLE, FRAME),
}


@dataclass(frozen=True, slots=True)
class TableOptions:
    """What was said of a file's layout and its codebook; None is found out from the file.

    >>> TableOptions(separator="tab").separator
    '\\t'
    """

    encoding: str | None = None
    separator: str | None = None
    decimal: str | None = None
    header: bool = True
    sheet: str | int | None = None
    codebook: str | Path | None = None

    def __post_init__(self) -> None:
        """Refuse what no file can have."""
        if self.separator is not None:
            object.__setattr__(self, "separator", _separator(self.separator))
        if self.decimal is not None and self.decimal not in DECIMALS:
            raise OptionError(
                "decimal is the mark before the decimals of a number.",
                given=preview(self.decimal),
                allowed="'.' or ','",
            )
        require_flag("header", self.header)
        _require_sheet(self.sheet)
        _require_codebook(self.codebook)

    def require_for(self, ending: str, source: str) -> None:
        """Refuse an option that means nothing for this kind of file."""
        for name, endings in MEANT_FOR.items():
            if getattr(self, name) != DEFAULTS[name] and ending not in endings:
                kinds = {DELIMITED: "text files", WORKBOOKS: "workbooks"}
                raise OptionError(
                    f"{name} is for {kinds.get(endings, 'text files and workbooks')}, not for {source}.",
                    allowed=join_names(endings),
                )


def _separator(given: Any) -> str:
    """One character that can stand between values: letters, digits and quotes are parts of values."""
    mark = NAMED.get(given, given) if isinstance(given, str) else given
    fits = isinstance(mark, str) and len(mark) == 1 and mark.isascii()
    if not fits or mark.isalnum() or mark in "\"'\r\n\0.-+_":
        raise OptionError(
            "separator is one character between values.",
            given=preview(given),
            allowed="',' ';' '|' or another mark, or a word: comma, semicolon, tab, space, bar",
        )
    return str(mark)


def _require_sheet(given: Any) -> None:
    number = isinstance(given, int) and not isinstance(given, bool) and given >= 1
    if given is not None and not number and not (isinstance(given, str) and given.strip()):
        raise OptionError(
            "sheet is the name of a sheet or its number.", given=preview(given), allowed="1 for the first"
        )


def _require_codebook(given: Any) -> None:
    named = isinstance(given, Path) or (isinstance(given, str) and "\0" not in given)
    if given is not None and not (named and ending_of(Path(given)) in CODEBOOKS):
        raise OptionError(
            "codebook is the path of a codebook.",
            given=preview(str(given)),
            allowed=".xml (DDI-Codebook), or .csv with the columns variable, label, value and value_label",
        )


FOUND_OUT = TableOptions()  # nothing was said
DEFAULTS: dict[str, Any] = {name: getattr(FOUND_OUT, name) for name in MEANT_FOR}
