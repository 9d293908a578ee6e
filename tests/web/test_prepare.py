"""Reading and preparing on the page: what the page does, its plan and its script do as well."""

import json
import runpy
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.web.document import Document

N = 240


def survey(path: Path) -> Path:
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(
        {
            "hid": rng.integers(0, 60, N),
            "sex": rng.choice([1, 2, 9], N),
            "age": rng.integers(0, 90, N),
            "area": rng.choice(["n", "s"], N),
            "income": rng.integers(0, 9000, N) + 0.5,
        }
    )
    frame.write_csv(path, separator=";", decimal_comma=True)
    pl.DataFrame({"hid": range(60), "size": [1, 2] * 30}).write_csv(path.with_name("homes.csv"))
    return path


@pytest.fixture
def page(fresh: Any, tmp_path: Path) -> Any:
    fresh.login()
    assert fresh.post("/api/open", path=str(survey(tmp_path / "survey.csv"))).status_code == 200
    fresh.wait()
    return fresh


def again(client: Any, **asked: Any) -> Any:
    answer = client.post("/api/open", again=True, version=client.state()["version"], **asked)
    assert answer.status_code == 200, answer.text
    client.wait()
    ended = client.get(f"/api/jobs/{answer.json()['job']}").json()["ended"]
    return ended


STEPS = [
    {"declare_missing": {"codes": [9], "variables": ["sex"]}},
    {"keep_records": {"where": "age >= 18"}},
    {"combine": {"variables": ["area", "sex"], "name": "stratum"}},
]


# --- reading


def test_the_preview_changes_with_the_options(page):
    shown = page.post("/api/preview").json()
    assert [c["name"] for c in shown["columns"]] == ["hid", "sex", "age", "area", "income"]
    assert shown["found"] == {"encoding": "utf-8", "separator": ";"}
    assert len(shown["rows"]) == 20
    other = page.post("/api/preview", options={"header": False}).json()
    assert other["rows"][0] == ["hid", "sex", "age", "area", "income"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"separator": "xx"}, "separator is one character"),
        ({"decimal": "x"}, "decimal is the mark"),
        ({"sheet": "a"}, "sheet is for workbooks"),
        ({"encoding": "klingon"}, "no such encoding"),
        ({"colour": "red"}, "no such option of reading"),
    ],
)
def test_a_wrong_option_is_said_and_changes_nothing(page, options, said):
    before = page.state()
    for answer in (
        page.post("/api/preview", options=options),
        page.post("/api/open", again=True, options=options),
    ):
        if answer.status_code == 200:  # found out when the file is read
            page.wait()
            ended = page.get(f"/api/jobs/{answer.json()['job']}").json()["ended"]
            assert said in ended["result"]["what"]
        else:
            assert said in answer.json()["what"]
    assert page.state()["document"] == before["document"]


def test_the_file_is_read_another_way_and_undone(page):
    page.change("roles", roles={"sex": ["keys"]})
    ended = again(page, options={"header": False, "separator": ";"})
    state = page.wait()
    assert ended["state"] == "done"
    assert state["facts"]["records"] == N + 1
    assert state["document"]["source"]["header"] is False
    assert state["document"]["roles"] == {}  # there is no column sex any more
    back = page.post("/api/history", to=state["position"] - 1).json()
    assert back["document"]["roles"] == {"sex": ["keys"]}
    assert page.wait()["facts"]["records"] == N


def test_other_files_are_not_previewed(page):
    assert page.post("/api/preview", path="/etc/passwd").status_code == 400
    assert page.post("/api/preview", path="../../etc/passwd").status_code == 400


def test_a_file_can_be_opened_with_options_at_once(page, tmp_path):
    (tmp_path / "odd.csv").write_text("1#2\n3#4\n", encoding="utf-8")
    options = {"separator": "#", "header": False}
    assert page.post("/api/open", path=str(tmp_path / "odd.csv"), options=options).status_code == 200
    state = page.wait()
    assert [c["name"] for c in state["facts"]["columns"]] == ["column_1", "column_2"]
    assert state["facts"]["reading"]["separator"] == "#"
    assert Document.of_dict(state["document"]).plan().read().frame.rows() == [(1, 2), (3, 4)]


