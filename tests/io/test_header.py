"""A .csv without the names of the columns in its first line."""

from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import sdckit as sdc
from sdckit.cli import app
from sdckit.errors import FileError, OptionError
from sdckit.io.read_back import check_whole

FRAME = pl.DataFrame({"sex": ["f", "m", None], "note": ["a\nb", 'c"d', "e,f"], "age": [30, 41, 7]})


@pytest.mark.filterwarnings("ignore")
def test_only_the_first_line_is_left_out(tmp_path: Path):
    data = sdc.read(FRAME, keys=["sex", "age"])
    whole = sdc.write(data, tmp_path / "whole.csv").read_bytes()
    bare = sdc.write(data, tmp_path / "bare.csv", header=False).read_bytes()
    assert b"sex,note,age\n" + bare == whole
    again = sdc.read(tmp_path / "bare.csv", header=False).frame
    assert again.rows() == FRAME.rows()


def test_a_file_that_lacks_a_record_is_still_seen(tmp_path: Path):
    (tmp_path / "a.csv").write_text("1,2\n3,4\n")
    check_whole(tmp_path / "a.csv", ".csv", (2, 2), header=False)
    with pytest.raises(FileError, match="was not written whole"):
        check_whole(tmp_path / "a.csv", ".csv", (3, 2), header=False)


def test_other_formats_have_their_names(tmp_path: Path):
    with pytest.raises(OptionError, match="can be without the names"):
        sdc.write(sdc.read(FRAME), tmp_path / "a.sav", header=False)


def test_the_command_line_writes_the_same(tmp_path: Path):
    FRAME.write_csv(tmp_path / "data.csv")
    (tmp_path / "plan.yaml").write_text("data: {file: data.csv, keys: [sex]}\nscenarios: {a: []}\n")
    call = ["protect", str(tmp_path / "plan.yaml"), "--out", str(tmp_path / "out.csv"), "--no-header"]
    told = CliRunner().invoke(app, call)
    assert told.exit_code == 0, told.output
    assert (tmp_path / "out.csv").read_text().startswith('f,"a\nb",30\n')
