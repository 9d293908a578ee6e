"""The routes of the page, over a small demo file."""

import json
import shlex
from io import BytesIO
from time import monotonic, sleep
from zipfile import ZipFile

import polars as pl
import pytest

import sdckit as sdc
from sdckit.errors import SdcError
from sdckit.methods.registry import specs
from sdckit.methods.spec import Kind


def test_the_state_holds_no_value_of_a_record(opened):
    text = json.dumps({k: v for k, v in opened.state().items() if k != "facts"})
    incomes = sdc.demo.survey(n=300, seed=1).frame["income"].drop_nulls()
    rare = [str(v) for v in incomes.unique() if v > 10_000][:50]
    assert rare
    assert not [value for value in rare if value in text]


def test_the_verdict_is_that_of_assess(opened):
    state = opened.wait()
    document = state["document"]
    assert document["roles"]["age"] == ["keys"]
    made = sdc.demo.survey(n=300, seed=1)
    data = sdc.data.microdata.Microdata.of(
        made.frame,
        labels=made.labels,
        keys=["sex", "region", "age"],
        numeric="income",
        sensitive="health",
        weight="weight",
        id="person_id",
    )
    judging = [s.name for s in specs(Kind.RISK) if s.judges]
    there = sdc.assess(data, data, measures=judging).verdict
    found = {c["name"]: c for c in state["results"]["A"]["verdict"]["criteria"]}
    assert {c.name: c.status.value for c in there} == {name: c["status"] for name, c in found.items()}
    for criterion in there:
        assert found[criterion.name]["value"] == pytest.approx(criterion.value, nan_ok=True)


def test_a_step_changes_the_verdict_and_undo_brings_it_back_at_once(opened):
    before = opened.wait()
    first = before["results"]["A"]["verdict"]
    assert (
        opened.change(
            "add_step", scenario="A", method="recode", options={"variable": "age", "width": 20}
        ).status_code
        == 200
    )
    after = opened.wait()
    assert after["results"]["A"]["verdict"] != first
    back = opened.post("/api/history", to=before["position"]).json()
    assert back["results"]["A"]["verdict"] == first  # known: nothing is measured again
    assert not [job for job in back["jobs"] if job["kind"] == "judge"]


def test_a_stale_change_is_refused_and_loses_nothing(opened):
    state = opened.state()
    answer = opened.post("/api/change", version=state["version"] - 1, action="seed", seed=9)
    assert answer.status_code == 409
    assert opened.state()["document"] == state["document"]


@pytest.mark.parametrize(
    ("action", "content"),
    [
        ("roles", {"roles": {"nobody": ["keys"]}}),
        ("roles", {"roles": {"age": ["king"]}}),
        ("add_step", {"scenario": "A", "method": "supress", "options": {}}),
        ("add_step", {"scenario": "A", "method": "suppress", "options": {"k": 0}}),
        ("add_step", {"scenario": "Z", "method": "suppress", "options": {"k": 3}}),
        ("criteria", {"max_risk": 7}),
        ("explode", {}),
        ("add_step", {}),
    ],
)
def test_bad_changes_say_what_is_allowed(opened, action, content):
    state = opened.wait()
    answer = opened.change(action, **content)
    assert answer.status_code == 400
    assert answer.json()["what"]
    assert opened.state()["document"] == state["document"]


def test_rows_come_by_the_slice(opened):
    state = opened.wait()
    found = opened.get("/api/rows", file=state["facts"]["rows"], at=290, n=50).json()
    assert found["count"] == 300
    assert len(found["rows"]) == 10
    newest = opened.get("/api/rows", file=state["facts"]["rows"], n=3, sort="age", descending=1).json()
    ages = [int(row[newest["columns"].index("age")]) for row in newest["rows"]]
    assert ages == sorted(sdc.demo.survey(n=300, seed=1).frame["age"].to_list(), reverse=True)[:3]


