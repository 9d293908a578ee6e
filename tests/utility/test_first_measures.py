"""missing_values, contingency_tables and il1s against stored results and by hand."""

import math

import polars as pl
import pytest

import sdckit as sdc
from conftest import oracle_cases
from sdckit.errors import ColumnError, DataError


@pytest.mark.parametrize("case", oracle_cases("06", lambda c: c["id"].startswith("pram_")))
def test_stored_contingency_tables(oracles, case):
    inputs, expected = case["inputs"], case["expected"]
    original = oracles.frame("eusilc")
    column = oracles.frame(case["dataset"]["perturbed_column_csv"])
    protected = original.with_columns(column[column.columns[-1]].alias(inputs["pram_var"]))
    for weight, name in ((None, "UT"), (inputs["weight"], "UT_weighted")):
        data = sdc.read(original, keys=inputs["table_vars"], weight=weight)
        result = sdc.utility.contingency_tables(
            data, data.with_frame(protected), tables=[inputs["table_vars"]]
        )
        assert result.value == pytest.approx(expected[name], rel=1e-9)
        if weight is None:
            assert result.figures["ut2"] == pytest.approx(expected["UT2_nonempty_cells_mean"], rel=1e-9)
            assert result.parts["cells"][0] == expected["n_cells"]


@pytest.mark.parametrize("case", oracle_cases("06", lambda c: "IL1s_seed_formula" in c["expected"]))
def test_stored_il1s(oracles, case):
    variables = case["inputs"]["variables"]
    data = sdc.read(oracles.frame(case["dataset"]["name"]), numeric=variables)
    stored = oracles.frame(case["dataset"]["perturbed_csv"])
    columns = [stored[stored.columns[stored.columns.index(v)]].cast(pl.Float64) for v in variables]
    protected = data.with_frame(data.frame.with_columns(columns))
    assert sdc.utility.il1s(data, protected).value == pytest.approx(
        case["expected"]["IL1s_seed_formula"], rel=1e-9
    )


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_what_blanks_lose_is_said(engine, tmp_path):
    """By the definition a file with nothing but blanks loses nothing."""
    frame = pl.DataFrame({"id": [1, 2, 3, 4], "x": [1.0, 2.0, 4.0, None], "c": [0.1] * 4, "w": [1, 2, 3, 1]})
    blank = frame.with_columns(x=pl.Series([None, None, 5.0, 3.0]), c=pl.Series([None, None, 0.1, 0.1]))
    for table, name in ((frame, "x.parquet"), (blank, "y.parquet")):
        table.write_parquet(tmp_path / name)
    data, protected = (
        sdc.read(tmp_path / name, id="id", numeric=["x", "c"], weight="w", engine=engine)
        for name in ("x.parquet", "y.parquet")
    )
    found = sdc.utility.il1s(data, protected)
    mean = 17 / 6
    unit = math.sqrt(2) * math.sqrt(3 / 2 * ((1 - mean) ** 2 + 2 * (2 - mean) ** 2 + 3 * (4 - mean) ** 2) / 6)
    assert found.value == pytest.approx(3 / 7 / unit)
    assert found.figures["blanks_as_means"] == pytest.approx(((mean - 1) + 2 * (mean - 2) + 3) / 7 / unit)
    assert any("Suppressed numbers add nothing" in note for note in found.notes)
    assert found.figures["complete_pairs"] == pytest.approx(3 / 3 / unit)


@pytest.mark.parametrize("case", oracle_cases("06", lambda c: c["id"] == "missing_and_changed"))
def test_stored_missing_values(oracles, case):
    variables = case["inputs"]["variables"]
    data = sdc.read(oracles.frame("eusilc"), keys=variables)
    protected = data.with_frame(
        data.frame.with_columns(oracles.frame(case["dataset"]["y_csv"]).select(variables))
    )
    result = sdc.utility.missing_values(data, protected)
    parts = result.parts
    expected = case["expected"]
    assert dict(zip(parts["variable"], parts["new_missing"], strict=True)) == expected["m_j"]
    assert result.figures["largest_share"] == pytest.approx(max(expected["m_j"].values()) / data.height)
    assert dict(zip(parts["variable"], parts["percent"], strict=True)) == pytest.approx(
        expected["mp_j_percent"]
    )
    assert dict(zip(parts["variable"], parts["missing_before"], strict=True)) == expected["missing_x"]


