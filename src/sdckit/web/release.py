"""The files of a release: protected file, plan, script, reports, and all of them with checksums."""

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from sdckit._support.progress import Progress
from sdckit.choose.assessment import Assessment
from sdckit.data.microdata import Microdata
from sdckit.io import write
from sdckit.io.formats import writable
from sdckit.report import report
from sdckit.web.document import Document

DATE = (1980, 1, 1, 0, 0, 0)  # the same files make the same archive


def release(
    document: Document,
    protected: Microdata,
    done: Assessment,
    folder: Path,
    wanted: Mapping[str, Any],
    progress: Progress,
) -> dict[str, Any]:
    """Write what is wanted: {"data": "protected.sav", "reports": ["internal", "public"], …}."""
    folder.mkdir(mode=0o700, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    files: list[Path] = []
    name = folder / Path(str(wanted.get("data", "protected.csv"))).name
    writable(name)
    progress("writing the protected file", 0, 4)
    files.append(write(protected, name))
    progress("writing the plan", 1, 4)
    plan = document.plan(folder)
    files.append(plan.save(folder / "plan.yaml"))
    for position, audience in enumerate(wanted.get("reports", ())):
        progress(f"writing the {audience} report", 2 + position, 4)
        page = folder / f"report_{audience}.html"
        files += [report(done, page, audience=audience), page.with_suffix(".json")]
    archive = _archive(files, folder / "release.zip")
    return {
        "verdict": done.verdict.as_dict(),
        "files": [{"name": f.name, "bytes": f.stat().st_size} for f in (*files, archive)],
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