def test_records_with_the_same_keys_stand_together_and_are_counted(opened):
    file = opened.state()["facts"]["rows"]
    asked = {"file": file, "classes": json.dumps(["sex", "region"]), "n": 100}
    found = [opened.get("/api/rows", **asked, at=at).json() for at in (0, 100, 200)]
    rows = [row for part in found for row in part["rows"]]
    at = [found[0]["columns"].index(c) for c in ("sex", "region")]
    keys = [tuple(row[i] for i in at) for row in rows]
    assert [n for part in found for n in part["alike"]] == [keys.count(key) for key in keys]
    begins = [b for part in found for b in part["begins"]]
    assert begins == [i == 0 or key != keys[i - 1] for i, key in enumerate(keys)]
    assert sum(begins) == len(set(keys))
    for wrong in ("sex", '{"sex": 1}', "[1]", '["nothing"]'):
        assert opened.get("/api/rows", file=file, classes=wrong).status_code == 400


@pytest.mark.parametrize("name", ["../../etc/passwd", "x.arrow", "", "last.json"])
def test_rows_of_other_files_are_refused(opened, name):
    assert opened.get("/api/rows", file=name).status_code == 400


def test_files_outside_the_roots_are_refused(opened):
    assert opened.get("/api/files", at="/etc").status_code == 400
    assert opened.post("/api/open", path="/etc/passwd").status_code == 400


@pytest.fixture(scope="module")
def methods(opened):
    return opened.get("/api/methods").json()


@pytest.mark.parametrize("spec", specs(), ids=lambda s: s.name)
def test_every_option_has_a_field(methods, spec):
    shown = {m["name"]: m for m in methods[spec.kind.value]}[spec.name]
    assert [f["name"] for f in shown["form"]] == list(spec.options.model_fields)
    kinds = ["number", "integer", "flag", "choice", "text", "column", "columns"]
    kinds += ["measure", "file", "mapping", "list"]
    assert all(f["kind"] in kinds and f["label"] for f in shown["form"])
    assert shown["help"]


@pytest.mark.parametrize("spec", specs(), ids=lambda s: s.name)
def test_the_defaults_that_a_form_shows_are_the_defaults(spec):
    given = {f.name: "age" for f in spec.form() if f.required and f.kind == "column"}
    given |= {f.name: ["age"] for f in spec.form() if f.required and f.kind == "columns"}
    simple = ("number", "integer", "flag", "choice")
    shown = {
        f.name: f.default
        for f in spec.form()
        if f.kind in simple and f.default is not None and not f.excludes
    }
    try:
        untouched = spec.validate(given)
    except SdcError:  # needs more than columns
        return
    assert spec.validate({**given, **shown}) == untouched


def test_a_column_is_shown_without_values_of_single_records(opened):
    found = opened.job(kind="column", column="income")["result"]
    assert sum(found["original"]["counts"]) + found["original"]["missing"] == 300
    hidden = opened.job(kind="column", column="person_id")["result"]
    assert not hidden["original"]


def test_a_measure_has_its_picture(opened):
    found = opened.job(kind="measure", measure="k_anonymity", scenario="A")["result"]
    assert found["before"]["chart"]["$schema"].startswith("https://vega.github.io/schema/vega-lite")
    assert found["after"]["value"] is not None


def test_compare_places_every_scenario(opened):
    opened.change("add_scenario", name="other", like="A")
    opened.change("add_step", scenario="other", method="recode", options={"variable": "age", "width": 20})
    opened.wait()
    found = opened.job(kind="compare", scenarios=["A", "other"])["result"]
    assert {p["name"] for p in found["scenarios"]} == {"A", "other"}
    assert found["chart"]
    opened.change("drop_scenario", name="other")
    opened.wait()


