"""Codes that tell why values are missing survive where that is safe, and nowhere else."""

import warnings

import polars as pl
import pyreadstat
import pytest

import sdckit as sdc
from sdckit.data.effects import Effects
from sdckit.errors import ReleaseWarning, SdcWarning
from sdckit.io import user_missing

N = 24
HEALTH = [[1, 2, 3, -8, -9, None][i % 6] for i in range(N)]
LETTER = {-8: "b", -9: "a"}


def make(folder, ending):
    """A file with codes, made without us: health has them, other values do not."""
    frame = pl.DataFrame(
        {"id": range(N), "region": [1, 2] * 12, "income": [100.5 + i for i in range(N)], "health": HEALTH},
        schema={"id": pl.Float64, "region": pl.Float64, "income": pl.Float64, "health": pl.Float64},
    )
    path = folder / f"in{ending}"
    labels = {"health": {1: "good", 3: "bad", -8: "refused", -9: "not applicable"}}
    if ending == ".dta":
        letters = [LETTER.get(v, v) for v in HEALTH]
        frame = frame.with_columns(pl.Series("health", letters, dtype=pl.Object))
        labels = {"health": {1: "good", 3: "bad", "b": "refused", "a": "not applicable"}}
        formats = {"health": "%8.0f"}
        pyreadstat.write_dta(
            frame, path, missing_user_values={"health": ["a", "b"]}, variable_value_labels=labels,
            variable_format=formats,
        )  # fmt: skip
    else:
        texts = frame.with_columns(why=pl.Series(["zz", "a", "", "b"] * 6))
        ranges = {"health": [{"lo": -9, "hi": -8}], "why": ["zz"]}
        pyreadstat.write_sav(
            texts, path, compress=ending == ".zsav", missing_ranges=ranges, variable_value_labels=labels,
            variable_format={"health": "F8.0"},
        )  # fmt: skip
    return path


def raw(path, column="health"):
    """The values with codes as another program sees them, and what is declared and labelled."""
    reader = pyreadstat.read_dta if path.suffix == ".dta" else pyreadstat.read_sav
    values, about = reader(path, user_missing=True, output_format="dict")
    declared = about.missing_user_values if path.suffix == ".dta" else about.missing_ranges
    plain = [None if v is None or v != v or v == "" else v for v in list(values[column])]
    return plain, declared.get(column), about.variable_value_labels.get(column)


@pytest.mark.parametrize("ending", [".sav", ".zsav", ".dta"])
def test_codes_come_back_and_measures_see_missing_values(tmp_path, ending):
    path = make(tmp_path, ending)
    data = sdc.read(path, keys=["region", "health"])
    assert data.frame["health"].null_count() == N // 2
    assert data.frame["health"].dtype == pl.Int64
    values, declared, labels = raw(sdc.write(data, tmp_path / f"out{ending}"))
    assert values == raw(path)[0]
    assert labels == raw(path)[2]
    assert declared == (["a", "b"] if ending == ".dta" else [{"lo": c, "hi": c} for c in (-9, -8)])
    assert sdc.read(tmp_path / f"out{ending}").frame.equals(data.frame)
    if ending != ".dta":
        assert raw(tmp_path / f"out{ending}", "why")[:2] == raw(path, "why")[:2]


@pytest.mark.parametrize("ending", [".sav", ".dta"])
def test_codes_follow_their_records(tmp_path, ending):
    data = sdc.read(make(tmp_path, ending), keys="region", id="id")
    moved = sdc.protect.shuffle_order(sdc.protect.sample_records(data, share=0.5, rng=3), rng=1)
    path = sdc.write(moved, tmp_path / f"out{ending}")
    expected = dict(zip(range(N), raw(tmp_path / f"in{ending}")[0], strict=True))
    ids = raw(path, "id")[0]
    assert raw(path)[0] == [expected[int(i)] for i in ids]
    assert len(ids) == N // 2
    assert ids != sorted(ids)


def write_and_told(data, path):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        sdc.write(data, path)
    return [str(w.message) for w in told if w.category is SdcWarning]


@pytest.mark.parametrize("ending", [".sav", ".dta"])
def test_a_changed_column_has_plain_missing_values_only(tmp_path, ending):
    """A plain missing value beside codes would show that it was suppressed."""
    data = sdc.read(make(tmp_path, ending), keys="region")
    frame = data.frame.with_columns(health=pl.when(pl.col("income") > 102).then("health"))
    changed = data.with_frame(frame, effects=Effects(suppresses=("health",)))
    told = write_and_told(changed, tmp_path / f"out{ending}")
    assert told == [
        "Codes that tell why values are missing are written as plain missing in health "
        "(the column was changed)."
    ]
    values, declared, labels = raw(tmp_path / f"out{ending}")
    assert not {-8, -9, "a", "b"} & set(values)
    assert declared is None
    assert "refused" not in (labels or {}).values()


