import gzip
from datetime import date, datetime
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sdckit.io as sdc
from sdckit.errors import ColumnError, DataError, FileError
from sdckit.io import engine_files
from sdckit.io.delimited import read_delimited


@pytest.fixture
def csv(tmp_path):
    def put(content: str | bytes, name: str = "data.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return put


def column(path: Path) -> pl.Series:
    return read_delimited(path)["x"]


@pytest.mark.parametrize(
    ("values", "dtype", "expected"),
    [
        (["1", "-2", "NA"], pl.Int64, [1, -2, None]),
        (["1", "2.5", ""], pl.Float64, [1.0, 2.5, None]),
        (["1e3", "inf"], pl.Float64, [1000.0, float("inf")]),
        ([" 12", "3 "], pl.Int64, [12, 3]),
        (["0110", "2500"], pl.String, ["0110", "2500"]),
        (["1.5", "00"], pl.String, ["1.5", "00"]),
        (["0", "0.5", "-0.25"], pl.Float64, [0.0, 0.5, -0.25]),
        (["12345678901234567890", "1"], pl.String, ["12345678901234567890", "1"]),
        (["9007199254740993", "1"], pl.Int64, [9007199254740993, 1]),
        (["9007199254740993", "1.5"], pl.String, ["9007199254740993", "1.5"]),
        (["true", "FALSE", "NA"], pl.Boolean, [True, False, None]),
        (["2024-02-29", "NaN"], pl.Date, [date(2024, 2, 29), None]),
        (["2024-02-30", "2024-01-01"], pl.String, ["2024-02-30", "2024-01-01"]),
        (["2024-02-29 13:00:01", "nan"], pl.Datetime("us"), [datetime(2024, 2, 29, 13, 0, 1), None]),
        (["1", "two"], pl.String, ["1", "two"]),
        (["NA", ""], pl.String, [None, None]),
        (["ä, ö", "x"], pl.String, ["ä, ö", "x"]),
    ],
)
def test_types(csv, values, dtype, expected):
    lines = "".join(f'"{v}",k\n' for v in values)
    found = column(csv("x,k\n" + lines))
    assert found.dtype == dtype
    assert found.to_list() == expected


def test_one_late_value_decides_the_type(csv):
    rows = [str(i) for i in range(1, 3000)]
    assert column(csv("x\n" + "\n".join([*rows, "2.5"]) + "\n")).dtype == pl.Float64
    assert column(csv("x\n" + "\n".join([*rows, "0110"]) + "\n")).dtype == pl.String
    assert column(csv("x\n" + "\n".join([*["NA"] * 1500, "7"]) + "\n")).dtype == pl.Int64


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_separator_comes_from_the_header(csv, separator):
    head = separator.join(["x", '"a,b;c"', "y"])
    frame = read_delimited(csv(f"{head}\n{separator.join('123')}\n"))
    assert frame.to_dict(as_series=False) == {"x": [1], "a,b;c": [2], "y": [3]}


def test_decimal_comma_where_the_comma_is_free(csv):
    frame = read_delimited(csv("x;n;both\n1,5;1;1,5\n-0,25;2;2.5\n"))
    assert frame["x"].to_list() == [1.5, -0.25]
    assert frame["n"].to_list() == [1, 2]
    assert frame["both"].dtype == pl.String  # two kinds of decimals: we do not guess


def test_encodings(csv):
    text = "größe,x\nFranç,1\n"
    for encoding in ("utf-8", "utf-8-sig", "cp1252"):
        assert read_delimited(csv(text.encode(encoding))).rows(named=True) == [{"größe": "Franç", "x": 1}]
    compressed = csv(gzip.compress(text.encode("cp1252")), "data.csv.gz")
    assert read_delimited(compressed).rows(named=True) == [{"größe": "Franç", "x": 1}]


def test_utf16_and_bytes_are_refused(csv):
    for content in ("x,y\n1,2\n".encode("utf-16"), b"\x00\xff\x89PNG\x00\x01" * 50, b"x\n\x81\xff\n"):
        with pytest.raises(FileError, match=r"not readable text.*UTF-8 or Windows-1252"):
            sdc.read(csv(content))


def test_quotes_and_line_breaks(csv):
    frame = read_delimited(csv('x,y\n"a\nb","say ""hi"""\n'))
    assert frame.rows() == [("a\nb", 'say "hi"')]


def test_blank_lines_are_no_records(csv):
    assert read_delimited(csv("x,y\n1,2\n\n3,4\n\n\n")).rows() == [(1, 2), (3, 4)]
    assert read_delimited(csv("\n\nx,y\r\n1,\r\n\r\n,4\r\n")).rows() == [(1, None), (None, 4)]
    assert read_delimited(csv("x,y\n1,2\n,\n")).rows() == [(1, 2), (None, None)]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("x,y\n1,2\n3\n", "Line 3 has 1 values, the header has 2"),
        ("x,y\n1,2\n3,4,5\n", "more values than the header, which has 2"),
        ('x,y\n1,"2\n3,4\n', "cannot be read as .csv"),
        ("x,y\r1,2\r", "header line cannot be split"),
        ("", "The file is empty"),
        ("\n \n", "The file is empty"),
    ],
)
def test_broken_files(csv, content, text):
    with pytest.raises(FileError, match=text):
        sdc.read(csv(content))


