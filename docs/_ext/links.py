"""Links that the build makes and checks: names of measures to their pages, names of code to its lines.

In the sources a measure is written `suppress` and a function [`read`](../src/sdckit/io/read.py), so that they
are also right in a plain view of the repository; on the site the first becomes a link, and the second leads
to the line where the function begins, found by name.
"""

import ast
import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sdckit.methods.registry import specs
from sdckit.methods.spec import Kind

ROOT = Path(__file__).resolve().parents[2]
CODE_LINK = re.compile(r"\[`([\w.]+)`\]\((?:\.\./)*(src/sdckit/[\w/]+\.py)\)")
NAME = re.compile(r"(?<![\[`])`([a-z_0-9]+)`(?![`\]])")
FENCED = re.compile(r"^(```|:::).*?^\1", re.MULTILINE | re.DOTALL)


def line_of(file: Path, name: str) -> int:
    """The line on which a function or class begins; `Class.method` goes into the class."""
    body = ast.parse(file.read_text(encoding="utf-8")).body
    found = None
    for part in name.split("."):
        kinds = (ast.FunctionDef, ast.ClassDef)
        found = next((n for n in body if isinstance(n, kinds) and n.name == part), None)
        if found is None:
            raise LookupError(f"{file} has no {name}")
        body = found.body
    return found.lineno


def reference_pages() -> dict[str, str]:
    """Where the page of each protection and measure is, from the top of the documentation."""
    every = [*specs(), *specs(Kind.PREPARATION)]
    return {s.name: f"/reference/{s.kind.value}/{s.name}" for s in every}


def linked(text: str, page: str) -> str:
    """The source of a page with both kinds of links made, outside of its code blocks."""
    up = "../" * page.count("/")
    pages = reference_pages()

    def code(match):
        name, path = match.groups()
        line = line_of(ROOT / path, name)
        where = path.removeprefix("src/").removesuffix(".py")
        return f'<a href="{up}source/{where}.html#L-{line}"><code>{name}</code></a>'

    def name(match):
        page_of = pages.get(match.group(1))
        return match.group() if page_of in (None, f"/{page}") else f"[{match.group()}]({page_of}.md)"

    done, at = [], 0
    for block in FENCED.finditer(text):
        done += [NAME.sub(name, CODE_LINK.sub(code, text[at : block.start()])), block.group()]
        at = block.end()
    return "".join([*done, NAME.sub(name, CODE_LINK.sub(code, text[at:]))])


def write_sources(folder: Path) -> None:
    """Every source file as a page with an anchor on each line."""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonLexer

    for file in sorted((ROOT / "src" / "sdckit").rglob("*.py")):
        name = file.relative_to(ROOT / "src").with_suffix("")
        page = folder / name.with_suffix(".html")
        page.parent.mkdir(parents=True, exist_ok=True)
        look = HtmlFormatter(full=True, linenos="inline", lineanchors="L", title=f"{name}.py")
        page.write_text(highlight(file.read_text(encoding="utf-8"), PythonLexer(), look), encoding="utf-8")


class _Page(HTMLParser):
    """The links and anchors of one built page."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.anchors: set[str] = set()
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep what links and what can be linked to."""
        found = dict(attrs)
        self.anchors |= {found[name] or "" for name in ("id", "name") if name in found}
        link = found.get("href") if tag == "a" else found.get("src") if tag == "img" else None
        if link and not urlsplit(link).scheme:
            self.links.add(link)


def broken_links(folder: Path) -> list[str]:
    """Links between built pages that lead to no file or no anchor; pages of source code link to nothing."""
    page = cache(_Page)
    broken = []
    for file in sorted(folder.rglob("*.html")):
        if folder / "source" in file.parents:
            continue
        for link in sorted(page(file).links):
            path, anchor = unquote(urlsplit(link).path), unquote(urlsplit(link).fragment)
            target = (file.parent / path).resolve() if path else file
            if not target.is_file() or (
                anchor and target.suffix == ".html" and anchor not in page(target).anchors
            ):
                broken.append(f"{file.relative_to(folder)} → {link}")
    return broken


def _read(app, page, source):
    source[0] = linked(source[0], page)


def _finished(app, error):
    from sphinx.errors import SphinxError

    if error is None and app.builder.format == "html":
        folder = Path(app.outdir).resolve()
        write_sources(folder / "source")
        broken = broken_links(folder)
        if broken:
            raise SphinxError("Links that lead nowhere:\n" + "\n".join(broken))


def setup(app):
    """Connect both."""
    app.connect("source-read", _read)
    app.connect("build-finished", _finished)
    return {"parallel_read_safe": True}
