"""History: every document there was, in order, and which one is looked at."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from sdckit.errors import OptionError, SdcError
from sdckit.web.document import Document


@dataclass(frozen=True, slots=True)
class History:
    """Documents with what was done to make them, and a position among them.

    >>> one = History((("opened", Document(seed=0)),), 0)
    >>> two = one.then("seed 5", Document(seed=5))
    >>> two.at(0).document.seed, two.at(0).at(1).document.seed
    (0, 5)
    """

    entries: tuple[tuple[str, Document], ...]
    position: int = 0

    @property
    def document(self) -> Document:
        """The document that is looked at."""
        return self.entries[self.position][1]

    def then(self, done: str, document: Document) -> "History":
        """One more document; what had been undone goes. Nothing is added where nothing changed."""
        if document == self.document:
            return self
        kept = self.entries[: self.position + 1]
        return History((*kept, (done, document)), len(kept))

    def at(self, position: int) -> "History":
        """The same history, looked at elsewhere: undo, redo, go to."""
        if not isinstance(position, int) or not 0 <= position < len(self.entries):
            raise OptionError(
                "The history has no such entry.", given=position, allowed=f"0 to {len(self.entries) - 1}"
            )
        return History(self.entries, position)

    def in_short(self) -> dict[str, Any]:
        """The file and what was done, for who asks whether to go on with it."""
        file = self.document.source.get("file")
        return {"file": file and PurePath(str(file)).name, "done": [done for done, _ in self.entries][1:]}

    def as_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        entries = [{"done": done, "document": document.as_dict()} for done, document in self.entries]
        return {"entries": entries, "position": self.position}

    @classmethod
    def of_dict(cls, content: Mapping[str, Any]) -> "History":
        """The history that JSON holds."""
        entries = tuple((e["done"], Document.of_dict(e["document"])) for e in content["entries"])
        return cls(entries, content["position"])


@dataclass(frozen=True, slots=True)
class Held:
    """Decisions whose data file is not there: they wait for the file that is opened under them."""

    document: Document
    file: str  # where it should be
    of: str  # whose decisions they are


def earlier_history(memory: Path | None) -> History | None:
    """The history of an earlier session, if it can still be understood."""
    if memory is None or not memory.is_file():
        return None
    try:
        return History.of_dict(json.loads(memory.read_text(encoding="utf-8")))
    except (SdcError, ValueError, KeyError, TypeError, AttributeError, OSError):
        return None  # of another version: nothing can be offered
