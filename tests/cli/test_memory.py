"""Too little memory: one line, an exit code, and no half of a file."""

import polars as pl

import sdckit as sdc


def test_a_command_without_memory_says_so_and_leaves_nothing(run, tmp_path, monkeypatch):
    sdc.write(sdc.read(pl.DataFrame({"sex": ["f", "m"] * 10})), tmp_path / "people.csv")
    plan = tmp_path / "plan.yaml"
    plan.write_text("data: {file: people.csv, keys: [sex]}\nscenarios: {k: [{suppress: {k: 3}}]}\n")

    def full(*_args, **_options):
        raise MemoryError

    monkeypatch.setattr(sdc.Scenario, "protect", full)
    result = run("protect", plan, "--out", tmp_path / "safe.csv")
    assert result.exit_code == 1
    assert "not enough memory; nothing is half-written" in result.stderr
    assert not (tmp_path / "safe.csv").exists()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["people.csv", "plan.yaml"]
