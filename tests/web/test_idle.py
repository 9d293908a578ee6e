"""A page that nobody uses ends by itself, asks first, and removes its folder."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="starlette is not installed")

from sdckit.web.idle import Idle

HOURS = 8 * 3600.0


class Clock:
    def __init__(self):
        self.now, self.told, self.ended, self.working = 0.0, [], 0, False
        self.idle = Idle(
            after=HOURS, busy=lambda: self.working, tell=self.tell, end=self.end, clock=self.time
        )

    def time(self):
        return self.now

    def tell(self, name, content):
        self.told.append((name, content))

    def end(self):
        self.ended += 1

    def at(self, now):
        self.now = now
        return self.idle.look()

    def ask(self, path):
        async def app(scope, receive, send):
            pass

        asyncio.run(self.idle.watch(app)({"type": "http", "path": path}, None, None))


def test_it_warns_and_then_ends():
    clock = Clock()
    assert not clock.at(HOURS - 601)
    assert not clock.told
    assert not clock.at(HOURS - 599)
    assert not clock.at(HOURS - 300)
    assert clock.told == [("ending", {"seconds": 599})]  # once
    assert clock.at(HOURS)
    assert clock.told[-1][0] == "ended"
    assert clock.ended == 1


def test_a_request_begins_the_time_again_and_takes_the_warning_back():
    clock = Clock()
    clock.at(HOURS - 10)
    clock.ask("/api/state")
    assert clock.told[-1] == ("ending", None)
    assert not clock.at(2 * HOURS - 700)
    assert not clock.ended


def test_an_open_tab_alone_is_no_use():
    clock = Clock()
    clock.at(HOURS - 10)
    clock.ask("/api/events")
    assert clock.at(HOURS + 1)


def test_work_under_way_is_use():
    clock = Clock()
    clock.working = True
    assert not clock.at(HOURS + 1)
    clock.working = False
    assert not clock.at(2 * HOURS)
    assert clock.at(2 * HOURS + 2)


def test_the_program_ends_and_its_folder_goes(tmp_path):
    env = {**os.environ, "TMPDIR": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")}
    call = (
        "from sdckit.web.session import Session; Session.prepare = lambda self: None\n"
        "from sdckit.web.serve import serve; serve(browser=False, idle=2.0)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", call], env=env, capture_output=True, timeout=120, check=False
    )
    assert ended.returncode == 0, ended.stderr
    assert b"Open http://127.0.0.1" in ended.stdout
    assert not list(Path(tmp_path).glob("sdckit-web-*"))