def test_page_plan_script_and_library_make_the_same_bytes(opened, tmp_path):
    opened.change("add_scenario", name="same")
    opened.change("add_step", scenario="same", method="recode", options={"variable": "age", "width": 20})
    opened.change("add_step", scenario="same", method="suppress", options={"k": 2})
    opened.change("add_step", scenario="same", method="add_noise", options={"variables": ["income"]})
    opened.wait()
    wanted = {"data": "protected.csv", "reports": ["public"]}
    done = opened.job(kind="release", scenario="same", wanted=wanted)
    assert done["state"] == "done", done["result"]
    names = {f["name"]: f["for"] for f in done["result"]["files"]}
    assert names["plan.yaml"] == names["script.py"] == "internal"
    assert "release.zip" not in names  # it must not be released
    at = f"/download/{done['result']['folder']}"
    page = opened.get(f"{at}/protected.csv").content
    for name in ("plan.yaml", "script.py"):
        (tmp_path / name).write_bytes(opened.get(f"{at}/{name}").content)
    plan = sdc.Plan.load(tmp_path / "plan.yaml")
    assert plan.find("same").steps[1].options["seed"] > 0  # drawn for the plan, not in secret
    protected = plan.find("same").protect(plan.read(), seed=plan.seed)
    assert sdc.write(protected, tmp_path / "library.csv").read_bytes() == page
    compile((tmp_path / "script.py").read_text(), "script.py", "exec")
    archive = ZipFile(BytesIO(opened.get(f"{at}/internal.zip").content))
    assert archive.read("protected.csv") == page
    assert b"protected.csv" in archive.read("SHA256SUMS")
    opened.change("drop_scenario", name="same")
    opened.wait()


@pytest.mark.parametrize(
    "name",
    ["../history.json", "original.arrow", "nothing", "../../x", "%2e%2e/pid", "x/%2e%2e", "x/..%2f..%2fpid"],
)
def test_only_files_of_the_release_can_be_taken(opened, name):
    assert opened.get(f"/download/{name}").status_code in (400, 404)


def test_the_second_file_is_not_the_first(fresh, tmp_path):
    fresh.login()
    path = tmp_path / "people.csv"
    for ages in ([30, 40] * 20, [50, 60] * 20):
        pl.DataFrame({"age": ages, "x": range(40)}).write_csv(path)
        assert fresh.post("/api/open", path=str(path)).status_code == 200
        state = fresh.wait()
        rows = fresh.get("/api/rows", file=state["facts"]["rows"], n=2).json()["rows"]
        assert [row[0] for row in rows] == [str(a) for a in ages[:2]]
        assert fresh.change("roles", roles={"age": ["keys"]}).status_code == 200
        state = fresh.wait()
        shown = fresh.get("/api/rows", file=state["results"]["A"]["rows"], n=2).json()["rows"]
        assert [row[0] for row in shown] == [str(a) for a in ages[:2]]


@pytest.mark.parametrize(
    ("name", "content"),
    [("people.txt", b"a,b\n1,2\n"), (".csv", b"a\n1\n"), ("people.sav", b"not spss"), ("empty.csv", b"")],
)
def test_what_is_no_data_file_is_refused_and_nothing_is_lost(fresh, name, content):
    fresh.login()
    before = fresh.state()["document"]
    answer = fresh.request("POST", "/api/upload", content=content, headers={"x-file-name": name})
    if answer.status_code == 200:
        fresh.wait()
    else:
        assert answer.json()["what"]
    assert fresh.state()["document"] == before


def test_an_upload_is_opened(fresh):
    fresh.login()
    content = b"sex,age\nf,30\nm,40\nf,50\n"
    answer = fresh.request("POST", "/api/upload", content=content, headers={"x-file-name": "p%3Cb%3E.csv"})
    assert answer.status_code == 200
    assert fresh.wait()["facts"]["records"] == 3


