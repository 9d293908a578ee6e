"""What tests of the page in a real browser share: Chromium, driven by Playwright.

They are skipped where one of the two is absent.
"""

import shutil
from typing import Any

import pytest

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = next((p for p in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if p), None)
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
    pytest.mark.xdist_group("browser"),
]
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--no-first-run",
    "--disable-sync",
]
LONG = 180_000  # milliseconds for work that may compile first


def screen(page: Any, name: str) -> None:
    page.get_by_role("navigation").get_by_role("link", name=name).click()
    page.get_by_role("heading", level=1, name=name).wait_for()


def judged(page: Any) -> None:
    page.wait_for_timeout(300)
    page.locator(".panel .verdict:not(.pending)").wait_for(timeout=LONG)
    sync_api.expect(page.locator(".panel .pending")).to_have_count(0, timeout=LONG)


def open_demo(page: Any) -> None:
    page.get_by_role("button", name="Demo survey").click()
    page.get_by_role("heading", level=1, name="Variables").wait_for(timeout=LONG)
    page.get_by_role("button", name="Use the suggestions").click()
    judged(page)


def add(page: Any, method: str, **fields: str) -> None:
    page.locator("button.method", has=page.get_by_text(method, exact=True)).click()
    for name, value in fields.items():
        field = page.locator(f"#field-{name}")
        if field.evaluate("e => e.tagName") == "SELECT":
            field.select_option(value)
        else:
            field.fill(value)
    page.get_by_role("button", name="Add the step").click()
    page.get_by_role("button", name="Add the step").wait_for(state="detached")


def faults_of_accessibility(page: Any) -> list[Any]:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed").Axe()
    found = axe.run(page, options={"runOnly": ["wcag2a", "wcag2aa"]}).response["violations"]
    return [(v["id"], [n["html"][:160] for n in v["nodes"][:3]]) for v in found]
