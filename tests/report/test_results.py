"""Results that were saved give the same reports, without the data."""

import json
import socket

import pytest

import sdckit as sdc
from report.canaries import LARGEST, NAMES, TOWN, canaries
from sdckit.choose import risk_utility_map
from sdckit.choose.compare import compare
from sdckit.errors import FileError, OptionError
from sdckit.report import json_beside

AUDIENCES = ("internal", "public")


@pytest.fixture(scope="module")
def found():
    steps = {"k3": [{"microaggregate": {"k": 3}}], "k9": [{"microaggregate": {"k": 9}}]}
    return compare(canaries(), steps, max_risk=0.9, seed=31337)


@pytest.fixture(scope="module")
def saved(found, tmp_path_factory):
    return sdc.save_results(found, tmp_path_factory.mktemp("results") / "results.json")


@pytest.mark.parametrize("audience", AUDIENCES)
def test_a_report_of_saved_results_is_the_same(found, saved, audience, tmp_path):
    loaded = sdc.load_results(saved)
    first = sdc.report(found, tmp_path / "a.html", audience=audience)
    second = sdc.report(loaded, tmp_path / "b.html", audience=audience)
    said = " · made from a file of saved results: nothing was measured again, and this report is as right "
    said += "as that file"
    assert said in second.read_text("utf-8")
    assert first.read_text("utf-8") == second.read_text("utf-8").replace(said, "")
    assert json_beside(first).read_text("utf-8") == json_beside(second).read_text("utf-8")
    assert loaded.verdict["headline"] == found.verdict.headline


def test_what_is_saved_holds_no_record_and_the_public_part_no_secret(saved):
    text = saved.read_text("utf-8")
    for canary in (*NAMES, str(LARGEST)):
        assert canary not in text
    content = json.loads(text)
    assert content["contents"]["internal"]["seed"] == 31337
    public = json.dumps(content["contents"]["public"])
    for secret in ("31337", TOWN, "secret_name", '"k9"'):
        assert secret not in public


def test_a_verdict_that_its_criteria_contradict_is_refused(saved, tmp_path):
    content = json.loads(saved.read_text("utf-8"))
    for audience in AUDIENCES:
        changed = json.loads(json.dumps(content))
        verdict = changed["contents"][audience]["verdict"]
        verdict["status"] = "good" if verdict["status"] != "good" else "bad"
        path = tmp_path / f"{audience}.json"
        path.write_text(json.dumps(changed), "utf-8")
        with pytest.raises(FileError, match="their verdict is not that of their criteria"):
            sdc.load_results(path)


def charts_of(content):
    """Every chart in some content that is kept as Vega-Lite."""
    if isinstance(content, dict):
        if isinstance(content.get("chart"), dict):
            yield content["chart"]
        content = list(content.values())
    if isinstance(content, list):
        for one in content:
            yield from charts_of(one)


def test_a_chart_of_changed_results_asks_nobody_for_data(saved, tmp_path):
    """A chart whose data are an address would tell its owner who makes the report, and when."""
    content = json.loads(saved.read_text("utf-8"))
    asking = socket.create_server(("127.0.0.1", 0))
    asking.setblocking(False)
    chart = next(charts_of(content["contents"]["internal"]))
    chart.clear()
    chart |= {"data": {"url": f"http://127.0.0.1:{asking.getsockname()[1]}/a.json"}, "mark": "point"}
    (tmp_path / "changed.json").write_text(json.dumps(content), "utf-8")
    with pytest.raises(FileError, match="the file was changed"):
        sdc.report(sdc.load_results(tmp_path / "changed.json"), tmp_path / "r.html")
    assert not (tmp_path / "r.html").exists()
    with pytest.raises(BlockingIOError):
        asking.accept()
    asking.close()


@pytest.mark.parametrize("gone", [("internal",), ("public", "verdict"), ("internal", "risk")], ids=str)
def test_results_that_are_not_whole_are_refused(saved, tmp_path, gone):
    content = json.loads(saved.read_text("utf-8"))
    place = content["contents"]
    for name in gone[:-1]:
        place = place[name]
    del place[gone[-1]]
    (tmp_path / "changed.json").write_text(json.dumps(content), "utf-8")
    with pytest.raises(FileError, match="changed"):
        sdc.report(sdc.load_results(tmp_path / "changed.json"), tmp_path / "r.html")


def test_loaded_results_can_be_saved_again(saved, tmp_path):
    again = sdc.save_results(sdc.load_results(saved), tmp_path / "again.json")
    assert json.loads(again.read_text("utf-8")) == json.loads(saved.read_text("utf-8"))


def test_nothing_is_measured_or_protected_twice(found, monkeypatch, tmp_path):
    calls = []
    measure = risk_utility_map.assess

    def counted(original, protected, *, measures=None, **options):
        calls.append(measures)
        return measure(original, protected, measures=measures, **options)

    monkeypatch.setattr(risk_utility_map, "assess", counted)
    steps = {"k3": [{"microaggregate": {"k": 3}}]}
    fresh = compare(canaries(), steps, utility="il1s", max_risk=0.9)
    assert fresh.verdict is not None
    sdc.save_results(fresh, tmp_path / "r.json")
    sdc.report(fresh, tmp_path / "r.html")
    assert len(calls) == 2  # for the verdict, and the rest for the report
    assert not {*calls[0]} & {*calls[1]}
    assert fresh.assess() is fresh.assess("k3")


def test_what_is_no_file_of_results_is_refused(tmp_path, saved):
    with pytest.raises(FileError, match="no such file of results"):
        sdc.load_results(tmp_path / "absent.json")
    for name, text in (("a.json", "{"), ("b.json", '{"format": "other"}'), ("c.json", "[]")):
        (tmp_path / name).write_text(text)
        with pytest.raises(FileError, match="holds no saved results"):
            sdc.load_results(tmp_path / name)
    old = json.loads(saved.read_text("utf-8")) | {"version": 0}
    (tmp_path / "old.json").write_text(json.dumps(old))
    with pytest.raises(FileError, match="another version"):
        sdc.load_results(tmp_path / "old.json")
    with pytest.raises(OptionError, match=r"ends in \.json"):
        sdc.save_results(sdc.load_results(saved), tmp_path / "r.html")
    with pytest.raises(OptionError, match="assessment or a risk–utility map"):
        sdc.save_results(canaries(), tmp_path / "r.json")
