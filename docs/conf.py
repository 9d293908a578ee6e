"""Sphinx configuration; the pages of the reference are made from the registry."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from make_reference import make_reference

project = "sdckit"
author = "The sdckit developers"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.mathjax"]
html_theme = "furo"
exclude_patterns = ["_build"]
suppress_warnings = ["myst.xref_missing"]
myst_enable_extensions = ["dollarmath", "colon_fence"]
autodoc_typehints = "none"

make_reference(Path(__file__).parent / "reference")


def plain_bars(app, what, name, obj, options, lines):
    """|x| in our docstrings is an absolute value, not a substitution."""
    for i, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...", ".. math")):
            lines[i] = line.replace("|", r"\|")


def setup(app):
    """Connect the handler."""
    app.connect("autodoc-process-docstring", plain_bars)
