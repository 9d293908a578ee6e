"""What a data steward meets: slips when files are opened, and a history that says what was accepted."""

from threading import Event
from types import SimpleNamespace

import polars as pl
import pytest

TEXT = "sex,age\n" + "".join(f"{i % 2},{20 + i % 4}\n" for i in range(24))


def opened(client, path):
    answer = client.post("/api/open", path=str(path))
    assert answer.status_code == 200, answer.text
    return client.wait()


@pytest.mark.parametrize("path", ["", "   ", None])
def test_no_name_of_a_file_opens_nothing_and_keeps_what_was_decided(reused, path):
    client, folder = reused
    (folder / "people.csv").write_text(TEXT)
    opened(client, folder / "people.csv")
    client.change("roles", roles={"sex": ["keys"]})
    answer = client.post("/api/open", path=path)
    assert answer.status_code == 400
    assert answer.json()["what"] == "No file is named."
    assert client.wait()["document"]["roles"] == {"sex": ["keys"]}


def test_a_name_that_no_file_can_have_is_said_to_be_none(reused):
    client, _ = reused
    answer = client.post("/api/open", path="x" * 3000 + ".csv")
    assert answer.status_code == 400
    assert answer.json()["what"] == "This is not the name of a file."


def test_files_that_cannot_be_opened_are_not_offered_again(reused):
    client, folder = reused
    (folder / "people.csv").write_text(TEXT)
    (folder / "notes.py").write_text("1")
    (folder / "plan.yaml").write_text("data: [")
    (folder / "empty.csv").write_text("")
    (folder / "torn.xlsx").write_text("PK, and no more")
    (folder / "other.yaml").write_text("data: {file: torn.xlsx}")
    wrong = ("notes.py", "plan.yaml", "absent.csv", "empty.csv", "torn.xlsx", "other.yaml")
    for name in ("people.csv", *wrong):
        client.post("/api/open", path=str(folder / name))
        client.wait()
    assert [p.rsplit("/", 1)[1] for p in client.get("/api/recent").json()["files"]] == ["people.csv"]


def test_the_history_says_what_was_accepted(reused):
    client, folder = reused
    pl.DataFrame({"sex": ["f", "m"] * 20, "age": range(40)}).write_csv(folder / "accepted.csv")
    opened(client, folder / "accepted.csv")
    client.change("roles", roles={"sex": ["keys"], "age": ["keys"]})
    client.change("criteria", max_risk=0.05, accept={})
    client.change("criteria", max_risk=0.05, accept={"missing_keys": True})
    client.change("criteria", max_risk=0.1, accept={"missing_keys": True, "columns": ["sex", "age"]})
    client.change("criteria", max_risk=None, accept={"columns": ["sex"]})
    client.wait()
    assert client.state()["history"][-4:] == [
        "accepted risk 5 %",
        "accepted: missing keys",
        "accepted risk 10 %; accepted: columns sex, age",
        "no accepted risk; accepted: columns sex; no longer accepted: missing keys",
    ]


def test_a_file_that_was_deleted_meanwhile_is_named(reused):
    client, folder = reused
    (folder / "gone.csv").write_text(TEXT)
    opened(client, folder / "gone.csv")
    (folder / "gone.csv").unlink()
    client.change("roles", roles={"sex": ["keys"], "age": ["keys"]})
    error = client.wait()["results"]["A"]["error"]
    assert error["what"] == "gone.csv is not there, or cannot be read."
    assert error["hint"] == "Put it back, or open another file."


def test_two_clicks_make_one_release(reused):
    client, folder = reused
    (folder / "twice.csv").write_text(TEXT)
    opened(client, folder / "twice.csv")
    client.change("roles", roles={"sex": ["keys"], "age": ["keys"]})
    client.wait()
    wanted = {"kind": "release", "scenario": "A", "wanted": {"data": "protected.csv", "reports": []}}
    first, second = (client.post("/api/jobs", **wanted).json()["job"] for _ in range(2))
    assert first == second
    client.wait()
    found = client.get(f"/api/jobs/{first}").json()["ended"]["result"]
    assert client.get(f"/download/{found['folder']}/protected.csv").status_code == 200
    assert client.post("/api/jobs", **wanted).json()["job"] != first, "made again: its files may be gone"
    client.wait()


def test_a_workbook_of_several_sheets_says_which_was_read(reused):
    xlsxwriter = pytest.importorskip("xlsxwriter", reason="xlsxwriter is not installed")
    client, folder = reused
    with xlsxwriter.Workbook(folder / "book.xlsx") as book:
        for name in ("Info", "People"):
            pl.DataFrame({"sex": ["f", "m"] * 5, "age": range(10)}).write_excel(book, worksheet=name)
    opened(client, folder / "book.xlsx")
    (note,) = client.state()["facts"]["notes"]
    assert "the first sheet was read, Info; not read: People." in note
    answer = client.post("/api/open", path=str(folder / "book.xlsx"), options={"sheet": "People"})
    assert answer.status_code == 200
    assert client.wait()["facts"]["notes"] == []


def test_a_full_disk_is_no_fault_of_the_program(tmp_path, monkeypatch):
    from pathlib import Path

    from sdckit.web.worker import work

    def full(frame, file):
        Path(file).write_bytes(b"half")
        raise OSError("No space left on device (os error 28)")

    asked, told = [{"id": 1, "kind": "open", "source": {"demo": {"survey": 50}}}, None], []
    pipe = SimpleNamespace(recv=lambda: asked.pop(0), send=told.append)
    monkeypatch.setattr(pl.DataFrame, "write_ipc", full)
    work(pipe, Event(), str(tmp_path))
    state, _, said = told[-1]
    assert state == "failed"
    assert said["what"] == "There is no room left on the disk where the page keeps its copy of the data."
    assert not list(tmp_path.iterdir()), "half a copy would be in the way of all others"


def test_an_upload_to_a_full_disk_says_so(reused, monkeypatch):
    client, _ = reused

    async def full(*_):
        raise OSError(28, "No space left on device")
        yield b""

    monkeypatch.setattr("sdckit.web.app.blocks", full)
    answer = client.request("POST", "/api/upload", headers={"x-file-name": "a.csv"}, content=b"a,b")
    assert answer.status_code == 400
    assert answer.json()["what"].startswith("There is no room left on the disk")


def test_the_usual_intruders_are_told_also_where_no_step_can_be_done(reused):
    client, folder = reused
    (folder / "people.csv").write_text(TEXT)
    opened(client, folder / "people.csv")
    assert client.state()["usual"] == {}
    client.change("roles", roles={"sex": ["keys"], "age": ["numeric"]})
    usual = client.state()["usual"]
    assert list(usual) == ["neighbour", "insider", "register"]
    assert usual["neighbour"]["words"] == "knows the keys, and that the person is in the file"
