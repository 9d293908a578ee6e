"""A data steward's slips in a real browser: forms, messages, and files that cannot be opened."""

import re

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


def form(page, method):
    page.locator("button.method", has=page.get_by_text(method, exact=True)).click()
    return page.locator(".stepform")


def test_forms_speak_the_words_of_the_page_and_keep_what_was_chosen(page):
    open_demo(page)
    screen(page, "Protect")
    recode = form(page, "Recode a number or a date")
    sync_api.expect(recode.locator("#field-to option").first).to_have_text("intervals of numbers (default)")
    recode.locator("#field-variable").select_option("age")
    recode.get_by_role("button", name="Add the step").click()
    said = "needs “Cut points” or “Width” or “Number of intervals” or “Dates become”."
    sync_api.expect(recode.get_by_role("alert")).to_contain_text(said)
    recode.get_by_role("button", name="Cancel").click()
    group = form(page, "Merge categories")
    group.locator("#field-variables").get_by_role("button", name="region").click()
    group.get_by_text("From a file").wait_for()
    assert page.locator("main").evaluate("e => e.scrollWidth <= e.clientWidth"), (
        "nothing hidden makes it wide"
    )
    group.get_by_role("button", name="Cancel").click()
    # a column that a step takes out is shown in it still, and can be left in the file again
    drop = form(page, "Remove columns")
    for name in ("income", "health"):
        drop.get_by_label("another variable").select_option(name)
    drop.get_by_role("button", name="Add the step").click()
    judged(page)
    page.locator(".steps > li").first.get_by_role("button", name="Change").click()
    chosen = page.locator(".steps .chip.on")
    sync_api.expect(chosen).to_have_text(["income", "health"])
    chosen.filter(has_text="income").click()
    page.get_by_role("button", name="Save the step").click()
    sync_api.expect(page.locator(".steps > li").first).to_contain_text("Columns: health")
    # what is tried is told in the words of the panel
    suppress = form(page, "Local suppression")
    suppress.get_by_role("button", name="Try").click()
    tried = page.locator(".tried")
    sync_api.expect(tried).to_contain_text("With this step", timeout=LONG)
    sync_api.expect(tried).to_contain_text("share lost")


def test_a_new_wave_without_a_column_says_so_on_the_step(page, tmp_path):
    first = sdc.demo.survey(n=200, seed=1).frame.select("sex", "region", "age", "income")
    first.write_csv(tmp_path / "first.csv")
    first.rename({"income": "earnings"}).write_csv(tmp_path / "second.csv")
    field, go = (
        page.get_by_label("Path of a data file or a plan"),
        page.get_by_role("button", name="Open", exact=True),
    )
    for wrong in ("absent.csv", str(tmp_path)):
        field.fill(wrong)
        go.click()
        sync_api.expect(page.locator("main [role=alert]")).to_contain_text(wrong)
        sync_api.expect(page.locator("main [role=alert]")).to_have_count(1)
    (tmp_path / "broken.xlsx").write_bytes(b"PK no workbook")
    field.fill("broken.xlsx")
    go.click()
    page.get_by_role("heading", name="How broken.xlsx is read").wait_for()
    page.wait_for_timeout(1000)  # its first records are asked for, and refused as well
    sync_api.expect(page.locator("main [role=alert]")).to_have_count(1)
    field.fill("first.csv")
    go.click()
    page.get_by_role("heading", level=1, name="Variables").wait_for(timeout=LONG)
    page.get_by_role("button", name="Use the suggestions").click()
    judged(page)
    screen(page, "Protect")
    add(page, "Microaggregation")
    form(page, "Remove columns").get_by_role("button", name="income", exact=True).click()
    page.get_by_role("button", name="Add the step").click()
    judged(page)
    screen(page, "Data")
    page.locator("#another").click()
    page.get_by_label("a new wave").check()
    field.fill("second.csv")
    go.click()
    page.get_by_role("heading", level=1, name="Variables").wait_for(timeout=LONG)
    screen(page, "Protect")
    card = page.locator(".steps > li").nth(1)
    sync_api.expect(card.get_by_role("alert")).to_contain_text("The file has no column income.", timeout=LONG)
    card.get_by_role("button", name="Take income out of the steps").click()
    sync_api.expect(page.locator(".steps [role=alert]")).to_have_count(0)
    judged(page)


def test_numbers_that_are_none_are_refused_and_those_with_a_sign_are_read(page):
    open_demo(page)
    field, said = page.locator("#accept-max_risk"), page.locator("#ceiling-help")
    for text, answer, kept in [
        ("7 %", "Without it", "7"),
        ("abc", "“abc” is not a number.", "7"),
        ("150", "0 to 100 %", "7"),
        ("5,5", "Without it", "5.5"),
    ]:
        field.fill(text)
        page.keyboard.press("Enter")
        sync_api.expect(said).to_contain_text(answer)
        sync_api.expect(field).to_have_value(kept)
    page.locator("summary", has_text="Accepted with open eyes").click()
    page.get_by_label("People the weights stand for").fill("1.234.567")
    page.keyboard.press("Enter")
    sync_api.expect(page.locator(".history")).to_contain_text("accepted: population 1234567")


def test_a_search_says_which_range_is_none(page):
    open_demo(page)
    screen(page, "Protect")
    add(page, "Local suppression")
    screen(page, "Compare")
    search = page.locator("details.card", has_text="Search around")
    search.locator("summary").click()
    low, high = search.get_by_label("k from"), search.get_by_label("k to")
    many, go = search.get_by_label("Scenarios to try"), search.get_by_role("button", name="Search")
    for first, last, number, said in [
        ("9", "2", "3", "“k”: a range is two numbers, the smaller first."),
        ("two", "9", "3", "“k”: a range"),
        ("2", "", "3", "“k”: a range"),
        ("2", "9", "many", "“many” is not a number of scenarios."),
    ]:
        low.fill(first)
        high.fill(last)
        many.fill(number)
        go.click()
        sync_api.expect(search.get_by_role("alert")).to_contain_text(said)
    assert not page.locator(".job", has_text="Searching").count()


