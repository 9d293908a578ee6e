"""Import packages before pytest collects their modules: sdckit.protect.pram is the function, not the file."""

import pytest

import sdckit.charts
import sdckit.demo
import sdckit.prepare
import sdckit.protect
import sdckit.report
import sdckit.risk
import sdckit.utility  # noqa: F401


def pytest_configure(config: pytest.Config) -> None:
    """Most files that tests write are not protected, and need no warning before a release."""
    config.addinivalue_line("filterwarnings", "ignore::sdckit.errors.ReleaseWarning")
