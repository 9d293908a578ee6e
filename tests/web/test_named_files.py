"""A file that an option names, such as that of the households, by upload, under the limits of any upload."""

from pathlib import Path

import polars as pl
import pytest

import sdckit as sdc
from sdckit.web import app
from web.test_prepare import again, page  # noqa: F401

HOMES = pl.DataFrame({"hid": range(60), "size": [1, 2] * 30}).write_csv().encode()


def sent(client, content=HOMES, name="homes.csv", **headers):
    headers = {"x-file-name": name, "x-for": "option", **headers}
    return client.request("POST", "/api/upload", headers=headers, content=content)


def test_an_uploaded_household_file_is_merged_and_the_plan_names_it(page, tmp_path):  # noqa: F811
    before = page.state()
    answer = sent(page)
    assert answer.status_code == 200
    assert page.state()["document"] == before["document"]  # nothing was opened
    file = Path(answer.json()["file"])
    assert file.stat().st_mode & 0o077 == 0 or file.parent.stat().st_mode & 0o077 == 0
    ended = again(page, prepare=[{"merge_file": {"file": str(file), "by": "hid"}}])
    assert ended["state"] == "done", ended["result"]
    page.change("roles", roles={"size": ["keys"], "sex": ["keys"]})
    state = page.wait()
    assert "size" in [c["name"] for c in state["facts"]["columns"]]
    done = page.job(kind="release", scenario="A", wanted={"data": "protected.csv", "reports": ["internal"]})
    at = f"/download/{done['result']['folder']}"
    plan = page.get(f"{at}/plan.yaml").text
    assert "file: homes.csv" in plan
    assert str(file.parent) not in plan
    assert str(file.parent) not in page.get(f"{at}/script.py").text
    (tmp_path / "plan.yaml").write_text(plan)
    (tmp_path / "homes.csv").write_bytes(HOMES)
    loaded = sdc.Plan.load(tmp_path / "plan.yaml")
    sdc.write(loaded.find("A").protect(loaded.read(), seed=loaded.seed), tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == page.get(f"{at}/protected.csv").content


def test_a_second_file_of_the_same_name_gets_another(page):  # noqa: F811
    names = [Path(sent(page).json()["file"]).name for _ in range(3)]
    assert names == ["homes.csv", "homes_2.csv", "homes_3.csv"]


@pytest.mark.parametrize("name", ["homes.exe", "", ".csv", "a\nb.csv", "x" * 300 + ".csv"])
def test_what_is_no_data_file_is_refused(page, name):  # noqa: F811
    answer = sent(page, name=name.replace("\n", "%0A"))
    assert answer.status_code == 400
    assert not list((page.page._folder / "uploads").glob("*/*"))


def test_a_file_too_large_is_refused_and_nothing_stays(page, monkeypatch):  # noqa: F811
    monkeypatch.setattr(app, "LARGEST_UPLOAD", 100)
    assert sent(page).status_code == 400
    assert not list((page.page._folder / "uploads").glob("*/*"))


def test_uploads_that_are_switched_off_are_off_here_too(page):  # noqa: F811
    page.page._uploads = False
    assert sent(page).status_code == 400


@pytest.mark.parametrize(
    "name", ["../original.arrow", "../../secret.csv", "none.csv", "x/../../../../etc/passwd"]
)
def test_only_uploads_are_found_among_the_uploads(page, tmp_path, name):  # noqa: F811
    sent(page)
    (tmp_path.parent / "secret.csv").write_bytes(HOMES)
    outside = page.page._folder / "uploads" / name
    page.page._files = app.FileList((tmp_path / "nowhere",))
    answer = page.post("/api/open", again=True, prepare=[{"merge_file": {"file": str(outside), "by": "hid"}}])
    assert answer.status_code == 400
    link = page.page._folder / "uploads" / "link.csv"
    link.symlink_to(tmp_path.parent / "secret.csv")
    answer = page.post("/api/open", again=True, prepare=[{"merge_file": {"file": str(link), "by": "hid"}}])
    assert answer.status_code == 400


def test_a_path_may_be_copied_with_its_quotes(reused):
    client, folder = reused
    path = folder / "my people.csv"
    path.write_text("sex,age\n" + "f,30\nm,40\n" * 10)
    for written in (f'"{path}"', f"'{path}'", f" {path} "):
        answer = client.post("/api/open", path=written)
        assert answer.status_code == 200, answer.text
        assert client.wait()["facts"]["records"] == 20
