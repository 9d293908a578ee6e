"""Codebooks in DDI-Codebook 2.5, the XML that data archives read."""

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree

if TYPE_CHECKING:
    from sdckit.io.codebook import Codebook, Variable

NAMESPACE = "ddi:codebook:2_5"
NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def ddi(book: "Codebook") -> str:
    """The codebook as an XML document: citation, file and variables, in the order of the standard."""
    root = ElementTree.Element("codeBook", {"xmlns": NAMESPACE, "version": "2.5"})
    citation = _add(_add(root, "stdyDscr"), "citation")
    _add(_add(citation, "titlStmt"), "titl", book.file)
    file = _add(_add(root, "fileDscr", ID="F1"), "fileTxt")
    _add(file, "fileName", book.file)
    size = _add(file, "dimensns")
    _add(size, "caseQnty", str(book.records))
    _add(size, "varQnty", str(len(book.variables)))
    data = _add(root, "dataDscr")
    for number, variable in enumerate(book.variables, start=1):
        _variable(data, f"V{number}", variable)
    ElementTree.indent(root)
    body = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'


def _variable(data: ElementTree.Element, name: str, variable: "Variable") -> None:
    kind = "discrete" if variable.categories or variable.kind != "number" else "contin"
    weight = {"wgt": "wgt"} if variable.weight else {}
    made = _add(data, "var", ID=name, name=variable.name, files="F1", intrvl=kind, **weight)
    if variable.label:
        _add(made, "labl", variable.label)
    if variable.missing:
        invalid = _add(made, "invalrng")
        for code, _ in variable.missing:
            _add(invalid, "item", VALUE=code)
    for code, text in variable.categories:
        _category(_add(made, "catgry"), code, text)
    for code, text in variable.missing:
        _category(_add(made, "catgry", missing="Y"), code, text)
    dated = {"date": {"category": "date"}, "date and time": {"category": "time"}}.get(variable.kind, {})
    _add(made, "varFormat", type="numeric" if variable.kind == "number" else "character", **dated)


def _category(category: ElementTree.Element, code: str, text: str) -> None:
    _add(category, "catValu", code)
    if text:
        _add(category, "labl", text)


def _add(parent: ElementTree.Element, tag: str, text: str | None = None, **given: str) -> ElementTree.Element:
    """A new element; characters that XML cannot hold become a mark."""
    clean = {key: NOT_IN_XML.sub("\ufffd", value) for key, value in given.items()}
    made = ElementTree.SubElement(parent, tag, clean)
    made.text = None if text is None else NOT_IN_XML.sub("\ufffd", text)
    return made
