"""The page with the keyboard alone: the focus is never lost, and every group of controls has a name."""

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


def press(page, button, key="Enter"):
    button.focus()
    page.keyboard.press(key)


def focused(page, locator):
    sync_api.expect(locator).to_be_focused()


def test_the_focus_stays_with_what_is_done(page):
    open_demo(page)
    screen(page, "Protect")
    for link, there in (("To the content", "main"), ("To the verdict", "aside")):
        press(page, page.get_by_role("link", name=link))  # and the screen stays
        focused(page, page.locator(there))
        sync_api.expect(page.get_by_role("heading", level=1)).to_contain_text("Protect")
    for name in ("Help and about", "Settings"):
        press(page, page.get_by_role("button", name=name))
        page.get_by_role("dialog").wait_for()
        page.keyboard.press("Escape")
        page.get_by_role("dialog").wait_for(state="detached")
        focused(page, page.get_by_role("button", name=name))
    press(page, page.locator("button.method", has_text="Recode a number"))
    focused(page, page.locator("#field-variable"))
    press(page, page.get_by_role("button", name="Cancel"))
    focused(page, page.get_by_role("textbox", name="Find", exact=True))
    add(page, "Shuffle the order of records")
    add(page, "New random ids")
    press(page, page.get_by_role("button", name="Add a note to step 2"))
    focused(page, page.get_by_label("Why this step is there"))
    page.keyboard.press("Escape")
    focused(page, page.get_by_role("button", name="Add a note to step 2"))
    # the focus goes with a step that is moved
    press(
        page, page.get_by_role("group", name="Step 2: New random ids").get_by_role("button", name="Move up")
    )
    moved = page.get_by_role("group", name="Step 1: New random ids")
    focused(page, moved.get_by_role("button", name="Move down"))
    press(page, moved.get_by_role("button", name="Take out"))
    left = page.get_by_role("group", name="Step 1: Shuffle the order of records")
    sync_api.expect(left.locator(":focus")).to_have_count(1)
    page.get_by_role("heading", level=1).click()
    page.keyboard.press("Control+1")  # a key of the browser, not of the page
    sync_api.expect(page.get_by_role("heading", level=1)).to_contain_text("Protect")
    press(page, page.locator("button.method", has_text="Rounding"))
    page.get_by_role("group", name="Variables").wait_for()


def test_a_step_that_cannot_be_done_says_so_on_its_card(page, tmp_path):
    data = sdc.demo.survey(n=300, seed=1).frame.select("sex", "region", "weight", "income")
    data.write_csv(tmp_path / "some.csv")
    page.get_by_label("Path of a data file or a plan").fill("some.csv")
    page.get_by_role("button", name="Open", exact=True).click()
    page.get_by_role("heading", level=1, name="Variables").wait_for(timeout=LONG)
    page.get_by_role("button", name="Use the suggestions").click()
    judged(page)
    screen(page, "Protect")
    add(page, "Shuffle the order of records")
    page.locator("button.method", has=page.get_by_text("Rounding", exact=True)).click()
    page.locator("#field-variables").get_by_role("button", name="weight").click()
    page.locator("#field-base").fill("1000000")
    page.get_by_role("button", name="Try", exact=True).click()
    said = page.locator(".stepform").get_by_role("alert")
    sync_api.expect(said).to_contain_text("weights would be 0", timeout=LONG)
    sync_api.expect(said).to_contain_text("a base of at most")
    page.get_by_role("button", name="Add the step").click()
    card = page.locator(".steps > li").nth(1)
    sync_api.expect(card.get_by_role("alert")).to_contain_text("a base of at most", timeout=LONG)
    sync_api.expect(page.locator(".steps > li").first.get_by_role("alert")).to_have_count(0)
    press(page, card.get_by_role("button", name="Take out"))
    judged(page)
    # a share is a share however it is typed, and what is none is refused
    screen(page, "Variables")
    first = page.locator("ul.intruders > li").first
    first.get_by_role("button", name="Change").click()
    field = first.get_by_label("Accepted risk of its own, in %")
    for text in ("five", "2,5 %"):
        field.fill(text)
        first.get_by_role("button", name="Save").click()
        if text == "five":
            sync_api.expect(first.get_by_role("alert")).to_have_text("“five” is not a number.")
    sync_api.expect(first).to_contain_text("accepted: 2.5 %")
    sync_api.expect(page.locator("ul.intruders")).to_contain_text("the numbers to within 10 %")
