"""Records below k by key and code, and the seconds of steps, through the routes of the page."""

import sdckit as sdc


def test_codes_below_k_are_those_of_the_measure(opened):
    opened.change("add_step", scenario="A", method="recode", options={"variable": "age", "width": 30})
    opened.wait()
    found = opened.job(kind="codes", scenario="A", k=3, most=2)
    assert found["state"] == "done"
    data = sdc.demo.survey(n=300).with_roles(keys=["sex", "region", "age"])
    table = sdc.risk.k_anonymity(data, k=3, subsets=2).tables["codes"]
    told = {
        (int(size), row["variable"], row["code"]): (row["records"], n["records"], n["combinations"])
        for row in found["result"]["original"]
        for size, n in row["sizes"].items()
    }
    assert told == {tuple(row[:3]): tuple(row[3:]) for row in table.rows()}
    assert {row["variable"] for row in found["result"]["protected"]} == {"sex", "region", "age"}
    after = sum(r["sizes"]["2"]["records"] for r in found["result"]["protected"])
    assert after < sum(r["sizes"]["2"]["records"] for r in found["result"]["original"])
    assert opened.job(kind="codes", scenario="A", k=1, most=2)["state"] == "failed"
    assert opened.job(kind="codes", scenario="A", k=3, most=0)["state"] == "failed"


def test_counts_of_single_keys_are_what_the_summary_of_keys_shows(opened):
    """Categories, mean and smallest size come from them; also where there is a single key."""
    before = opened.state()["position"]
    data = sdc.demo.survey(n=300)
    opened.change("roles", roles={"region": [], "age": []})
    opened.wait()
    found = opened.job(kind="codes", scenario="A", k=2, most=1)
    assert found["state"] == "done", found["result"]
    counts = data.frame["sex"].drop_nulls().value_counts()
    told = {row["code"]: row["records"] for row in found["result"]["original"] if row["code"] is not None}
    assert told == {str(code): n for code, n in counts.rows()}
    opened.post("/api/history", to=before)
    opened.wait()


def test_each_step_says_how_long_it_took(opened):
    opened.change("add_step", scenario="A", method="suppress", options={"k": 2})
    found = opened.wait()["results"]["A"]
    assert len(found["took"]) == len(found["log"])
    assert all(0 < seconds < 300 for seconds in found["took"])