def test_stop_ends_what_runs_and_the_next_job_works(fresh):
    fresh.login()
    fresh.post("/api/open", demo="survey", n=20_000)
    fresh.wait()
    roles = {c: ["keys"] for c in ("sex", "region", "age", "education", "occupation", "labour_status")}
    fresh.change("roles", roles=roles)
    fresh.wait()
    before = fresh.state()
    steps = [{"suppress": {"k": 5}}]
    answer = fresh.change("add_step", scenario="A", method="suppress", options=steps[0]["suppress"])
    assert answer.status_code == 200
    running = [job for job in answer.json()["jobs"] if job["kind"] == "judge"]
    assert running
    start = monotonic()
    assert fresh.request("DELETE", f"/api/jobs/{running[0]['id']}").json()["stopped"]
    fresh.wait()
    assert monotonic() - start < 20
    fresh.post("/api/history", to=before["position"])
    assert fresh.wait()["results"]["A"]["verdict"] == before["results"]["A"]["verdict"]
    found = fresh.job(kind="column", column="age")
    assert found["state"] == "done"


def test_a_killed_worker_is_replaced(fresh):
    fresh.login()
    fresh.post("/api/open", demo="survey", n=200)
    fresh.wait()
    lane = fresh.page.session._quick
    lane._process.kill()
    sleep(0.3)
    first = fresh.job(kind="column", column="age")
    second = fresh.job(kind="column", column="sex")
    assert first["state"] in ("done", "failed")
    assert second["state"] == "done"


def test_decisions_outlive_the_session(fresh, tmp_path):
    from sdckit.web.app import Page

    fresh.login()
    fresh.post("/api/open", demo="survey", n=200)
    fresh.wait()
    fresh.change("roles", roles={"age": ["keys"]})
    fresh.change("add_step", scenario="A", method="shuffle_order", options={})
    state = fresh.wait()
    memory = tmp_path / "state" / "last.json"
    assert memory.stat().st_mode & 0o077 == 0
    folder = tmp_path / "second"
    folder.mkdir()
    second = Page(folder, (tmp_path,), memory=memory)
    try:
        assert second.session.state()["earlier"]["done"] == state["history"][1:]
        second.session.open_earlier()
        end = monotonic() + 60
        while not second.session.facts and monotonic() < end:
            sleep(0.05)
        assert second.session.document.as_dict() == state["document"]
    finally:
        second.session.close()


def test_left_over_folders_of_dead_processes_are_removed(tmp_path, monkeypatch):
    from sdckit.web import serve

    monkeypatch.setattr(serve.tempfile, "gettempdir", lambda: str(tmp_path))
    for name, process in (("dead", "999999999"), ("alive", str(__import__("os").getpid()))):
        (tmp_path / f"{serve.PREFIX}{name}").mkdir()
        (tmp_path / f"{serve.PREFIX}{name}" / "pid").write_text(process)
    serve.remove_left_over()
    assert [p.name for p in tmp_path.iterdir()] == [f"{serve.PREFIX}alive"]


def test_a_note_measures_nothing_again_and_stands_in_the_internal_report_alone(opened, tmp_path):
    opened.change("add_scenario", name="noted")
    opened.change("add_step", scenario="noted", method="recode", options={"variable": "age", "width": 20})
    before = opened.wait()
    answer = opened.change("note_step", scenario="noted", at=0, note="decided on 3 May")
    assert answer.status_code == 200
    assert answer.json()["results"]["noted"] == before["results"]["noted"]
    assert not [job for job in answer.json()["jobs"] if job["kind"] == "judge"]
    assert answer.json()["history"][-1] == "noted: step 1 note: decided on 3 May"
    done = opened.job(
        kind="release", scenario="noted", wanted={"data": "protected.csv", "reports": ["internal", "public"]}
    )
    at = f"/download/{done['result']['folder']}"
    texts = {f["name"]: opened.get(f"{at}/{f['name']}").text for f in done["result"]["files"]}
    told = {name for name, text in texts.items() if "decided on 3 May" in text}
    assert told == {"plan.yaml", "report_internal.html", "report_internal.json"}
    opened.change("drop_scenario", name="noted")
    opened.wait()


