"""Import the package before its modules are collected one by one: sdckit.search is the function, then."""

import sdckit  # noqa: F401
