"""Encodings are found out or asked for; mixtures are refused with the line."""

import gzip

import pytest

import sdckit.io as sdc
from sdckit.errors import FileError, OptionError

LINES = ["größe,x", "Köln,1", "plain,2", "Zürich,3", "Besançon,4"]


def mixed(*wrong: int) -> bytes:
    """The lines in UTF-8, but for some, counted from 1."""
    parts = [line.encode("cp1252" if i in wrong else "utf-8") for i, line in enumerate(LINES, 1)]
    return b"\n".join(parts) + b"\n"


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
@pytest.mark.parametrize(("wrong", "first"), [((5,), 5), ((4, 5), 4), ((1, 2, 4), 1)])
def test_a_mixture_is_refused_with_its_first_line(tmp_path, name, wrong, first):
    content = mixed(*wrong)
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    text = rf"mixes encodings: line {first} is not UTF-8 \({len(wrong)} of 4 lines with letters beyond ASCII"
    with pytest.raises(FileError, match=text) as found:
        sdc.read(tmp_path / name)
    assert "encoding='cp1252'" in str(found.value)
    assert "encoding: cp1252" in found.value.in_plan


def test_a_mark_of_utf8_at_the_beginning_counts(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"\xef\xbb\xbfx,y\n" + "Köln,1\n".encode("cp1252"))
    with pytest.raises(FileError, match="mixes encodings: line 2"):
        sdc.read(tmp_path / "a.csv")


def test_wholly_windows_files_are_read_as_before(tmp_path):
    (tmp_path / "a.csv").write_bytes(mixed(1, 2, 4, 5))
    assert sdc.read(tmp_path / "a.csv").frame["größe"].to_list() == ["Köln", "plain", "Zürich", "Besançon"]


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "utf-16", "UTF-8", "mac_roman"])
def test_the_encoding_that_is_asked_for(tmp_path, encoding):
    text = "\n".join(LINES)
    (tmp_path / "a.csv").write_bytes(text.encode(encoding))
    assert sdc.read(tmp_path / "a.csv", encoding=encoding).frame["größe"][3] == "Besançon"


def test_encodings_that_do_not_fit(tmp_path):
    (tmp_path / "a.csv").write_bytes(mixed(5))
    assert sdc.read(tmp_path / "a.csv", encoding="cp1252").frame[0, 0] == "KÃ¶ln"  # as the user wants it
    with pytest.raises(FileError, match="not text in utf-8"):
        sdc.read(tmp_path / "a.csv", encoding="utf-8")
    with pytest.raises(OptionError, match=r"no such encoding\. Given: 'utf-9'"):
        sdc.read(tmp_path / "a.csv", encoding="utf-9")
    with pytest.raises(OptionError, match="for text files, not for a data frame"):
        sdc.read(sdc.read(tmp_path / "a.csv", encoding="cp1252").frame, encoding="cp1252")
    sdc.write(sdc.read(tmp_path / "a.csv", encoding="cp1252"), tmp_path / "a.parquet")
    with pytest.raises(OptionError, match=r"not for files ending in \.parquet"):
        sdc.read(tmp_path / "a.parquet", encoding="cp1252")
