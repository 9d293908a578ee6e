"""Sphinx configuration."""

project = "sdckit"
author = "The sdckit developers"
extensions = ["myst_parser"]
html_theme = "furo"
exclude_patterns = ["_build"]
myst_enable_extensions = ["dollarmath", "colon_fence"]
