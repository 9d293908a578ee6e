"""What is shown is always of the file, the document and the scenario that it is shown for."""

import threading
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import polars as pl
import pytest

import sdckit as sdc
from sdckit.web.app import Page
from sdckit.web.document import Document

ROLES = {"sex": ["keys"], "region": ["keys"], "age": ["keys"]}


def rare(path: Path) -> Path:
    """A file in which every record is alone."""
    pl.DataFrame({"sex": ["f", "m"] * 30, "region": list(range(60)), "age": list(range(20, 80))}).write_csv(
        path
    )
    return path


def common(path: Path) -> Path:
    """A file of the same columns in which many records look alike."""
    pl.DataFrame({"sex": ["f", "m"] * 30, "region": [1] * 60, "age": [30] * 60}).write_csv(path)
    return path


def open_file(client: Any, path: Path) -> Any:
    assert client.post("/api/open", path=str(path)).status_code == 200
    return client.wait()


def criteria(state: Any, scenario: str = "A") -> Any:
    return {c["name"]: (c["status"], c["value"]) for c in state["results"][scenario]["verdict"]["criteria"]}


def judged(client: Any) -> Any:
    assert client.change("roles", roles=ROLES).status_code == 200
    return client.wait()


def test_a_verdict_found_while_going_back_is_not_shown_for_the_other_file(fresh, tmp_path):
    fresh.login()
    open_file(fresh, common(tmp_path / "common.csv"))
    harmless = judged(fresh)
    back = harmless["position"]
    open_file(fresh, rare(tmp_path / "rare.csv"))
    there = fresh.state()["position"]
    fresh.post("/api/history", to=back)  # the verdict on the first file, while the second was the read one
    assert criteria(fresh.wait()) == criteria(harmless)
    fresh.post("/api/history", to=there)
    fresh.wait()
    risky = judged(fresh)
    assert criteria(risky) != criteria(harmless)
    shown = fresh.get("/api/rows", file=risky["results"]["A"]["rows"], n=3).json()["rows"]
    assert [row[1] for row in shown] == ["0", "1", "2"]


def test_nothing_is_said_of_a_file_before_it_has_been_read_again(fresh, tmp_path):
    fresh.login()
    open_file(fresh, common(tmp_path / "common.csv"))
    back = judged(fresh)["position"]
    open_file(fresh, rare(tmp_path / "rare.csv"))
    judged(fresh)
    state = fresh.post("/api/history", to=back).json()  # same roles, same steps, another file
    assert not state["facts"] or state["facts"]["key"] != ""
    if not state["facts"]:
        assert state["results"] == {"A": None}
    assert fresh.wait()["facts"]["records"] == 60


def test_a_file_that_is_changed_on_the_disk_is_not_judged_as_the_one_that_was_opened(fresh, tmp_path):
    fresh.login()
    open_file(fresh, rare(tmp_path / "people.csv"))
    first = judged(fresh)
    common(tmp_path / "people.csv")
    fresh.change("seed", seed=5)
    state = fresh.wait()
    assert "changed since it was opened" in state["results"]["A"]["error"]["what"]
    for kind in (
        {"kind": "measure", "measure": "k_anonymity", "scenario": "A"},
        {"kind": "column", "column": "age"},
    ):
        done = fresh.job(**kind)
        assert done["state"] == "failed", kind
        assert "changed since" in done["result"]["what"]
    done = fresh.job(kind="release", scenario="A", wanted={"data": "protected.csv"})
    assert done["state"] == "failed"
    open_file(fresh, tmp_path / "people.csv")
    assert criteria(judged(fresh)) != criteria(first)


def test_a_plan_that_measures_otherwise_has_a_verdict_of_its_own(fresh, tmp_path):
    fresh.login()
    rare(tmp_path / "people.csv")
    for name, missing in (("one", "wildcard"), ("two", "category")):
        text = "data: {file: people.csv, keys: [sex, region, age]}\nscenarios: {A: []}\n"
        (tmp_path / f"{name}.yaml").write_text(f"{text}assess: {{k_anonymity: {{missing: {missing}}}}}\n")
    session = fresh.page.session
    keys = []
    for name in ("one", "two"):
        open_file(fresh, tmp_path / f"{name}.yaml")
        keys.append(session._key("judge", session.document, ["A"]))
    assert keys[0] != keys[1]


