"""`read` on anything: microdata or an error of ours, never a change of the caller's frame."""

import gzip
import warnings

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_series_equal

import sdckit as sdc
from fuzz.odd_frames import SEARCH, any_roles, microdata, wild_frames
from sdckit.errors import ReleaseWarning, SdcWarning
from sdckit.io.formats import READABLE, WRITABLE

ANY_NAME = (".csv", ".csv.gz", ".parquet", ".xlsx")  # the others allow few column names


def attempt(source, **options) -> sdc.Microdata | None:
    """What read makes of it; None where it refuses."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", SdcWarning)
        try:
            data = sdc.read(source, **options)
        except sdc.SdcError:
            return None
    assert data.height > 0
    assert repr(data)
    for column in data.frame.iter_columns():
        assert not column.dtype.is_float() or not column.is_nan().any()
    return data


@SEARCH
@given(st.data())
def test_any_frame_with_any_roles(drawn):
    frame = drawn.draw(wild_frames())
    roles = drawn.draw(any_roles(frame.columns))
    before = frame.clone()
    attempt(frame, **roles)
    assert frame.schema == before.schema
    assert frame.equals(before)


@SEARCH
@given(st.data())
def test_any_pandas_frame(drawn):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = drawn.draw(wild_frames()).to_pandas()
    before = frame.copy(deep=True)
    data = attempt(frame, **drawn.draw(any_roles(list(frame.columns))))
    pandas.testing.assert_frame_equal(frame, before)
    if data is not None:
        assert len(data.native()) == len(frame)


@SEARCH
@given(
    st.one_of(
        st.binary(max_size=200),
        st.text(alphabet='ab1.,;"\n\r\t| é-:0NA\ufeff', max_size=120).map(str.encode),
        st.text(max_size=60).map(lambda t: t.encode("utf-16")),
        st.lists(st.lists(st.text('a"1, ', max_size=4), max_size=4).map(",".join), max_size=6).map(
            lambda lines: b"\xef\xbb\xbf" + "\n".join(lines).encode()
        ),
    ),
    st.booleans(),
)
def test_any_bytes_as_a_text_file(tmp_path_factory, content, compressed):
    path = tmp_path_factory.mktemp("text") / ("x.csv.gz" if compressed else "x.csv")
    path.write_bytes(gzip.compress(content) if compressed else content)
    attempt(path)


@pytest.mark.parametrize("ending", READABLE)
def test_any_bytes_under_any_ending(tmp_path_factory, ending):
    path = tmp_path_factory.mktemp("bytes") / f"x{ending}"

    @SEARCH
    @given(st.binary(max_size=300))
    def fuzz(content):
        path.write_bytes(content)
        attempt(path)

    fuzz()


@pytest.mark.parametrize("ending", WRITABLE)
def test_a_true_file_that_is_cut_or_damaged(tmp_path_factory, ending):
    folder = tmp_path_factory.mktemp("damaged")
    whole = sdc.write(sdc.demo.survey(n=30, seed=1), folder / f"whole{ending}").read_bytes()
    path = folder / f"x{ending}"

    @SEARCH
    @given(st.floats(0, 0.999), st.sampled_from(("cut", "damage", "drop")), st.binary(min_size=1, max_size=8))
    def fuzz(place, what, other):
        at = int(place * len(whole))
        content = {
            "cut": whole[:at],
            "damage": whole[:at] + other + whole[at + len(other) :],
            "drop": whole[:at] + whole[at + len(other) :],
        }
        path.write_bytes(content[what])
        attempt(path)

    fuzz()


@pytest.mark.parametrize("written", WRITABLE)
@pytest.mark.parametrize("named", READABLE)
def test_a_true_file_with_another_ending(tmp_path, written, named):
    sdc.write(sdc.demo.survey(n=5, seed=1), tmp_path / f"x{written}").rename(tmp_path / f"y{named}")
    data = attempt(tmp_path / f"y{named}")
    assert named != written or data is not None


@pytest.mark.parametrize("ending", WRITABLE)
def test_odd_data_are_written_and_read_back_or_refused(tmp_path_factory, ending):
    path = tmp_path_factory.mktemp("back") / f"x{ending}"

    @SEARCH
    @given(microdata())
    def fuzz(odd):
        names = {c: c if ending in ANY_NAME else f"v{i}" for i, c in enumerate(odd.columns)}
        # Excel has no records without any value: each gets one
        frame = odd.frame.rename(names).with_columns(pl.int_range(pl.len()).alias("row"))
        data = sdc.read(frame, numeric=[names[c] for c in odd.roles.numeric])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", ReleaseWarning)  # nothing protected these data
            try:
                sdc.write(data, path)
            except sdc.SdcError:
                return
        back = attempt(path)
        assert back is not None
        text = ending in (".csv", ".csv.gz")  # where a column without a name is named by its place
        called = [f"column_{i}" if text and not c else c for i, c in enumerate(data.columns, 1)]
        assert list(back.columns) == called
        assert back.height == data.height
        for name in data.roles.numeric:
            kind = pl.Float32 if data.frame.schema[name] == pl.Float32 else pl.Float64
            before = data.frame[name].cast(kind)
            after = back.frame.to_series(data.columns.index(name)).cast(kind).alias(name)
            # Excel keeps 16 digits, SAS no number below 1e-79
            assert_series_equal(after, before, rel_tol=1e-14, abs_tol=1e-78 if ending == ".xpt" else 0.0)

    fuzz()
