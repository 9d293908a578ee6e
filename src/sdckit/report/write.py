"""`report`: an assessment or a risk–utility map as one HTML file."""

from pathlib import Path

from sdckit.assess import Assessment
from sdckit.atomic import write_text
from sdckit.errors import OptionError
from sdckit.registry import Audience
from sdckit.report.render import render
from sdckit.report.summarize import summarize
from sdckit.risk_utility_map import RiskUtilityMap


def report(x: Assessment | RiskUtilityMap, path: str | Path, *, audience: Audience = "internal") -> Path:
    """Write a report of an assessment, or of a risk–utility map and the full assessment of its best scenario.

    One HTML file with its charts inside: no network, no script, prints. It appears whole or not at all.

    **internal** shows the key combinations with the highest risk and the scenario file, so that the protected
    file can be made again. **public** shows no value of a record, no count below 5 records, no smallest or
    largest value, no riskiest combinations, and not the seed: with it, random changes could be undone.
    Direct identifiers are in neither. Charts are drawn from counts and shares, never from records.

    >>> import tempfile
    >>> import sdckit as sdc
    >>> from sdckit.assess import assess
    >>> data = sdc.demo.survey(n=300, seed=1)
    >>> done = assess(data, sdc.protect.microaggregate(data, k=3))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report(done, Path(folder) / "report.html", audience="public").name
    'report.html'
    """
    if audience not in ("internal", "public"):
        raise OptionError(
            "audience says who will read the report.", given=audience, allowed="internal, public"
        )
    if not isinstance(x, Assessment | RiskUtilityMap):
        raise OptionError(
            "report takes an assessment or a risk–utility map.",
            given=type(x).__name__,
            hint="Use sdckit.assess or sdckit.compare first.",
        )
    return write_text(render(summarize(x, audience)), Path(path).expanduser())