def test_the_plan_of_the_demo_can_be_opened(fresh, tmp_path):
    rare(tmp_path / "people.csv")
    text = "data: {file: people.csv, keys: [sex]}\nscenarios: {A: []}\n"
    (tmp_path / "plan.yaml").write_text(f"{text}assess: {{max_risk: 0.1, utility: {{il1s: 1}}, by: sex}}\n")
    fresh.login()
    state = open_file(fresh, tmp_path / "plan.yaml")
    assert state["document"]["assess"] == {"utility": {"il1s": 1}, "by": "sex"}


def test_a_changed_step_changes_the_map(opened):
    opened.change("add_scenario", name="moves", like="A")
    opened.change("add_step", scenario="moves", method="recode", options={"variable": "age", "width": 20})
    opened.wait()
    first = opened.job(kind="compare", scenarios=["moves"])["result"]
    opened.change(
        "change_step", scenario="moves", at=0, method="recode", options={"variable": "age", "width": 50}
    )
    opened.wait()
    second = opened.job(kind="compare", scenarios=["moves"])["result"]
    assert first["scenarios"][0]["steps"] != second["scenarios"][0]["steps"]
    assert first["scenarios"][0]["risk"] != second["scenarios"][0]["risk"]
    opened.change("drop_scenario", name="moves")
    opened.wait()


def test_a_late_job_of_an_old_document_is_not_shown_for_the_new_one(opened):
    session = opened.page.session
    before = opened.wait()
    opened.change("add_step", scenario="A", method="recode", options={"variable": "age", "width": 20})
    old = session.document
    late = session._key("judge", old, ["A"])
    opened.change(
        "change_step", scenario="A", at=0, method="recode", options={"variable": "age", "width": 40}
    )
    now = opened.wait()
    session._results[late] = {"verdict": "of another document"}  # as if it had finished after all
    assert opened.state()["results"] == now["results"]
    opened.post("/api/history", to=before["position"])
    del session._results[late]
    opened.wait()


def test_accepting_more_is_another_verdict(opened):
    before = opened.wait()
    opened.change("criteria", max_risk=1.0, accept={})
    after = opened.wait()
    assert criteria(before) != criteria(after)
    opened.post("/api/history", to=before["position"])
    assert criteria(opened.wait()) == criteria(before)


def test_files_of_one_scenario_are_never_taken_for_those_of_another(opened):
    opened.change("add_scenario", name="B", like="A")
    opened.change("add_step", scenario="B", method="recode", options={"variable": "age", "width": 20})
    opened.wait()
    wanted = {"data": "protected.csv", "reports": []}
    made = {n: opened.job(kind="release", scenario=n, wanted=wanted)["result"] for n in ("A", "B")}
    assert made["A"]["folder"] != made["B"]["folder"]
    files = {n: opened.get(f"/download/{r['folder']}/protected.csv").content for n, r in made.items()}
    assert files["A"] != files["B"]
    ages = pl.read_csv(files["A"])["age"]
    assert ages.dtype == pl.Int64  # not the recoded ones, although B's were made last
    for one in made.values():
        assert one["verdict"]["status"] != "releasable"
        assert {f["for"] for f in one["files"]} == {"must not be released", "internal"}
        assert opened.get(f"/download/{one['folder']}/release.zip").status_code == 400
    opened.change("drop_scenario", name="B")
    opened.wait()


def test_the_verdict_on_the_files_is_that_of_the_panel(opened):
    state = opened.wait()
    made = opened.job(kind="release", scenario="A", wanted={"data": "protected.csv", "reports": []})["result"]
    found = {c["name"]: (c["status"], c["value"]) for c in made["verdict"]["criteria"]}
    assert found == criteria(state)


def test_an_uploaded_file_is_named_in_the_plan_without_the_folder_that_will_be_gone(fresh, tmp_path):
    fresh.login()
    content = common(tmp_path / "people.csv").read_bytes()
    fresh.request("POST", "/api/upload", content=content, headers={"x-file-name": "people.csv"})
    fresh.wait()
    judged(fresh)
    made = fresh.job(kind="release", scenario="A", wanted={"data": "protected.csv"})["result"]
    plan = fresh.get(f"/download/{made['folder']}/plan.yaml").content
    (tmp_path / "plan.yaml").write_bytes(plan)
    assert str(fresh.page._folder).encode() not in plan
    again = sdc.Plan.load(tmp_path / "plan.yaml")
    file = sdc.write(again.find("A").protect(again.read(), seed=again.seed), tmp_path / "again.csv")
    assert file.read_bytes() == fresh.get(f"/download/{made['folder']}/protected.csv").content


