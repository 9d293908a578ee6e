"""The files of a release: protected file, reports, plan and script, with an archive for others."""

import shutil
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from sdckit._support.files import write_text
from sdckit._support.messages import join_names
from sdckit._support.progress import Progress
from sdckit.choose.assessment import Assessment
from sdckit.data.microdata import Microdata
from sdckit.errors import OptionError, preview
from sdckit.io import write
from sdckit.io.codebook import beside
from sdckit.io.formats import writable
from sdckit.report import report
from sdckit.web.document import Document
from sdckit.web.script import command, script

DATE = (1980, 1, 1, 0, 0, 0)  # the same files make the same archive
PUBLIC, INTERNAL = "release.zip", "internal.zip"
NOT = "must not be released"
HOW = ("values", "decimal", "separator", "codebook", "escape_formulas", "header")  # of `sdckit.write`
KEPT = 3  # releases at a time: each may be as large as the data


def release_folder(parent: Path, key: str) -> Path:
    """An empty folder for the files of one release, named after all that they depend on.

    Another document, scenario or format has another folder, so that an address never leads to files of
    another release than the one it was given for.
    """
    parent.mkdir(mode=0o700, exist_ok=True)
    folder = parent / key[:32]
    others = sorted((f for f in parent.iterdir() if f != folder), key=lambda f: f.stat().st_mtime)
    for old in [folder, *others[: len(others) - KEPT + 1]]:
        shutil.rmtree(old, ignore_errors=True)
    folder.mkdir(mode=0o700)
    return folder


def release(
    document: Document,
    protected: Microdata,
    done: Assessment,
    folder: Path,
    wanted: Mapping[str, Any],
    progress: Progress,
) -> dict[str, Any]:
    """Write what is wanted: {"data": "protected.sav", "reports": ["internal", "public"], "how": {…}}.

    how: how the file is written, as `sdckit.write` takes it: values, decimal, separator, codebook,
    escape_formulas, header. Script and command say the same.

    The archive for others holds the protected file and the public report, and is made only where the file can
    be released. Plan, script and internal report tell how to undo random changes: they stay inside.
    """
    name = folder / Path(str(wanted.get("data", "protected.csv"))).name
    writable(name)
    audiences = [a for a in ("internal", "public") if a in wanted.get("reports", ())]
    how = _how(wanted.get("how") or {})
    progress("writing the protected file", 0, 2 + len(audiences))
    public, internal = [write(protected, name, **how)], []
    if how.get("codebook"):
        public += beside(name).values()
    internal.append(document.plan(folder).save(folder / "plan.yaml"))
    internal.append(write_text(script(document, done.scenario, name.name, how), folder / "script.py"))
    for position, audience in enumerate(audiences):
        progress(f"writing the {audience} report", 1 + position, 2 + len(audiences))
        page = folder / f"report_{audience}.html"
        made = [report(done, page, audience=audience), page.with_suffix(".json")]  # type: ignore[arg-type]
        (public if audience == "public" else internal).extend(made)
    archives = [_archive([*public, *internal], folder / INTERNAL)]
    if done.verdict.releasable:
        archives.insert(0, _archive(public, folder / PUBLIC))
    whom = "for others" if done.verdict.releasable else NOT
    facts = [(public, whom), (internal, "internal"), (archives[:-1], whom)]
    facts.append((archives[-1:], "internal"))
    return {
        "verdict": done.verdict.as_dict(),
        "folder": folder.name,
        "command": command(done.scenario, name.name, how),
        "drawn_in_secret": any(entry.effects.privacy for entry in protected.steps_since(done.original)),
        "files": [
            {"name": f.name, "bytes": f.stat().st_size, "for": who} for files, who in facts for f in files
        ],
    }


def _how(given: Any) -> dict[str, Any]:
    """How the file is written, without anything else that `sdckit.write` can be told."""
    if not isinstance(given, Mapping) or not set(given) <= set(HOW):
        raise OptionError("This is no way to write a file.", given=preview(given), allowed=join_names(HOW))
    return {name: given[name] for name in HOW if name in given}


def _archive(files: list[Path], path: Path) -> Path:
    """All files in one, with their checksums."""
    sums = "".join(f"{sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files)
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for file in files:
            archive.writestr(_entry(file.name), file.read_bytes())
        archive.writestr(_entry("SHA256SUMS"), sums)
    return path


def _entry(name: str) -> ZipInfo:
    entry = ZipInfo(name, DATE)
    entry.compress_type = ZIP_DEFLATED
    return entry
