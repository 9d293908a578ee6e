"""Session: the document with its history, what was measured of it, and the work under way."""

import json
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from threading import RLock
from typing import Any

from sdckit._support.files import write_text
from sdckit._version import __version__
from sdckit.choose.scenario import Step
from sdckit.errors import FileError, OptionError, SdcError, preview
from sdckit.methods.registry import find
from sdckit.web.changes import CHANGES, read_otherwise, step_of, with_roles
from sdckit.web.document import Document
from sdckit.web.history import Held, History, earlier_history
from sdckit.web.jobs import Job, Lane
from sdckit.web.next_file import notes_on, with_columns_of
from sdckit.web.still_accepted import still_accepted

KEPT = 200  # results by what they are of; each is some kB
ENDED = 100  # jobs whose end a tab can still ask for
LOOKS = ("measure", "column", "explore", "threshold", "riskiest", "codes")
QUICK = ("open", "judge", "try", *LOOKS)


class StaleError(Exception):
    """A change was made to a document that is no longer the one shown."""


class Session:
    """All that the page shows and changes. Its methods may be called from several threads."""

    def __init__(self, folder: Path, listen: Callable[[str, Any], None], memory: Path | None = None) -> None:
        self.folder, self._listen = folder, listen
        self._memory = memory  # where the decisions outlive the session; no values of records are in it
        self.earlier = earlier_history(memory)
        self.held: Held | None = None  # decisions whose file is not there
        self.history = History((("nothing is open", Document()),))
        self.version = 0
        self.unsaved = False  # whether the decisions could not be written to the disk
        self._facts: dict[str, dict[str, Any]] = {}  # by what was opened: records, columns, suggested roles
        self._results: OrderedDict[str, Any] = OrderedDict()
        self._ended: OrderedDict[int, dict[str, Any]] = OrderedDict()
        self._answers = 0
        self._lock = RLock()
        self._quick = Lane(folder, self._job_changed)
        self._long = Lane(folder, self._job_changed)

    # --- what is shown

    @property
    def document(self) -> Document:
        """The document that is looked at."""
        return self.history.document

    @property
    def facts(self) -> dict[str, Any]:
        """What the file of the document holds; empty until that very file has been read."""
        return self._facts.get(_text(self.document.source), {})

    def state(self) -> dict[str, Any]:
        """All that the page needs to draw itself, without a value of a record."""
        with self._lock:
            self._answers += 1  # of two answers on their way a tab takes the newer
            return {
                "version": self.version,
                "answer": self._answers,
                "document": self.document.as_dict(),
                "intruders": {one.name: one.describe() for one in self.document.intruders},
                "usual": self.document.usual_intruders,
                "history": [done for done, _ in self.history.entries],
                "position": self.history.position,
                "facts": self.facts,
                "earlier": None if self.earlier is None else self.earlier.in_short(),
                "held": self.held and {"file": self.held.file, "of": self.held.of},
                "results": {name: self.result(name) for name in self.document.scenarios},
                "about": self._about(),
                "jobs": [job.as_dict() for lane in (self._quick, self._long) for job in lane.jobs],
                "unsaved": self.unsaved,
                "software": __version__,
            }

    def result(self, scenario: str) -> Any:
        """The verdict on a scenario's file, if it is known."""
        return self._results.get(self._key("judge", self.document, [scenario])) if self.facts else None

    def _about(self) -> dict[str, str]:
        """What a verdict on each scenario would be about: a job about anything else says nothing of it."""
        if not self.facts:
            return {}
        return {name: self._key("judge", self.document, [name]) for name in self.document.scenarios}

    def _key(
        self, kind: str, document: Document, scenarios: Sequence[str], more: Mapping[str, Any] | None = None
    ) -> str:
        """Exactly what a result depends on: content, never names of files.

        The file is the one of this document: its content is known only once it has been read.
        """
        file = self._facts[_text(document.source)]["key"]
        noted = kind == "release"  # nothing else depends on a note
        steps = [
            [name, [c.as_dict(noted=noted) for c in document.steps_of(name) if c.on]] for name in scenarios
        ]
        intruders = [one.as_dict() | {"name": one.name} for one in document.intruders]
        accepted = [document.max_risk, document.accept, intruders, document.assess]
        content = [kind, file, document.columns_by_role, steps, accepted, document.seed, more]
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
            columns = {c["name"] for c in self.facts.get("columns", ())}
            done, document = action(self.document, columns, asked)
            self._set(self.history.then(done, document), first=asked.get("scenario"))
            return self.state()

    def go_to(self, position: int, version: int | None = None) -> dict[str, Any]:
        """Undo, redo, or any earlier document."""
        with self._lock:
            if version is not None and version != self.version:
                raise StaleError
            source = self.document.source
            history = self.history.at(position)
            if another := history.document.source != source:
                self._facts.clear()  # nothing is said of a file before it has been read again
            self._set(history)
            if another and self.document.source:
                self._read(self.document)
            return self.state()

    def open(self, document: Document, done: str, could: Callable[[], None] = lambda: None) -> Job:
        """Read a file; when it could be read, the document is the open one, and `could` is called."""
        return self._read(document, done, could=could)

    def open_next_wave(
        self, path: Path, options: Mapping[str, Any], could: Callable[[], None] = lambda: None
    ) -> Job:
        """Read another file under the decisions of now, or under those that wait for a file.

        What was accepted with open eyes was accepted of the other file: it is asked again.
        """
        document = (self.held.document if self.held else self.document).with_file(path)
        if options:
            document = document.with_reading(options)
        done = f"opened {path.name} under the same decisions"
        return self._read(document, done, before=None if self.held else self.facts, could=could)

    def hold(self, document: Document, of: str) -> None:
        """Refuse decisions whose data file is not there, and keep them for the file that is opened next."""
        file = Path(str(document.source.get("file", "")))
        if "file" not in document.source or file.is_file():
            return
        with self._lock:
            self.held = Held(document, str(file), of)
        self._listen("state", {"version": self.version})
        raise FileError(
            f"{file.name} is not there.",
            given=str(file),
            hint="What was decided is kept: open the file that it is for.",
        )

    def read_again(self, asked: Mapping[str, Any]) -> Job:
        """The open file read or prepared another way: {version, options, prepare}; roles and steps stay.

        roles: {column: roles} of columns that come with a preparation.
        """
        with self._lock:
            if "version" in asked and asked["version"] != self.version:
                raise StaleError
            if not self.document.source:
                raise OptionError("No file is open.", hint="Open one on the screen Data.")
            document, done = read_otherwise(self.document, asked)
            roles = with_roles(Document(), asked.get("roles") or {}).roles
        return self._read(document, done, again=True, roles=roles)

    def open_earlier(self) -> Job:
        """Go on with the document that an earlier session ended with."""
        if self.earlier is None:
            raise OptionError("There is no earlier session to go on with.")
        self.hold(self.earlier.document, "the last session")
        return self._read(self.earlier.document, history=self.earlier)

    def _read(
        self,
        document: Document,
        done: str = "",
        history: History | None = None,
        *,
        again: bool = False,
        roles: Mapping[str, tuple[str, ...]] | None = None,
        before: Mapping[str, Any] | None = None,
        could: Callable[[], None] = lambda: None,
    ) -> Job:
        source, had = self.document.source, self.facts

        def ended(job: Job) -> None:
            with self._lock:
                gone = job.asked_to_stop or (again and self.document.source != source)
                if job.state == "done" and gone:  # another file or preparation was asked for meanwhile
                    job.state, job.result = "stopped", None
                if job.state != "done":
                    return
                # what was decided while the same file was read again is not lost
                base = replace(self.document, source=document.source) if again else document
                if again and had:
                    base = replace(base, accept=still_accepted(base.accept, had, job.result))
                there = with_columns_of(with_roles(base, roles or {}), job.result)
                if not again:
                    job.result["notes"].extend(notes_on(base, job.result, before))
                now = history or (self.history.then(done, there) if done else self.history)
                if now.document.source != document.source:
                    return  # another file was gone to meanwhile
                self._facts, self.held = {_text(document.source): job.result}, None
                self._set(now, judge=False)
            could()
            self._judge()

        task = {"source": dict(document.source)}
        return self._quick.add(Job("open", "Opening the file", task, ended), instead=True)

    def _set(self, history: History, *, judge: bool = True, first: str | None = None) -> None:
        if history is self.history:
            return
        self.history = history
        self.version += 1
        self._save()
        self._listen("state", {"version": self.version})
        if judge:
            self._judge(first)

    def _save(self) -> None:
        """Nothing is lost: all decisions are on disk after every change, for this user alone."""
        if self._memory is None:
            return
        try:
            self._memory.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._memory.parent.chmod(0o700)
            write_text(json.dumps(self.history.as_dict()), self._memory)
            self._memory.chmod(0o600)
            self.unsaved = False
        except (OSError, SdcError):  # a full disk, a home that cannot be written: the work goes on
            self.unsaved = True

    # --- work

    def _judge(self, first: str | None = None) -> None:
        """Judge every scenario that has not been judged as it is now; the one that was changed first."""
        if not self.facts or not self.document.roles:
            return
        for name in sorted(self.document.scenarios, key=lambda name: name != first):
            self.judge(name)

    def judge(self, scenario: str) -> Job | None:
        """The verdict on a scenario's file, where it is not known yet."""
        with self._lock:
            key = self._key("judge", self.document, [scenario])
            waiting = [j for j in self._quick.jobs if j.kind == "judge" and j.task["scenario"] == scenario]
            if self._known(key) or any(j.task["key"] == key for j in waiting):
                return None
            task = self._task(self.document, key, scenario=scenario)
        for old in waiting:
            self._quick.stop(old.id)
        return self._quick.add(Job("judge", f"Judging {scenario}", task, self._keep(key)))

    def judge_again(self, scenario: str) -> Job | None:
        """Judge next what is looked at; once more what was stopped, or what could not be judged."""
        with self._lock:
            self._require_file()
            key = self._key("judge", self.document, [scenario])
            if "error" in self._results.get(key, ()):
                del self._results[key]
            job = self.judge(scenario)
        for waits in self._quick.jobs:
            if waits.task.get("key") == key:
                self._quick.bring_forward(waits.id)
        return job

    def try_step(self, asked: Mapping[str, Any]) -> tuple[Job, Step]:
        """Judge a scenario with one more step, or with another in the place of one, without adding it."""
        with self._lock:
            self._require_file()
            step, scenario, at = step_of(asked), asked["scenario"], asked.get("at")
            document = self.document
            changed = (
                document.with_step(scenario, step)
                if at is None
                else document.with_options(scenario, at, step)
            )
            key = self._key("judge", changed, [scenario])
            task = self._task(changed, key, scenario=scenario)
            job = Job("try", f"Trying {find(step.method).title}", task, self._keep(key))
            known = self._results.get(key) if self._known(key) else None
        return self._begin(job, known, instead=True), step

    def start(self, kind: str, title: str, **task: Any) -> Job:
        """Work that the user asked for: measure, column, compare, search, release."""
        with self._lock:
            self._require_file()
            document = self.document
            named = task.get("scenarios") or ([task["scenario"]] if task.get("scenario") else [])
            key = self._key(kind, document, named, task)
            job = Job(kind, title, self._task(document, key, **task), self._keep(key), version=self.version)
            known = self._results.get(key) if kind != "release" else None  # its files may be gone
            for other in (*self._quick.jobs, *self._long.jobs):
                if (other.kind, other.task.get("key")) == (kind, key) and not other.asked_to_stop:
                    return other  # asked for twice: by two clicks, or in two tabs
            return self._begin(job, known)

    def _begin(self, job: Job, known: Any, *, instead: bool = False) -> Job:
        if known is None or "error" in known:
            return self._lane(job.kind).add(job, instead=instead)
        job.state, job.result = "done", known
        self._job_changed(job)
        return job

    def _lane(self, kind: str) -> Lane:
        """Where work is done: a look at the data does not wait for a verdict where the other lane is free."""
        if kind not in QUICK or (kind in LOOKS and self._quick.jobs and not self._long.jobs):
            return self._long
        return self._quick

    def _require_file(self) -> None:
        if not self.facts:
            raise OptionError("No file is open.", hint="Open one on the screen Data.")

    def _task(self, document: Document, key: str, **more: Any) -> dict[str, Any]:
        """What a worker needs: the document, and what its file held when it was opened."""
        content = self._facts[_text(document.source)]["key"]
        return {**more, "document": document.as_dict(), "content": content, "key": key}

    def _known(self, key: str) -> bool:
        """Whether a verdict is known, and its records can still be looked at."""
        found = self._results.get(key)
        if found is None or "error" in found:
            return found is not None
        names = [name for name in (found["rows"], found["aligned"]) if name is not None]
        return all((self.folder / name).exists() for name in names)

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

    def ended(self, job_id: int) -> dict[str, Any] | None:
        """What came of a job, for a tab that was not listening when it ended."""
        with self._lock:
            return self._ended.get(job_id)

    def prepare(self) -> None:
        """Compile ahead, while the user looks for the file."""
        self._long.add(Job("warm_up", "In the background", {}, lambda job: None))

    @property
    def busy(self) -> bool:
        """Whether work is under way."""
        return bool(self._quick.jobs or self._long.jobs)

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
            with self._lock:
                self._ended[job.id] = content
                while len(self._ended) > ENDED:
                    self._ended.popitem(last=False)
        self._listen("job", content)


def _text(source: Mapping[str, Any]) -> str:
    return json.dumps(source, sort_keys=True)
