"""The files of a release: protected file, reports, plan and script, with an archive for others."""

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from sdckit._support.files import write_text
from sdckit._support.progress import Progress
from sdckit.choose.assessment import Assessment
from sdckit.data.microdata import Microdata
from sdckit.io import write
from sdckit.io.formats import writable
from sdckit.report import report
from sdckit.web.document import Document
from sdckit.web.script import script

DATE = (1980, 1, 1, 0, 0, 0)  # the same files make the same archive
PUBLIC, INTERNAL = "release.zip", "internal.zip"


def release(
    document: Document,
    protected: Microdata,
    done: Assessment,
    folder: Path,
    wanted: Mapping[str, Any],
    progress: Progress,
) -> dict[str, Any]:
    """Write what is wanted: {"data": "protected.sav", "reports": ["internal", "public"]}.

    The archive for others holds the protected file and the public report, and is made only where the file can
    be released. Plan, script and internal report tell how to undo random changes: they stay inside.
    """
    folder.mkdir(mode=0o700, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    name = folder / Path(str(wanted.get("data", "protected.csv"))).name
    writable(name)
    audiences = [a for a in ("internal", "public") if a in wanted.get("reports", ())]
    progress("writing the protected file", 0, 2 + len(audiences))
    public, internal = [write(protected, name)], []
    internal.append(document.plan(folder).save(folder / "plan.yaml"))
    internal.append(write_text(script(document, done.scenario, name.name), folder / "script.py"))
    for position, audience in enumerate(audiences):
        progress(f"writing the {audience} report", 1 + position, 2 + len(audiences))
        page = folder / f"report_{audience}.html"
        made = [report(done, page, audience=audience), page.with_suffix(".json")]  # type: ignore[arg-type]
        (public if audience == "public" else internal).extend(made)
    archives = [_archive([*public, *internal], folder / INTERNAL)]
    if done.verdict.releasable:
        archives.insert(0, _archive(public, folder / PUBLIC))
    facts = [(public, "for others"), (internal, "internal"), (archives[:-1], "for others")]
    facts.append((archives[-1:], "internal"))
    return {
        "verdict": done.verdict.as_dict(),
        "files": [
            {"name": f.name, "bytes": f.stat().st_size, "for": whom} for files, whom in facts for f in files
        ],
    }


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
