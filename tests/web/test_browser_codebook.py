"""A codebook uploaded on the screen Data, in a real browser."""

import polars as pl
import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from web.in_browser import (
    LONG,
    faults_of_accessibility,
    pytestmark,  # noqa: F401
    screen,
    sync_api,
)
from web.test_codebook import BOOK


def test_labels_are_looked_at_first_and_missing_codes_proposed(page, tmp_path):
    pl.DataFrame({"sex": [1, 2, 9] * 20, "age": list(range(60))}).write_csv(tmp_path / "people.csv")
    (tmp_path / "bad.xml").write_text("<!DOCTYPE codeBook>\n<codeBook/>")
    (tmp_path / "book.xml").write_bytes(BOOK)
    page.get_by_label("Path of a data file or a plan").fill(str(tmp_path / "people.csv"))
    page.get_by_role("button", name="Look first").click()
    shown = page.get_by_role("region", name="The first records")
    sync_api.expect(shown).not_to_contain_text("female")
    page.get_by_label("Upload: Codebook with labels").set_input_files(tmp_path / "bad.xml")
    sync_api.expect(page.locator("#read-codebook-help")).to_contain_text("DOCTYPE")
    page.get_by_label("Upload: Codebook with labels").set_input_files(tmp_path / "book.xml")
    sync_api.expect(shown.locator("thead")).to_contain_text("Sex of the person")
    sync_api.expect(shown.locator("tbody tr").nth(1)).to_contain_text("female")
    sync_api.expect(page.get_by_text("variables that the file lacks: height")).to_be_visible()
    assert not faults_of_accessibility(page)
    page.get_by_role("button", name="Open it like this").click()
    page.get_by_role("heading", level=1, name="Variables").wait_for(timeout=LONG)
    sync_api.expect(page.get_by_text("codes for missing? 9")).to_be_visible()
    screen(page, "Data")
    sync_api.expect(page.get_by_text("The codebook marks values as missing: sex 9.")).to_be_visible()
