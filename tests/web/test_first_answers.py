"""What is known of a large file before every criterion is judged; it is never called a verdict."""

import pytest

pytest.importorskip("starlette", reason="starlette is not installed")

from sdckit._support.progress import Progress
from sdckit.web import tasks
from sdckit.web.document import Document
from sdckit.web.jobs import Job, Lane
from sdckit.web.tasks import Desk

SOURCE = {"demo": {"survey": 300}}
KEYS = {"region": ("keys",), "sex": ("keys",), "weight": ("weight",)}
NUMBERS = {**KEYS, "income": ("numeric",)}


def judged(folder, roles, kind="judge"):
    """All that is told before the end, and the end."""
    desk, told = Desk(folder), []
    key = desk.do({"kind": "open", "source": SOURCE}, Progress())["key"]
    document = Document(source=SOURCE, roles=roles, max_risk=0.05).as_dict()
    task = {"kind": kind, "document": document, "content": key, "scenario": "A", "key": "x"}
    return told, desk.do(task, Progress(), told.append)


def test_first_answers_are_those_of_the_verdict(tmp_path, monkeypatch):
    monkeypatch.setattr(tasks, "LARGE", 0)
    (first,), done = judged(tmp_path, NUMBERS)
    assert set(first) == {"criteria", "waiting"}  # neither a status nor a headline
    assert first["waiting"] == ["insider", "register"]
    assert [c["name"] for c in first["criteria"]] == ["re-identification by neighbour", "claims of neighbour"]
    assert all(c in done["verdict"]["criteria"] for c in first["criteria"])
    names = {c["name"] for c in done["verdict"]["criteria"]}
    assert {f"re-identification by {name}" for name in first["waiting"]} <= names


@pytest.mark.parametrize(
    ("large", "roles", "kind"), [(0, KEYS, "judge"), (301, NUMBERS, "judge"), (0, NUMBERS, "try")]
)
def test_nothing_is_told_where_all_is_known_at_once(tmp_path, monkeypatch, large, roles, kind):
    monkeypatch.setattr(tasks, "LARGE", large)
    told, done = judged(tmp_path, roles, kind)
    assert told == []
    assert done["verdict"]["criteria"]


class Told:
    """A pipe from which a worker's messages come."""

    def __init__(self, *messages):
        self.messages = list(messages)

    def recv(self):
        return self.messages.pop(0)


def test_a_job_shows_them_until_it_ends(tmp_path):
    seen, kept = [], []
    lane = Lane(tmp_path, lambda job: seen.append(job.as_dict()))
    try:
        job = Job("judge", "Judging A", {}, lambda job: kept.append(job.result), state="running")
        lane._pipe = Told(("so_far", job.id, {"criteria": []}), ("done", job.id, {"verdict": "all"}))
        lane._follow(job)
    finally:
        lane.close()
    assert [("so_far" in one, one["state"]) for one in seen] == [(True, "running"), (True, "done")]
    assert kept == [{"verdict": "all"}]
