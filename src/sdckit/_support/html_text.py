"""Pieces of HTML for notebooks. Every text is escaped here, so that names and values stay text."""

import json
from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import Any
from zlib import crc32

from sdckit._support.static_svg import plain, static_svg, unchecked


def paragraph(text: str, *, strong: bool = False) -> str:
    """A paragraph, or nothing for an empty text.

    >>> paragraph("a < b"), paragraph("")
    ('<p>a &lt; b</p>', '')
    """
    inner = f"<b>{escape(text)}</b>" if strong else escape(text)
    return f"<p>{inner}</p>" if text else ""


def bullets(items: Iterable[str], title: str = "") -> str:
    """A list under its title, or nothing where there are no items.

    >>> bullets(["<script>"])
    '<ul><li>&lt;script&gt;</li></ul>'
    """
    rows = "".join(f"<li>{escape(item)}</li>" for item in items)
    return f"{paragraph(title)}<ul>{rows}</ul>" if rows else ""


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table with the first column on the left and the others on the right; nothing without rows.

    >>> table(["key"], [["sex"]])
    '<table><thead><tr><th style="text-align:left">key</th>...<td style="text-align:left">sex</td>...</table>'
    """
    body = "".join(f"<tr>{_cells('td', row)}</tr>" for row in rows)
    return (
        f"<table><thead><tr>{_cells('th', heads)}</tr></thead><tbody>{body}</tbody></table>" if body else ""
    )


def _cells(tag: str, texts: Sequence[str]) -> str:
    sides = ["left", *["right"] * (len(texts) - 1)]
    return "".join(
        f'<{tag} style="text-align:{side}">{escape(text)}</{tag}>'
        for side, text in zip(sides, texts, strict=True)
    )


def picture(draw: Callable[[], Any], description: str) -> str:
    """What `draw` gives (an Altair chart) as SVG, or nothing where it cannot be drawn.

    A notebook shows the numbers also where a picture is impossible: without Altair, of an empty table, or
    when the chart of somebody else's measure fails.
    """
    try:
        with unchecked():
            content = plain(draw())
        # ids of several pictures on one page must differ, those of one picture stay the same
        name = f"sdckit-{crc32(json.dumps(content, sort_keys=True, default=str).encode()):08x}"
        return static_svg(content, name, description)
    except Exception:
        return ""
