"""Protect, Compare and Release in a real browser: what is dragged, typed and shown as it comes."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from web.in_browser import (
    LONG,
    add,
    faults_of_accessibility,
    judged,
    open_demo,
    pytestmark,  # noqa: F401
    screen,
    sync_api,
)

NO_WARM_UP = (
    "from sdckit.web.session import Session; Session.prepare = lambda self: None\n"
    "from sdckit.web.serve import serve; serve(browser=False, idle={seconds})"
)


def choose(tab, method):
    tab.locator("button.method", has=tab.get_by_text(method, exact=True)).click()


def test_limits_are_typed_dragged_and_moved_with_the_keyboard(page):
    open_demo(page)
    screen(page, "Protect")
    choose(page, "Recode a number or a date")
    page.locator("#field-variable").select_option("age")
    page.locator(".stepform svg").wait_for(timeout=LONG)
    breaks = page.locator("#field-breaks")
    breaks.press_sequentially("20, 40, 62.5")  # key by key: neither the comma nor the point is lost
    assert breaks.input_value() == "20, 40, 62.5"
    handle = page.get_by_role("slider", name="Break 2 of 3")
    handle.scroll_into_view_if_needed()
    box = handle.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2 + 40, box["y"] + 60, steps=4)
    page.mouse.up()
    first, dragged, last = (float(v) for v in breaks.input_value().split(", "))
    assert (first, last) == (20, 62.5)
    assert 41 < dragged < 60
    handle.focus()
    page.keyboard.press("ArrowRight")
    sync_api.expect(breaks).to_have_value(f"20, {dragged + 1:g}, 62.5")
    page.keyboard.press("Shift+ArrowLeft")
    sync_api.expect(breaks).to_have_value(f"20, {dragged - 9:g}, 62.5")
    assert handle.get_attribute("aria-valuenow") == f"{dragged - 9:g}"
    page.keyboard.press("Delete")
    sync_api.expect(breaks).to_have_value("20, 62.5")
    page.get_by_role("button", name="Add a break").click()
    sync_api.expect(page.get_by_role("slider")).to_have_count(3)
    assert not faults_of_accessibility(page)
    page.get_by_role("button", name="Add the step").click()
    sync_api.expect(page.locator(".steps > li")).to_have_count(1)
    page.get_by_role("button", name="Add a note to step 1").click()
    page.get_by_label("Why this step is there").fill("as agreed <b>in May</b>")
    page.get_by_role("button", name="Save the note").click()
    sync_api.expect(page.locator(".steps .note")).to_contain_text("as agreed <b>in May</b>")
    page.get_by_label("Reset a variable").select_option("age")
    sync_api.expect(page.locator(".steps > li")).to_have_count(0)


def test_the_form_of_a_synthesis_asks_what_goes_with_its_method(page):
    open_demo(page)
    screen(page, "Protect")
    choose(page, "Synthesis")
    page.locator(".stepform details summary").click()
    sync_api.expect(page.locator("#field-leaf")).to_have_count(1)
    sync_api.expect(page.locator("#field-epsilon")).to_have_count(0)
    page.locator("#field-method").select_option("marginals")
    sync_api.expect(page.locator("#field-leaf")).to_have_count(0)
    sync_api.expect(page.locator("#field-bounds")).to_have_count(1)
    page.locator("#field-epsilon").press_sequentially("0.5")
    assert page.locator("#field-epsilon").input_value() == "0.5"
    page.locator("#field-method").select_option("trees")
    page.get_by_role("button", name="One more rule").click()
    page.get_by_role("textbox", name="where").press_sequentially("age < 15")
    page.get_by_label("it follows that").press_sequentially("income = missing")
    assert not faults_of_accessibility(page)
    page.get_by_role("button", name="Add the step").click()
    sync_api.expect(page.locator(".steps > li")).to_contain_text(
        "when: age < 15; then: income: null", timeout=LONG
    )
    judged(page)
    sync_api.expect(page.locator(".panel")).to_contain_text("not judged")
    sync_api.expect(page.locator(".panel .notasked")).to_contain_text("Synthetic records", timeout=LONG)
    sync_api.expect(page.locator(".panel .verdict strong")).not_to_have_text("Can be released")
    assert not faults_of_accessibility(page)


def test_a_map_of_codes_comes_from_a_file_and_a_matrix_is_walked_by_keys(page, tmp_path):
    path = tmp_path / "regions.csv"
    path.write_text('code;group\n1;centre\n"3";"centre"\n8;rest\n99;rest\n')
    open_demo(page)
    screen(page, "Protect")
    choose(page, "Merge categories")
    page.locator("#field-variables").get_by_role("button", name="region").click()
    page.locator(".merge").wait_for(timeout=LONG)
    page.locator(".stepform input[type=file]").set_input_files(path)
    sync_api.expect(page.locator(".stepform [role=status]")).to_contain_text("4 codes, 3 of the 8")
    assert page.get_by_label("new name of 3").input_value() == "centre"
    page.get_by_role("button", name="Cancel").click()
    choose(page, "Post-randomisation (PRAM)")
    page.locator("#field-variables").get_by_role("button", name="urban").click()
    page.locator(".stepform details summary").click()
    page.get_by_role("button", name="Write down the matrix").click(timeout=LONG)
    page.locator("#field-matrix-0-0").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("End")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.id") == "field-matrix-1-1"
    page.locator("#field-matrix-0-0").fill("0.7")
    page.keyboard.press("Tab")
    sync_api.expect(page.locator(".matrix .bad")).to_have_count(1)
    page.get_by_role("button", name="The rest stays").click()
    sync_api.expect(page.locator(".matrix .bad")).to_have_count(0)
    assert not faults_of_accessibility(page)


def test_points_of_a_search_are_kept_when_it_is_stopped(page):
    open_demo(page)
    screen(page, "Protect")
    add(page, "Recode a number or a date", variable="age", width="20")
    judged(page)
    screen(page, "Compare")
    page.locator("main").get_by_role("button", name="Compare", exact=True).click()
    page.locator(".chart svg").wait_for(timeout=LONG)
    row = page.locator("main tbody tr", has_text="best on this map")
    sync_api.expect(row).to_contain_text("must not be released")
    page.get_by_label("Show").select_option("releasable")
    sync_api.expect(row).to_have_count(0)
    page.get_by_role("button", name="small maps").click()
    page.locator(".chart svg").wait_for(timeout=LONG)
    page.locator("summary", has_text="Search around").click()
    page.get_by_label("Width from").fill("2")
    page.get_by_label("Width to").fill("60")
    page.get_by_label("Scenarios to try").fill("200")
    page.get_by_role("button", name="Search", exact=True).click()
    page.locator("h2", has_text="Found so far").wait_for(timeout=LONG)
    page.locator(".job", has_text="Searching").get_by_role("button", name="Stop").click()
    page.locator("h2", has_text="Found before the search was stopped").wait_for(timeout=LONG)
    assert not faults_of_accessibility(page)
    page.get_by_role("button", name="Make it a scenario").first.click()
    page.get_by_role("heading", level=1, name=re.compile("Protect")).wait_for()
    sync_api.expect(page.locator(".tab.here")).to_contain_text("trial")


def test_the_file_is_written_as_chosen(page):
    open_demo(page)
    page.get_by_label("Usual ceilings").select_option("1")
    page.get_by_role("button", name="Accept 9 %").click()
    judged(page)
    screen(page, "Release")
    page.get_by_role("button", name="Put them in a random order").click()
    sync_api.expect(page.locator("main")).to_contain_text("random, members of a household together")
    judged(page)
    page.locator("summary", has_text="How the file is written").click()
    page.get_by_label("Written as").select_option("labels")
    page.get_by_label("Decimal mark").select_option(",")
    page.get_by_label("Between the values").select_option("\t")
    assert not faults_of_accessibility(page)
    page.get_by_label("internal report").uncheck()
    page.get_by_label("public report").uncheck()
    page.get_by_role("button", name="Make the files").click()
    page.locator(".files").wait_for(timeout=LONG)
    sync_api.expect(page.locator("pre")).to_contain_text("--labels --decimal-comma --separator tab")
    with page.expect_download() as download:
        page.get_by_role("link", name="protected.csv").click()
    lines = Path(download.value.path()).read_text(encoding="utf-8").splitlines()
    assert "\t" in lines[0]
    assert "Female" in "".join(lines[:40])
    page.keyboard.press("?")
    page.get_by_role("dialog").get_by_text("Apache-2.0").wait_for()
    assert not faults_of_accessibility(page)


def test_a_page_that_nobody_uses_says_that_it_has_ended(browser, tmp_path):
    env = {
        **os.environ,
        "TMPDIR": str(tmp_path),
        "XDG_STATE_HOME": str(tmp_path / "s"),
        "PYTHONUNBUFFERED": "1",
    }
    call = NO_WARM_UP.format(seconds=12)
    server = subprocess.Popen([sys.executable, "-c", call], stdout=subprocess.PIPE, text=True, env=env)
    assert server.stdout is not None
    tab = browser.new_page()
    tab.goto(server.stdout.readline().split()[1])
    tab.get_by_role("heading", name="Data", exact=True).wait_for(timeout=LONG)
    tab.get_by_role("alert").get_by_role("button", name="Stay").click(timeout=LONG)
    tab.get_by_text("sdckit has ended because nobody used it").wait_for(timeout=LONG)
    tab.close()
    assert server.wait(20) == 0
    assert not list(tmp_path.glob("sdckit-web-*"))


def test_settings_change_the_seed_and_numbers_and_records_alike_stand_together(page):
    open_demo(page)
    page.get_by_role("button", name="Settings").click()
    box = page.get_by_role("dialog", name="Settings")
    box.get_by_label("Seed").fill("minus one")
    box.get_by_label("Seed").press("Tab")
    sync_api.expect(box.get_by_role("alert")).to_be_visible()
    box.get_by_label("Seed").fill("20")
    box.get_by_label("Seed").press("Tab")
    sync_api.expect(box.get_by_role("alert")).to_have_count(0)
    box.get_by_label("Numbers on this page").select_option("de")
    assert not faults_of_accessibility(page)
    sync_api.expect(page.locator(".file")).to_contain_text("2.000 records")
    box.get_by_role("row", name="Accepted risk").get_by_role("button", name="Change").click()
    sync_api.expect(page.locator("#accept-max_risk")).to_be_focused()
    sync_api.expect(page.locator(".history")).to_contain_text("seed 20")
    screen(page, "Data")
    page.get_by_label("same keys together").check()
    sync_api.expect(page.locator(".records thead")).to_contain_text("alike")
    assert page.locator(".records tr.begins").count() > 1
    assert not faults_of_accessibility(page)