def test_an_encoding_is_kept_in_the_plan_and_is_another_content(fresh, tmp_path):
    fresh.login()
    path = tmp_path / "people.csv"
    path.write_bytes("sex,town\nf,Łódź\nm,Łódź\n".encode("cp1250"))
    first = open_file(fresh, path)
    assert fresh.post("/api/open", again=True, encoding="cp1250").status_code == 200
    second = fresh.wait()
    assert first["facts"]["key"] != second["facts"]["key"]
    rows = fresh.get("/api/rows", file=second["facts"]["rows"]).json()["rows"]
    assert rows[0][1] == "Łódź"
    document = Document.of_dict(second["document"])
    assert Document.of_plan(document.plan()).source == {"file": str(path), "encoding": "cp1250"}


def test_two_tabs_cannot_undo_each_others_work_unseen(opened):
    state = opened.wait()
    opened.change("seed", seed=77)
    answer = opened.post("/api/history", to=state["position"] - 1, version=state["version"])
    assert answer.status_code == 409
    assert opened.state()["document"]["seed"] == 77
    assert opened.post("/api/history", to=state["position"]).status_code == 200


def test_trying_a_step_adds_nothing_and_tells_what_adding_it_would(opened):
    before = opened.wait()
    step = {"scenario": "A", "method": "suppress", "options": {"k": 2}}
    answer = opened.post("/api/try", **step).json()
    opened.wait()
    tried = opened.get(f"/api/jobs/{answer['job']}").json()["ended"]
    assert tried["state"] == "done", tried
    state = opened.state()
    assert state["document"] == before["document"]
    assert state["version"] == before["version"]
    assert criteria(state) == criteria(before)
    assert answer["options"]["seed"] > 0
    opened.change("add_step", **{**step, "options": answer["options"]})
    added = opened.state()
    assert not [job for job in added["jobs"] if job["kind"] == "judge"]  # known from the trial
    assert added["results"]["A"]["verdict"] == tried["result"]["verdict"]
    assert added["results"]["A"]["utility"] == tried["result"]["utility"]
    opened.post("/api/history", to=before["position"])
    opened.wait()


def test_stopping_what_waits_while_the_document_changes_never_locks_the_page(tmp_path):
    """Both hold a lock and tell the other of it: in one order only."""
    folder = tmp_path / "session"
    folder.mkdir()
    page = Page(folder, (tmp_path,))
    session = page.session
    session._facts = {'{"demo": {"survey": 100}}': {"key": "k", "records": 1, "columns": []}}
    history = session.history.then(
        "opened", Document(source={"demo": {"survey": 100}}, roles={"age": ("keys",)})
    )
    ended = threading.Event()

    def change() -> None:
        for seed in range(150):
            session._set(
                history.then(
                    "seed", Document(source={"demo": {"survey": 100}}, seed=seed, roles={"age": ("keys",)})
                )
            )
            session.state()
        ended.set()

    def stop() -> None:
        while not ended.is_set():
            for job in session._quick.jobs:
                session.stop(job.id)

    threads = [threading.Thread(target=change, daemon=True), threading.Thread(target=stop, daemon=True)]
    for thread in threads:
        thread.start()
    try:
        assert ended.wait(60), "change and stop wait for each other"
    finally:
        page.session.close()


def test_a_stopped_verdict_can_be_asked_for_again(fresh):
    fresh.login()
    fresh.post("/api/open", demo="survey", n=3000)
    fresh.wait()
    state = fresh.change("roles", roles=ROLES).json()
    job = next(j for j in state["jobs"] if j["kind"] == "judge")
    fresh.request("DELETE", f"/api/jobs/{job['id']}")
    assert fresh.wait()["results"]["A"] is None
    assert fresh.post("/api/jobs", kind="judge", scenario="A").status_code == 200
    assert fresh.wait()["results"]["A"]["verdict"]


def test_a_crash_while_judging_is_said_and_can_be_tried_again(fresh):
    fresh.login()
    fresh.post("/api/open", demo="survey", n=3000)
    fresh.wait()
    fresh.change("roles", roles=ROLES)
    end = monotonic() + 30
    lane = fresh.page.session._quick
    while not (lane._running and lane._running.state == "running") and monotonic() < end:
        sleep(0.001)
    lane._process.kill()
    state = fresh.wait()
    if state["results"]["A"].get("error"):  # else it was quicker than we
        assert "verdict" not in state["results"]["A"]
        fresh.post("/api/jobs", kind="judge", scenario="A")
        state = fresh.wait()
    assert state["results"]["A"]["verdict"]