def test_a_step_that_names_a_direct_identifier_says_so(page):
    open_demo(page)
    screen(page, "Protect")
    form(page, "Remove columns").get_by_label("another variable").select_option("region")
    page.get_by_role("button", name="Add the step").click()
    judged(page)
    screen(page, "Variables")
    page.locator("#role-region").select_option("direct")
    page.locator(".panel .verdict.open", has_text="Could not be judged").wait_for(timeout=LONG)
    screen(page, "Protect")
    card = page.locator(".steps > li").first
    said = "region is a direct identifier, and left out before any step."
    sync_api.expect(card.get_by_role("alert")).to_contain_text(said)
    rounding = form(page, "Rounding")
    sync_api.expect(rounding.locator("#field-variables")).not_to_contain_text("region")
    rounding.get_by_role("button", name="Cancel").click()
    card.get_by_role("button", name="Take region out of the steps").click()
    judged(page)
    sync_api.expect(page.locator(".steps [role=alert]")).to_have_count(0)


def test_files_that_are_made_while_another_screen_is_looked_at_are_there(page):
    open_demo(page)
    screen(page, "Release")
    page.get_by_label("internal report").uncheck()
    page.get_by_label("public report").uncheck()
    page.get_by_role("button", name="Make the files").dblclick()
    screen(page, "Data")
    screen(page, "Release")
    sync_api.expect(page.locator("ul.files a").first).to_have_text("protected.csv", timeout=LONG)
    sync_api.expect(page.get_by_role("button", name="Make the files")).to_be_enabled()
    with page.expect_download() as got:
        page.locator("ul.files a").first.click()
    assert got.value.failure() is None


def test_a_plan_without_its_file_is_used_for_this_years(page, tmp_path):
    frame = sdc.demo.survey(n=100, seed=1).frame.select("sex", "region", "age")
    frame.write_csv(tmp_path / "this_year.csv")
    (tmp_path / "plan.yaml").write_text("data: {file: gone.csv, keys: [sex, age]}\n")
    field = page.get_by_label("Path of a data file or a plan")
    field.fill("plan.yaml")
    page.get_by_role("button", name="Open", exact=True).click()
    said = "gone.csv is not there."
    sync_api.expect(page.locator("main [role=alert]")).to_contain_text(said)
    sync_api.expect(page.get_by_label("under the decisions of plan.yaml")).to_be_checked()
    field.fill("this_year.csv")
    page.get_by_role("button", name="Open", exact=True).click()
    page.get_by_role("heading", level=1, name="Variables").wait_for(timeout=LONG)
    judged(page)
    sync_api.expect(page.locator("#role-age")).to_have_value("keys")


def test_columns_to_accept_and_codes_for_missing_are_a_click_away(page, tmp_path):
    there = sdc.demo.survey(n=400, seed=1).frame.select(
        "sex", "age", "education", "region", "urban", "health"
    )
    amounts = [f"{1000 + 7 * i},5" if i % 9 else "refus" for i in range(400)]
    extra = {f"item {i}": [j % 3 for j in range(400)] for i in range(9)}
    records = there.with_columns(pl.Series("revenu", amounts), *(pl.Series(n, v) for n, v in extra.items()))
    records.write_csv(tmp_path / "people.csv", separator=";")
    page.get_by_label("Path of a data file or a plan").fill("people.csv")
    page.get_by_role("button", name="Open", exact=True).click()
    page.get_by_role("heading", level=1, name="Variables").wait_for(timeout=LONG)
    page.locator("#role-urban").select_option("sensitive")
    judged(page)
    suggestions = page.get_by_role("button", name="Use the suggestions")
    suggestions.click()
    judged(page)
    sync_api.expect(page.locator("#role-urban")).to_have_value("sensitive")  # what was decided stays
    sync_api.expect(page.locator("#role-sex")).to_have_value("keys")
    sync_api.expect(suggestions).to_be_disabled()
    page.locator("summary", has_text="columns that no risk looks at").click()
    page.locator(".criteria").get_by_role("button", name=re.compile("Accept columns found harmless")).click()
    chips = page.locator("#accept-columns .chip:not(select)")
    sync_api.expect(chips.first).to_be_focused()
    sync_api.expect(chips).to_have_text(["revenu", *extra])
    page.get_by_role("button", name="codes for missing? refus").click()
    prepare = page.locator(".prepare .form")
    sync_api.expect(prepare.locator("#prepare-codes")).to_have_value("refus")
    sync_api.expect(prepare.locator(".chip.on")).to_have_text(["revenu"])


def test_a_server_that_does_not_answer_is_said_where_something_was_asked_of_it(page, tmp_path):
    pl.DataFrame({"item": [7]}).write_csv(tmp_path / "one.csv")
    page.get_by_label("Path of a data file or a plan").fill("one.csv")
    page.evaluate("fetched = fetch; fetch = () => Promise.reject(new TypeError('Failed to fetch')); null")
    page.get_by_role("button", name="Open", exact=True).click()
    sync_api.expect(page.locator("main [role=alert]")).to_contain_text("The server does not answer.")
    page.evaluate("fetch = fetched; null")
    page.get_by_role("button", name="Open", exact=True).click()
    sync_api.expect(page.locator(".top .file")).to_have_text("one.csv · 1 record · 1 variable", timeout=LONG)
