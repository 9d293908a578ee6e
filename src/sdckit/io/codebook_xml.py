"""DDI-Codebook read: variables, categories and codes of missing answers, from XML of any origin."""

from pathlib import Path
from typing import Any, NoReturn
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from sdckit.errors import FileError

DEEPEST = 100  # elements within each other: a codebook has ten
Found = tuple[str, str, dict[str, str], tuple[str, ...]]  # name, label, values with their labels, missing


def described_in_xml(content: bytes, path: Path) -> list[Found]:
    """Each variable of a DDI-Codebook document: its name, label, values, and which of them are missing ones.

    Elements go by their names without a namespace, as these differ between versions of the standard. A
    document that declares a type or entities is refused: they may open files or fill the memory.
    """
    reader, parser = _Reader(path), expat.ParserCreate(namespace_separator="}")

    def refuse(*_: Any) -> NoReturn:
        raise FileError(
            "A codebook with a DOCTYPE or entities is not read: they can open other files.",
            given=f"line {parser.CurrentLineNumber} of {path.name}",
            hint="Take the DOCTYPE out, if you trust the file.",
        )

    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    parser.StartElementHandler, parser.EndElementHandler = reader.start, reader.end
    parser.CharacterDataHandler = reader.text
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise FileError(
            f"The XML of the codebook is broken in line {error.lineno}.",
            given=path,
            hint=f"{expat.ErrorString(error.code).capitalize()}.",
        ) from None
    except (LookupError, ValueError) as error:  # an encoding that nobody knows
        raise FileError("The XML of the codebook cannot be read.", given=path, hint=f"{error}.") from None
    return reader.found


class _Reader:
    """Takes the variables out of a document; nothing else of it is kept."""

    def __init__(self, path: Path) -> None:
        self.found: list[Found] = []
        self._path = path
        self._depth = 0
        self._variable: TreeBuilder | None = None
        self._at = 0  # the depth of the variable that is being read

    def start(self, tag: str, given: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            raise FileError("The XML is nested too deeply for a codebook.", given=self._path)
        if self._depth == 1 and _local(tag) != "codebook":
            raise FileError(
                "This XML is no DDI-Codebook.",
                given=f"<{tag.rpartition('}')[2]}> in {self._path.name}",
                allowed="<codeBook> with <dataDscr> and <var>",
            )
        if self._variable is None and _local(tag) == "var":
            self._variable, self._at = TreeBuilder(), self._depth
        if self._variable is not None:
            self._variable.start(tag, given)

    def end(self, tag: str) -> None:
        if self._variable is not None:
            self._variable.end(tag)
            if self._depth == self._at:
                self._take(self._variable.close())
                self._variable = None
        self._depth -= 1

    def text(self, text: str) -> None:
        if self._variable is not None:
            self._variable.data(text)

    def _take(self, one: Element) -> None:
        name = one.get("name", "").strip()
        if not name:
            return
        values: dict[str, str] = {}
        invalid = [item for listed in _inside(one, "invalrng") for item in _inside(listed, "item")]
        missing = [item.get("VALUE", "").strip() for item in invalid]
        for category in _inside(one, "catgry"):
            code = _text(category, "catvalu")
            if code:
                values.setdefault(code, _text(category, "labl"))
                if category.get("missing", "").strip().upper() in ("Y", "YES", "TRUE"):
                    missing.append(code)
        marked = tuple(code for code in dict.fromkeys(missing) if code)
        self.found.append((name, _text(one, "labl"), values, marked))


def _local(tag: str) -> str:
    return tag.rpartition("}")[2].lower()


def _inside(one: Element, name: str) -> list[Element]:
    return [child for child in one if _local(child.tag) == name]


def _text(one: Element, name: str) -> str:
    """The text of the first such element, with what is emphasised in it, in one line."""
    return next((" ".join("".join(e.itertext()).split()) for e in _inside(one, name)), "")