def test_the_end_of_a_job_can_be_asked_for(opened):
    job = opened.post("/api/jobs", kind="column", column="age").json()["job"]
    opened.wait()
    assert opened.get(f"/api/jobs/{job}").json()["ended"]["state"] == "done"
    assert opened.get("/api/jobs/999999").json() == {"ended": None}


@pytest.mark.parametrize("threshold", [0.05, 0.5])
def test_records_above_a_threshold_are_those_that_suppress_risky_treats(opened, threshold):
    found = opened.job(kind="threshold", scenario="A", threshold=threshold)["result"]
    made = sdc.demo.survey(n=300, seed=1)
    data = sdc.data.microdata.Microdata.of(
        made.frame, labels=made.labels, keys=["sex", "region", "age"], weight="weight"
    )
    done = sdc.protect.suppress_risky(data, threshold=threshold, seed=1)
    assert found["above"] == done.log[-1].figures["above_before"]
    assert sum(found["counts"]) == found["records"] == 300


def test_only_the_job_about_what_is_shown_tells_anything_of_it(fresh):
    """A verdict that an earlier document asked for may still be at work, under the same name."""
    fresh.login()
    fresh.post("/api/open", demo="survey", n=3000)
    fresh.wait()
    first = fresh.change("roles", roles=ROLES).json()
    old = next(j for j in first["jobs"] if j["kind"] == "judge")
    assert old["about"] == first["about"]["A"]
    second = fresh.change("roles", roles={"age": []}).json()
    assert second["about"]["A"] != old["about"]
    now = [j for j in second["jobs"] if j["kind"] == "judge" and j["about"] == second["about"]["A"]]
    assert [j["id"] for j in now] != [old["id"]]
    same = fresh.state()["document"]["seed"]
    noted = fresh.change("seed", seed=same).json()  # nothing changed: the same work is about it
    assert noted["about"] == second["about"]
    fresh.wait()


def late(session: Any, job: Any, facts: Any) -> str:
    """A worker's answer that comes although something else was asked for."""
    job.result, job.state = facts, "done"
    job.done(job)
    return str(job.state)


@pytest.mark.parametrize("to_nothing", [True, False])
def test_a_preparation_that_ends_after_going_back_brings_no_file_to_another_document(
    fresh, tmp_path, monkeypatch, to_nothing
):
    fresh.login()
    open_file(fresh, common(tmp_path / "common.csv"))
    judged(fresh)
    back = 0 if to_nothing else fresh.state()["position"]
    open_file(fresh, rare(tmp_path / "rare.csv"))
    session = fresh.page.session
    facts = dict(session.facts)
    monkeypatch.setattr(session._quick, "add", lambda job, instead=False: job)
    job = session.read_again({"prepare": [{"keep_records": {"first": 5}}]})
    session.go_to(back)
    before = session.document
    assert late(session, job, facts) == "stopped"
    assert session.document is before
    assert not session.facts


def test_of_two_preparations_the_one_that_was_replaced_changes_nothing(fresh, tmp_path, monkeypatch):
    fresh.login()
    open_file(fresh, rare(tmp_path / "rare.csv"))
    session = fresh.page.session
    monkeypatch.setattr(session._quick, "add", lambda job, instead=False: job)
    first, second = (session.read_again({"prepare": [{"keep_records": {"first": n}}]}) for n in (5, 7))
    first.asked_to_stop = True  # as the lane does, where its answer is on the way already
    facts = dict(session.facts)
    assert late(session, first, facts) == "stopped"
    assert late(session, second, facts) == "done"
    assert session.document.source["prepare"] == [{"keep_records": {"first": 7}}]


def test_a_machine_without_room_for_a_process_says_so_and_the_next_job_works(tmp_path, monkeypatch):
    from sdckit.web.jobs import Job, Lane

    ended: list[Any] = []
    lane = Lane(tmp_path, lambda job: None)
    begin = lane._start

    def full() -> None:
        lane._process = None
        monkeypatch.setattr(lane, "_start", begin)
        raise BlockingIOError("no process left")

    monkeypatch.setattr(lane, "_start", full)
    try:
        for number in (1, 2):
            job = Job("open", "Opening", {"source": {"demo": {"survey": 50}}}, ended.append)
            lane.add(job)
            end = monotonic() + 60
            while len(ended) < number and monotonic() < end:
                sleep(0.02)
    finally:
        lane.close()
    assert [job.state for job in ended] == ["failed", "done"]
    assert "want of memory" in ended[0].result["what"]
