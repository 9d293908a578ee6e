"""The modules of the page: no name becomes markup, nothing comes from elsewhere, vendored files are sound."""

import re
from hashlib import sha256
from pathlib import Path

import pytest

import sdckit.web
from sdckit.data.microdata import Microdata
from sdckit.methods import registry
from sdckit.methods.registry import protection

STATIC = Path(sdckit.web.__file__).parent / "static"
VENDOR = STATIC / "vendor"
OURS = sorted(p for p in STATIC.rglob("*") if p.is_file() and VENDOR not in p.parents)
FORBIDDEN = {
    "markup from text": r"(inner|outer|Adjacent|Inner)HTML|document\.write|srcdoc|DOMParser",
    "code from text": r"\beval\s*\(|new Function|setTimeout\(\s*[\"'`]|setInterval\(\s*[\"'`]|javascript:",
    "a handler in markup": r"<[^>]*\son[a-z]+\s*=\s*[\"']",
    "a style in markup": r"<[^>]*\sstyle\s*=\s*[\"']",
    "another address": r"https?://(?!www\.w3\.org/)|[\"'`(]//[a-z]|wss?://|@import|sendBeacon|WebSocket",
}


@pytest.mark.parametrize("path", OURS, ids=lambda p: p.name)
@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_module_has(path, what):
    found = re.search(FORBIDDEN[what], path.read_text(encoding="utf-8"))
    assert found is None, found


@pytest.mark.parametrize("path", [p for p in OURS if p.suffix in (".js", ".css")], ids=lambda p: p.name)
def test_modules_are_short(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) < 300


def test_every_import_is_a_file_of_ours():
    for path in STATIC.rglob("*.js"):
        if path.stat().st_size > 100_000:  # a bundle without imports
            continue
        text = path.read_text(encoding="utf-8")
        for name in re.findall(
            r"""(?:^import\b[^;\n"']*|\bimport\(\s*)["']([^"']+)["']""", text, re.MULTILINE
        ):
            assert name.startswith("."), (path.name, name)
            assert (path.parent / name).is_file(), (path.name, name)


def test_vendored_files_are_those_that_were_made():
    listed = dict(reversed(line.split("  ")) for line in (VENDOR / "SHA256SUMS").read_text().splitlines())
    there = {p.name for p in VENDOR.iterdir()} - {"SHA256SUMS", "LICENSES"}
    assert set(listed) == there
    for name, known in listed.items():
        assert sha256((VENDOR / name).read_bytes()).hexdigest() == known, name


def test_every_vendored_package_has_its_licence():
    text = (VENDOR / "LICENSES").read_text(encoding="utf-8")
    for package in ("preact 11.2.0", "htm 3.1.1", "vega 6.4.0", "vega-lite 6.4.3", "vega-interpreter 2.3.2"):
        assert package in text
    assert "sourceMappingURL" not in "".join(p.read_text(encoding="utf-8") for p in VENDOR.glob("*.js"))


def test_a_method_of_a_plug_in_has_its_form_by_itself(opened):
    @protection("Leave everything unchanged")
    def leave_unchanged(data: Microdata, *, times: int = 1) -> Microdata:
        """Nothing is changed, a number of times."""
        return data

    try:
        found = {m["name"]: m for m in opened.get("/api/methods").json()["protection"]}["leave_unchanged"]
        assert found["title"] == "Leave everything unchanged"
        assert found["help"] == "Nothing is changed, a number of times."
        assert [(f["name"], f["kind"], f["default"]) for f in found["form"]] == [("times", "integer", 1)]
    finally:
        registry.unregister("leave_unchanged")
