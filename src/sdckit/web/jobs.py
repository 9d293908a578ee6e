"""Jobs: work in a process of its own, so that the page stays usable and everything can be stopped."""

import multiprocessing
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from threading import Condition, Event, Thread
from time import monotonic
from typing import Any

from sdckit.web.worker import work

PATIENCE = 0.5  # seconds a worker has to end by itself after it was asked to stop
TASK_IDS = count(1)


@dataclass
class Job:
    """One piece of work: what it is for, how far it is, and what came of it."""

    kind: str
    title: str
    task: dict[str, Any]
    done: Callable[["Job"], None]
    id: int = field(default_factory=lambda: next(TASK_IDS))
    state: str = "waiting"  # waiting, running, done, failed, stopped
    progress: dict[str, Any] = field(default_factory=dict)
    since: float = field(default_factory=monotonic)
    so_far: dict[str, Any] = field(default_factory=dict)  # what is known before the end
    version: int = 0  # of the document when it was asked for
    result: Any = None
    asked_to_stop: bool = False

    @property
    def ended(self) -> bool:
        """Whether nothing more will come of it."""
        return self.state in ("done", "failed", "stopped")

    def as_dict(self) -> dict[str, Any]:
        """As the job bar shows it, with the seconds that are probably left."""
        share = self.progress.get("done", 0) / max(self.progress.get("of", 1), 1)
        passed = monotonic() - self.since
        left = passed * (1 - share) / share if self.state == "running" and share > 0.05 else None
        facts = {"id": self.id, "kind": self.kind, "title": self.title, "state": self.state}
        facts |= {"about": self.task.get("key"), "version": self.version}
        times = {"seconds": round(passed, 1), "left": left and round(left)}
        return {**facts, **self.progress, **times, **({"so_far": self.so_far} if self.so_far else {})}


class Lane:
    """One worker process and the jobs that wait for it, in order.

    A killed or crashed worker is replaced. `changed` is called, from a thread, whenever a job's state or
    progress is another.
    """

    def __init__(self, folder: Path, changed: Callable[[Job], None]) -> None:
        self._folder, self._changed = folder, changed
        self._context = multiprocessing.get_context("spawn")  # Polars and numba have threads: never fork
        self._waiting: deque[Job] = deque()
        self._wake = Condition()
        self._closed = False
        self._running: Job | None = None
        self._process: Any = None
        self._stop: Any = None
        self._thread = Thread(target=self._serve, daemon=True)
        self._thread.start()

    @property
    def jobs(self) -> list[Job]:
        """The job that runs, and those that wait."""
        with self._wake:
            return self._jobs()

    def _jobs(self) -> list[Job]:
        """The same, for a caller who holds the lock."""
        return [*([self._running] if self._running else []), *self._waiting]

    def add(self, job: Job, *, instead: bool = False) -> Job:
        """One more job; `instead` of all of its kind that wait or run: the newest wins."""
        with self._wake:
            old = [j for j in self._jobs() if j.kind == job.kind] if instead else []
            self._waiting.append(job)
            self._wake.notify()
        for one in old:
            self.stop(one.id)
        self._changed(job)
        return job

    def bring_forward(self, job_id: int) -> None:
        """Have a job that waits done next."""
        with self._wake:
            for job in self._waiting:
                if job.id == job_id:
                    self._waiting.remove(job)
                    self._waiting.appendleft(job)
                    return

    def stop(self, job_id: int) -> bool:
        """End a job: asked first, killed where it does not listen. False where there is no such job."""
        with self._wake:
            job = next((j for j in self._jobs() if j.id == job_id), None)
            if job is None:
                return False
            if waits := job is not self._running:
                self._waiting.remove(job)
            else:
                job.asked_to_stop = True
                self._stop.set()
        if waits:
            self._end(job, "stopped", None)  # without our lock: whoever is told may hold one and ask for ours
        else:
            Thread(target=self._kill_after, args=(job,), daemon=True).start()
        return True

    def close(self) -> None:
        """End the worker and everything that waits."""
        with self._wake:
            self._closed = True
            self._waiting.clear()
            self._wake.notify()
            process = self._process
        if process is not None:
            process.kill()
            process.join(2)

    def _kill_after(self, job: Job) -> None:
        deadline = monotonic() + PATIENCE
        while monotonic() < deadline:
            if job.ended:
                return
            Event().wait(0.02)
        with self._wake:  # the next job cannot begin meanwhile: it would be the one that is killed
            if self._running is job and not job.ended and self._process is not None:
                self._process.kill()  # the pipe ends, and the next job starts another
                self._process.join(2)

    def _not_ready(self) -> OSError | None:
        """Have a worker that listens; what the system says where it has no process left for one."""
        try:
            if self._process is None or not self._process.is_alive():
                self._start()
            self._stop.clear()
        except OSError as error:
            self._process = None  # one that never ran can neither be asked nor killed
            return error
        return None

    def _start(self) -> None:
        """A new worker; the caller holds the lock."""
        self._pipe, theirs = self._context.Pipe()
        self._stop = self._context.Event()  # a killed worker may have left the old one locked
        self._process = self._context.Process(
            target=work, args=(theirs, self._stop, str(self._folder)), daemon=True
        )
        self._process.start()
        theirs.close()

    def _serve(self) -> None:
        while True:
            with self._wake:
                while not self._waiting and not self._closed:
                    self._wake.wait()
                if self._closed:
                    return
                job = self._running = self._waiting.popleft()
                refused = self._not_ready()
            job.state, job.since = "running", monotonic()
            self._changed(job)
            try:
                if refused:
                    raise refused
                self._pipe.send({**job.task, "id": job.id, "kind": job.kind})
                self._follow(job)
            except (EOFError, OSError):
                asked = job.asked_to_stop
                with self._wake:
                    if self._closed:
                        return
                    self._process = None
                lost = {"what": "The work was ended from outside, perhaps for want of memory."}
                lost["hint"] = "Try it again, or with fewer records."
                self._end(job, "stopped" if asked else "failed", None if asked else lost)
            with self._wake:
                self._running = None

    def _follow(self, job: Job) -> None:
        while not job.ended:
            event, task, content = self._pipe.recv()
            if task != job.id:
                continue
            if event == "progress":
                job.progress = content
                self._changed(job)
            elif event == "so_far":
                job.so_far = content
                self._changed(job)
            else:
                self._end(job, event, content)

    def _end(self, job: Job, state: str, content: Any) -> None:
        """Store the result before the job is called ended: nobody sees one without the other."""
        job.result = content
        job.state = state
        try:
            job.done(job)
        except Exception as error:  # a fault of ours must not end the thread that serves all later jobs
            what = f"This is a fault of the program: {type(error).__name__}."
            job.state, job.result = "failed", {"what": what, "hint": "Please report it."}
        self._changed(job)
