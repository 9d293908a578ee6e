"""The report: one HTML file that says what was done, what risk remains and what was lost."""

from sdckit.report.results import SavedResults as SavedResults
from sdckit.report.results import load_results as load_results
from sdckit.report.results import save_results as save_results
from sdckit.report.summarize import summarize as summarize
from sdckit.report.write import json_beside as json_beside
from sdckit.report.write import report as report
