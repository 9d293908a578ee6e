"""The kernels of the demo are compiled in two processes, each of them in one."""

import importlib

import pytest

from sdckit.cli import _warm_up

warming = importlib.import_module("sdckit.choose.warm_up")  # the package has the function


class Helper:
    """Stands for a process: notes what became of it."""

    def __init__(self, target, args, daemon):
        self.work, self.done = (target, args), []
        assert daemon, "it must not outlive the program"
        Helper.last = self

    def start(self):
        self.done.append("start")

    def join(self, timeout):
        self.done.append("join")

    def kill(self):
        self.done.append("kill")


@pytest.fixture
def parts(monkeypatch):
    """What is prepared in this process; the other one does nothing."""
    here, Helper.last = [], None
    monkeypatch.setattr(_warm_up, "get_context", lambda _: type("Context", (), {"Process": Helper}))
    monkeypatch.setattr(warming, "is_warm", lambda task: False)
    monkeypatch.setattr(warming, "keeps_kernels", lambda: True)
    monkeypatch.setattr(warming, "prepare", lambda *names: here.extend(names))
    monkeypatch.setattr("sdckit.kernels._threads.threads", lambda: 2)
    return here


def test_each_part_is_a_usual_call_and_in_one_process(parts):
    told = []
    _warm_up.compile_ahead("demo", told.append)
    assert len(told) == 1
    assert tuple(parts) == _warm_up.HERE
    assert Helper.last.work == (warming.prepare, _warm_up.IN_HELPER)
    assert Helper.last.done == ["start", "join", "kill"]
    both = [*_warm_up.HERE, *_warm_up.IN_HELPER]
    assert len({*both}) == len(both)
    assert {*both} <= {*warming._calls()}


def test_the_other_process_ends_with_an_error_here(parts, monkeypatch):
    def fail(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(warming, "prepare", fail)
    with pytest.raises(KeyboardInterrupt):
        _warm_up.compile_ahead("demo", lambda _: None)
    assert Helper.last.done == ["start", "kill"]


@pytest.mark.parametrize("case", ["warm", "nothing kept", "one core"])
def test_without_need_or_use_there_is_no_other_process(parts, monkeypatch, case):
    if case == "warm":
        monkeypatch.setattr(warming, "is_warm", lambda task: True)
    elif case == "nothing kept":
        monkeypatch.setattr(warming, "keeps_kernels", lambda: False)
    else:
        monkeypatch.setattr("sdckit.kernels._threads.threads", lambda: 1)
    _warm_up.compile_ahead("demo", lambda _: None)
    assert Helper.last is None
    assert parts == []