def test_an_upload_that_failed_can_be_read_another_way(fresh):
    fresh.login()
    sent = fresh.request("POST", "/api/upload", content=b"a,a\n1,2\n", headers={"x-file-name": "twice.csv"})
    fresh.wait()
    assert fresh.get(f"/api/jobs/{sent.json()['job']}").json()["ended"]["state"] == "failed"
    shown = fresh.post("/api/preview", upload=True, options={"header": False})
    assert shown.json()["rows"] == [["a", "a"], ["1", "2"]]
    assert fresh.post("/api/open", upload=True, options={"header": False}).status_code == 200
    assert fresh.wait()["facts"]["records"] == 2


def test_recent_files_are_those_that_may_be_opened(page, tmp_path):
    assert page.get("/api/recent").json()["files"] == [str(tmp_path / "survey.csv")]
    page.post("/api/open", path=str(tmp_path / "homes.csv"))
    page.wait()
    assert page.get("/api/recent").json()["files"][0] == str(tmp_path / "homes.csv")
    (tmp_path / "homes.csv").unlink()
    assert page.get("/api/recent").json()["files"] == [str(tmp_path / "survey.csv")]


def test_reading_notes_say_what_was_guessed(fresh, tmp_path):
    fresh.login()
    (tmp_path / "old.csv").write_bytes("größe,,leer\n1,2,\n3,4,\n".encode("cp1252"))
    fresh.post("/api/open", path=str(tmp_path / "old.csv"))
    notes = " ".join(fresh.wait()["facts"]["notes"])
    assert "read as cp1252. Are the letters right: größe?" in notes
    assert "no name in the file: column_2" in notes
    assert "Only missing values: leer. The preparation “Drop columns with only missing values”" in notes
    again(fresh, options={"encoding": "cp1252"})
    assert "letters" not in " ".join(fresh.wait()["facts"]["notes"])


# --- preparing


def test_preparations_have_forms(page):
    forms = {m["name"]: m for m in page.get("/api/methods").json()["preparation"]}
    assert set(forms) == {
        "set_type",
        "declare_missing",
        "keep_records",
        "combine",
        "set_missing",
        "merge_file",
        "drop_empty",
        "equal_weights",
        "replace_values",
    }
    kinds = {f["name"]: f["kind"] for f in forms["merge_file"]["form"]}
    assert kinds == {"file": "file", "by": "column", "variables": "list"}
    assert {f["name"]: f["kind"] for f in forms["replace_values"]["form"]}["values"] == "mapping"


def test_the_file_is_prepared_and_undone(page):
    page.change("roles", roles={"sex": ["keys"], "area": ["keys"]})
    ended = again(page, prepare=STEPS)
    state = page.wait()
    assert ended["state"] == "done"
    frame = pl.read_csv(page.page.session.document.source["file"], separator=";", decimal_comma=True)
    assert state["facts"]["records"] == frame.filter(pl.col("age") >= 18).height
    assert "stratum" in [c["name"] for c in state["facts"]["columns"]]
    done = state["facts"]["prepared"]
    assert done[0]["figures"]["values_changed"] == {"sex": frame.filter(pl.col("sex") == 9).height}
    assert "prepared" in state["history"][-1]
    assert state["document"]["roles"] == {"sex": ["keys"], "area": ["keys"]}
    found = {c["name"]: c for c in state["results"]["A"]["verdict"]["criteria"]}
    assert found["preparation of the original"]["status"] == "not judged"
    page.post("/api/history", to=state["position"] - 1)
    assert page.wait()["facts"]["records"] == N


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ([{"keep_records": {"where": "agee > 1"}}], "Preparation 1 (keep_records): A rule names 'agee'"),
        ([{"set_type": {"variables": ["area"], "type": "number"}}], "cannot become a number"),
    ],
)
def test_a_preparation_that_fails_leaves_the_document(page, steps, said):
    before = page.state()
    ended = again(page, prepare=steps)
    assert ended["state"] == "failed"
    assert said in ended["result"]["what"]
    assert page.state()["document"] == before["document"]


@pytest.mark.parametrize(
    "steps",
    [
        [{"keep_records": {"wher": "age > 1"}}],
        [{"explode": {}}],
        {"drop_empty": {}},
        [{"merge_file": {"file": "/etc/passwd", "by": "hid"}}],
        [{"merge_file": {"file": "../../../etc/passwd", "by": "hid"}}],
        [7],
    ],
)
def test_preparations_that_cannot_be_are_refused_at_once(page, steps):
    before = page.state()
    answer = page.post("/api/open", again=True, prepare=steps)
    assert answer.status_code == 400
    assert answer.json()["what"]
    assert page.state()["document"] == before["document"]