def test_extra_measures_give_small_maps_and_other_axes(opened):
    found = opened.job(kind="compare", scenarios=["A"], extra=["contingency_loss", "k_anonymity"])["result"]
    assert {"contingency_loss"} <= set(found["axes"]["utility"])
    assert list(found["axes"]["risk"]) == ["reidentification_risk", "k_anonymity"]
    assert "k_anonymity contingency_loss" in found["charts"]
    assert found["multiples"]["$schema"].startswith("https://vega.github.io/schema/vega-lite")
    assert set(found["scenarios"][0]["extra"]) == {"contingency_loss", "k_anonymity"}
    refused = opened.job(kind="compare", scenarios=["A"], extra=["no_such_measure"])
    assert refused["state"] == "failed"
    assert "no_such_measure" in refused["result"]["what"]


def test_points_of_a_search_come_before_its_end(opened):
    seen = []
    told = opened.page.session._listen
    opened.page.session._listen = lambda name, content: (
        seen.append(content)
        if name == "job"
        and content["kind"] == "search"
        and content["state"] == "running"
        and "so_far" in content
        else None,
        told(name, content),
    )
    space = [{"recode": {"variable": "age", "width": {"range": [2, 40]}}, "note": "as before"}]
    done = opened.job(kind="search", space=space, trials=10)
    opened.page.session._listen = told
    assert done["state"] == "done", done["result"]
    counts = [len(content["so_far"]["scenarios"]) for content in seen]
    assert counts == sorted(counts)
    assert counts[0] < 10
    final = {p["name"]: p["risk"] for p in done["result"]["scenarios"]}
    first = {p["name"]: p["risk"] for p in seen[0]["so_far"]["scenarios"]}
    assert first.items() <= final.items()
    assert seen[0]["so_far"]["scenarios"][0]["steps"][0]["recode"]["variable"] == "age"


def test_the_file_is_written_as_asked_and_script_and_command_say_the_same(opened, tmp_path):
    how = {"values": "labels", "decimal": ",", "separator": "\t", "codebook": True}
    wanted = {"data": "protected.csv", "reports": [], "how": how}
    done = opened.job(kind="release", scenario="A", wanted=wanted)
    assert done["state"] == "done", done["result"]
    at = f"/download/{done['result']['folder']}"
    page = opened.get(f"{at}/protected.csv").content
    assert b"\t" in page.splitlines()[0]
    assert b"Female" in page
    names = {f["name"] for f in done["result"]["files"]}
    assert {"protected.codebook.html", "protected.codebook.xml"} <= names
    told = done["result"]["command"]
    assert "--labels --decimal-comma --separator tab --codebook" in told
    plan = tmp_path / "plan.yaml"
    plan.write_bytes(opened.get(f"{at}/plan.yaml").content)
    loaded = sdc.Plan.load(plan)
    protected = loaded.find("A").protect(loaded.read(), seed=loaded.seed)
    assert sdc.write(protected, tmp_path / "library.csv", **how).read_bytes() == page
    script = opened.get(f"{at}/script.py").text
    assert "values='labels', decimal=',', separator='\\t', codebook=True" in script
    from typer.testing import CliRunner

    from sdckit.cli import app

    call = told.replace("plan.yaml", str(plan)).replace("protected.csv", str(tmp_path / "command.csv"))
    assert CliRunner().invoke(app, shlex.split(call)[1:]).exit_code == 0
    assert (tmp_path / "command.csv").read_bytes() == page


@pytest.mark.parametrize(
    "how", [{"keep_direct": True}, {"separator": "x"}, {"decimal": ",", "separator": ","}, "codes"]
)
def test_no_other_way_to_write_can_be_asked_for(opened, how):
    done = opened.job(kind="release", scenario="A", wanted={"data": "p.csv", "reports": [], "how": how})
    assert done["state"] == "failed"
    assert done["result"]["what"]
