"""Sphinx configuration; the pages of the reference are made from the registry."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "_ext")]

project = "sdckit"
author = "The sdckit developers"
project_copyright = author
extensions = ["myst_parser", "mathml", "links"]
html_theme = "furo"
html_title = "sdckit"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
default_role = "code"  # single backticks in docstrings
exclude_patterns = ["_build", "_ext"]
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3


def _make_reference(app):
    from make_reference import make_reference

    make_reference(HERE / "reference")


def setup(app):
    """Make the reference before pages are read."""
    app.connect("builder-inited", _make_reference)