def test_a_stale_preparation_is_refused(page):
    assert page.post("/api/open", again=True, version=-5, prepare=STEPS).status_code == 409


def test_roles_given_while_the_file_is_prepared_are_not_lost(page):
    version = page.state()["version"]
    page.post("/api/open", again=True, version=version, prepare=STEPS)
    page.change("roles", roles={"area": ["keys"]})
    state = page.wait()
    assert state["document"]["roles"] == {"area": ["keys"]}
    assert len(state["document"]["source"]["prepare"]) == 3


def test_a_household_file_that_changes_is_another_content(page, tmp_path):
    homes = tmp_path / "homes.csv"
    again(page, prepare=[{"merge_file": {"file": str(homes), "by": "hid"}}])
    page.change("roles", roles={"size": ["keys"]})
    first = page.wait()["results"]["A"]
    assert "verdict" in first
    pl.DataFrame({"hid": range(60), "size": range(60)}).write_csv(homes)
    page.change("seed", seed=5)
    assert "changed since it was opened" in page.wait()["results"]["A"]["error"]["what"]


def test_page_plan_and_script_make_the_same_bytes(page, tmp_path):
    again(page, prepare=[*STEPS, {"merge_file": {"file": str(tmp_path / "homes.csv"), "by": "hid"}}])
    page.change("roles", roles={"sex": ["keys"], "area": ["keys"], "income": ["numeric"]})
    page.change("add_step", scenario="A", method="add_noise", options={"variables": ["income"]})
    page.change("add_step", scenario="A", method="shuffle_order", options={})
    page.wait()
    made = page.job(kind="release", scenario="A", wanted={"data": "protected.csv", "reports": ["internal"]})
    assert made["state"] == "done", made
    folder = made["result"]["folder"]
    content = page.get(f"/download/{folder}/internal.zip").content
    out = tmp_path / "out"
    with ZipFile(BytesIO(content)) as archive:
        archive.extractall(out)
    released = sha256((out / "protected.csv").read_bytes()).hexdigest()
    assert "Prepared before" in (out / "report_internal.html").read_text(encoding="utf-8")
    plan = sdc.Plan.load(out / "plan.yaml")
    assert [next(iter(s)) for s in plan.data["prepare"]][:2] == ["declare_missing", "keep_records"]
    (out / "protected.csv").unlink()
    runpy.run_path(str(out / "script.py"))
    assert sha256((out / "protected.csv").read_bytes()).hexdigest() == released
    opened = page.post("/api/open", path=str(out / "plan.yaml"))
    assert opened.status_code == 200, opened.text
    state = page.wait()
    assert len(state["document"]["source"]["prepare"]) == 4
    assert state["facts"]["prepared"][0]["method"] == "declare_missing"


def test_document_and_plan_go_round(tmp_path):
    plan = sdc.Plan.parse(
        "data: {file: a.csv, separator: tab, header: no, prepare: "
        "[drop_empty, {merge_file: {file: homes.csv, by: hid}}], keys: [x]}",
        tmp_path,
    )
    document = Document.of_plan(plan)
    assert document.source == {
        "file": "a.csv",
        "separator": "tab",
        "header": False,
        "prepare": [{"drop_empty": {}}, {"merge_file": {"file": str(tmp_path / "homes.csv"), "by": "hid"}}],
    }
    assert Document.of_dict(json.loads(json.dumps(document.as_dict()))).source == document.source
    assert Document.of_plan(document.plan()).source == document.source


# --- looking


def rows(client: Any, state: Any, **asked: Any) -> Any:
    return client.get("/api/rows", file=state["facts"]["rows"], **asked).json()


def test_both_files_stand_side_by_side_whatever_the_order(opened):
    opened.change("add_step", scenario="A", method="shuffle_order", options={})
    added = opened.change("add_step", scenario="A", method="round_values", options={"base": 10_000})
    assert added.status_code == 200, added.text
    state = opened.wait()
    found = rows(opened, state, n=40, sort="income", descending=1, beside=state["results"]["A"]["aligned"])
    assert found["beside"]["columns"] == found["columns"]
    name, income = found["columns"].index("person_id"), found["columns"].index("income")
    assert [r[name] for r in found["rows"]] == [r[name] for r in found["beside"]["rows"]]
    assert [r[income] for r in found["rows"]] != [r[income] for r in found["beside"]["rows"]]
    original = sdc.demo.survey(n=300, seed=1).frame
    assert found["rows"][0][name] == str(original["person_id"][found["places"][0]])
    assert opened.get("/api/rows", file=state["facts"]["rows"], beside="../x.arrow").status_code == 400


