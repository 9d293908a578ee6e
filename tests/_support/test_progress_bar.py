"""progress=True: a bar in a notebook and on a terminal, lines elsewhere, closed whatever happens."""

import io
import sys
from types import SimpleNamespace

import pytest

import sdckit as sdc
from sdckit._support.progress import Progress, closes_progress
from sdckit._support.progress_bar import progress_bar
from sdckit.errors import OptionError


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def notebook(monkeypatch):
    """What a Jupyter kernel would have shown."""
    shown = []
    display = SimpleNamespace(
        HTML=lambda text: text,
        display=lambda text, display_id: shown.append(text) or SimpleNamespace(update=shown.append),
    )
    shell = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    return shown


@closes_progress
def work(pieces, progress=None, *, fail=False):
    tell = Progress.of(progress)
    for done in range(pieces):
        tell("<b>piece</b>", done, pieces)
        tell.part("piece", done, pieces)("inner", 1, 3)
    if fail:
        raise ZeroDivisionError
    return pieces


def test_a_notebook_shows_a_bar_and_takes_it_away(notebook):
    assert work(2, progress=True) == 2
    assert notebook[0] == "<progress></progress>"
    assert notebook[1] == '<progress value="0" max="2"></progress> 0 of 2 · &lt;b&gt;piece&lt;/b&gt;'
    assert notebook[-1] == ""


def test_the_bar_is_closed_when_the_work_fails(notebook):
    with pytest.raises(ZeroDivisionError):
        work(1, True, fail=True)
    assert notebook[-1] == ""


def test_plain_lines_elsewhere_one_a_piece(capsys):
    work(2, True)
    assert capsys.readouterr().err.splitlines() == ["0 of 2: <b>piece</b>", "1 of 2: <b>piece</b>"]


def test_a_terminal_has_a_bar_that_ends(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    for _ in range(2):  # a bar that was left open would refuse the second
        work(2, progress=True)
    assert "piece" in sys.stderr.getvalue()


def test_a_terminal_without_rich_has_lines(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setitem(sys.modules, "rich.progress", None)
    work(1, progress=True)
    assert sys.stderr.getvalue() == "0 of 1: <b>piece</b>\n"


def test_a_terminal_of_ipython_is_a_terminal(monkeypatch):
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: SimpleNamespace()))
    monkeypatch.setattr(sys, "stderr", Terminal())
    bar = progress_bar()
    bar.close()
    assert type(bar).__name__ == "_TerminalBar"


def test_nothing_is_shown_unless_asked(capsys):
    work(2)
    work(2, False)
    assert capsys.readouterr().err == ""
    with pytest.raises(OptionError, match=r"True for a bar"):
        work(2, "yes")


def test_everything_that_takes_progress_shows_it(capsys, tmp_path):
    data = sdc.demo.survey(n=60, seed=1).with_roles(keys=["sex", "urban"], numeric=["expenditure"])
    steps = [{"microaggregate": {"k": 2}}]
    space = [{"microaggregate": {"k": {"choices": [2, 3]}}}]
    axes = {"risk": "frequencies", "utility": "il1s", "progress": True}
    protected = sdc.protect.microaggregate(data, k=2)
    done = sdc.assess(data, protected, measures=["il1s"])
    calls = {
        "suppress": lambda: sdc.protect.suppress(data, keys=["region", "age"], progress=True),
        "risk": lambda: sdc.risk.reidentification_risk(data, protected, progress=True),
        "scenario": lambda: sdc.Scenario("k2", steps).protect(data, progress=True),
        "compare": lambda: sdc.compare(data, {"k2": steps}, **axes),
        "search": lambda: sdc.search(data, space, trials=2, **axes),
        "assess": lambda: sdc.assess(data, protected, measures=["il1s"], progress=True),
        "report": lambda: sdc.report(done, tmp_path / "report.html", progress=True),
    }
    for name, call in calls.items():
        capsys.readouterr()
        call()
        assert " of " in capsys.readouterr().err, name
