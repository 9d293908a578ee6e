"""Another file under the same decisions: the next wave of a survey."""

import polars as pl

import sdckit as sdc


def test_decisions_stay_and_what_was_accepted_is_asked_again(reused):
    client, root = reused
    frame = sdc.demo.survey(n=120, seed=1).frame.select("sex", "region", "age", "health")
    for name, wave in {"first": frame, "second": frame.drop("health").head(90)}.items():
        wave.write_csv(root / f"{name}.csv")
    client.post("/api/open", path=str(root / "first.csv"))
    client.wait()
    client.change("roles", roles={"sex": "keys", "region": "keys", "age": "keys", "health": "sensitive"})
    client.change("add_step", scenario="A", method="recode", options={"variable": "age", "width": 20})
    client.change("add_step", scenario="A", method="suppress", options={"k": 3})
    client.change("criteria", max_risk=0.2, accept={"order": True})
    before = client.wait()["document"]
    assert client.post("/api/open", path=str(root / "second.csv"), keep=True).status_code == 200
    state = client.wait()
    after = state["document"]
    assert state["facts"]["records"] == 90
    assert after["source"]["file"] == str((root / "second.csv").resolve())
    assert after["roles"] == {"sex": ["keys"], "region": ["keys"], "age": ["keys"]}
    seeds = [one["seed"] for one in (before, after)]
    (steps, new) = (one["scenarios"]["A"] for one in (before, after))
    seeds += [cards[1]["options"]["seed"] for cards in (steps, new)]
    assert len(set(seeds)) == 4, "the same draws on two files of the same people would tell what changed"
    assert new[0] == steps[0]
    assert {**new[1]["options"], "seed": 0} == {**steps[1]["options"], "seed": 0}
    assert (after["max_risk"], after["accept"]) == (0.2, {})
    assert any("health" in note for note in state["facts"]["notes"])
    assert state["results"]["A"]["records"] == 90
    client.post("/api/open", path=str(root / "first.csv"))
    assert client.wait()["document"]["roles"] == {}


def test_a_workbook_is_not_read_with_the_options_of_a_text_file():
    from pathlib import Path

    from sdckit.web.document import Document

    wave = Document(source={"file": "a.csv", "decimal": ",", "prepare": [{"drop_empty": {}}]})
    assert wave.with_file(Path("b.sav")).source == {"file": "b.sav", "prepare": [{"drop_empty": {}}]}


def test_the_file_of_the_plan_is_the_new_one(reused):
    client, root = reused
    pl.DataFrame({"sex": ["f", "m"] * 10}).write_csv(root / "third.csv")
    client.post("/api/open", path=str(root / "third.csv"), keep=True)
    document = client.page.session.document if client.wait() else None
    assert document.plan(root).data["file"].endswith("third.csv")


def test_a_column_that_the_new_wave_lacks_is_taken_out_of_the_steps(reused):
    client, folder = reused
    full = "sex,job,age\n" + "".join(f"{i % 2},{i % 3},{20 + i % 4}\n" for i in range(48))
    (folder / "first.csv").write_text(full)
    (folder / "second.csv").write_text("\n".join(row[0] + row[3:] for row in full.splitlines()[1:]))
    (folder / "second.csv").write_text("sex,age\n" + (folder / "second.csv").read_text() + "\n")
    assert client.post("/api/open", path=str(folder / "first.csv")).status_code == 200
    client.wait()
    client.change("roles", roles={"sex": ["keys"], "job": ["keys"], "age": ["keys"]})
    options = {"variables": ["job"], "map": {"rest": [1, 2]}}
    client.change("add_step", scenario="A", method="group", options=options)
    client.wait()
    assert client.post("/api/open", path=str(folder / "second.csv"), keep=True).status_code == 200
    state = client.wait()
    assert "job" in state["results"]["A"]["error"]["what"]
    (note,) = [text for text in state["facts"]["notes"] if "lacks columns" in text]
    assert "“Reset a variable”" in note
    assert client.change("reset_variable", scenario="A", column="job").status_code == 200
    assert client.wait()["results"]["A"]["verdict"]


def test_a_role_waits_for_a_file_that_has_its_column(reused):
    client, root = reused
    frame = sdc.demo.survey(n=120, seed=1).frame.select("sex", "region", "age", "weight")
    frame.write_csv(root / "whole.csv")
    frame.rename({"region": "Land"}).drop("weight").write_csv(root / "less.csv")
    frame.write_csv(root / "wrong.csv", separator=";")
    client.post("/api/open", path=str(root / "whole.csv"))
    client.wait()
    roles = {"sex": ["keys"], "region": ["keys"], "age": ["keys"], "weight": ["weight"]}
    client.change("roles", roles=roles)
    client.wait()
    client.post("/api/open", path=str(root / "less.csv"), keep=True)
    state = client.wait()
    assert state["document"]["roles"] == {"sex": ["keys"], "age": ["keys"]}
    assert client.page.session.document.plan().data["keys"] == ["sex", "age"]
    assert "weight" not in client.page.session.document.plan().data
    assert any("did not have: Land. They have no role yet" in note for note in state["facts"]["notes"])
    client.post("/api/open", path=str(root / "whole.csv"), keep=True)
    assert client.wait()["document"]["roles"] == roles
    # read with a separator that it does not have, and then as it is
    for options, left in (({"separator": ";"}, {}), ({}, roles)):
        content = {"again": True, "version": client.state()["version"], "options": options}
        assert client.post("/api/open", **content).status_code == 200
        assert client.wait()["document"]["roles"] == left


