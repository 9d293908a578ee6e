"""From the verdict to where it is mended, in a real browser; and a sample that came without weights."""

import re
from datetime import date

import polars as pl
import pytest

import sdckit as sdc

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from web.in_browser import (
    LONG,
    add,
    judged,
    open_demo,
    pytestmark,  # noqa: F401
    screen,
    sync_api,
)


def criterion(tab, name):
    """A criterion of the panel, opened."""
    found = tab.locator(".panel .criteria details").filter(has_text=re.compile(name)).first
    if found.get_attribute("open") is None:
        found.locator("summary").click()
    return found


def test_every_open_criterion_leads_to_where_it_is_mended(page):
    open_demo(page)
    failed = page.locator(".panel .criteria > li:not(.met)")
    assert failed.count() > 0
    for at in range(failed.count()):
        assert failed.nth(at).locator(".places button").count() > 0
        # the page speaks its own language, not that of plans
        said = failed.nth(at).locator(".mends").text_content() or ""
        assert not re.search(r"max_risk|accept: ?\{|true\}|\(holdout", said), said
    found = criterion(page, "^.re-identification by neighbour")
    sync_api.expect(found.locator(".mends")).to_have_text("What would mend it: Say what risk is accepted.")
    criterion(page, "^.re-identification by neighbour").get_by_role(
        "button", name="Say what risk is accepted"
    ).click()
    sync_api.expect(page.locator("#accept-max_risk")).to_be_focused()
    page.keyboard.type("5")
    page.keyboard.press("Enter")
    judged(page)
    criterion(page, "order of the rows").get_by_role("button", name="Shuffle the order").click()
    page.get_by_role("heading", level=1, name="Protect").wait_for()
    sync_api.expect(page.locator(".stepform")).to_be_focused()
    sync_api.expect(page.locator(".stepform h3").first).to_have_text("Shuffle the order of records")
    criterion(page, "order of the rows").get_by_role("button", name="Accept the order").click()
    sync_api.expect(page.locator("#accept-order")).to_be_focused()
    screen(page, "Release")
    row = page.locator(".checklist tr", has_text="numbers left unchanged")
    row.get_by_role("button", name=re.compile("^Microaggregation: income")).click()
    chips = page.locator("#field-variables .chip.on")
    sync_api.expect(chips.first).to_have_text("income")
    screen(page, "Variables")
    page.locator("#role-health").select_option("")
    judged(page)
    criterion(page, "columns that no risk looks at").get_by_role(
        "button", name=re.compile("^Role sensitive")
    ).click()
    sync_api.expect(page.locator("main .ask")).to_contain_text("health")
    sync_api.expect(page.locator("[id^=role-]:focus")).to_have_count(1)  # some frames later


def test_a_sample_without_weights_says_of_how_many_people(page):
    open_demo(page)
    page.locator("#role-weight").select_option("")
    judged(page)
    page.locator(".panel .sample summary").click()
    people = page.get_by_label("People in the population")
    people.fill("1999")
    page.get_by_role("button", name="Use it").click()
    sync_api.expect(page.locator("#sample-help")).to_contain_text("smaller than the file", timeout=LONG)
    people.fill("90 000")
    page.get_by_role("button", name="Use it").click()
    sync_api.expect(page.locator(".panel .sample")).to_have_count(0, timeout=LONG)
    judged(page)
    sync_api.expect(criterion(page, "^.weights")).to_contain_text("said to be a sample of 90,000 people")
    page.get_by_role("button", name=re.compile("Undo")).click()
    judged(page)
    sync_api.expect(page.locator(".panel .sample")).to_have_count(1)


def test_a_household_file_is_uploaded_into_the_form(page, tmp_path):
    persons, homes = tmp_path / "persons.csv", tmp_path / "homes.csv"
    persons.write_text("hid,age\n" + "".join(f"{i // 2},{20 + i % 30}\n" for i in range(60)))
    homes.write_text("hid,rooms\n" + "".join(f"{i},{1 + i % 4}\n" for i in range(30)))
    page.get_by_label("Upload", exact=True).set_input_files(persons)
    page.get_by_role("heading", level=1, name="Variables").wait_for(timeout=LONG)
    screen(page, "Data")
    page.get_by_label("a preparation to add").select_option("merge_file")
    wrong = tmp_path / "homes.exe"
    wrong.write_text("no")
    page.get_by_label("Upload: File").set_input_files(wrong)
    sync_api.expect(page.locator(".namedfile [role=alert]")).to_contain_text("cannot be read")
    page.get_by_label("Upload: File").set_input_files(homes)
    sync_api.expect(page.locator("#prepare-file")).to_have_value(re.compile("homes.csv$"), timeout=LONG)
    page.locator("#prepare-by").select_option("hid")
    page.get_by_role("button", name="Prepare", exact=True).click()
    sync_api.expect(page.locator(".prepare .step")).to_contain_text("rooms", timeout=LONG)


