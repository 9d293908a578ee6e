"""A hostile expert at the page: strange requests, names, uploads, links; and what is left on the disk."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import httpx
import polars as pl
import pytest

import sdckit as sdc
from sdckit.web import answers, app, serve
from sdckit.web.app import Page

PORT = 4711
HOME = f"http://127.0.0.1:{PORT}"


@pytest.mark.parametrize(
    "others",
    ['settings={"theme": "dark"}', "broken", "a=b; =; ;;", f"sdckit_{PORT}=forged", 'quoted="x;y'],
)
def test_cookies_of_other_programs_do_not_lock_us_out(fresh, others):
    cookie = f"{others}; sdckit_{PORT}={fresh.guard.token}"
    assert fresh.request("GET", "/api/state", headers={"cookie": cookie}).status_code == 200


@pytest.mark.parametrize(
    "cookie", ["", f"sdckit_{PORT}=", f"sdckit_{PORT + 1}=TOKEN", f"xsdckit_{PORT}=TOKEN", "TOKEN"]
)
def test_only_our_cookie_with_the_token_is_one(fresh, cookie):
    cookie = cookie.replace("TOKEN", fresh.guard.token)
    assert fresh.request("GET", "/api/state", headers={"cookie": cookie}).status_code == 403


def test_the_address_on_a_command_line_opens_the_page_once(fresh):
    address = fresh.guard.address_for_once()
    assert fresh.guard.token not in address  # other users of the machine see command lines
    first, second = (fresh.request("GET", address.removeprefix(HOME)) for _ in range(2))
    assert first.status_code == 303
    assert second.status_code == 403
    assert not second.cookies


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..%2fapp.py",
        "/static//etc/passwd",
        "/static/vendor/%2e%2e/%2e%2e/guard.py",
    ],
)
def test_no_path_leads_out_of_the_static_files(fresh, path):
    answer = fresh.login().request("GET", path)
    assert answer.status_code in (403, 404)
    assert "import" not in answer.text


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"[" * 100_000,
        b'{"version": NaN}',
        b'{"action": "criteria", "max_risk": Infinity}',
        b'{"action": "criteria", "max_risk": 1e999}',
        b'{"action": "add_scenario", "name": "\\ud800"}',
        b'{"action": "add_scenario", "name": ["x"]}',
        b'{"action": "add_scenario", "name": {}}',
        b'{"action": "roles", "roles": []}',
        b'{"action": "roles", "roles": {"age": 5}}',
        b'{"action": "roles", "roles": {"age": [["keys"]]}}',
        b'{"action": "add_step", "scenario": "A", "method": "suppress", "options": []}',
        b'{"action": "add_step", "scenario": "A", "method": "suppress", "options": {"k": 3}, "at": "x"}',
        b'{"action": "change_step", "scenario": "A", "method": "suppress", "options": {"k": 3}, "at": 0.5}',
        b'{"action": "seed", "seed": -1}',
        b'{"action": "intruders", "intruders": 3}',
        b'{"action": "criteria", "accept": 3}',
    ],
)
def test_strange_requests_are_refused_in_words_and_change_nothing(opened, content):
    before = opened.wait()
    content = content.replace(b'{"action"', b'{"version": %d, "action"' % before["version"])
    answer = opened.request("POST", "/api/change", content=content)
    assert answer.status_code in (400, 409), answer.text
    assert answer.json()["what"]
    after = opened.state()  # it can still be asked for
    assert after["document"] == before["document"]


@pytest.mark.parametrize(
    "what", [{"at": "²"}, {"at": "-1"}, {"at": "9" * 40}, {"n": "x"}, {"sort": "nobody"}, {"column": "x"}]
)
def test_strange_slices_are_refused(opened, what):
    file = opened.wait()["facts"]["rows"]
    assert opened.get("/api/rows", file=file, **what).status_code == 400


@pytest.mark.parametrize(
    "path", ["\x00", "~nobody_of_this_name/x.csv", "a" * 5000, "/proc/self/environ", "\ud800"]
)
def test_strange_paths_are_refused(opened, path):
    content = json.dumps({"path": path}).encode()
    answer = opened.request("POST", "/api/open", content=content)
    assert answer.status_code == 400
    assert "Traceback" not in answer.text


def test_links_below_the_root_lead_nowhere_else(fresh, tmp_path):
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    pl.DataFrame({"x": [1]}).write_csv(outside / "secret.csv")
    (tmp_path / "folder").symlink_to(outside)
    (tmp_path / "link.csv").symlink_to(outside / "secret.csv")
    (tmp_path / "loop.csv").symlink_to(tmp_path / "loop.csv")
    fresh.login()
    shown = fresh.get("/api/files", at=str(tmp_path)).json()
    assert "folder" not in shown["folders"]
    assert not shown["files"]
    for path in ("link.csv", "folder/secret.csv", "loop.csv", "../outside/secret.csv"):
        assert fresh.post("/api/open", path=str(tmp_path / path)).status_code == 400
    (tmp_path / "plan.yaml").write_text(f"data: {{file: {outside / 'secret.csv'}}}\nscenarios: {{A: []}}\n")
    answer = fresh.post("/api/open", path=str(tmp_path / "plan.yaml"))
    assert "outside the folders" in answer.json()["what"]
    pl.DataFrame({"x": [1]}).write_csv(tmp_path / "people.csv")
    plan = f"data: {{file: people.csv}}\nassess: {{k_map: {{population: {outside / 'secret.csv'}}}}}\n"
    (tmp_path / "plan.yaml").write_text(plan + "scenarios: {A: []}\n")
    answer = fresh.post("/api/open", path=str(tmp_path / "plan.yaml"))
    assert "outside the folders" in answer.json()["what"]


def test_an_option_that_names_a_file_is_kept_inside_too(opened):
    answer = opened.post(
        "/api/jobs", kind="measure", measure="k_map", scenario="A", options={"population": "/etc/passwd"}
    )
    assert answer.status_code == 400
    assert "outside the folders" in answer.json()["what"]


# --- uploads


def upload(client: Any, name: str, content: Any) -> Any:
    return client.request("POST", "/api/upload", content=content, headers={"x-file-name": name})


def left(client: Any) -> list[Path]:
    return list((client.page._folder / "uploads").rglob("*"))


@pytest.mark.parametrize(
    "name",
    ["..%2f..%2fx.csv%00", "%00.csv", "x%0a.csv", "..", ".hidden.csv", "", "a" * 300 + ".csv", "x.exe"],
)
def test_uploads_with_strange_names_are_refused(fresh, name):
    fresh.login()
    assert upload(fresh, name, b"a\n1\n").status_code == 400
    assert not left(fresh)


@pytest.mark.parametrize("name", ["..%2f..%2fpeople.csv", "..%5c..%5cpeople.csv", "%2fetc%2fpeople.csv"])
def test_uploads_stay_in_their_folder(fresh, name):
    fresh.login()
    assert upload(fresh, name, b"a\n1\n").status_code == 200
    fresh.wait()
    assert [p.name for p in left(fresh) if p.is_file()] == ["people.csv"]
    assert all(p.stat().st_mode & 0o077 == 0 for p in left(fresh) if p.is_dir())


@pytest.mark.parametrize("announced", [True, False])
def test_too_large_an_upload_is_refused_and_leaves_nothing(fresh, monkeypatch, announced):
    monkeypatch.setattr(app, "LARGEST_UPLOAD", 1000)
    fresh.login()

    async def blocks() -> Any:  # without a length
        for _ in range(20):
            yield b"x" * 100

    answer = upload(fresh, "people.csv", b"x" * 2000 if announced else blocks())
    assert answer.status_code == 400
    assert "too large" in answer.json()["what"]
    assert not left(fresh)


def test_too_large_a_request_without_a_length_is_refused(opened, monkeypatch):
    monkeypatch.setattr(answers, "LARGEST_REQUEST", 1000)

    async def blocks() -> Any:
        yield b'{"action": "'
        for _ in range(20):
            yield b"x" * 100

    answer = opened.request("POST", "/api/change", content=blocks())
    assert "too large" in answer.json()["what"]


def test_an_upload_that_ends_half_way_leaves_nothing(fresh):
    fresh.login()
    sent = iter([{"type": "http.request", "body": b"a\n1\n", "more_body": True}, {"type": "http.disconnect"}])
    cookie = f"sdckit_{PORT}={fresh.guard.token}".encode()
    headers = [
        (b"host", HOME[7:].encode()),
        (b"origin", HOME.encode()),
        (b"cookie", cookie),
        (b"x-file-name", b"p.csv"),
    ]
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/api/upload",
        "raw_path": b"/api/upload",
        "query_string": b"",
    }
    told: list[Any] = []

    async def receive() -> Any:
        return next(sent)

    async def send(message: Any) -> None:
        told.append(message)

    asyncio.run(fresh.guard({**scope, "headers": headers, "http_version": "1.1"}, receive, send))
    assert not left(fresh)
    assert not fresh.state()["jobs"]


def test_two_uploads_of_one_name_are_two_files(fresh):
    fresh.login()
    for value in (b"1", b"2"):
        assert upload(fresh, "people.csv", b"a\n" + value + b"\n").status_code == 200
        state = fresh.wait()
        assert fresh.get("/api/rows", file=state["facts"]["rows"]).json()["rows"] == [[value.decode()]]
    fresh.post("/api/history", to=state["position"] - 1)
    state = fresh.wait()
    assert fresh.get("/api/rows", file=state["facts"]["rows"]).json()["rows"] == [["1"]]


# --- values of records


def test_no_answer_but_the_rows_tells_a_value_of_a_single_record(fresh, tmp_path):
    fresh.login()
    n = 400
    frame = pl.DataFrame(
        {
            "sex": ["f", "m"] * (n // 2),
            "town": ["Aville"] * (n - 2) + ["Raretown", "Oddtown"],
            "income": [1000.25 + 3.125 * i for i in range(n - 2)] + [-987654.5, 7654321.5],
            "person": [f"Name{i:04d}" for i in range(n)],
        }
    )
    frame.write_csv(tmp_path / "people.csv")
    fresh.post("/api/open", path=str(tmp_path / "people.csv"))
    fresh.wait()
    roles = {"sex": ["keys"], "town": ["keys"], "income": ["numeric"], "person": ["direct"]}
    fresh.change("roles", roles=roles)
    answers = [fresh.wait()]
    answers += [fresh.job(kind="column", column=column, scenario="A") for column in frame.columns]
    fresh.change("add_step", scenario="A", method="add_noise", options={"variables": ["income"]})
    answers.append(fresh.wait())
    text = json.dumps(answers)
    for value in ("Raretown", "Oddtown", "987654", "7654321", "Name0", "Name1"):
        assert value not in text, value


def test_faults_tell_no_value(opened, monkeypatch):
    def broken(*_: Any) -> Any:
        raise ValueError("the value 7654321 of record 5")

    monkeypatch.setattr(opened.page.session, "change", broken)
    answer = opened.post("/api/change", version=0, action="seed", seed=1)
    assert answer.status_code == 400
    assert "7654321" not in answer.text


# --- what is left on the disk


def test_a_home_that_cannot_be_written_stops_nobody(fresh, tmp_path):
    from sdckit.web.guard import Guard

    (tmp_path / "file").write_text("")
    folder = tmp_path / "another"
    folder.mkdir()
    page = Page(folder, (tmp_path,), memory=tmp_path / "file" / "last.json")
    try:
        client = type(fresh)(Guard(page.app(), port=PORT), page).login()
        client.post("/api/open", demo="survey", n=200)
        state = client.wait()
        assert state["facts"]["records"] == 200
        assert state["unsaved"]
        assert client.change("seed", seed=4).status_code == 200
    finally:
        page.session.close()


def test_decisions_are_for_this_user_alone(fresh, tmp_path):
    fresh.login()
    (tmp_path / "state").mkdir(mode=0o755)
    fresh.post("/api/open", demo="survey", n=200)
    fresh.wait()
    assert (tmp_path / "state").stat().st_mode & 0o077 == 0
    assert (tmp_path / "state" / "last.json").stat().st_mode & 0o077 == 0


def test_protected_files_do_not_fill_the_disk(tmp_path):
    from sdckit.web import kept

    data = sdc.demo.survey(n=20, seed=1)
    names = [kept.kept(data, tmp_path, "protected", f"key {i}") for i in range(kept.FILES + 3)]
    left = {p.name for p in tmp_path.glob("protected-*.arrow")}
    assert len(left) == kept.FILES
    assert names[-1] in left


def test_records_that_went_to_save_space_are_made_again(fresh):
    fresh.login()
    fresh.post("/api/open", demo="survey", n=100)
    fresh.wait()
    fresh.change("roles", roles={"sex": ["keys"]})
    fresh.change("add_step", scenario="A", method="shuffle_order", options={})
    state = fresh.wait()
    gone = state["results"]["A"]["rows"]
    fresh.change("seed", seed=7)
    assert fresh.wait()["results"]["A"]["rows"] != gone
    (fresh.page._folder / gone).unlink()
    fresh.post("/api/history", to=state["position"])
    state = fresh.wait()
    assert fresh.get("/api/rows", file=state["results"]["A"]["rows"]).status_code == 200


def server(tmp_path: Path) -> Any:
    (tmp_path / "temporary").mkdir(exist_ok=True)
    env = {**os.environ, "TMPDIR": str(tmp_path / "temporary"), "XDG_STATE_HOME": str(tmp_path / "state")}
    call = "from sdckit.cli import main; main()"
    command = [sys.executable, "-u", "-c", call, "web", "--no-browser", "--root", str(tmp_path)]
    made = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
    assert made.stdout is not None
    words = made.stdout.readline().split()
    assert words[0] == "Open"
    made.address = words[1]
    return made


def folders(tmp_path: Path) -> list[Path]:
    return list((tmp_path / "temporary").glob(f"{serve.PREFIX}*"))


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="signals of Unix")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
@pytest.mark.parametrize("serves", [False, True])  # while it is importing, and while it serves
def test_whatever_ends_it_the_folder_goes(tmp_path, name, serves):
    running = server(tmp_path)
    try:
        if serves:
            assert httpx.get(running.address, timeout=60).status_code == 303
            sleep(1)  # its workers start
        assert [p.stat().st_mode & 0o777 for p in folders(tmp_path)] == [0o700]
        running.send_signal(getattr(signal, name))
        running.wait(30)
    finally:
        running.kill()
    assert not folders(tmp_path)
    assert "Traceback" not in running.stderr.read()


def test_what_a_killed_server_left_goes_at_the_next_start(tmp_path):
    first = server(tmp_path)
    first.kill()
    first.wait(30)
    (old,) = folders(tmp_path)
    second = server(tmp_path)
    try:
        end = monotonic() + 30
        while old.exists() and monotonic() < end:
            sleep(0.05)
        assert not old.exists()
        assert len(folders(tmp_path)) == 1
    finally:
        second.terminate()
        second.wait(30)


def test_a_folder_that_lost_its_owner_goes_too(tmp_path, monkeypatch):
    monkeypatch.setattr(serve.tempfile, "gettempdir", lambda: str(tmp_path))
    for name, age in (("old", 3600), ("new", 0)):
        folder = tmp_path / f"{serve.PREFIX}{name}"
        folder.mkdir()
        os.utime(folder, (folder.stat().st_mtime - age,) * 2)
    serve.remove_left_over()
    assert [p.name for p in tmp_path.iterdir()] == [f"{serve.PREFIX}new"]