def test_a_single_role_that_was_given_anew_does_not_come_back():
    from sdckit.web.document import Document
    from sdckit.web.next_file import with_columns_of

    before = Document(roles={"w": ("weight",), "sex": ("keys",)})
    lacks = with_columns_of(before, {"columns": [{"name": "sex"}, {"name": "w2"}]})
    assert lacks.waiting == {"w": ("weight",)}
    assert Document.of_dict(lacks.as_dict()) == lacks
    given = lacks.with_role("w2", ("weight",))
    both = with_columns_of(given, {"columns": [{"name": c} for c in ("sex", "w", "w2")]})
    assert both.roles == {"sex": ("keys",), "w2": ("weight",)}
    assert both.waiting == {}


def test_codes_with_another_label_are_named(reused):
    client, root = reused
    frame = pl.DataFrame({"SEX": [1.0, 2.0] * 20, "age": list(range(20, 60))})
    for name, texts in {"one": ("men", "women"), "two": ("women", "men")}.items():
        data = sdc.Microdata.of(frame, labels=sdc.Labels({}, {"SEX": dict(zip((1, 2), texts, strict=True))}))
        sdc.write(data, root / f"{name}.sav")
    client.post("/api/open", path=str(root / "one.sav"))
    client.wait()
    client.post("/api/open", path=str(root / "one.sav"), keep=True)
    assert not any("another label" in note for note in client.wait()["facts"]["notes"])
    client.post("/api/open", path=str(root / "two.sav"), keep=True)
    (note,) = [text for text in client.wait()["facts"]["notes"] if "another label" in text]
    assert "SEX 1 (“men”, now “women”)" in note


def test_a_plan_whose_file_is_not_there_is_opened_with_another(reused):
    client, root = reused
    frame = sdc.demo.survey(n=120, seed=1).frame.select("sex", "region", "age")
    frame.write_csv(root / "this_year.csv")
    (root / "last_year.yaml").write_text(
        "data: {file: /elsewhere/gone.csv, keys: [sex, age]}\n"
        "scenarios: {A: [{recode: {variable: age, width: 20}}]}\n"
        "assess: {max_risk: 0.1, accept: {order: true}}\n"
    )
    before = client.state()["document"]
    answer = client.post("/api/open", path=str(root / "last_year.yaml"))
    assert answer.status_code == 400
    assert answer.json()["what"] == "gone.csv is not there."
    state = client.wait()
    assert state["document"] == before, "nothing is open that was not read"
    assert state["held"] == {"file": "/elsewhere/gone.csv", "of": "last_year.yaml"}
    client.post("/api/open", path=str(root / "this_year.csv"), keep=True)
    state = client.wait()
    document = state["document"]
    assert document["roles"] == {"sex": ["keys"], "age": ["keys"]}
    assert [card["method"] for card in document["scenarios"]["A"]] == ["recode"]
    assert (document["max_risk"], document["accept"], state["held"]) == (0.1, {}, None)
    assert not any("file before" in note for note in state["facts"]["notes"])
    assert state["results"]["A"]["records"] == 120


def test_an_earlier_session_whose_file_is_not_there_goes_on_with_another(fresh, tmp_path):
    from sdckit.web.app import Page

    frame = sdc.demo.survey(n=60, seed=1).frame.select("sex", "age")
    frame.write_csv(tmp_path / "moved.csv")
    client = fresh.login()
    client.post("/api/open", path=str(tmp_path / "moved.csv"))
    client.wait()
    client.change("roles", roles={"sex": ["keys"]})
    client.wait()
    (tmp_path / "moved.csv").rename(tmp_path / "here.csv")
    folder = tmp_path / "second"
    folder.mkdir()
    later = Page(folder, (tmp_path,), memory=tmp_path / "state" / "last.json")
    try:
        client.guard.app, client.page = later.app(), later
        assert client.post("/api/open", earlier=True).status_code == 400
        assert client.state()["held"]["of"] == "the last session"
        client.post("/api/open", path=str(tmp_path / "here.csv"), keep=True)
        assert client.wait()["document"]["roles"] == {"sex": ["keys"]}
    finally:
        later.session.close()


def test_codes_that_the_file_before_did_not_hold_are_named(reused):
    client, root = reused
    rows = [f"{'fm'[i % 2]},{('I10', 'E11', 'J45')[i % 3]},{i % 4},{20 + i % 60}" for i in range(240)]
    (root / "first.csv").write_text("sex,diagnosis,kind,age\n" + "\n".join(rows) + "\n")
    rows[7:13] = ["f,U09,7,99"] * 6
    rows[13] = "f,Q99,8,99"
    (root / "second.csv").write_text("sex,diagnosis,kind,age\n" + "\n".join(rows) + "\n")
    client.post("/api/open", path=str(root / "first.csv"))
    client.wait()
    client.post("/api/open", path=str(root / "second.csv"), keep=True)
    (note,) = [text for text in client.wait()["facts"]["notes"] if "hardly any record" in text]
    assert "diagnosis U09, kind 7." in note, "ages are numbers, and one record tells no code"
