"""Linked variables, records below k by code, and the seconds of a step, in a real browser."""

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from web.in_browser import (
    LONG,
    faults_of_accessibility,
    judged,
    open_demo,
    pytestmark,  # noqa: F401
    screen,
    sync_api,
)


def test_linked_variables_are_said_beside_the_roles_and_used_by_suppression(page):
    open_demo(page)
    page.get_by_role("button", name="▸ region").click()
    page.get_by_label("one more that follows region").select_option("health")
    sync_api.expect(page.get_by_text("followed by health")).to_be_visible()
    sync_api.expect(page.get_by_text("follows region", exact=True)).to_be_visible()
    assert not faults_of_accessibility(page)
    screen(page, "Protect")
    page.locator("button.method", has=page.get_by_text("Local suppression", exact=True)).click()
    sync_api.expect(page.get_by_role("button", name="health does not follow region")).to_be_visible()
    page.get_by_role("button", name="Add the step").click()
    judged(page)
    card = page.locator(".steps > li")
    sync_api.expect(card).to_contain_text("Linked variables: region: health")
    sync_api.expect(card).to_contain_text(" s", timeout=LONG)
    sync_api.expect(card.get_by_text("took ")).to_be_visible(timeout=LONG)
    page.get_by_role("button", name="↶ Undo").click()
    page.get_by_role("button", name="↶ Undo").click()
    screen(page, "Variables")
    sync_api.expect(page.get_by_text("followed by health")).to_have_count(0)


def test_records_below_k_are_counted_by_key_and_code_and_sorted(page):
    open_demo(page)
    screen(page, "Protect")
    page.get_by_role("button", name="Summary of keys").click()
    keys = page.get_by_role("region", name="Summary of the keys")
    keys.wait_for(timeout=LONG)
    row = keys.locator("tbody tr", has_text="sex").locator("td")
    assert row.all_text_contents()[:2] == ["2", "2"]  # categories before and after
    page.get_by_role("button", name="Summary of keys").click()
    page.get_by_role("button", name="Records below k, by code").click()
    page.get_by_role("button", name="Count", exact=True).click()
    keys, codes = page.get_by_role("region", name="By key"), page.get_by_role("region", name="Codes of ")
    keys.get_by_role("button", name="age").click(timeout=LONG)
    codes = page.get_by_role("region", name="Codes of age")
    codes.get_by_role("button", name="2 keys").click()
    numbers = [int(t.replace(",", "")) for t in codes.locator("tbody td:nth-child(4)").all_inner_texts()]
    assert numbers == sorted(numbers, reverse=True)
    assert numbers[0] > 0
    codes.get_by_role("button", name="2 keys").click()
    lowest = codes.locator("tbody td:nth-child(4)").first.inner_text()
    assert int(lowest) == min(numbers)
    assert not faults_of_accessibility(page)
    page.get_by_role("button", name="combinations", exact=True).click()
    sync_api.expect(page.get_by_text("that occur in fewer than 3 records")).to_be_visible()
