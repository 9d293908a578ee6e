"""A chart as a file: HTML that works without a network, SVG or PNG."""

import json
from pathlib import Path
from typing import Any

from sdckit._support.files import atomic_write
from sdckit._support.static_svg import plain
from sdckit.errors import OptionError

FORMATS = (".html", ".svg", ".png")
# The menu of a chart can save it as a picture; the entry that sends its numbers to a web page is left out.
ACTIONS = {"export": True, "source": False, "compiled": False, "editor": False}
PAGE = """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>Chart</title>
<script>{library}</script></head>
<body><div id="chart"></div>
<script>vegaEmbed("#chart", {chart}, {{"mode": "vega-lite", "actions": {actions}}});</script>
</body>
</html>
"""


def save_chart(chart: Any, path: str | Path) -> Path:
    """Write an Altair chart, whole or not at all, in the format that the name ends in.

    The HTML file brings its scripts along (about 1 MB): it needs no network and loads nothing.
    """
    path = Path(path).expanduser()
    ending = path.suffix.lower()
    if ending not in FORMATS:
        raise OptionError(
            "A chart is saved as HTML or as a picture.",
            given=path.name,
            allowed=f"a name that ends in {', '.join(FORMATS)}",
        )
    with atomic_write(path) as temporary:
        if ending == ".html":
            temporary.write_text(_page(chart), encoding="utf-8")
        else:
            chart.save(str(temporary), format=ending[1:], scale_factor=2 if ending == ".png" else 1)
    return path


def _page(chart: Any) -> str:
    """The chart with the scripts that draw it.

    Not Altair's own page: there a value with </script> in it would end the script and begin another one.
    """
    import vl_convert
    from altair import SCHEMA_VERSION

    version = ".".join(SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    content = json.dumps(plain(chart)).replace("<", "\\u003c")
    library = vl_convert.javascript_bundle(vl_version=version)  # type: ignore[call-arg]  # its stub has it wrong
    return PAGE.format(library=library, chart=content, actions=json.dumps(ACTIONS))