def test_broken_gzip(csv):
    for content in (b"not gzip", gzip.compress(b"x,y\n1,2\n" * 999)[:-20]):
        with pytest.raises(FileError, match=r"cannot be read as \.csv\.gz"):
            sdc.read(csv(content, "data.csv.gz"))


def test_header_only(csv):
    with pytest.raises(DataError, match="no records"):
        sdc.read(csv("x,y\n"))


def test_duplicate_columns(csv):
    with pytest.raises(ColumnError, match=r"names must differ\. Given: 'x'"):
        sdc.read(csv("x,y,x\n1,2,3\n"))


def test_numbers_that_are_text_are_explained(csv):
    with pytest.raises(
        ColumnError, match=r"needs numbers.*Given: 'abc' in record 2.*missing is empty, NA or NaN"
    ):
        sdc.read(csv("x,y\n1,2\nabc,3\n"), numeric="x")


def test_all_missing_column_takes_the_type_of_its_role(csv):
    path = csv("x,y\nNA,1\n,2\n")
    assert sdc.read(path).frame["x"].dtype == pl.String
    assert sdc.read(path, numeric="x").frame["x"].dtype == pl.Float64


def test_path_with_pattern_characters(csv):
    path = csv("x\n1\n", "a[1]*?.csv")
    csv("x\n2\n", "a1bc.csv")
    assert sdc.read(path).frame.rows() == [(1,)]
    assert sdc.read(path, engine="duckdb").collect().frame.rows() == [(1,)]


@given(
    st.lists(
        st.tuples(
            st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)),
            st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False)),
            st.one_of(st.none(), st.dates(date(1000, 1, 1))),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_numbers_and_dates_survive(tmp_path_factory, rows):
    schema = {"whole": pl.Int64, "float": pl.Float64, "day": pl.Date}
    frame = pl.DataFrame(rows, schema, orient="row")
    path = tmp_path_factory.mktemp("csv") / "data.csv"
    sdc.write(sdc.read(frame), path)
    back = sdc.read(path, numeric=("whole", "float")).frame
    for name in ("whole", "day"):
        assert back[name].to_list() == frame[name].to_list()
    assert back["float"].to_list() == [
        x if x is None or x.is_integer() else pytest.approx(x, rel=1e-14, abs=0) for x in frame["float"]
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (11370.460000000001, "11370.46"),
        (0.1 + 0.2, "0.3"),
        (-1e-9 / 3, "-3.33333333333333e-10"),
        (2 / 3 * 1e-300, "6.66666666666667e-301"),
        (99_999_999_999_999.984, "100000000000000.0"),
        (2.0**53 - 1, "9007199254740991.0"),  # whole: every digit may be meant
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (None, ""),
    ],
)
def test_what_computing_leaves_behind_is_not_written(tmp_path, value, text):
    frame = pl.DataFrame({"x": [value, 1.25], "k": ["a", "b"]}, schema={"x": pl.Float64, "k": pl.String})
    assert sdc.write(sdc.read(frame), tmp_path / "a.csv").read_text() == f"x,k\n{text},a\n1.25,b\n"


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_a_column_without_a_name_is_named_by_its_place(csv, engine):
    path = csv('"","a","b",\n"1",2,"x",5\n"2",3,"y",6\n')  # as R writes its row names
    data = sdc.read(path, keys="b", numeric="column_4", engine=engine).collect()
    assert data.columns == ("column_1", "a", "b", "column_4")
    assert data.frame["column_1"].to_list() == [1, 2]
    with pytest.raises(ColumnError, match="column_1"):
        sdc.read(csv(",column_1\n1,2\n"), engine=engine)


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_midnights_are_written_as_dates(tmp_path, monkeypatch, engine):
    monkeypatch.setattr(engine_files, "BATCH", 1)  # a batch of midnights must not decide for the others
    moments = [datetime(2024, 2, 29), None, datetime(2020, 1, 1)]
    later = [datetime(2024, 2, 29), None, datetime(2020, 1, 1, 0, 0, 1)]
    pl.DataFrame({"day": moments, "moment": later, "k": [1, 2, 3]}).write_parquet(tmp_path / "a.parquet")
    text = sdc.write(sdc.read(tmp_path / "a.parquet", engine=engine), tmp_path / "a.csv").read_text()
    first, second, third = text.splitlines()[1:]
    assert first.startswith("2024-02-29,2024-02-29T00:00:00")
    assert second == ",,2"
    assert third.startswith("2020-01-01,2020-01-01T00:00:01")
