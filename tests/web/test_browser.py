"""The page in a real browser: Chromium, driven by Playwright. Skipped where one of them is absent."""

import re
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.data.labels import Labels
from sdckit.data.microdata import Microdata
from web.in_browser import LONG, add, faults_of_accessibility, judged, open_demo, pytestmark, screen, sync_api  # noqa: F401

MARKUP = '<img src=x onerror="document.title=1">'


def test_the_whole_way_from_the_demo_to_the_zip(page, tmp_path):
    open_demo(page)
    sync_api.expect(page.locator(".panel .verdict strong")).to_have_text("Must not be released")
    screen(page, "Protect")
    add(page, "Recode a number or a date", variable="age", width="20")
    add(page, "Shuffle the order of records")
    judged(page)
    assert page.locator(".steps > li").count() == 2
    lost = page.locator(".panel tr")  # ages recoded in all records are not "0 % changed" alone
    sync_api.expect(lost.filter(has_text="Values recoded")).to_contain_text("2,000")
    sync_api.expect(lost.filter(has_text="Records changed, beyond recoding")).to_contain_text("0 %")
    sync_api.expect(lost.filter(has_text="EBIL")).to_contain_text(re.compile(r"lost[0-9.]+ %"))
    page.get_by_role("button", name="New scenario").click()
    add(page, "New random ids")
    judged(page)
    screen(page, "Compare")
    page.locator("main").get_by_role("button", name="Compare", exact=True).click()
    page.locator(".chart svg").wait_for(timeout=LONG)
    sync_api.expect(page.locator(".recommendation")).to_contain_text("must not be released")
    screen(page, "Release")
    page.locator(".checklist").first.wait_for(timeout=LONG)
    page.set_viewport_size({"width": 400, "height": 800})
    for column in page.locator(".checklist").first.locator("td:last-child").all():
        box = column.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= 400  # no column is cut off
    page.set_viewport_size({"width": 1366, "height": 768})
    page.get_by_label("internal report").uncheck()
    page.get_by_role("button", name="Make the files").click()
    page.locator(".files").wait_for(timeout=LONG)
    with page.expect_download() as download:
        page.get_by_role("link", name="internal.zip").click()
    archive = ZipFile(BytesIO(Path(download.value.path()).read_bytes()))
    assert {"protected.csv", "plan.yaml", "script.py", "SHA256SUMS"} <= set(archive.namelist())
    archive.extractall(tmp_path / "taken")
    plan = sdc.Plan.load(tmp_path / "taken" / "plan.yaml")
    again = sdc.write(plan.find("B").protect(plan.read(), seed=plan.seed), tmp_path / "again.csv")
    assert again.read_bytes() == archive.read("protected.csv")
    page.get_by_role("button", name="Undo").click()
    judged(page)


def test_changes_made_faster_than_they_are_answered_are_all_kept(page):
    page.get_by_role("button", name="Demo survey").click()
    page.get_by_role("heading", level=1, name="Variables").wait_for(timeout=LONG)
    page.locator("#role-sex").wait_for()
    page.evaluate(
        """() => ["role-sex", "role-age", "role-region"].forEach((id) => {
            const list = document.getElementById(id);
            list.value = "keys";
            list.dispatchEvent(new Event("change", { bubbles: true }));
        })"""
    )
    judged(page)
    for name in ("sex", "age", "region"):
        sync_api.expect(page.locator(f"#role-{name}")).to_have_value("keys")


