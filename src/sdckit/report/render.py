"""Plain data to HTML."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sdckit.report.draw import draw

TEMPLATES = Path(__file__).parent / "templates"


def render(content: Mapping[str, Any]) -> str:
    """The report as one HTML page; every name and value is escaped, only our own drawings are not."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    templates = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style = Markup((TEMPLATES / "style.css").read_text(encoding="utf-8"))
    return templates.get_template("page.html").render(**content, charts=_safe(draw(content)), style=style)


def _safe(drawn: Any) -> Any:
    """Drawings marked as HTML: `static_svg` has parsed, cleaned and escaped them."""
    from markupsafe import Markup

    if isinstance(drawn, Mapping):
        return {name: _safe(svg) for name, svg in drawn.items()}
    if isinstance(drawn, list):
        return [_safe(svg) for svg in drawn]
    return drawn and Markup(drawn)
