"""The map in a real browser: the accepted risk is dragged, and estimates stand beside the risk."""

import re

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


def accepted(tab):
    return float(tab.locator("#accept-max_risk").input_value())


def follows(tab):
    """The map after it was placed under the accepted risk of now."""
    sync_api.expect(tab.locator("main .waiting")).to_have_count(0, timeout=LONG)
    sync_api.expect(tab.locator("main p.bad")).to_have_count(0)


def test_the_accepted_risk_is_dragged_moved_by_keys_and_undone(page):
    open_demo(page)
    screen(page, "Protect")
    add(page, "Recode a number or a date", variable="age", width="20")
    screen(page, "Compare")
    page.get_by_label("Also measure").select_option("indicators")
    page.locator("main").get_by_role("button", name="Compare", exact=True).click()
    handle = page.get_by_role("slider", name="Accepted risk")
    handle.wait_for(timeout=2 * LONG)  # behind what is compiled once
    assert handle.get_attribute("aria-valuetext") == "none is accepted yet"
    handle.scroll_into_view_if_needed()
    box = handle.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y + 60, steps=5)
    page.mouse.up()
    sync_api.expect(page.locator("#accept-max_risk")).not_to_have_value("", timeout=LONG)
    follows(page)
    dragged = accepted(page)
    assert dragged > 0
    assert float(handle.get_attribute("aria-valuenow")) == pytest.approx(dragged, rel=0.01)
    handle.focus()
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    sync_api.expect(page.locator("#accept-max_risk")).not_to_have_value(f"{dragged:g}", timeout=LONG)
    follows(page)
    assert accepted(page) < dragged
    done = page.locator(".panel .history .here")
    sync_api.expect(done).to_contain_text("accepted risk")
    page.get_by_role("button", name=re.compile("Undo")).click()  # three presses were one decision
    sync_api.expect(page.locator("#accept-max_risk")).to_have_value(f"{dragged:g}", timeout=LONG)
    follows(page)
    assert float(handle.get_attribute("aria-valuenow")) == pytest.approx(dragged, rel=0.01)
    section = page.locator(".estimates")
    sync_api.expect(section.get_by_role("heading", name="Estimates against risk")).to_be_visible()
    section.get_by_label("Estimate").select_option(label="gini of income")
    section.locator(".chart svg").wait_for(timeout=LONG)
    row = section.locator("tbody tr", has_text="the original file")
    sync_api.expect(row).to_contain_text(re.compile(r"\d to \d"))
    judged(page)
    assert not faults_of_accessibility(page)