@pytest.mark.parametrize(
    ("columns", "chart"),
    [
        (["income"], "layer"),
        (["region"], "layer"),
        (["age", "sex"], "hconcat"),
        (["income", "age"], "hconcat"),
    ],
)
def test_variables_are_explored_in_both_files(opened, columns, chart):
    opened.change("add_step", scenario="A", method="round_values", options={"base": 10_000})
    opened.wait()
    found = opened.job(kind="explore", columns=columns, scenario="A")["result"]
    assert chart in found["chart"] or "hconcat" in found["chart"]
    names = {row["name"]: row for row in found["summary"]}
    assert names["records"]["original"] == "300"
    assert "protected" in names["records"]
    if columns == ["income"]:
        income = sdc.demo.survey(n=300, seed=1).frame["income"]
        assert float(names["mean"]["original"].replace(",", "").replace("\u202f", "")) == pytest.approx(
            income.mean(), rel=0.01
        )


@pytest.mark.parametrize("columns", [["person_id"], [], ["a", "b", "c"], ["age", "age"], ["nothing"]])
def test_what_is_not_explored(opened, columns):
    opened.wait()
    found = opened.job(kind="explore", columns=columns, scenario="A")
    assert found["state"] == "failed"
    assert "fault" not in found["result"]["what"]


def test_what_was_accepted_of_one_preparation_is_not_of_another(page):
    again(page, prepare=[{"declare_missing": {"codes": [9], "variables": ["sex"]}}])
    accept = {"prepared": ["sex"], "columns": ["income"], "order": True}
    page.change("criteria", max_risk=0.1, accept=accept)
    again(page, prepare=[*STEPS[:1], {"keep_records": {"where": "age >= 18"}}])
    # other records, but the same values are changed by the same rule: 9 of sex is missing
    assert page.state()["document"]["accept"] == accept
    again(page, prepare=[{"declare_missing": {"codes": [9, 2], "variables": ["sex"]}}])
    assert page.state()["document"]["accept"] == {"columns": ["income"], "order": True}


def test_a_column_that_comes_under_an_accepted_name_was_not_looked_at(page, tmp_path):
    page.change("criteria", max_risk=0.1, accept={"columns": ["size", "income"]})
    again(page, prepare=[{"merge_file": {"file": str(tmp_path / "homes.csv"), "by": "hid"}}])
    assert page.state()["document"]["accept"] == {"columns": ["income"]}


def test_the_list_of_files_is_for_this_user_alone_and_can_be_forgotten(page, tmp_path):
    listed = tmp_path / "state" / "recent.json"
    assert listed.stat().st_mode & 0o777 == 0o600
    assert listed.parent.stat().st_mode & 0o777 == 0o700
    assert page.request("DELETE", "/api/recent", headers={"origin": "http://elsewhere"}).status_code == 403
    assert page.get("/api/recent").json()["files"]
    assert page.request("DELETE", "/api/recent").json() == {"files": []}
    assert not listed.exists()
    assert page.get("/api/recent").json()["files"] == []


def test_a_household_file_may_be_named_from_the_home_or_the_folder(page, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    ended = again(page, prepare=[{"merge_file": {"file": "~/homes.csv", "by": "hid"}}])
    assert ended["state"] == "done", ended["result"]
    (named,) = page.state()["document"]["source"]["prepare"]
    assert named["merge_file"]["file"] == str(tmp_path / "homes.csv")


def test_a_link_to_a_household_file_outside_is_refused_and_one_inside_is_followed_once(page, tmp_path):
    outside = tmp_path.parent / f"{tmp_path.name} outside"
    outside.mkdir()
    (outside / "homes.csv").write_bytes((tmp_path / "homes.csv").read_bytes())
    (tmp_path / "away.csv").symlink_to(outside / "homes.csv")
    (tmp_path / "here.csv").symlink_to(tmp_path / "homes.csv")
    step = [{"merge_file": {"file": str(tmp_path / "away.csv"), "by": "hid"}}]
    answer = page.post("/api/open", again=True, version=page.state()["version"], prepare=step)
    assert "outside the folders" in answer.json()["what"]
    again(page, prepare=[{"merge_file": {"file": str(tmp_path / "here.csv"), "by": "hid"}}])
    (named,) = page.state()["document"]["source"]["prepare"]
    assert named["merge_file"]["file"] == str(
        tmp_path / "homes.csv"
    )  # where the link leads later is no matter
