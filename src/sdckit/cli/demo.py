"""`sdckit demo`."""

import shlex
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from warnings import catch_warnings, simplefilter

import typer

from sdckit.cli._options import Force, Jobs, Json, expanded

if TYPE_CHECKING:
    from sdckit.choose.plan import Plan
    from sdckit.choose.risk_utility_map import RiskUtilityMap
    from sdckit.data.microdata import Microdata

FILES = ("scenarios.yaml", "original.csv", "report.html", "report.json", "protected.csv", "protected.sav")


def demo(
    out: Annotated[
        Path, typer.Option(callback=expanded, help="Folder for the results; made if need be.")
    ] = Path("demo"),
    n: Annotated[int, typer.Option(min=200, help="Persons in the artificial survey.")] = 2000,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the data and the protection.")] = 1,
    jobs: Jobs = 1,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Try it: an artificial survey, several ways to protect it, and a report. Needs no file.

    Example: `sdckit demo --out demo`
    """
    from sdckit.choose import plain
    from sdckit.choose.compare import compare
    from sdckit.choose.plan import Plan
    from sdckit.choose.scenario import Scenario
    from sdckit.choose.warm_up import remember
    from sdckit.cli import _json, _show
    from sdckit.cli._exit import Code
    from sdckit.cli._files import check_outputs
    from sdckit.cli._progress import following, say
    from sdckit.cli._warm_up import compile_ahead
    from sdckit.data.intruder import intruders_of
    from sdckit.demo import survey
    from sdckit.demo.scenarios import ASSESS, COLUMNS, INTRUDERS, KEYS, NUMERIC, SCENARIOS, SENSITIVE
    from sdckit.errors import FileError

    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError("The folder cannot be made.", given=out, hint=str(error)) from None
    check_outputs([out / name for name in FILES], [], force=force or _is_ours(out))
    say(f"Making an artificial survey of {n:,} persons (seed {seed}); no record describes anybody.")
    whole = survey(n, seed)
    data = whole.without(tuple(c for c in whole.columns if c not in COLUMNS))
    data = data.with_roles(keys=KEYS, numeric=NUMERIC, sensitive=SENSITIVE)
    plan = Plan(
        {"file": "original.csv", **data.roles.as_dict()},
        tuple(Scenario(name, steps) for name, steps in SCENARIOS.items()),
        ASSESS,
        seed,
        intruders=intruders_of(INTRUDERS),
    )
    compile_ahead("demo", say)
    with following("Scenario", finished=True) as tell:
        found = compare(
            data, plan.scenarios, seed=seed, jobs=jobs, progress=tell, intruders=plan.intruders, **ASSESS
        )

    say("Writing the report and the files.")
    written = _write(found, data, plan, out)
    remember("demo")
    if as_json:
        _json.emit({**plain.risk_utility_map(found), "files": written})
    else:
        _show.risk_utility_map(found)
        _show.written(written)
        again = shlex.quote(str(out / "scenarios.yaml"))
        typer.echo(f"Next: open {out / 'report.html'}, then try: sdckit compare {again}")
    code = Code.NOT_RELEASABLE if found.verdict is None else found.verdict.exit_code
    if code:
        raise typer.Exit(code)


def _write(found: "RiskUtilityMap", data: "Microdata", plan: "Plan", out: Path) -> dict[str, Path]:
    """Write the files of a demo; what each of them is."""
    from sdckit._support.files import write_text
    from sdckit.errors import ReleaseWarning
    from sdckit.io import write
    from sdckit.report import report

    # These two first: where they stand as written, the other files are of a demo, too, and may be replaced.
    with catch_warnings():
        simplefilter("ignore", ReleaseWarning)  # no record describes anybody
        original = write(data, out / "original.csv")
    text = HEADER + plan.to_yaml()
    written = {
        "the plan, to change and run again": write_text(
            text + SEAL + _seal(text, original) + "\n", out / "scenarios.yaml"
        ),
        "the data, as they were (artificial)": original,
        "the report": report(found, out / "report.html"),
        "its numbers for programs": out / "report.json",
    }
    if found.best is not None:
        protected = found.protect()
        written["the recommended file"] = write(protected, out / "protected.csv")
        written["the same with labels (SPSS)"] = write(protected, out / "protected.sav")
    return written


def _is_ours(folder: Path) -> bool:
    """Whether a folder has the plan and data of an earlier demo, unchanged: a new one replaces its files."""
    plan, original = folder / "scenarios.yaml", folder / "original.csv"
    if not (plan.is_file() and original.is_file()):
        return False
    text, _, seal = plan.read_text(encoding="utf-8", errors="replace").rpartition(SEAL)
    return seal.strip() == _seal(text, original)


def _seal(plan: str, original: Path) -> str:
    return sha256(plan.encode() + original.read_bytes()).hexdigest()[:16]


HEADER = """\
# Written by sdckit demo. original.csv beside this file is an artificial survey: no record describes anybody.
# Change it and run: sdckit compare scenarios.yaml
# The protected file: sdckit protect scenarios.yaml --scenario NAME --out file.sav
"""
SEAL = "# Once this file or original.csv is changed, sdckit demo replaces them only with --force. "
