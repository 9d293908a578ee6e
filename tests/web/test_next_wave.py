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
