"""Codebooks that are read: DDI of any origin, and text files; what is broken or dangerous is refused."""

import pytest

from sdckit.errors import FileError
from sdckit.io import codebook_file
from sdckit.io.codebook_file import Description, read_codebook

HEAD = "variable,label,value,value_label,missing\n"

OTHERS = """<?xml version="1.0" encoding="ISO-8859-1"?>
<ddi:codeBook xmlns:ddi="http://www.icpsr.umich.edu/DDI" version="2.1">
  <ddi:docDscr><ddi:labl>of no variable</ddi:labl></ddi:docDscr>
  <ddi:dataDscr>
    <ddi:var ID="V1" name="SEX" dcml="0">
      <ddi:location width="1"/>
      <ddi:labl level="variable">
        Sex of the <ddi:emph>respondent</ddi:emph>
      </ddi:labl>
      <ddi:labl level="variable" xml:lang="fr">Sexe</ddi:labl>
      <ddi:invalrng><ddi:item VALUE="8"/><ddi:item VALUE="9"/></ddi:invalrng>
      <ddi:catgry>
        <ddi:catValu> 1 </ddi:catValu><ddi:labl>Männer &amp; Jungen</ddi:labl><ddi:catStat>12</ddi:catStat>
      </ddi:catgry>
      <ddi:catgry><ddi:catValu>2</ddi:catValu></ddi:catgry>
      <ddi:catgry missing="Y"><ddi:catValu>9</ddi:catValu><ddi:labl>refused</ddi:labl></ddi:catgry>
      <ddi:catgry missing="N"><ddi:labl>a group</ddi:labl></ddi:catgry>
    </ddi:var>
    <ddi:var ID="V2" name="AGE"><ddi:labl>Age</ddi:labl></ddi:var>
    <ddi:var ID="V3" name="AGE"><ddi:labl>Age, in another file</ddi:labl></ddi:var>
  </ddi:dataDscr>
</ddi:codeBook>
"""


def xml(folder, text, encoding="utf-8"):
    path = folder / "book.xml"
    path.write_bytes(text.encode(encoding))
    return path


def table(folder, text, encoding="utf-8"):
    path = folder / "book.csv"
    path.write_bytes(text.encode(encoding))
    return path


def test_the_ddi_of_others_in_another_namespace_and_encoding(tmp_path):
    found = read_codebook(xml(tmp_path, OTHERS, "latin-1"))
    values = {"1": "Männer & Jungen", "2": "", "9": "refused"}
    assert found["SEX"] == Description("Sex of the respondent", values, ("8", "9"))
    assert found["AGE"] == Description("Age")  # the first of two


def test_a_text_file_with_a_row_for_each_value(tmp_path):
    text = (
        "Variable;Label;Value;Value_label;Missing;remark\n"
        "sex;Sex;;;;x\n"
        'sex;;01;"m; male";no;\n\n'
        "sex;Sex;9;refused;YES;\n"
        "age;Alter in Jahren (größer 0);;;;\n"
    )
    found = read_codebook(table(tmp_path, text, "cp1252"))
    assert found == {
        "sex": Description("Sex", {"01": "m; male", "9": "refused"}, ("9",)),
        "age": Description("Alter in Jahren (größer 0)"),
    }


def test_a_text_file_of_labels_of_variables_alone(tmp_path):
    assert read_codebook(table(tmp_path, "variable,label\nage,Age\n")) == {"age": Description("Age")}


@pytest.mark.parametrize(
    "prolog",
    [
        "<!DOCTYPE codeBook>",
        '<!DOCTYPE codeBook SYSTEM "codebook.dtd">',
        '<!DOCTYPE codeBook [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE codeBook [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>',
    ],
)
def test_a_doctype_is_refused_before_anything_of_it_is_read(tmp_path, prolog):
    text = f'<?xml version="1.0"?>\n{prolog}\n<codeBook><var name="x"><labl>&x;&b;</labl></var></codeBook>'
    with pytest.raises(FileError, match=r"DOCTYPE or entities is not read.*line 2 of book\.xml"):
        read_codebook(xml(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('<codeBook>\n<var name="x">\n</codeBook>', r"broken in line 3.*Mismatched tag"),
        ("<codeBook>\n<var name='x'><labl>&nbsp;</labl></var></codeBook>", "broken in line 2"),
        ("", "broken in line 1"),
        ("nothing of the kind", "broken in line 1"),
        ('<?xml version="1.0" encoding="klingon"?><codeBook/>', "XML of the codebook"),
        ("<DDIInstance/>", r"no DDI-Codebook.*DDIInstance"),
        ("<codeBook/>", "describes no variable"),
        ("<codeBook>" + "<a>" * 200 + "</a>" * 200 + "</codeBook>", "nested too deeply"),
    ],
)
def test_xml_that_is_broken_or_of_something_else(tmp_path, text, said):
    with pytest.raises(FileError, match=said):
        read_codebook(xml(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name,label\nsex,Sex\n", "lacks a column.*name, label.*variable"),
        ("variable,value\nsex,1\n", "lacks a column"),
        ("variable,label,value_label\nsex,Sex,male\n", "lacks the column value"),
        (HEAD + "sex,Sex,1,male,\n,,2,female,\n", "Line 3 of the codebook names no variable"),
        (HEAD + "sex,Sex,1,male,\nsex,Gender,2,female,\n", "Line 3 of the codebook gives another label"),
        (HEAD + "sex,Sex,1,male,\nsex,,1,female,\n", "Line 3 .* gives a value of 'sex' that stands above"),
        (HEAD + "sex,Sex,1,male,perhaps\n", "Line 2 .* neither yes nor no.*perhaps"),
        (HEAD + "sex,Sex,,male,\n", "Line 2 of the codebook has no value"),
        (HEAD, "describes no variable"),
        ("", "empty"),
    ],
)
def test_text_files_that_contradict_themselves(tmp_path, text, said):
    with pytest.raises(FileError, match=said):
        read_codebook(table(tmp_path, text))


def test_a_codebook_has_a_size(tmp_path, monkeypatch):
    monkeypatch.setattr(codebook_file, "LARGEST", 100)
    with pytest.raises(FileError, match=r"too large.*100 bytes"):
        read_codebook(table(tmp_path, HEAD + "sex,Sex,1,male,\n" * 10))


def test_a_codebook_that_is_not_there(tmp_path):
    with pytest.raises(FileError, match="no such codebook"):
        read_codebook(tmp_path / "none.xml")
