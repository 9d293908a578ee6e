"""Codebooks as a page for people, without scripts or anything from elsewhere."""

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sdckit.io.codebook import Codebook, Variable

STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "table{border-collapse:collapse;width:100%}"
    "th,td{text-align:left;vertical-align:top;padding:.3rem .8rem .3rem 0;border-bottom:1px solid #ccc}"
    "dl{margin:0;display:grid;grid-template-columns:max-content 1fr;gap:0 .8rem}"
    "dd{margin:0}code{white-space:pre-wrap}"
)


def page(book: "Codebook") -> str:
    """The codebook as an HTML document."""
    title = f"Codebook of {book.file}"
    rows = "\n".join(_row(variable) for variable in book.variables)
    heads = "".join(f"<th>{head}</th>" for head in ("Variable", "Label", "Type", "Values", "Missing"))
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{STYLE}</style></head><body>\n<h1>{escape(title)}</h1>\n"
        f"<p>{book.records:,} records, {len(book.variables):,} variables.</p>\n"
        f"<table><thead><tr>{heads}</tr></thead><tbody>\n{rows}\n</tbody></table>\n</body></html>\n"
    )


def _row(variable: "Variable") -> str:
    kind = f"{variable.kind}, weight" if variable.weight else variable.kind
    cells = [f"<code>{escape(variable.name)}</code>", escape(variable.label), kind]
    cells += [_pairs(variable.categories), _pairs(variable.missing)]
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def _pairs(pairs: Iterable[tuple[str, str]]) -> str:
    items = "".join(f"<dt><code>{escape(code)}</code></dt><dd>{escape(text)}</dd>" for code, text in pairs)
    return f"<dl>{items}</dl>" if items else ""
