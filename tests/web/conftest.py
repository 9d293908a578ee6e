"""The page without a browser, whose requests go straight to the guard, and in a real one."""

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="starlette is not installed")
httpx = pytest.importorskip("httpx", reason="httpx is not installed")

from sdckit.web.app import Page  # noqa: E402
from sdckit.web.guard import Guard  # noqa: E402

PORT = 4711
HOME = f"http://127.0.0.1:{PORT}"


class Client:
    """A browser's requests, with the cookie after `login`."""

    def __init__(self, guard: Guard, page: Page) -> None:
        self.guard, self.page = guard, page
        self.cookies: dict[str, str] = {}

    def request(self, method: str, path: str, **how: Any) -> Any:
        headers = {"origin": HOME, **how.pop("headers", {})}

        async def send() -> Any:
            transport = httpx.ASGITransport(self.guard)
            async with httpx.AsyncClient(transport=transport, base_url=HOME, cookies=self.cookies) as client:
                return await client.request(method, path, headers=headers, **how)

        return asyncio.run(send())

    def login(self) -> "Client":
        answer = self.request("GET", f"/login?token={self.guard.token}")
        assert answer.status_code == 303
        self.cookies = dict(answer.cookies)
        return self

    def get(self, path: str, /, **asked: Any) -> Any:
        return self.request("GET", path, params=asked)

    def post(self, path: str, /, **content: Any) -> Any:
        return self.request("POST", path, json=content)

    def state(self) -> Any:
        return self.get("/api/state").json()

    def change(self, action: str, /, **content: Any) -> Any:
        return self.post("/api/change", version=self.state()["version"], action=action, **content)

    def wait(self, *, seconds: float = 120) -> Any:
        """The state once nothing runs but the preparation."""
        from time import monotonic, sleep

        def busy(state: Any) -> bool:
            return any(job["kind"] != "warm_up" for job in state["jobs"])

        end = monotonic() + seconds
        while monotonic() < end:
            # first without a request, which takes much longer than the question
            if not busy(self.page.session.state()) and not busy(state := self.state()):
                return state
            sleep(0.05)
        raise AssertionError(f"still busy: {self.state()['jobs']}")

    def job(self, **asked: Any) -> Any:
        """Start a job and give what came of it."""
        found: dict[int, Any] = {}
        told = self.page.session._listen

        def listen(name: str, content: Any) -> None:
            if name == "job" and content["state"] in ("done", "failed", "stopped"):
                found[content["id"]] = content
            told(name, content)

        self.page.session._listen = listen
        answer = self.post("/api/jobs", **asked)
        assert answer.status_code == 200, answer.text
        self.wait()
        self.page.session._listen = told
        return found[answer.json()["job"]]


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Client]:
    """A page on which nothing is open."""
    folder = tmp_path / "session"
    folder.mkdir(mode=0o700)
    page = Page(folder, (tmp_path,), memory=tmp_path / "state" / "last.json")
    yield Client(Guard(page.app(), port=PORT), page)
    page.session.close()


@pytest.fixture(scope="module")
def reused(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Client, Path]]:
    """A page that all tests of a module open their files on, so that its processes start once; its folder."""
    root = tmp_path_factory.mktemp("reused")
    folder = root / "session"
    folder.mkdir(mode=0o700)
    page = Page(folder, (root,), memory=root / "state" / "last.json")
    yield Client(Guard(page.app(), port=PORT), page).login(), root
    page.session.close()


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A page with a small demo survey and its suggested roles."""
    root = tmp_path_factory.mktemp("page")
    folder = root / "session"
    folder.mkdir(mode=0o700)
    page = Page(folder, (root,))
    client = Client(Guard(page.app(), port=PORT), page).login()
    assert client.post("/api/open", demo="survey", n=300).status_code == 200
    client.wait()
    roles = {
        "sex": ["keys"],
        "region": ["keys"],
        "age": ["keys"],
        "income": ["numeric"],
        "health": ["sensitive"],
    }
    assert (
        client.change("roles", roles={**roles, "weight": ["weight"], "person_id": ["id"]}).status_code == 200
    )
    client.wait()
    yield client
    page.session.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from web.in_browser import CHROMIUM, FLAGS, sync_api

    with sync_api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield running
        running.close()


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """A server of its own for each test; its session folder must be gone afterwards."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    env = {
        **os.environ,
        "TMPDIR": str(temporary),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "PYTHONUNBUFFERED": "1",
    }
    call = "from sdckit.cli import main; main()"
    command = [sys.executable, "-c", call, "web", "--no-browser", "--root", str(tmp_path)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env, cwd=tmp_path)
    assert server.stdout is not None
    yield server.stdout.readline().split()[1]
    server.terminate()
    assert server.wait(20) == 0
    assert not list(temporary.glob("sdckit-web-*"))


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Any]:
    """The opened page; any error in it, and any request to another host, fails the test."""
    from web.in_browser import LONG

    context = browser.new_context(viewport={"width": 1366, "height": 768}, accept_downloads=True)
    tab = context.new_page()
    faults: list[str] = []
    tab.on("pageerror", lambda error: faults.append(str(error)))
    tab.on(
        "console",
        lambda m: faults.append(m.text) if m.type == "error" and "status of 400" not in m.text else None,
    )
    home = re.match(r"http://127\.0\.0\.1:\d+/", address)
    assert home is not None
    tab.on(
        "request", lambda r: None if r.url.startswith((home[0], "data:", "blob:")) else faults.append(r.url)
    )
    tab.goto(address)
    tab.get_by_role("heading", name="Data", exact=True).wait_for(timeout=LONG)
    assert "token" not in tab.url
    yield tab
    context.close()
    assert not faults