def test_il1s_weights_scale_and_constant_columns():
    frame = pl.DataFrame({"x": [1.0, 2.0, 4.0], "c": [5.0, 5.0, 5.0], "w": [1.0, 2.0, 3.0]})
    data = sdc.read(frame, numeric=["x", "c"], weight="w")
    moved = data.with_frame(frame.with_columns(x=pl.Series([1.0, 3.0, 4.0])))
    value = sdc.utility.il1s(data, moved).value
    mean = (1 + 4 + 12) / 6
    spread = math.sqrt(3 / 2 * ((1 - mean) ** 2 + 2 * (2 - mean) ** 2 + 3 * (4 - mean) ** 2) / 6)
    assert value == pytest.approx(2 / 6 / (math.sqrt(2) * spread))
    tenfold = data.with_frame(frame.with_columns(pl.col("w") * 10))
    assert sdc.utility.il1s(
        tenfold, tenfold.with_frame(moved.frame.with_columns(pl.col("w") * 10))
    ).value == pytest.approx(value)
    broken = data.with_frame(frame.with_columns(c=pl.Series([5.0, 5.0, 6.0])))
    assert math.isinf(sdc.utility.il1s(data, broken).value)


def test_records_meet_by_id_in_any_order():
    frame = pl.DataFrame({"id": [1, 2, 3], "x": [1.0, 2.0, 4.0]})
    data = sdc.read(frame, numeric="x", id="id")
    assert sdc.utility.il1s(data, data.with_frame(frame.reverse())).value == 0
    with pytest.raises(DataError, match=r"ids in 'id' differ"):
        sdc.utility.il1s(data, data.with_frame(frame.with_columns(id=pl.Series([1, 2, 4]))))
    with pytest.raises(DataError, match=r"different lengths \(3 and 2 records\)"):
        sdc.utility.il1s(data, data.with_frame(frame.head(2)))


def test_disjoint_tables_are_as_far_as_can_be():
    data = sdc.read(pl.DataFrame({"a": ["x", "x"], "b": ["x", "y"]}), keys=["a", "b"])
    other = data.with_frame(pl.DataFrame({"a": ["z", "z"], "b": ["u", "v"]}))
    figures = sdc.utility.contingency_tables(data, other).figures
    assert figures["hellinger"] == pytest.approx(1)
    assert figures["total_variation"] == pytest.approx(1)
    assert figures["cells_born"] == figures["cells_died"] == 2


def test_tables_with_missing_as_category_and_one_way():
    data = sdc.read(pl.DataFrame({"count": ["x", "x", None]}), keys="count")
    other = data.with_frame(pl.DataFrame({"count": ["x", None, None]}))
    assert sdc.utility.contingency_tables(data, other).value == 1  # one cell, 2 → 1
    both = sdc.utility.contingency_tables(data, other, missing="category")
    assert both.parts["cells"][0] == 2
    assert both.value == 1
    with pytest.raises(ColumnError, match=r"no column 'z'"):
        sdc.utility.contingency_tables(data, other, tables=[["z"]])


def test_cramers_v_of_a_perfect_table():
    data = sdc.read(pl.DataFrame({"a": [1, 1, 2, 2], "b": [1, 1, 2, 2]}), keys=["a", "b"])
    other = data.with_frame(pl.DataFrame({"a": [1, 1, 2, 2], "b": [1, 2, 1, 2]}))
    part = sdc.utility.contingency_tables(data, other).parts.row(0, named=True)
    assert part["cramers_v_original"] == pytest.approx(1)
    assert part["cramers_v_protected"] == pytest.approx(0)


@pytest.mark.parametrize("kind", [pl.UInt8, pl.Int8, pl.UInt32, pl.Float32])
def test_the_type_of_the_numbers_does_not_matter(kind):
    data = sdc.read(pl.DataFrame({"x": pl.Series([1, 5, 9], dtype=kind)}), numeric="x")
    other = data.with_frame(pl.DataFrame({"x": pl.Series([2, 4, 12], dtype=kind)}))
    expected = (1 + 1 + 3) / 3 / (math.sqrt(2) * 4)
    assert sdc.utility.il1s(data, other).value == pytest.approx(expected)
