"""Methods from outside sdckit: other processes, kept results, installed packages."""

import json
import sys
import threading

import pytest

import sdckit as sdc
from sdckit.errors import OptionError, SdcWarning
from sdckit.methods import registry
from sdckit.methods.processes import named_in, packed, sources, unpack
from sdckit.methods.registry import find, is_registered, risk, specs, unregister

MODULE = """
import sdckit as sdc
from sdckit.methods.registry import risk

def share(data):
    return {answer} / data.height

@risk("Share of one record", bounds=(0, 1), interpretation="0: many records.", reference="none")
def one_record(data: sdc.Microdata) -> sdc.Result:
    "One record's share."
    return sdc.Result(share(data))
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a module of the user's own, which is forgotten afterwards."""
    (tmp_path / "one_record_module.py").write_text(MODULE.format(answer=1), encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    before = {spec.name for spec in specs()}
    yield tmp_path
    sys.modules.pop("one_record_module", None)
    for name in {spec.name for spec in specs()} - before:
        unregister(name)


@pytest.fixture
def data():
    return sdc.demo.survey(n=200, seed=1).with_roles(keys=["sex"])


def test_own_measures_are_known_in_other_processes(folder, data):
    __import__("one_record_module")

    @risk("In no module", bounds=(0, 1))
    def in_no_module(data: sdc.Microdata) -> sdc.Result:
        """A measure that no process can import."""
        return sdc.Result(0.5)

    ways = {"none": [], "no age": [{"drop": {"variables": ["age"]}}]}
    found = sdc.compare(
        data, ways, risk=["one_record", "in_no_module"], utility="records_changed", jobs=2
    ).results
    assert [p.error for p in found] == ["", ""]
    assert [dict(p.risk_values) for p in found] == [{"one_record": 0.005, "in_no_module": 0.5}] * 2


def test_a_measure_that_cannot_be_sent_is_named(folder):
    lock = threading.Lock()

    @risk("With a lock")
    def locked(data: sdc.Microdata) -> sdc.Result:
        """A measure that holds what cannot be copied."""
        with lock:
            return sdc.Result(0.0)

    with pytest.raises(OptionError, match=r"other processes\. Given: locked \(.*jobs=1"):
        packed()


def test_without_own_methods_nothing_is_sent_and_here_nothing_is_replaced(folder):
    assert packed() == b""
    __import__("one_record_module")
    spec = find("one_record")
    unpack(packed())
    assert find("one_record") is spec


def test_kept_results_are_of_this_code_only(folder, data, tmp_path):
    assert sources() == {}
    for answer in (1, 2):
        (folder / "one_record_module.py").write_text(MODULE.format(answer=answer), encoding="utf-8")
        sys.modules.pop("one_record_module", None)
        sys.path_importer_cache.clear()
        sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
        __import__("one_record_module")
        sys.dont_write_bytecode = before
        found = sdc.compare(data, {"a": []}, risk="one_record", utility="records_changed", cache=tmp_path)
        assert found.results[0].risk == answer / 200


def test_the_scenario_file_of_a_report_names_them(folder, data, tmp_path):
    __import__("one_record_module")
    found = sdc.compare(data, {"a": []}, risk="one_record", utility="records_changed")
    sdc.report(found, tmp_path / "report.html")
    document = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    first = document["scenario_file"].splitlines()[0]
    assert first.startswith("# Needs methods from outside sdckit")
    assert first.endswith("--import: one_record (module one_record_module)")
    assert sdc.Plan.parse(document["scenario_file"]).scenarios
    assert named_in("a: {frequencies: {}}") == ""


def test_our_names_are_not_given_away():
    with pytest.raises(OptionError, match=r"sdckit has a method of this name\. Given: frequencies"):

        @risk("Mine")
        def frequencies(data: sdc.Microdata) -> sdc.Result:
            """Another."""
            return sdc.Result(0.0)

    assert find("frequencies").function.__module__ == "sdckit.risk.frequencies"


def install(folder, name: str, module: str) -> None:
    about = folder / f"{name}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[sdckit.methods]\n{name} = {module}\n")


def test_installed_packages_bring_their_methods(folder, monkeypatch):
    monkeypatch.setattr(registry._registry, "plugins_loaded", False)
    install(folder, "good", "one_record_module")
    install(folder, "broken", "there_is_no_such_module")
    assert not is_registered("one_record")
    with pytest.warns(SdcWarning, match=r"there_is_no_such_module cannot be loaded \(ModuleNotFoundError"):
        assert find("one_record").title == "Share of one record"
