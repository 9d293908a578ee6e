"""The encoding of text files: found out, or refused with the line at fault."""

import codecs
import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from sdckit.errors import FileError, OptionError, preview

UTF8, WINDOWS = "utf-8-sig", "cp1252"
WAY_OUT = "Save it as UTF-8, or name its encoding: read(…, encoding='cp1252')."
PLAN_WAY_OUT = "Save it as UTF-8, or name its encoding under data: in the plan, encoding: cp1252."


@contextmanager
def opened(path: Path, mode: str = "rb") -> Iterator[IO[bytes]]:
    """The bytes of a text file, compressed or not."""
    with path.open(mode) as stream:
        if not path.name.lower().endswith(".gz"):
            yield cast(IO[bytes], stream)
            return
        # Without a name and a time of writing in it the same data give the same bytes.
        with gzip.GzipFile("", mode, 6, stream, mtime=0) as compressed:
            yield cast(IO[bytes], compressed)


def encoding_of(path: Path, wanted: str | None) -> str:
    """The encoding that was asked for, if the file has it; else UTF-8, else Windows-1252.

    A file of which some lines are UTF-8 and others are not is refused: either way names would be garbled.
    """
    if wanted is not None:
        return _asked_for(path, wanted)
    if _fits(path, UTF8):
        return UTF8
    if _fits(path, WINDOWS):
        _refuse_mixture(path)
        return WINDOWS
    raise FileError(
        "The file is not readable text.",
        given=path,
        allowed="text in UTF-8 or Windows-1252",
        hint="Save it as UTF-8, name its encoding (encoding='utf-16'), or give the file the ending of its "
        "true format.",
        plan_hint="Save it as UTF-8, name its encoding under data: in the plan (encoding: utf-16), or give "
        "the file the ending of its true format.",
    )


def _asked_for(path: Path, wanted: str) -> str:
    try:
        name = codecs.lookup(wanted).name
    except (LookupError, TypeError):
        raise OptionError(
            "There is no such encoding.", given=preview(wanted), allowed="utf-8, cp1252, latin-1, utf-16, …"
        ) from None
    name = UTF8 if name in ("utf-8", UTF8) else name
    if not _fits(path, name, text=name.startswith(("utf-16", "utf-32"))):
        raise FileError(f"The file is not text in {wanted}.", given=path)
    return name


def _fits(path: Path, encoding: str, *, text: bool = False) -> bool:
    """Whether every byte allows the encoding; zeros are in no text but for encodings of two or four bytes."""
    decoder = codecs.getincrementaldecoder(encoding)()
    with opened(path) as stream:
        try:
            while block := stream.read(1 << 20):
                decoder.decode(block)
                if b"\0" in block and not text:
                    return False
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return False
    return True


def _refuse_mixture(path: Path) -> None:
    """Refuse a file with lines in UTF-8 beside lines that are not."""
    right, wrong, first = 0, 0, 0
    with opened(path) as stream:
        for number, line in enumerate(stream, 1):
            if line.isascii():
                continue
            try:
                line.decode()
                right += 1
            except UnicodeDecodeError:
                wrong += 1
                first = first or number
    if right:
        raise FileError(
            f"The file mixes encodings: line {first:,} is not UTF-8 ({wrong:,} of {wrong + right:,} lines "
            "with letters beyond ASCII are not).",
            given=path,
            allowed="text in one encoding",
            hint=WAY_OUT,
            plan_hint=PLAN_WAY_OUT,
        )
