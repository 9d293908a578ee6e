"""The report: one HTML file that says what was done, what risk remains and what was lost."""

from typing import TYPE_CHECKING

from sdckit._support.module_names import module_names as _module_names
from sdckit.report.write import json_beside as json_beside
from sdckit.report.write import report as report

if TYPE_CHECKING:
    from sdckit.report.results import SavedResults as SavedResults
    from sdckit.report.results import load_results as load_results
    from sdckit.report.results import save_results as save_results

if not TYPE_CHECKING:
    # `sdckit.report` is this package until `import sdckit` has put the function in its place: whatever else
    # is here loads when it is first used, so that importing sdckit stays quick
    __getattr__, __dir__ = _module_names(
        globals(), names=dict.fromkeys(("SavedResults", "load_results", "save_results"), "results")
    )
