"""`report`: an assessment or a risk–utility map as one HTML file, and its numbers as JSON beside it."""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from sdckit._support.files import atomic_write
from sdckit._support.progress import Progress, ShowProgress, closes_progress
from sdckit.errors import FileError, OptionError

if TYPE_CHECKING:  # `import sdckit` loads this module and should stay quick: see sdckit/report/__init__.py
    from sdckit.choose.assessment import Assessment
    from sdckit.choose.risk_utility_map import RiskUtilityMap
    from sdckit.report.disclosure import Audience
    from sdckit.report.results import SavedResults


@closes_progress
def report(
    x: "Assessment | RiskUtilityMap | SavedResults",
    path: str | Path,
    *,
    audience: "Audience" = "internal",
    json: bool = True,
    progress: Progress | ShowProgress | bool | None = None,
) -> Path:
    """Write a report of an assessment, or of a risk–utility map and the full assessment of its best scenario.

    Results that were saved (`save_results`, `load_results`) give the same report without the data.

    One HTML file with its charts inside: no network, no script, prints. It appears whole or not at all.
    Beside it, under the same name with the ending .json, its numbers for programs, for the same audience
    (`sdckit.report.document` has the names); `json=False` leaves that file out. It takes some seconds:
    `progress` is told what is done next, how many pieces are done, and how many there are.

    **internal** shows the key combinations with the highest risk and the plan, so that the protected
    file can be made again. **public** is put together from an allow-list: the verdict, rounded headline
    numbers, the kinds of steps, and pictures of records rounded to multiples of 5; no difference of two of
    its numbers tells of fewer than 5 records, and no setting or seed helps to undo random changes.
    No values of direct identifiers are in either. Charts are drawn from counts and shares, never from
    records.

    >>> import tempfile
    >>> import sdckit as sdc
    >>> from sdckit.choose.assess import assess
    >>> data = sdc.demo.survey(n=300, seed=1)
    >>> done = assess(data, sdc.protect.microaggregate(data, k=3))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report(done, Path(folder) / "report.html", audience="public").name
    ...     sorted(path.name for path in Path(folder).iterdir())
    'report.html'
    ['report.html', 'report.json']
    """
    from sdckit import charts
    from sdckit.choose.assessment import Assessment
    from sdckit.choose.risk_utility_map import RiskUtilityMap
    from sdckit.report.disclosure import AUDIENCES
    from sdckit.report.document import to_json
    from sdckit.report.render import render
    from sdckit.report.results import SavedResults
    from sdckit.report.summarize import summarize

    if audience not in AUDIENCES:
        raise OptionError(
            "audience says who will read the report.", given=audience, allowed="internal, public"
        )
    if not isinstance(x, Assessment | RiskUtilityMap | SavedResults):
        raise OptionError(
            "report takes an assessment or a risk–utility map, or saved results of one.",
            given=type(x).__name__,
            hint="Use sdckit.assess or sdckit.compare first.",
        )
    path = Path(path).expanduser()
    check_name(path)
    tell = Progress.of(progress)
    with charts.unchecked():
        tell("measures of the best scenario" if isinstance(x, RiskUtilityMap) else "tables", 0, 2)
        content = x.content(audience) if isinstance(x, SavedResults) else summarize(x, audience)
        tell("charts", 1, 2)
        try:
            texts = {path: render({**content, "from_saved": isinstance(x, SavedResults)})}
        except Exception as error:  # of any kind: a file may hold anything
            if not isinstance(x, SavedResults):
                raise
            raise FileError(
                "No report can be made of these results: the file was changed, or is not whole.",
                hint="Measure again and save the results.",
            ) from error
    if json:
        texts[json_beside(path)] = to_json(content)
    with ExitStack() as files:  # both are written before either takes its place
        for target, text in texts.items():
            files.enter_context(atomic_write(target)).write_text(text, encoding="utf-8")
    return path


def check_name(path: Path) -> None:
    """Refuse a name that is not of an HTML file, so that no data file is taken for the report."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise OptionError(
            "The report is an HTML file.",
            given=path.name,
            allowed="a name that ends in .html",
            hint="Its numbers are written as JSON beside it.",
        )


def json_beside(path: Path) -> Path:
    """The JSON file of a report.

    >>> json_beside(Path("report.html")).name
    'report.json'
    """
    return path.with_suffix(".json")
