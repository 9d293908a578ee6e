"""Session: the document with its history, what was measured of it, and the work under way."""

import json
from collections import OrderedDict
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from threading import RLock
from typing import Any

from sdckit._support.files import write_text
from sdckit.choose.scenario import Step
from sdckit.errors import OptionError, SdcError, preview
from sdckit.methods.registry import find
from sdckit.methods.spec import Kind
from sdckit.web.document import Document, with_written_seed
from sdckit.web.history import History
from sdckit.web.jobs import Job, Lane

KEPT = 200  # results by what they are of; each is some kB
QUICK = ("open", "judge", "measure", "column")


class StaleError(Exception):
    """A change was made to a document that is no longer the one shown."""


class Session:
    """All that the page shows and changes. Its methods may be called from several threads."""

    def __init__(self, folder: Path, listen: Callable[[str, Any], None], memory: Path | None = None) -> None:
        self.folder, self._listen = folder, listen
        self._memory = memory  # where the decisions outlive the session; no values of records are in it
        self.earlier = _earlier(memory)
        self.history = History((("nothing is open", Document()),))
        self.version = 0
        self.facts: dict[str, Any] = {}  # of the open file: records, columns, suggested roles
        self._results: OrderedDict[str, Any] = OrderedDict()
        self._lock = RLock()
        self._quick = Lane(folder, self._job_changed)
        self._long = Lane(folder, self._job_changed)

    # --- what is shown

    @property
    def document(self) -> Document:
        """The document that is looked at."""
        return self.history.document

    def state(self) -> dict[str, Any]:
        """All that the page needs to draw itself, without a value of a record."""
        with self._lock:
            return {
                "version": self.version,
                "document": self.document.as_dict(),
                "history": [done for done, _ in self.history.entries],
                "position": self.history.position,
                "facts": self.facts,
                "earlier": None if self.earlier is None else [done for done, _ in self.earlier.entries][1:],
                "results": {name: self.result(name) for name in self.document.scenarios},
                "jobs": [job.as_dict() for lane in (self._quick, self._long) for job in lane.jobs],
            }

    def result(self, scenario: str) -> Any:
        """The verdict on a scenario's file, if it is known."""
        return self._results.get(self._key("judge", scenario))

    def _key(self, kind: str, scenario: str, more: Mapping[str, Any] | None = None) -> str:
        """Exactly what a result depends on: content, never names of files."""
        d = self.document
        steps = [c.as_dict() for c in d.steps_of(scenario) if c.on] if scenario else []
        accepted = [d.max_risk, d.accept, [one.as_dict() | {"name": one.name} for one in d.intruders]]
        roles = d.columns_by_role
        content = [kind, self.facts.get("key"), roles, steps, accepted, d.seed, scenario, more]
        return sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()

    # --- changes

    def change(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """One change of the document: {version, action, …}. A stale one is refused and nothing is lost."""
        action = CHANGES.get(str(asked.get("action")))
        if action is None:
            raise OptionError("There is no such change.", given=preview(asked.get("action")))
        with self._lock:
            if asked.get("version") != self.version:
                raise StaleError
            done, document = action(self, asked)
            self._set(self.history.then(done, document))
            return self.state()

    def go_to(self, position: int) -> dict[str, Any]:
        """Undo, redo, or any earlier document."""
        with self._lock:
            source = self.document.source
            self._set(self.history.at(position))
            if self.document.source != source:
                self._read(self.document)
            return self.state()

    def open(self, document: Document, done: str) -> Job:
        """Read a file; the document is the open one when the file could be read."""
        return self._read(document, done)

    def open_earlier(self) -> Job:
        """Go on with the document that an earlier session ended with."""
        if self.earlier is None:
            raise OptionError("There is no earlier session to go on with.")
        return self._read(self.earlier.document, history=self.earlier)

    def _read(self, document: Document, done: str = "", history: History | None = None) -> Job:
        def ended(job: Job) -> None:
            if job.state != "done":
                return
            with self._lock:
                self.facts = job.result
                then = self.history.then(done, document) if done else self.history
                self._set(history or then, judge=False)
            self._judge()

        task = {"source": dict(document.source)}
        return self._quick.add(Job("open", "Opening the file", task, ended), instead=True)

    def _set(self, history: History, *, judge: bool = True) -> None:
        if history is self.history:
            return
        self.history = history
        self.version += 1
        self._save()
        self._listen("state", {"version": self.version})
        if judge:
            self._judge()

    def _save(self) -> None:
        """Nothing is lost: all decisions are on disk after every change, for this user alone."""
        if self._memory is not None:
            self._memory.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_text(json.dumps(self.history.as_dict()), self._memory)
            self._memory.chmod(0o600)

    # --- work

    def _judge(self) -> None:
        """Judge every scenario that has not been judged as it is now; the newest asked first."""
        if not self.facts or not self.document.roles:
            return
        for name in self.document.scenarios:
            self.judge(name)

    def judge(self, scenario: str) -> Job | None:
        """The verdict on a scenario's file, where it is not known yet."""
        with self._lock:
            key = self._key("judge", scenario)
            waiting = [j for j in self._quick.jobs if j.kind == "judge" and j.task["scenario"] == scenario]
            if key in self._results or any(j.task["key"] == key for j in waiting):
                return None
            for old in waiting:
                self._quick.stop(old.id)
            task = {"document": self.document.as_dict(), "scenario": scenario, "key": key}
        return self._quick.add(Job("judge", f"Judging {scenario}", task, self._keep(key)))

    def start(self, kind: str, title: str, **task: Any) -> Job:
        """Work that the user asked for: measure, column, compare, search, release."""
        with self._lock:
            whole = {**task, "document": self.document.as_dict()}
            key = self._key(kind, task.get("scenario") or "", task)
            job = Job(kind, title, whole, self._keep(key))
            known = self._results.get(key)
        if known is not None and kind != "release":  # its files may have been made anew since
            job.state, job.result = "done", known
            self._job_changed(job)
            return job
        return (self._quick if kind in QUICK else self._long).add(job)

    def _keep(self, key: str) -> Callable[[Job], None]:
        def ended(job: Job) -> None:
            with self._lock:
                if job.state == "done":
                    self._results[key] = job.result
                elif job.state == "failed" and job.kind == "judge":
                    self._results[key] = {"error": job.result}
                while len(self._results) > KEPT:
                    self._results.popitem(last=False)

        return ended

    def prepare(self) -> None:
        """Compile ahead, while the user looks for the file."""
        self._long.add(Job("warm_up", "Preparing (once)", {}, lambda job: None))

    def stop(self, job_id: int) -> bool:
        """Stop a job."""
        return self._quick.stop(job_id) or self._long.stop(job_id)

    def close(self) -> None:
        """End all work."""
        self._quick.close()
        self._long.close()

    def _job_changed(self, job: Job) -> None:
        content = job.as_dict()
        if job.ended:
            content["result"] = job.result
        self._listen("job", content)


def _earlier(memory: Path | None) -> History | None:
    """The history of an earlier session, if it can still be understood."""
    if memory is None or not memory.is_file():
        return None
    try:
        return History.of_dict(json.loads(memory.read_text(encoding="utf-8")))
    except (SdcError, ValueError, KeyError, TypeError, AttributeError, OSError):
        return None  # of another version: nothing can be offered


# --- the changes, by name: each gives what was done, in words, and the new document

Change = Callable[[Session, Mapping[str, Any]], tuple[str, Document]]


def _roles(session: Session, asked: Mapping[str, Any]) -> tuple[str, Document]:
    document = session.document
    columns = {c["name"] for c in session.facts.get("columns", ())}
    for column, roles in asked["roles"].items():
        if column not in columns:
            raise OptionError("The file has no such column.", given=preview(column))
        document = document.with_role(column, tuple([roles] if isinstance(roles, str) else roles or ()))
    names = ", ".join(f"{c}: {r or 'none'}" for c, r in list(asked["roles"].items())[:3])
    return f"roles ({names}{', …' if len(asked['roles']) > 3 else ''})", document


def _step(asked: Mapping[str, Any]) -> Step:
    spec = find(str(asked["method"]), Kind.PROTECTION)
    return with_written_seed(Step(spec.name, **asked.get("options", {})))


def _add_step(session: Session, asked: Mapping[str, Any]) -> tuple[str, Document]:
    step = _step(asked)
    return f"{asked['scenario']}: {step}", session.document.with_step(
        asked["scenario"], step, asked.get("at")
    )


def _change_step(session: Session, asked: Mapping[str, Any]) -> tuple[str, Document]:
    step = _step(asked)
    document = session.document.with_options(asked["scenario"], asked["at"], step)
    return f"{asked['scenario']}: step {asked['at'] + 1} is {step}", document


def _move_step(session: Session, asked: Mapping[str, Any]) -> tuple[str, Document]:
    document = session.document.with_step_moved(asked["scenario"], asked["at"], asked["to"])
    return f"{asked['scenario']}: step {asked['at'] + 1} moved", document


def _switch_step(session: Session, asked: Mapping[str, Any]) -> tuple[str, Document]:
    document = session.document.with_step_switched(asked["scenario"], asked["at"], bool(asked["on"]))
    return f"{asked['scenario']}: step {asked['at'] + 1} {'on' if asked['on'] else 'off'}", document


def _remove_step(session: Session, asked: Mapping[str, Any]) -> tuple[str, Document]:
    document = session.document.without_step(asked["scenario"], asked["at"])
    return f"{asked['scenario']}: step {asked['at'] + 1} taken out", document


def _add_scenario(session: Session, asked: Mapping[str, Any]) -> tuple[str, Document]:
    document = session.document.with_scenario(asked["name"], asked.get("like"))
    for step in asked.get("steps", ()):
        method, options = next(iter(step.items()))
        document = document.with_step(asked["name"], _step({"method": method, "options": options or {}}))
    return f"scenario {asked['name']}", document


def _rename_scenario(session: Session, asked: Mapping[str, Any]) -> tuple[str, Document]:
    document = session.document.with_scenario_renamed(asked["name"], asked["new"])
    return f"scenario {asked['name']} is called {asked['new']}", document


def _drop_scenario(session: Session, asked: Mapping[str, Any]) -> tuple[str, Document]:
    return f"scenario {asked['name']} taken out", session.document.without_scenario(asked["name"])


def _intruders(session: Session, asked: Mapping[str, Any]) -> tuple[str, Document]:
    return "intruders", session.document.with_intruders(asked["intruders"])


def _criteria(session: Session, asked: Mapping[str, Any]) -> tuple[str, Document]:
    document = session.document.with_criteria(asked.get("max_risk"), asked.get("accept") or {})
    return "what is accepted", document


def _seed(session: Session, asked: Mapping[str, Any]) -> tuple[str, Document]:
    return f"seed {asked['seed']}", session.document.with_seed(asked["seed"])


CHANGES: dict[str, Change] = {
    "roles": _roles,
    "add_step": _add_step,
    "change_step": _change_step,
    "move_step": _move_step,
    "switch_step": _switch_step,
    "remove_step": _remove_step,
    "add_scenario": _add_scenario,
    "rename_scenario": _rename_scenario,
    "drop_scenario": _drop_scenario,
    "intruders": _intruders,
    "criteria": _criteria,
    "seed": _seed,
}