def test_an_uploaded_spss_file_with_hostile_names(page, tmp_path):
    n = 60
    frame = pl.DataFrame(
        {"sex": [1, 2] * (n // 2), "age": [20 + i % 40 for i in range(n)], "note": [MARKUP] * n}
    )
    labels = Labels({"sex": MARKUP}, {"sex": {1: MARKUP, 2: "female"}})
    path = sdc.write(Microdata.of(frame, labels=labels, keys=["sex", "age"]), tmp_path / "people.sav")
    page.locator("input[type=file]").set_input_files(path)
    page.get_by_role("heading", level=1, name="Variables").wait_for(timeout=LONG)
    page.locator("#role-sex").select_option("keys")
    page.locator("#role-age").select_option("keys")
    judged(page)
    page.get_by_role("button", name="sex", exact=False).first.click()
    page.locator(".detail table").wait_for(timeout=LONG)
    assert page.locator(".detail img").count() == 0
    assert MARKUP in page.locator(".detail").inner_text()
    screen(page, "Data")
    page.locator(".records td", has_text="<img").first.wait_for(timeout=LONG)
    assert page.locator(".records img").count() == 0
    assert page.title() == "sdckit"


def test_with_the_keyboard_alone(page):
    page.get_by_role("button", name="Demo survey").focus()
    page.keyboard.press("Enter")
    page.get_by_role("heading", level=1, name="Variables").wait_for(timeout=LONG)
    page.get_by_role("button", name="Use the suggestions").focus()
    page.keyboard.press("Enter")
    judged(page)
    role = page.locator("#role-sex")
    role.focus()
    page.keyboard.press("ArrowDown")
    judged(page)
    assert page.evaluate("document.activeElement.id") == "role-sex"  # the focus stays where it was
    page.keyboard.press("Escape")
    page.get_by_role("heading", level=1).click()
    page.keyboard.press("3")
    page.get_by_role("heading", level=1, name="Protect").wait_for()
    page.keyboard.press("?")
    page.get_by_role("dialog").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("dialog").wait_for(state="detached")


def test_no_screen_has_a_fault_of_accessibility(page):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed").Axe()
    options = {"runOnly": ["wcag2a", "wcag2aa"]}
    open_demo(page)
    for name in ("Data", "Variables", "Protect", "Compare", "Release"):
        screen(page, name)
        page.wait_for_timeout(300)
        found = axe.run(page, options=options).response["violations"]
        assert not [(v["id"], [n["html"][:160] for n in v["nodes"][:3]]) for v in found], name


def test_a_million_rows_scroll(page, tmp_path):
    n = 1_000_000
    pl.DataFrame({"nr": np.arange(n), "sex": np.tile([1, 2], n // 2)}).write_parquet(
        tmp_path / "large.parquet"
    )
    page.get_by_label("Path of a data file or a plan").fill(str(tmp_path / "large.parquet"))
    page.get_by_role("button", name="Open", exact=True).click()
    page.get_by_role("heading", level=1, name="Variables").wait_for(timeout=LONG)
    screen(page, "Data")
    page.locator(".records tbody tr").first.wait_for(timeout=LONG)
    page.get_by_label("Go to record").fill("1000000")
    page.keyboard.press("Enter")
    page.locator(".records tbody th", has_text="1000000").wait_for(timeout=30_000)
    assert page.locator(".records tbody tr").count() < 200


def test_stop_during_a_long_step(page, tmp_path):
    sdc.write(sdc.demo.survey(n=40_000, seed=1), tmp_path / "people.parquet")
    page.get_by_label("Path of a data file or a plan").fill(str(tmp_path / "people.parquet"))
    page.get_by_role("button", name="Open", exact=True).click()
    page.get_by_role("heading", level=1, name="Variables").wait_for(timeout=LONG)
    page.get_by_role("button", name="Use the suggestions").click()
    page.locator(".job", has_text="Judging").get_by_role("button", name="Stop").click(timeout=LONG)
    page.locator(".job", has_text="Judging").wait_for(state="detached", timeout=20_000)
    screen(page, "Protect")  # the page still works
    assert page.locator(".gallery li").count() > 5


@pytest.mark.parametrize(
    ("content", "told"),
    [(b"\x00\x01\x02", "cannot be read"), (b"", "empty")],
)
def test_what_is_no_file_is_said_on_the_page(page, tmp_path, content, told):
    path = tmp_path / ("people.dat" if content else "people.csv")
    path.write_bytes(content)
    page.get_by_label("Path of a data file or a plan").fill(str(path))
    page.get_by_role("button", name="Open", exact=True).click()
    sync_api.expect(page.get_by_role("alert")).to_contain_text(told, timeout=LONG)


def test_a_wrong_option_is_said_at_the_form_and_nothing_is_lost(page):
    open_demo(page)
    screen(page, "Protect")
    page.locator("button.method", has=page.get_by_text("Local suppression", exact=True)).click()
    page.locator("#field-k").fill("0")
    page.get_by_role("button", name="Add the step").click()
    sync_api.expect(page.locator(".form [role=alert]")).to_contain_text("k", timeout=LONG)
    assert page.locator("#field-k").input_value() == "0"
    assert page.locator(".steps > li").count() == 0


def test_the_verdict_on_one_file_is_never_shown_for_another(page, tmp_path):
    frame = pl.DataFrame({"sex": ["f", "m"] * 30, "region": [1, 2, 3] * 20})
    for name in ("first", "second"):
        frame.write_csv(tmp_path / f"{name}.csv")
        if name == "second":
            page.get_by_text("Open another file").click()
        page.get_by_label("Path of a data file or a plan").fill(str(tmp_path / f"{name}.csv"))
        page.get_by_role("button", name="Open", exact=True).click()
        page.get_by_role("heading", level=1, name="Variables").wait_for(timeout=LONG)
        sync_api.expect(page.locator(".top .file")).to_contain_text(name, timeout=LONG)
        sync_api.expect(page.locator(".panel .verdict")).to_have_count(0)  # no roles yet: nothing is known
        sync_api.expect(page.locator(".panel")).to_contain_text("Give the variables roles")
        if name == "first":
            page.locator("#role-sex").select_option("keys")
            judged(page)
            screen(page, "Data")


def test_a_verdict_that_is_stopped_is_no_verdict(page, tmp_path):
    sdc.write(sdc.demo.survey(n=30_000, seed=1), tmp_path / "people.parquet")
    page.get_by_label("Path of a data file or a plan").fill(str(tmp_path / "people.parquet"))
    page.get_by_role("button", name="Open", exact=True).click()
    page.get_by_role("heading", level=1, name="Variables").wait_for(timeout=LONG)
    page.get_by_role("button", name="Use the suggestions").click()
    page.locator(".job", has_text="Judging").get_by_role("button", name="Stop").click(timeout=LONG)
    sync_api.expect(page.locator(".panel .verdict")).to_contain_text("Not judged", timeout=LONG)
    page.get_by_role("button", name="Judge now").click()
    sync_api.expect(page.locator(".panel .verdict")).to_contain_text("Being judged", timeout=LONG)


def test_a_step_can_be_tried_before_it_is_added(page):
    open_demo(page)
    screen(page, "Protect")
    page.locator("button.method", has=page.get_by_text("Recode a number or a date", exact=True)).click()
    page.locator("#field-variable").select_option("age")
    page.locator("#field-width").fill("30")
    page.get_by_role("button", name="Try", exact=True).click()
    page.locator(".tried table").wait_for(timeout=LONG)
    assert page.locator(".steps > li").count() == 0
    page.locator("#field-width").fill("40")
    sync_api.expect(page.locator(".tried")).to_contain_text("Something was changed")
    page.locator("#field-width").fill("30")
    page.get_by_role("button", name="Add the step").click()
    sync_api.expect(page.locator(".steps > li")).to_have_count(1)
    judged(page)


def test_records_above_a_threshold_are_counted_before_the_step_is_added(page):
    open_demo(page)
    screen(page, "Protect")
    page.locator("button.method", has=page.get_by_text("Suppression in risky records", exact=True)).click()
    page.locator("#field-threshold").fill("0.0001")
    sync_api.expect(page.locator(".stepform")).to_contain_text("are above 0.01 %", timeout=LONG)
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Riskiest combinations").click()
    page.locator(".look table").wait_for(timeout=LONG)


def test_a_text_file_is_read_prepared_and_looked_at(page, tmp_path):
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(
        {
            "sex": rng.choice([1, 2, 9], 200),
            "age": rng.integers(0, 90, 200),
            "area": rng.choice(["n", "s"], 200),
            "income": rng.integers(0, 9000, 200) + 0.5,
        }
    )
    frame.write_csv(tmp_path / "odd.csv", separator="#", decimal_comma=True)
    page.get_by_label("Path of a data file or a plan").fill(str(tmp_path / "odd.csv"))
    page.get_by_role("button", name="Look first").click()
    preview = page.get_by_role("region", name="The first records")
    sync_api.expect(page.get_by_role("alert")).to_contain_text("more values than the header")
    page.get_by_label("Between values").select_option("other")
    page.get_by_label("the mark between values").fill("##")
    sync_api.expect(page.locator("#read-separator-help")).to_contain_text("one character")
    page.get_by_label("the mark between values").fill("#")
    sync_api.expect(preview.locator("thead th")).to_have_count(4)
    assert not faults_of_accessibility(page)
    page.get_by_role("button", name="Open it like this").click()
    page.get_by_role("heading", level=1, name="Variables").wait_for(timeout=LONG)
    page.get_by_label("role of sex").select_option("keys")
    judged(page)  # a second change before the first is answered would be refused as stale
    page.get_by_label("role of area").select_option("keys")
    judged(page)
    screen(page, "Data")
    page.get_by_label("a preparation to add").select_option("keep_records")
    page.locator("#prepare-where").fill("agee >= 18")
    page.get_by_role("button", name="Prepare", exact=True).click()
    sync_api.expect(page.get_by_role("alert").first).to_contain_text("agee", timeout=LONG)
    page.locator("#prepare-where").fill("age >= 18")
    page.get_by_role("button", name="Prepare", exact=True).click()
    kept = frame.filter(pl.col("age") >= 18).height
    sync_api.expect(page.locator(".prepare .step")).to_contain_text(f"records kept: {kept}", timeout=LONG)
    page.get_by_label("a preparation to add").select_option("declare_missing")
    page.locator("#prepare-codes").fill("9")
    page.locator("#prepare-variables").get_by_role("button", name="sex").click()
    page.get_by_role("button", name="Prepare", exact=True).click()
    sync_api.expect(page.locator(".prepare .step")).to_have_count(2, timeout=LONG)
    judged(page)
    sync_api.expect(page.locator(".panel .criteria")).to_contain_text("preparation of the original")
    page.get_by_text("Explore one or two variables").click()
    page.locator(".explore").get_by_label("Variable").select_option("income")
    page.locator(".explore .chart svg").wait_for(timeout=LONG)
    page.locator(".explore").get_by_label("beside").select_option("area")
    sync_api.expect(page.locator(".explore .summary")).to_contain_text("area: missing", timeout=LONG)
    assert not faults_of_accessibility(page)
    page.get_by_role("button", name="Undo").click()
    sync_api.expect(page.locator(".prepare .step")).to_have_count(1, timeout=LONG)
