"""warm_up: once for a version, a processor and a cache; again when the files are gone."""

import importlib
import json

import pytest

import sdckit as sdc
from sdckit.kernels import _jit

warming = importlib.import_module("sdckit.choose.warm_up")  # the package has the function


@pytest.fixture
def cache(monkeypatch, tmp_path):
    """A cache of its own and calls that compile nothing: what was called, and where it is noted."""
    called = []
    (tmp_path / "kernel.nbi").touch()
    monkeypatch.setattr(_jit, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(_jit, "cached_files", lambda _: [tmp_path / "kernel.nbi"])
    monkeypatch.setattr(_jit.numba.config, "DISABLE_JIT", 0)
    monkeypatch.setattr(warming, "_in_this_process", set())
    monkeypatch.setattr(warming, "_calls", lambda: {n: lambda n=n: called.append(n) for n in ("a", "b")})
    return called


def test_the_second_time_there_is_nothing_to_do(cache):
    told = []
    assert sdc.warm_up(progress=lambda *given: told.append(given))
    assert cache == ["a", "b"]
    assert told == [("preparing, once: a", 0, 2), ("preparing, once: b", 1, 2)]
    assert not sdc.warm_up(progress=lambda *given: told.append(given))
    assert (len(cache), len(told)) == (2, 2)


def test_files_that_are_gone_are_made_again(cache, tmp_path):
    sdc.warm_up()
    (tmp_path / "kernel.nbi").unlink()
    assert not warming.is_warm()
    assert sdc.warm_up()


@pytest.mark.parametrize("change", ["version", "source", "numba"])
def test_another_version_is_compiled_anew(cache, monkeypatch, change):
    sdc.warm_up()
    if change == "version":
        monkeypatch.setattr(warming, "__version__", "99")
    elif change == "source":
        monkeypatch.setattr(_jit, "source_checksum", lambda: 1)
    else:
        monkeypatch.setattr(_jit.numba, "__version__", "99")
    assert not warming.is_warm()


def test_a_damaged_note_is_no_note(cache, tmp_path):
    sdc.warm_up()
    next(tmp_path.glob("*.usual-calls")).write_text("{")
    assert not warming.is_warm()


def test_a_task_of_its_own_is_noted_by_itself(cache, tmp_path):
    warming.remember("demo")
    assert warming.is_warm("demo")
    assert not warming.is_warm()
    assert json.loads(next(tmp_path.glob("*.demo")).read_text())[0].endswith("kernel.nbi")
    sdc.warm_up()
    assert warming.is_warm("another"), "the usual calls are more than any task needs"


def test_without_a_cache_the_process_remembers(cache, monkeypatch):
    monkeypatch.setattr(_jit, "cache_folder", lambda: None)
    assert not warming.keeps_kernels()
    assert sdc.warm_up()
    assert not sdc.warm_up()


def test_a_cache_that_cannot_be_written_does_no_harm(cache, monkeypatch, tmp_path):
    monkeypatch.setattr(_jit, "cache_folder", lambda: tmp_path / "gone")
    assert sdc.warm_up()
    assert sdc.warm_up(), "not noted, so done again"


def test_nothing_is_compiled_where_compiling_is_switched_off(cache, monkeypatch):
    monkeypatch.setattr(_jit.numba.config, "DISABLE_JIT", 1)
    assert not sdc.warm_up()
    assert cache == []


def test_some_calls_alone(cache):
    warming.prepare("b", "a", "b")
    assert cache == ["b", "a", "b"]


@pytest.mark.skipif(bool(_jit.numba.config.DISABLE_JIT), reason="kernels are not compiled")
def test_synthesis_is_prepared():
    """After its call other files, with and without households, find all kernels of synthesis compiled."""
    from sdckit.kernels.synthesis import grow, leaves

    warming.prepare("synthesis")
    kernels = (grow._grow, leaves.find_leaves, leaves.spread_donors)
    before = [len(kernel.signatures) for kernel in kernels]
    assert min(before) > 0
    data = sdc.demo.survey(n=200, seed=2)
    alone = sdc.read(data.frame.select("sex", "age", "region", "income"), keys=["sex", "age"])
    for file, options in (
        (data, {}),
        (alone, {}),
        (alone, {"variables": ["income"]}),
        (alone, {"proper": True}),
    ):
        sdc.protect.synthesize(file, rng=1, **options)
    assert before == [len(kernel.signatures) for kernel in kernels]