@pytest.mark.parametrize("role", ["keys", "numeric", "sensitive"])
def test_after_a_step_no_codes_where_measures_saw_one_kind_of_missing(tmp_path, role):
    data = sdc.read(make(tmp_path, ".sav"), **{role: "health"})
    dropped = sdc.protect.drop(data, variables="income")
    told = write_and_told(dropped, tmp_path / "out.sav")
    assert "plain missing in health (risks were measured with one kind of missing value)." in told[0]
    assert raw(tmp_path / "out.sav")[0].count(None) == N // 2
    free = sdc.protect.drop(data.with_roles(**{role: ()}), variables="income")
    assert write_and_told(free, tmp_path / "out.sav") == []
    assert raw(tmp_path / "out.sav")[0] == raw(tmp_path / "in.sav")[0]


def test_a_table_from_elsewhere_has_no_codes(tmp_path):
    """Its rows may stand in another order, even where the column looks the same."""
    data = sdc.read(make(tmp_path, ".sav"))
    other = data.with_frame(data.frame)
    assert "which row is which is not certain" in write_and_told(other, tmp_path / "out.sav")[0]
    assert raw(tmp_path / "out.sav")[0].count(None) == N // 2


def test_steps_that_work_on_households_keep_codes_of_other_columns(tmp_path):
    data = sdc.read(make(tmp_path, ".sav"), numeric="income", household="region")
    same = data.frame.with_columns(income=pl.col("region").cast(pl.Float64))  # shared within households
    noisy = sdc.protect.add_noise(data.with_frame(same, effects=Effects()), variables="income", sd=1, rng=1)
    assert "household_variables" in noisy.log[-1].figures
    assert write_and_told(noisy, tmp_path / "out.sav") == []
    assert raw(tmp_path / "out.sav")[0] == raw(tmp_path / "in.sav")[0]


def test_other_formats_have_none(tmp_path):
    data = sdc.read(make(tmp_path, ".sav"))
    told = write_and_told(data, tmp_path / "out.dta")
    assert "plain missing in health, why (a .dta file has no place for them)" in told[0]
    for ending in (".csv", ".parquet", ".xlsx"):
        assert write_and_told(data, tmp_path / f"out{ending}") == []
        assert sdc.read(tmp_path / f"out{ending}").frame["health"].null_count() == N // 2
    assert "health" in write_and_told_labels(data, tmp_path / "out.sav")


def write_and_told_labels(data, path):
    with pytest.warns(SdcWarning) as told:
        sdc.write(data, path, values="labels")
    return " ".join(str(w.message) for w in told if not issubclass(w.category, ReleaseWarning))


def test_columns_of_letters_alone_and_in_several_passes(tmp_path, monkeypatch):
    monkeypatch.setattr(user_missing, "CELLS", 1)
    columns = {"x": ["a", "z", None], "y": [1, "b", 2], "n": [1, None, 3]}
    frame = pl.DataFrame([pl.Series(n, v, dtype=pl.Object) for n, v in columns.items()])
    frame = frame.with_columns(pl.Series("n", [1.0, None, 3.0]))
    pyreadstat.write_dta(frame, tmp_path / "in.dta", missing_user_values={"x": ["a", "z"], "y": ["b"]})
    data = sdc.read(tmp_path / "in.dta", numeric="x")
    assert data.frame["x"].null_count() == 3
    path = sdc.write(data, tmp_path / "out.dta")
    for name in ("x", "y", "n"):
        assert raw(path, name)[0] == raw(tmp_path / "in.dta", name)[0] == columns[name]


def test_more_than_three_codes_are_declared_as_the_file_did(tmp_path):
    frame = pl.DataFrame({"x": [1.0, -1.0, -2.0, -3.0, -4.0]})
    pyreadstat.write_sav(frame, tmp_path / "in.sav", missing_ranges={"x": [{"lo": -9, "hi": -1}]})
    data = sdc.read(tmp_path / "in.sav")
    assert data.frame["x"].to_list() == [1, None, None, None, None]
    values, declared, _ = raw(sdc.write(data, tmp_path / "out.sav"), "x")
    assert values == [1, -1, -2, -3, -4]
    assert declared == [{"lo": -9, "hi": -1}]
