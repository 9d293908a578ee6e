"""What a report may show to whom."""

import unicodedata
from collections.abc import Mapping
from typing import Any, Literal

from sdckit.data.microdata import Microdata

Audience = Literal["internal", "public"]
AUDIENCES: tuple[Audience, ...] = ("internal", "public")


def visible(*files: Microdata) -> tuple[str, ...]:
    """The columns a report may name: those of the first file that are a direct identifier in none."""
    direct = {column for data in files for column in data.roles.direct}
    return tuple(column for column in files[0].columns if column not in direct)


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
    """A name from a program as people write it."""
    words = name.replace("_", " ").strip()
    return words[:1].upper() + words[1:]
