"""The file that the data were read from is not replaced by accident, by whatever name it goes."""

import os
import pickle

import polars as pl
import pytest

import sdckit.io as sdc
from sdckit.errors import FileError, OptionError

FRAME = pl.DataFrame({"sex": ["f", "m"], "age": [30, 41]})


@pytest.fixture
def survey(tmp_path):
    FRAME.write_csv(tmp_path / "survey.csv")
    return tmp_path / "survey.csv"


def names(path, how):
    other = path.with_name(f"{how}.csv")
    if how == "link":
        other.symlink_to(path)
    elif how == "hard link":
        os.link(path, other)
    elif how == "folder":
        path.with_name("there").symlink_to(path.parent)
        other = path.with_name("there") / path.name
    elif how == "dots":
        other = path.parent / ".." / path.parent.name / path.name
    else:
        other = path
    return other


@pytest.mark.parametrize("how", ["itself", "link", "hard link", "folder", "dots"])
def test_the_original_is_refused_by_any_name(survey, how):
    data = sdc.read(survey, keys="sex")
    before = survey.read_bytes()
    changed = data.with_frame(FRAME.with_columns(age=pl.lit(1))).with_roles(keys="age")
    with pytest.raises(FileError, match=r"were read from this file.*overwrite=True"):
        sdc.write(changed, names(survey, how))
    assert survey.read_bytes() == before
    sdc.write(changed, names(survey, "itself"), overwrite=True)
    assert survey.read_text() == "sex,age\nf,1\nm,1\n"


def test_a_name_relative_to_another_folder_is_still_the_original(survey, monkeypatch):
    monkeypatch.chdir(survey.parent)
    data = sdc.read("survey.csv")
    (survey.parent / "elsewhere").mkdir()
    monkeypatch.chdir(survey.parent / "elsewhere")
    assert sdc.write(data, "survey.csv").exists()  # another file of that name
    with pytest.raises(FileError, match="were read from this file"):
        sdc.write(data, "../survey.csv")


def test_other_files_are_replaced_as_before(survey):
    other = survey.with_name("other.csv")
    other.write_text("old")
    assert sdc.write(sdc.read(survey), other).read_text() == "sex,age\nf,30\nm,41\n"


def test_data_on_disk_never_replace_their_file(survey):
    data = sdc.read(survey, engine="duckdb")
    with pytest.raises(FileError, match=r"still read from this file.*data\.collect\(\)"):
        sdc.write(data, survey, overwrite=True)
    with pytest.raises(FileError, match="were read from this file"):
        sdc.write(data.collect(), survey)
    sdc.write(data.collect(), survey, overwrite=True)


def test_overwrite_is_true_or_false(survey):
    with pytest.raises(OptionError, match="'overwrite' is true or false"):
        sdc.write(sdc.read(survey), survey, overwrite="no")


def test_a_file_that_is_handed_on_does_not_carry_the_original_along(survey):
    data = sdc.read(survey, keys="sex")
    released = data.with_frame(FRAME.with_columns(age=pl.Series([None, None], dtype=pl.Int64)))
    again = pickle.loads(pickle.dumps(released))
    assert again.reading.frame is None
    assert again.reading.path is None
