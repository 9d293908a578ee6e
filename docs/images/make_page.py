"""Take the pictures of the page for the guide: run it as a script, with Playwright and Chromium."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SDCKIT = [sys.executable, "-c", "from sdckit.cli import main; main()"]
LONG = 300_000  # milliseconds
SIZES = {"laptop": (1366, 768), "large": (1920, 1080), "narrow": (760, 1000)}


@contextmanager
def page_of(folder: Path, plan: Path, size: str = "laptop", scheme: str = "light") -> Iterator[Any]:
    """The page on a plan, in a browser."""
    from playwright.sync_api import sync_playwright

    env = {**os.environ, "XDG_STATE_HOME": str(folder / "state"), "PYTHONUNBUFFERED": "1"}
    command = [*SDCKIT, "web", str(plan), "--no-browser", "--root", str(folder)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env)
    assert server.stdout is not None
    address = server.stdout.readline().split()[1]
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            width, height = SIZES[size]
            shape = {"width": width, "height": height}
            page = browser.new_page(viewport=shape, color_scheme=scheme)  # type: ignore[arg-type]
            page.goto(address)
            page.locator(".panel .verdict").wait_for(state="attached", timeout=LONG)
            yield page
    finally:
        server.terminate()
        server.wait(20)


def settled(page: Any) -> None:
    """Wait until nothing runs."""
    for place in (".panel .pending", ".job", ".panel .pending", ".job"):  # one verdict after the other
        page.wait_for_timeout(400)
        page.locator(place).first.wait_for(state="detached", timeout=LONG)


def screen(page: Any, name: str) -> None:
    """Go to a screen."""
    page.get_by_role("navigation").get_by_role("link", name=name).click()
    page.get_by_role("heading", level=1, name=name).wait_for()


def take(folder: Path, pictures: Path) -> None:
    """All pictures of the guide."""
    subprocess.run([*SDCKIT, "demo", "--out", str(folder / "demo")], check=False, stdout=subprocess.DEVNULL)
    plan = folder / "demo" / "scenarios.yaml"
    with page_of(folder, plan) as page:
        settled(page)
        for name in ("Data", "Variables", "Protect"):
            screen(page, name)
            page.get_by_role("button", name="cells_of_10", exact=True).click()
            settled(page)
            page.screenshot(path=pictures / f"page-{name.lower()}.png")
        page.locator("button.method", has_text="Recode a number or a date").click()
        page.locator("#field-variable").select_option("income")
        page.locator("#field-breaks").fill("6000, 15000, 30000")
        page.locator(".stepform .handle").first.wait_for(timeout=LONG)
        page.get_by_role("slider").nth(1).focus()
        page.screenshot(path=pictures / "page-form.png")
        page.get_by_role("button", name="Cancel").click()
        screen(page, "Compare")
        page.locator("main").get_by_role("button", name="Compare", exact=True).click()
        page.locator(".chart svg").wait_for(timeout=LONG)
        settled(page)
        page.locator(".recommendation").evaluate("place => place.scrollIntoView()")
        page.screenshot(path=pictures / "page-compare.png")
        screen(page, "Release")
        settled(page)
        page.locator("summary", has_text="How the file is written").click()
        page.screenshot(path=pictures / "page-release.png")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        take(Path(place), Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
