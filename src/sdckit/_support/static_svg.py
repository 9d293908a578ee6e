"""A chart as SVG text that can stand inside an HTML page."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from xml.etree import ElementTree

SVG = "http://www.w3.org/2000/svg"
ALLOWED = {"svg", "g", "path", "rect", "line", "text", "tspan", "circle", "defs", "clipPath", "title"}
DROPPED = {"aria-roledescription", "aria-label", "role", "class", "aria-hidden", "pointer-events"}


def plain(chart: Any) -> dict[str, Any]:
    """The chart as Vega-Lite. Not checked against its schema, which takes long: tests do that."""
    found: dict[str, Any] = chart.to_dict(validate=False)
    return found


@contextmanager
def unchecked() -> Iterator[None]:
    """Charts made in here are not checked piece by piece, either; see `plain`. They are drawn once, no more.

    Altair copies all pieces of a chart, down to the last word, each time it is put beside or above others.
    In here the pieces are shared: Altair sets attributes of the copies, and changes nothing inside them.
    """
    import altair
    from altair.utils.schemapi import debug_mode

    kinds: tuple[Any, ...] = (altair.Chart, altair.LayerChart)
    with debug_mode(False):
        for kind in kinds:
            kind.__deepcopy__ = _with_the_same_pieces
        try:
            yield
        finally:
            for kind in kinds:
                with suppress(AttributeError):  # another thread was done before
                    del kind.__deepcopy__


def _with_the_same_pieces(chart: Any, _: Any) -> Any:
    return chart.copy(deep=False)


def static_svg(chart: Any, name: str, description: str) -> str:
    """The chart drawn once: scales with the page, needs no script, shows its tooltips as SVG titles.

    `chart` is an Altair chart or its Vega-Lite as plain data.
    `name` keeps the ids of several charts on one page apart; `description` is read out by screen readers.
    Elements and attributes that a drawing does not need are left out, whatever they are, and data that a
    chart asks for from elsewhere (charts of saved results, which anybody may have changed) are refused.
    """
    import vl_convert

    content = chart if isinstance(chart, dict) else plain(chart)
    tree = ElementTree.fromstring(vl_convert.vegalite_to_svg(content, allowed_base_urls=[]))
    _renumber(tree, name)
    _clean(tree)
    width, height = tree.get("width", "0"), tree.get("height", "0")
    tree.attrib.pop("width")
    tree.attrib.pop("height")
    tree.set("role", "img")
    tree.set("aria-label", description)
    tree.set("style", f"max-width:{float(width):.0f}px")
    tree.set("viewBox", f"0 0 {width} {height}")
    ElementTree.register_namespace("", SVG)
    return ElementTree.tostring(tree, encoding="unicode")


def _renumber(tree: ElementTree.Element, name: str) -> None:
    """Ids that begin with the name and count from 1: those of the renderer count on while a process runs."""
    found = [e.attrib["id"] for e in tree.iter() if "id" in e.attrib]
    ids = {old: f"{name}-clip{i}" for i, old in enumerate(found, 1)}
    for element in tree.iter():
        if "id" in element.attrib:
            element.set("id", ids[element.attrib["id"]])
        if "clip-path" in element.attrib:
            old = element.attrib["clip-path"].removeprefix("url(#").removesuffix(")")
            element.set("clip-path", f"url(#{ids[old]})")


def _clean(element: ElementTree.Element) -> None:
    for child in list(element):
        if child.tag.removeprefix(f"{{{SVG}}}") not in ALLOWED or child.get("display") == "none":
            element.remove(child)
            continue
        _clean(child)
    label = element.get("aria-label", "")
    drawn = element.tag.removeprefix(f"{{{SVG}}}") in ("path", "text", "line")
    is_mark = element.get("role") == "graphics-symbol" and drawn
    for attribute in list(element.attrib):
        if attribute in DROPPED or attribute.startswith("on") or "href" in attribute:
            del element.attrib[attribute]
    if label and is_mark:
        title = ElementTree.Element(f"{{{SVG}}}title")
        title.text = label
        element.insert(0, title)
