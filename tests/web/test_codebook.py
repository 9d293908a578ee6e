"""A codebook on the page: uploaded, looked at first, read with the file, and named by the plan."""

from pathlib import Path
from typing import Any

import pytest

import sdckit as sdc
from sdckit.errors import SdcWarning
from web.test_named_files import sent
from web.test_prepare import again, page  # noqa: F401

BOOK = b"""<codeBook xmlns="ddi:codebook:2_5"><dataDscr>
<var name="sex"><labl>Sex of the person</labl>
<catgry><catValu>1</catValu><labl>male</labl></catgry><catgry><catValu>2</catValu><labl>female</labl></catgry>
<catgry missing="Y"><catValu>9</catValu><labl>refused</labl></catgry></var>
<var name="height"><labl>Height</labl></var></dataDscr></codeBook>"""


def uploaded(client: Any) -> str:
    answer = sent(client, content=BOOK, name="survey.codebook.xml")
    assert answer.status_code == 200, answer.text
    return str(answer.json()["file"])


def test_look_first_shows_the_labels(page):  # noqa: F811
    shown = page.post("/api/preview", options={"codebook": uploaded(page)}).json()
    columns = {c["name"]: c for c in shown["columns"]}
    assert columns["sex"]["label"] == "Sex of the person"
    assert columns["sex"]["values"] == {"1": "male", "2": "female", "9": "refused"}
    assert columns["age"]["label"] == ""
    assert shown["notes"] == ["The codebook describes variables that the file lacks: height."]


def test_a_file_read_again_with_a_codebook(page, tmp_path):  # noqa: F811
    book = uploaded(page)
    ended = again(page, options={"codebook": book, "separator": ";"})
    assert ended["state"] == "done", ended["result"]
    state = page.wait()
    columns = {c["name"]: c for c in state["facts"]["columns"]}
    assert columns["sex"]["label"] == "Sex of the person"
    assert columns["sex"]["value_labels"] == {"1": "male", "2": "female", "9": "refused"}
    assert columns["sex"]["missing_codes"] == [9]
    assert any("height" in note for note in state["facts"]["told"])
    assert any("marks values as missing: sex 9." in note for note in state["facts"]["notes"])
    done = state["history"][state["position"]]
    assert "codebook survey.codebook.xml" in done
    page.change("roles", roles={"sex": ["keys"]})
    page.wait()
    made = page.job(kind="release", scenario="A", wanted={"data": "protected.sav", "reports": ["internal"]})
    at = f"/download/{made['result']['folder']}"
    plan = page.get(f"{at}/plan.yaml").text
    assert "codebook: survey.codebook.xml" in plan
    assert str(Path(book).parent) not in plan
    (tmp_path / "plan.yaml").write_text(plan)
    (tmp_path / "survey.codebook.xml").write_bytes(BOOK)
    loaded = sdc.Plan.load(tmp_path / "plan.yaml")
    with pytest.warns(SdcWarning, match="marks values as missing"):
        data = loaded.read()
    sdc.write(loaded.find("A").protect(data, seed=loaded.seed), tmp_path / "again.sav")
    assert (tmp_path / "again.sav").read_bytes() == page.get(f"{at}/protected.sav").content


def test_a_plan_opens_with_its_codebook_and_another_content_is_seen(page, tmp_path):  # noqa: F811
    (tmp_path / "book.xml").write_bytes(BOOK)
    (tmp_path / "plan.yaml").write_text(
        "data: {file: survey.csv, separator: ;, codebook: book.xml, keys: [sex]}\nscenarios: {A: []}\n"
    )
    assert page.post("/api/open", path=str(tmp_path / "plan.yaml")).status_code == 200
    state = page.wait()
    assert state["facts"]["columns"][1]["label"] == "Sex of the person"
    (tmp_path / "book.xml").write_bytes(BOOK.replace(b"Sex of the person", b"Gender"))
    assert again(page, options={**state["document"]["source"], "file": None})["state"] == "done"
    assert page.wait()["facts"]["columns"][1]["label"] == "Gender"


@pytest.mark.parametrize("name", ["/etc/passwd.xml", "../../outside.xml", "uploads/../../x.xml"])
def test_a_codebook_outside_the_folders_is_refused(page, name):  # noqa: F811
    for address, more in (
        ("/api/preview", {}),
        ("/api/open", {"again": True}),
        ("/api/open", {"path": page.state()["document"]["source"]["file"]}),
    ):
        answer = page.post(address, options={"codebook": name}, **more)
        assert answer.status_code == 400
        assert "outside the folders" in answer.json()["what"]


def test_a_codebook_is_no_data_file(page):  # noqa: F811
    headers = {"x-file-name": "survey.codebook.xml"}
    assert page.request("POST", "/api/upload", headers=headers, content=BOOK).status_code == 400


def test_a_broken_codebook_is_an_error_of_the_field(page):  # noqa: F811
    book = sent(page, content=b"<codeBook>\n<var>", name="b.xml").json()["file"]
    answer = page.post("/api/preview", options={"codebook": book})
    assert answer.status_code == 400
    assert "The XML of the codebook is broken in line 2." in answer.json()["what"]
