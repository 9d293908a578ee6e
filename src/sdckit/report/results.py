"""Results that were saved, so that reports can be made of them again: plain data, for both audiences."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sdckit._support.files import write_text
from sdckit.choose.assessment import Assessment
from sdckit.choose.criteria import Status
from sdckit.choose.risk_utility_map import RiskUtilityMap
from sdckit.errors import FileError, OptionError
from sdckit.report.disclosure import AUDIENCES, Audience
from sdckit.report.summarize import summarize
from sdckit.report.verdict import GOOD

FORMAT = "sdckit results"
VERSION = 1  # goes up when older files can no longer be read


@dataclass(frozen=True)
class SavedResults:
    """What was found of a protected file or of several scenarios: the contents of its reports.

    No record, no id and no value of a direct identifier is in it, and no seed in the part for the public.
    """

    contents: Mapping[str, Mapping[str, Any]]

    def content(self, audience: Audience) -> Mapping[str, Any]:
        """The content of the report for this audience."""
        return self.contents[audience]

    @property
    def verdict(self) -> Mapping[str, Any]:
        """Status (good, bad, open), headline and criteria of the file."""
        verdict: Mapping[str, Any] = self.contents["internal"]["verdict"]
        return verdict

    def __repr__(self) -> str:
        made = self.contents["internal"]
        records, headline = made["data"]["records"], made["verdict"]["headline"]
        return f"Saved results of {made['date']}: {records} records\n{headline}"


def save_results(x: Assessment | RiskUtilityMap | SavedResults, path: str | Path) -> Path:
    """Save an assessment or a risk–utility map, so that reports can be made of it without the data.

    One JSON file with plain data for internal and for public reports, whole or not at all. It holds what the
    internal report shows, the riskiest key combinations and the seed among it: keep it inside.

    >>> import tempfile
    >>> import sdckit as sdc
    >>> data = sdc.demo.survey(n=300, seed=1)
    >>> done = sdc.assess(data, sdc.protect.microaggregate(data, k=3), measures=["il1s"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     loaded = load_results(save_results(done, Path(folder) / "results.json"))
    >>> loaded.verdict["status"]
    'bad'
    """
    path = Path(path).expanduser()
    check_results_name(path)
    if isinstance(x, SavedResults):
        contents = dict(x.contents)
    elif isinstance(x, Assessment | RiskUtilityMap):
        contents = {audience: summarize(x, audience) for audience in AUDIENCES}
    else:
        raise OptionError(
            "save_results takes an assessment or a risk–utility map.",
            given=type(x).__name__,
            hint="Use sdckit.assess or sdckit.compare first.",
        )
    content = {"format": FORMAT, "version": VERSION, "contents": contents}
    return write_text(json.dumps(content, ensure_ascii=False, allow_nan=False) + "\n", path)


def load_results(path: str | Path) -> SavedResults:
    """The results that `save_results` wrote: `sdckit.report` makes reports of them for either audience."""
    path = Path(path).expanduser()
    if not path.is_file():
        raise FileError("There is no such file of results.", given=path)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError):
        content = None
    if not isinstance(content, Mapping) or content.get("format") != FORMAT:
        raise FileError(
            "This file holds no saved results.",
            given=path,
            hint="It is written by save_results, or on the command line with --save.",
        )
    if content.get("version") != VERSION:
        raise FileError(
            "These results were saved by another version of sdckit.",
            given=f"version {content.get('version')}",
            allowed=VERSION,
            hint="Measure again and save the results.",
        )
    try:
        contents: dict[str, Any] = {audience: content["contents"][audience] for audience in AUDIENCES}
        met = {name: _is_of_criteria(contents[name]["verdict"]) for name in AUDIENCES}
    except (KeyError, TypeError, AttributeError):
        contents, met = {}, dict.fromkeys(AUDIENCES, False)
    if not all(met.values()):
        raise FileError(
            "These results were changed: their verdict is not that of their criteria.",
            given=path,
            hint="Measure again and save the results.",
        )
    return SavedResults(contents)


def _is_of_criteria(verdict: Mapping[str, Any]) -> bool:
    """Whether a verdict is what its own criteria say; else somebody changed the file."""
    met = bool(verdict["criteria"]) and all(c["status"] == Status.MET.value for c in verdict["criteria"])
    return bool((verdict["status"] == GOOD) == met)


def check_results_name(path: Path) -> None:
    """Refuse a name that is not of a JSON file, so that no data file or report is replaced by results."""
    if path.suffix.lower() != ".json":
        raise OptionError("Results are a JSON file.", given=path.name, allowed="a name that ends in .json")
