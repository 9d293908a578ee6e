"""Import the package before its modules are collected one by one: sdckit.search is the function, then."""

import pytest

import sdckit  # noqa: F401


def pytest_configure(config: pytest.Config) -> None:
    """Most files that tests write are not protected, and need no warning before a release."""
    config.addinivalue_line("filterwarnings", "ignore::sdckit.errors.ReleaseWarning")
