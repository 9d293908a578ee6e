"""Formulas as MathML, which browsers draw themselves: pages need no script and no network."""

import re

from docutils import nodes
from docutils.utils.math import latex2mathml

# LaTeX that the converter does not know, as LaTeX that it does
PLAINER = {r"\dots": r"\ldots", r"\Big": "", r"\big": ""}
# a half without braces, which the converter would read as twelve over what follows
DIGITS = re.compile(r"(\\[td]?frac)\s*(\d)\s*(\d)")


def to_mathml(formula: str, *, block: bool) -> str:
    """MathML of a LaTeX formula."""
    for command, plainer in PLAINER.items():
        formula = re.sub(re.escape(command) + r"(?![a-zA-Z])", lambda _, p=plainer: p, formula)
    formula = DIGITS.sub(r"\1{\2}{\3}", formula)
    return str(latex2mathml.tex2mathml(formula, as_block=block))


def _inline(writer, node):
    writer.body.append(to_mathml(node.astext(), block=False))
    raise nodes.SkipNode


def _block(writer, node):
    writer.body.append(f'<div class="math">{to_mathml(node.astext(), block=True)}</div>')
    raise nodes.SkipNode


def setup(app):
    """Draw all formulas in this way."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True}
