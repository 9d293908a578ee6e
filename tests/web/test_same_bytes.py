"""Page, plan, script and command line make the same file, whatever is read, prepared and written how."""

import runpy
import shlex
from io import BytesIO
from pathlib import Path
from tempfile import mkdtemp
from typing import Any
from zipfile import ZipFile

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import sdckit as sdc
from sdckit.cli import app
from sdckit.data.labels import Labels
from sdckit.data.microdata import Microdata

N = 400
SECRET = "Zebulon"
NOTE = f"because {SECRET} asked"


def people() -> pl.DataFrame:
    rng = np.random.default_rng(3)
    return pl.DataFrame(
        {
            "name": [f"{SECRET} {i}" for i in range(N)],
            "hid": rng.integers(0, 40, N),
            "sex": rng.choice([1, 2, 9], N, p=[0.45, 0.45, 0.1]),
            "größe": rng.choice(["klein", "groß"], N),
            "income": (rng.integers(0, 20, N) * 100) + 0.5,
        }
    )


def text_file(folder: Path) -> tuple[Path, dict[str, Any]]:
    path = folder / "people.csv"
    text = people().write_csv(separator="#", decimal_comma=True, include_header=True)
    path.write_bytes(text.encode("cp1252"))
    return path, {"separator": "#", "decimal": ",", "encoding": "cp1252"}


def text_with_codebook(folder: Path) -> tuple[Path, dict[str, Any]]:
    path, options = text_file(folder)
    book = folder / f"codebook of {SECRET}.csv"
    rows = ["sex,Sex of the person,1,male,", "sex,,2,female,", "sex,,9,refused,yes", "income,Income,,,"]
    book.write_text("\n".join(["variable,label,value,value_label,missing", *rows]), encoding="utf-8")
    return path, {**options, "codebook": str(book)}


def workbook(folder: Path) -> tuple[Path, dict[str, Any]]:
    import xlsxwriter

    path = folder / "people.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        pl.DataFrame({"nothing": [1]}).write_excel(book, "cover")
        people().write_excel(book, "the people")
    return path, {"sheet": "the people"}


def spss(folder: Path) -> tuple[Path, dict[str, Any]]:
    labels = Labels({"sex": "Sex of the person"}, {"sex": {1: "male", 2: "female", 9: "refused"}})
    return sdc.write(Microdata.of(people(), labels=labels), folder / "people.sav"), {}


def opened_with(client: Any, folder: Path, made: Any) -> None:
    path, options = made(folder)
    pl.DataFrame(
        {"hid": range(40), "size": [1, 2] * 20, "street": [f"{SECRET} lane {i}" for i in range(40)]}
    ).write_csv(folder / f"homes of {SECRET}.csv")
    assert client.post("/api/open", path=str(path), options=options).status_code == 200
    client.wait()
    prepare = [
        {"declare_missing": {"codes": [9], "variables": ["sex"]}},
        {"keep_records": {"where": f'name != "{SECRET} 7"'}},
        {"set_type": {"variables": ["sex"], "type": "category"}},
        {
            "merge_file": {
                "file": str(folder / f"homes of {SECRET}.csv"),
                "by": "hid",
                "variables": ["size", "street"],
            }
        },
    ]
    answer = client.post("/api/open", again=True, version=client.state()["version"], prepare=prepare)
    client.wait()
    assert client.get(f"/api/jobs/{answer.json()['job']}").json()["ended"]["state"] == "done"
    roles = {
        "name": ["direct"],
        "street": ["direct"],
        "hid": ["household"],
        "sex": ["keys"],
        "größe": ["keys"],
    }
    roles |= {"size": ["keys"], "income": ["sensitive"]}
    assert client.change("roles", roles=roles).status_code == 200
    steps = (
        ("drop", {"variables": ["hid"]}),
        ("suppress", {"k": 3}),
        ("microaggregate", {"variables": ["income"], "k": 5}),
        ("shuffle_order", {}),
    )
    for at, (method, options) in enumerate(steps):
        assert client.change("add_step", scenario="A", method=method, options=options).status_code == 200
        client.change("note_step", scenario="A", at=at, note=NOTE)
    accept = {
        "prepared": ["sex", "hid"],
        "missing_keys": True,
        "claims": 1000,
        "inference": 1,
        "columns": ["größe", "sex", "size"],
    }
    assert client.change("criteria", max_risk=1, accept=accept).status_code == 200


@pytest.mark.parametrize(
    ("made", "out", "how"),
    [
        (text_file, "protected.csv", {"decimal": ",", "separator": "|", "codebook": True}),
        (text_file, "protected.csv", {"header": False, "codebook": True}),
        (text_file, "protected.sav", {}),
        (text_with_codebook, "protected.sav", {}),
        (text_with_codebook, "protected.csv", {"values": "labels", "codebook": True}),
        (workbook, "protected.csv", {"separator": ";", "escape_formulas": True}),
        (workbook, "protected.dta", {"values": "labels"}),
        (spss, "protected.csv", {"values": "labels", "decimal": ",", "codebook": True}),
        (spss, "protected.zsav", {"codebook": True}),
        (spss, "protected.parquet", {}),
        (spss, "protected.xlsx", {"values": "labels"}),
    ],
)
def test_one_file_by_every_way(reused, made, out, how):
    client, root = reused
    place = Path(mkdtemp(dir=root))
    opened_with(client, place, made)
    state = client.wait()
    assert "verdict" in state["results"]["A"], state["results"]["A"]
    wanted = {"data": out, "reports": ["internal", "public"], "how": how}
    done = client.job(kind="release", scenario="A", wanted=wanted)
    assert done["state"] == "done", done["result"]
    result = done["result"]
    at = f"/download/{result['folder']}"
    page = client.get(f"{at}/{out}").content
    folder = place / "out"
    with ZipFile(BytesIO(client.get(f"{at}/internal.zip").content)) as archive:
        archive.extractall(folder)
    assert (folder / out).read_bytes() == page
    emptied(folder, out)
    runpy.run_path(str(folder / "script.py"))
    same(folder / out, page, place)
    emptied(folder, out)
    call = shlex.split(result["command"].replace("plan.yaml", str(folder / "plan.yaml")))
    call[call.index(out)] = str(folder / out)
    told = CliRunner().invoke(app, call[1:])
    assert told.exit_code == 0, told.output
    same(folder / out, page, place)
    assert result["verdict"]["status"] == "releasable", [
        c for c in result["verdict"]["criteria"] if c["status"] != "met"
    ]
    with ZipFile(BytesIO(client.get(f"{at}/release.zip").content)) as archive:
        for name in archive.namelist():
            assert (
                name in {out, "report_public.html", "report_public.json", "SHA256SUMS"} or "codebook" in name
            )
            content = archive.read(name)
            for hidden in (SECRET, str(root), "street", "homes"):
                assert hidden.encode() not in content, (name, hidden)


def emptied(folder: Path, out: str) -> None:
    for file in folder.glob(f"{Path(out).stem}*"):
        file.unlink()


def same(path: Path, page: bytes, folder: Path) -> None:
    """The same bytes; a workbook tells when it was made, so there it is the same table."""
    if path.suffix != ".xlsx":
        assert path.read_bytes() == page
        return
    (folder / "page.xlsx").write_bytes(page)
    assert sdc.read(path).frame.equals(sdc.read(folder / "page.xlsx").frame)
