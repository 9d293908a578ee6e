"""The routes of the page: each is one call of the session."""

import asyncio
import json
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from sdckit._support.messages import join_names, require_known
from sdckit.choose.plan import TABLE, Plan
from sdckit.choose.preparation import Preparation, preparations_of
from sdckit.errors import FileError, OptionError, preview
from sdckit.io.formats import READABLE, ending_of, readable
from sdckit.io.preview import preview_file
from sdckit.io.table_options import CODEBOOKS
from sdckit.methods.registry import find, specs
from sdckit.methods.serialise import to_builtin
from sdckit.web.answers import blocks, json_of, safe
from sdckit.web.document import Document
from sdckit.web.files import PLANS, FileList
from sdckit.web.forms import methods
from sdckit.web.jobs import Job
from sdckit.web.recent import RecentFiles
from sdckit.web.rows import rows
from sdckit.web.session import Session

STATIC = Path(__file__).parent / "static"
LARGEST_UPLOAD = 2 * 1024**3
LONGEST_NAME = 200  # bytes of a file's name
PAUSE = 15  # seconds between two signs of life of the events


class Page:
    """The page over one session: several tabs are views of it."""

    def __init__(
        self, folder: Path, roots: tuple[Path, ...], *, uploads: bool = True, memory: Path | None = None
    ) -> None:
        self._folder, self._uploads = folder, uploads
        self._files = FileList(roots)
        self._recently = RecentFiles(memory)
        self._uploaded: Path | None = None  # the file that was uploaded last
        self._listeners: set[asyncio.Queue[tuple[str, Any]]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self.quit: Callable[[], None] = lambda: None  # whoever serves the page says how it ends
        self.session = Session(folder, self.tell, memory)

    def app(self) -> Starlette:
        """The routes."""
        routes = [
            Route("/", self._page),
            Route("/api/state", safe(self._state)),
            Route("/api/events", self._events),
            Route("/api/methods", safe(self._methods)),
            Route("/api/files", safe(self._list)),
            Route("/api/rows", safe(self._rows)),
            Route("/api/recent", safe(self._recent)),
            Route("/api/recent", safe(self._forget), methods=["DELETE"]),
            Route("/api/preview", safe(self._preview), methods=["POST"]),
            Route("/api/open", safe(self._open), methods=["POST"]),
            Route("/api/upload", safe(self._upload), methods=["POST"]),
            Route("/api/try", safe(self._try), methods=["POST"]),
            Route("/api/quit", safe(self._quit), methods=["POST"]),
            Route("/api/change", safe(self._change), methods=["POST"]),
            Route("/api/history", safe(self._history), methods=["POST"]),
            Route("/api/jobs", safe(self._start), methods=["POST"]),
            Route("/api/jobs/{id:int}", safe(self._ended)),
            Route("/api/jobs/{id:int}", safe(self._stop), methods=["DELETE"]),
            Route("/download/{folder}/{name}", safe(self._download)),
            Mount("/static", StaticFiles(directory=STATIC)),
        ]
        return Starlette(routes=routes)

    # --- what is shown

    async def _page(self, request: Request) -> Response:
        return FileResponse(STATIC / "index.html")

    async def _state(self, request: Request) -> Response:
        return JSONResponse(self.session.state())

    async def _methods(self, request: Request) -> Response:
        return JSONResponse(await run_in_threadpool(methods))

    async def _list(self, request: Request) -> Response:
        return JSONResponse(self._files.at(request.query_params.get("at", "")))

    async def _rows(self, request: Request) -> Response:
        asked = request.query_params
        name = Path(asked.get("file", "")).name
        found = await run_in_threadpool(rows, self._folder / name, asked)
        return JSONResponse(found)

    async def _events(self, request: Request) -> Response:
        queue: asyncio.Queue[tuple[str, Any]] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        self._listeners.add(queue)

        async def stream() -> AsyncIterator[str]:
            try:
                yield ": here\n\n"
                while True:
                    try:
                        name, content = await asyncio.wait_for(queue.get(), PAUSE)
                    except TimeoutError:
                        yield ": still here\n\n"
                        continue
                    yield f"event: {name}\ndata: {json.dumps(content, default=str)}\n\n"
            finally:
                self._listeners.discard(queue)

        return StreamingResponse(stream(), media_type="text/event-stream")

    def tell(self, name: str, content: Any) -> None:
        """Tell every open tab; called from the threads that follow the workers."""
        if self._loop is not None:
            for queue in tuple(self._listeners):
                self._loop.call_soon_threadsafe(queue.put_nowait, (name, content))

    # --- what is changed

    async def _open(self, request: Request) -> Response:
        asked = await json_of(request)
        if asked.get("earlier"):
            return JSONResponse({"job": self.session.open_earlier().id})
        if "demo" in asked:
            kind = str(asked["demo"])
            document = Document(source={"demo": {kind: _whole(asked.get("n", 2000), 1, 10_000_000)}})
            return JSONResponse({"job": self.session.open(document, f"opened the demo {kind}").id})
        if asked.get("again"):
            if "prepare" in asked:
                asked = {**asked, "prepare": self._placed(asked["prepare"])}
            if asked.get("options") is not None:
                asked = {**asked, "options": self._reading(asked["options"])}
            return JSONResponse({"job": self.session.read_again(asked).id})
        if not asked.get("upload") and not str(asked.get("path") or "").strip():
            raise FileError("No file is named.", hint="Give its path, or browse the folders.")
        path = self._asked_path(asked)
        options = self._reading(asked.get("options"))
        call = partial(self.open, path, options, keep=bool(asked.get("keep")))
        return JSONResponse({"job": (await run_in_threadpool(call)).id})

    def _asked_path(self, asked: Mapping[str, Any]) -> Path:
        """The file that is meant: the last upload, the open one, or one below the roots."""
        if asked.get("upload") and self._uploaded is not None:
            return self._uploaded
        if not asked.get("path") and "file" in self.session.document.source:
            return Path(self.session.document.source["file"])
        return self._files.inside(str(asked.get("path", "")))

    async def _preview(self, request: Request) -> Response:
        """The first records of a text file or workbook as they would be read."""
        asked = await json_of(request)
        call = partial(preview_file, self._asked_path(asked), **self._reading(asked.get("options")))
        return JSONResponse(await run_in_threadpool(call))

    async def _recent(self, request: Request) -> Response:
        """The files that were opened last and may be opened again."""
        found = [str(path) for path in self._recently.paths() if self._files.has(path)]
        return JSONResponse({"files": found})

    async def _forget(self, request: Request) -> Response:
        """Nothing is remembered of the files that were opened before."""
        self._recently.forget()
        return JSONResponse({"files": []})

    def open(self, path: Path, options: Mapping[str, Any] | None = None, *, keep: bool = False) -> Job:
        """Open a data file, or a plan with its data file. keep: the next wave, under what was decided."""
        plan = Plan.load(path) if path.suffix.lower() in PLANS else None
        if plan is None:
            readable(path)
        uploaded = path == self._uploaded

        def could() -> None:
            if not uploaded:
                self._recently.add(path)  # what cannot be read is not offered again

        if plan is None:
            if keep:
                return self.session.open_next_wave(path, options or {}, could)
            document = Document(source={"file": str(path)}).with_reading(options or {})
            return self.session.open(document, f"opened {path.name}", could)
        document = Document.of_plan(plan)
        known = {spec.name for spec in specs()}
        for measure in known.intersection(document.assess):
            self._require_inside({"measure": measure, "options": document.assess[measure]})
        if "file" in document.source:
            file = plan.folder / str(document.source["file"])
            file = self._files.inside(str(file)) if file.exists() else file  # of another year, or machine
            reading = self._reading({n: v for n, v in document.source.items() if n in TABLE})
            document = replace(document, source={**document.source, **reading, "file": str(file)})
        document = document.with_preparation(self._placed(document.source.get("prepare")))
        self.session.hold(document, path.name)
        return self.session.open(document, f"opened the plan {path.name}", could)

    async def _upload(self, request: Request) -> Response:
        """A data file to open, or, with x-for: option, one that an option names; its place is told then."""
        if not self._uploads:
            raise OptionError("Uploads are switched off.", hint="Choose a file of this machine.")
        beside = request.headers.get("x-for") == "option"
        name = Path(unquote(request.headers.get("x-file-name", "")).replace("\\", "/")).name
        if not name.isprintable() or name.startswith(".") or not 0 < len(name.encode()) <= LONGEST_NAME:
            raise FileError("The file needs a name.", given=preview(name))
        allowed = (*READABLE, *CODEBOOKS[:1]) if beside else READABLE
        if ending_of(Path(name)) not in allowed:
            raise FileError("Files of this kind cannot be read.", given=name, allowed=join_names(allowed))
        folder = self._folder / "uploads"
        folder.mkdir(mode=0o700, exist_ok=True)
        name = _free_name(name, folder) if beside else name
        own = Path(tempfile.mkdtemp(dir=folder))  # a second upload of this name replaces nothing
        try:
            with (own / name).open("wb") as file:
                async for block in blocks(request, LARGEST_UPLOAD, "Open it by its path."):
                    file.write(block)
        except BaseException:  # too large, a full disk, a closed page: nothing half-written stays
            shutil.rmtree(own, ignore_errors=True)
            raise
        if beside:
            return JSONResponse({"file": str(own / name)})
        self._uploaded = own / name
        keep = request.headers.get("x-keep") == "1"
        return JSONResponse({"job": (await run_in_threadpool(self.open, own / name, keep=keep)).id})

    async def _quit(self, request: Request) -> Response:
        """End the program; the session's folder is removed then."""
        await json_of(request)
        self.quit()
        return JSONResponse({"ended": True})

    async def _change(self, request: Request) -> Response:
        asked = await json_of(request)
        self._require_inside(asked)
        try:
            return JSONResponse(await run_in_threadpool(self.session.change, asked))
        except KeyError as error:
            raise OptionError(f"The change lacks {error.args[0]!r}.") from None

    async def _try(self, request: Request) -> Response:
        asked = await json_of(request)
        self._require_inside(asked)
        try:
            job, step = await run_in_threadpool(self.session.try_step, asked)
        except KeyError as error:
            raise OptionError(f"The step lacks {error.args[0]!r}.") from None
        return JSONResponse({"job": job.id, "options": to_builtin(dict(step.options))})

    def _require_inside(self, asked: Mapping[str, Any]) -> None:
        """Refuse options that name a file outside the folders that the page may read."""
        options = asked.get("options") or {}
        name = asked.get("method") or asked.get("measure")
        if name and isinstance(options, Mapping):
            for field in find(str(name)).form():
                if field.kind == "file" and isinstance(options.get(field.name), str):
                    self._inside(options[field.name])

    def _inside(self, name: str) -> Path:
        """A file that an option names: one that was uploaded for it, or one below the roots."""
        uploads = (self._folder / "uploads").resolve()
        if "\0" not in name and (path := Path(name)).is_relative_to(uploads) and path.is_file():
            return FileList((uploads,)).inside(name)
        return self._files.inside(name)

    def _reading(self, given: Any) -> dict[str, Any]:
        """Options of reading; a codebook is refused outside the folders that the page may read."""
        options = {n: v for n, v in dict(given or {}).items() if v is not None}
        require_known(options, TABLE, "There is no such option of reading.")
        book = options.get("codebook")
        return options if book is None else {**options, "codebook": str(self._inside(str(book)))}

    def _placed(self, preparations: Any) -> list[Preparation]:
        """Preparations with their files where they are; refused outside the folders the page may read."""
        steps = preparations_of(preparations)
        return [step.with_files(lambda name: str(self._inside(name))) for step in steps]

    async def _history(self, request: Request) -> Response:
        asked = await json_of(request)
        where = asked.get("to", -1), asked.get("version")
        return JSONResponse(await run_in_threadpool(self.session.go_to, *where))

    async def _start(self, request: Request) -> Response:
        asked = await json_of(request)
        if asked.get("kind") == "judge":
            job = await run_in_threadpool(self.session.judge_again, str(asked.get("scenario")))
            return JSONResponse({"job": None if job is None else job.id})
        kinds = {
            "measure": ("Measuring {measure}", ("measure", "scenario", "options")),
            "column": ("Looking at {column}", ("column", "scenario", "value")),
            "explore": ("Looking at variables", ("columns", "scenario")),
            "threshold": ("Counting risky records", ("scenario", "keys", "threshold")),
            "riskiest": ("Looking for the riskiest combinations", ("scenario",)),
            "codes": ("Counting records below k", ("scenario", "k", "most")),
            "compare": ("Comparing scenarios", ("scenarios", "extra")),
            "ceiling": ("Placing under the accepted risk", ("map",)),
            "search": ("Searching", ("space", "trials")),
            "release": ("Making the release", ("scenario", "wanted")),
        }
        if asked.get("kind") not in kinds:
            raise OptionError(
                "There is no such work.", given=preview(asked.get("kind")), allowed=", ".join(kinds)
            )
        title, names = kinds[asked["kind"]]
        self._require_inside(asked)
        task = {name: asked[name] for name in names if name in asked}
        call = partial(self.session.start, asked["kind"], title.format_map(_Named(task)), **task)
        return JSONResponse({"job": (await run_in_threadpool(call)).id})

    async def _stop(self, request: Request) -> Response:
        return JSONResponse({"stopped": self.session.stop(request.path_params["id"])})

    async def _ended(self, request: Request) -> Response:
        """What came of a job, where it has ended."""
        return JSONResponse({"ended": self.session.ended(request.path_params["id"])})

    async def _download(self, request: Request) -> Response:
        name = Path(request.path_params["name"]).name
        path = self._folder / "release" / Path(request.path_params["folder"]).name / name
        if not path.is_file():
            raise FileError("There is no such file in the release.", given=preview(name))
        return FileResponse(path, filename=name, media_type="application/octet-stream")


class _Named(dict[str, Any]):
    def __missing__(self, key: str) -> str:
        return "…"


def _whole(value: Any, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise OptionError(
            "This is not a number of records.", given=preview(value), allowed=f"{least} to {most:,}"
        )
    return value


def _free_name(name: str, folder: Path) -> str:
    """The name, or one with a number where another upload has it: in a plan both lie side by side."""
    taken = {path.name for path in folder.glob("*/*")}
    stem, dot, ending = name.partition(".")
    names = (name, *(f"{stem}_{number}{dot}{ending}" for number in range(2, 1000)))
    return next((one for one in names if one not in taken), name)