def test_what_is_half_typed_stays_while_work_goes_on(page):
    open_demo(page)
    field = page.locator("#accept-max_risk")
    field.click()
    page.keyboard.type("12")
    # another tab changes something: the page is drawn again, as it is whenever work goes on
    other = page.context.new_page()
    other.goto(page.url)
    other.get_by_role("button", name="New scenario").click()
    page.get_by_role("group", name="Scenarios").get_by_role("button", name="B", exact=True).wait_for()
    assert field.input_value() == "12"
    page.keyboard.press("Enter")
    sync_api.expect(page.locator(".history")).to_contain_text("accepted risk 12 %", timeout=LONG)
    page.keyboard.type("3")
    page.keyboard.press("Backspace")
    page.get_by_role("heading", level=1).click()
    page.get_by_role("button", name="Undo").click()  # what was left as it was hides nothing
    sync_api.expect(field).to_have_value("", timeout=LONG)


def test_what_an_spss_file_cannot_mend_by_reading_leads_to_another_file(page, tmp_path):
    """Most keys are missing; and the household that is dropped before the shuffle keeps nobody together."""
    pytest.importorskip("pyreadstat", reason="pyreadstat is not installed")
    n = 60
    frame = pl.DataFrame(
        {
            "sex": [1, 2, None] * (n // 3),
            "home": [i // 2 for i in range(n)],
            **{f"key{i}": [1, 2, 3, 4] * (n // 4) for i in range(5)},
            "visited": [date(2026, 1, 1 + i % 28) for i in range(n)],
        }
    )
    sdc.write(sdc.Microdata.of(frame), tmp_path / "people.sav")
    page.get_by_label("Path of a data file or a plan").fill(str(tmp_path / "people.sav"))
    page.get_by_role("button", name="Open", exact=True).click()
    page.get_by_role("heading", level=1, name="Variables").wait_for(timeout=LONG)
    sync_api.expect(page.locator("tr", has_text="visited")).to_contain_text("a key if somebody may know it")
    page.locator("#role-sex").select_option("keys")
    page.locator("#role-home").select_option("household")
    judged(page)
    unseen = criterion(page, "columns that no risk looks at")
    assert not unseen.get_by_text("…").count()
    many = unseen.get_by_role("button", name="Remove columns: key0, key1, key2 and 3 more")
    sync_api.expect(many).to_have_attribute("title", "key0, key1, key2, key3, key4, visited")
    criterion(page, "keys missing").get_by_role("button", name="Open another file").click()
    page.get_by_role("heading", level=1, name="Data").wait_for()
    sync_api.expect(page.locator("#another")).to_be_focused()
    assert page.locator("details.again").get_attribute("open") is not None
    screen(page, "Protect")
    add(page, "Shuffle the order of records")
    judged(page)
    screen(page, "Release")
    order = page.locator("p", has_text="Order of the records")
    sync_api.expect(order).to_contain_text("random, members of a household together.")
    screen(page, "Protect")
    page.locator("button.method", has=page.get_by_text("Remove columns", exact=True)).click()
    page.locator("#field-variables").get_by_role("button", name="home").click()
    page.get_by_role("button", name="Add the step").click()
    page.get_by_role("button", name="Add the step").wait_for(state="detached")
    screen(page, "Release")  # they stand together still: the column went after the shuffle
    sync_api.expect(order).to_contain_text("random, members of a household together.")
    screen(page, "Protect")
    page.locator(".steps > li").nth(1).get_by_role("button", name="Move up").click()
    sync_api.expect(page.locator(".steps > li").first).to_contain_text("Remove columns")
    screen(page, "Release")
    sync_api.expect(order).to_contain_text("random.")
