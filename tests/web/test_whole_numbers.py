"""Whole numbers that a file holds with decimals, as SPSS does with every number without labels."""

import polars as pl
import pytest

import sdckit as sdc

pyreadstat = pytest.importorskip("pyreadstat", reason="pyreadstat is not installed")


def test_categories_can_be_merged_under_the_names_that_are_shown(reused):
    client, folder = reused
    frame = pl.DataFrame({"size": [1.0, 2.0, 3.0, 2.5] * 10, "sex": [1, 2] * 20})
    path = sdc.write(sdc.Microdata.of(frame), folder / "sizes.sav")
    assert sdc.read(path).frame["size"].dtype == pl.Float64
    assert client.post("/api/open", path=str(path)).status_code == 200
    state = client.wait()
    shown = client.get("/api/rows", file=state["facts"]["rows"], n=4).json()
    assert [row[0] for row in shown["rows"]] == ["1", "2", "3", "2.5"]
    found = client.get("/api/rows", file=state["facts"]["rows"], column="size", value="0").json()
    assert found["count"] == 0  # no value that is shown has a 0
    assert client.change("roles", roles={"size": ["keys"], "sex": ["keys"]}).status_code == 200
    client.wait()
    listed = client.job(kind="column", column="size")["result"]["original"]["categories"]
    assert [c["value"] for c in listed] == ["1", "2", "2.5", "3"]
    options = {"variables": ["size"], "map": {"2+": [c["value"] for c in listed[1:]]}}
    assert client.change("add_step", scenario="A", method="group", options=options).status_code == 200
    judged = client.wait()["results"]["A"]
    assert "error" not in judged or judged["error"] is None
    after = client.get("/api/rows", file=judged["rows"], n=4).json()
    assert [row[0] for row in after["rows"]] == ["1", "2+", "2+", "2+"]
