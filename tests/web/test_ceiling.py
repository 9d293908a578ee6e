"""The accepted risk on the map: it is moved, nothing is placed again, and what is recommended follows."""

STEPS = {
    "A": [("suppress", {"k": 2})],
    "B": [("recode", {"variable": "age", "width": 40}), ("suppress", {"k": 5})],
}


def compared(client, max_risk, **asked):
    for name in STEPS:
        if name not in client.state()["document"]["scenarios"]:
            client.change("add_scenario", name=name)
    for name, steps in STEPS.items():
        client.change("reset_scenario", scenario=name)
        for method, options in steps:
            client.change("add_step", scenario=name, method=method, options=options)
    client.change("criteria", max_risk=max_risk, accept={})
    client.wait()
    done = client.job(kind="compare", scenarios=list(STEPS), **asked)
    assert done["state"] == "done", done["result"]
    return done["result"]


def test_another_ceiling_is_what_comparing_anew_would_say(opened):
    first = compared(opened, 1.0)
    assert first["best"] is not None
    low = min(p["risk"] for p in first["scenarios"])
    for ceiling in (1.0, (low + max(p["risk"] for p in first["scenarios"])) / 2, low / 2):
        opened.change("criteria", max_risk=ceiling, accept={})
        opened.wait()
        moved = opened.job(kind="ceiling", map=first["key"])["result"]
        anew = opened.job(kind="compare", scenarios=list(STEPS))["result"]
        seconds = [p.pop("seconds") for found in (moved, anew) for p in found["scenarios"]]
        assert all(s >= 0 for s in seconds)
        for name in ("max_risk", "best", "reason", "verdict", "scenarios", "chart"):
            assert moved[name] == anew[name], name
        assert moved["max_risk"] == ceiling
        assert moved["key"] == first["key"]
        first = anew  # the worker keeps the last one
    assert moved["best"] is None


def test_a_map_of_something_else_is_not_placed_again(opened):
    first = compared(opened, 0.5)
    second = opened.job(kind="compare", scenarios=["A"])["result"]
    assert second["key"] != first["key"]
    assert opened.job(kind="ceiling", map=first["key"])["state"] == "failed"
    opened.change("roles", roles={"region": None})
    opened.wait()
    done = opened.job(kind="ceiling", map=second["key"])
    assert done["state"] == "failed"
    assert "something else" in done["result"]["what"]
    opened.change("roles", roles={"region": ["keys"]})
    opened.wait()


def test_estimates_come_with_their_intervals_and_the_risk(opened):
    found = compared(opened, 0.5, extra=["indicators"])
    names = [e["name"] for e in found["estimates"]]
    assert "mean of income" in names
    one = found["estimates"][names.index("mean of income")]
    assert one["original"]["low"] < one["original"]["estimate"] < one["original"]["high"]
    risks = {p["name"]: p["risk"] for p in found["scenarios"]}
    assert {r["scenario"]: r["risk"] for r in one["scenarios"]} == risks
    assert all(r["estimate"] == one["original"]["estimate"] for r in one["scenarios"])  # nobody touched it
    assert one["chart"]["$schema"]
    assert compared(opened, 0.5)["estimates"] == []
