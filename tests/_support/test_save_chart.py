"""Charts as files: HTML without a network, pictures, nothing half written."""

import re

import altair as alt
import pytest

from sdckit._support.save_chart import save_chart
from sdckit.errors import OptionError


@pytest.fixture(scope="module")
def chart():
    data = alt.Data(values=[{"a": "</script><script src='https://x'>", "b": 1}])
    return alt.Chart(data).mark_bar().encode(x="a:N", y="b:Q")


def test_html_brings_its_scripts_along(chart, tmp_path):
    text = save_chart(chart, tmp_path / "chart.html").read_text(encoding="utf-8")
    scripts = re.findall(r"<script\b[^>]*>", text)
    assert scripts == ["<script>"] * 2, "the library and the chart; what the data say is no third"
    assert not re.findall(r"<(?:link|iframe|base)\b", text)
    assert text.count("</script>") == 2
    assert 'vegaEmbed("#chart"' in text
    assert '"editor": false' in text, "the numbers are not sent to a web page"


def test_pictures(chart, tmp_path):
    assert save_chart(chart, tmp_path / "chart.svg").read_text(encoding="utf-8").startswith("<svg")
    assert save_chart(chart, str(tmp_path / "chart.PNG")).read_bytes().startswith(b"\x89PNG")


def test_other_endings_are_refused_before_anything_is_drawn(tmp_path):
    with pytest.raises(OptionError, match=r"chart\.pdf.*\.html, \.svg, \.png"):
        save_chart(None, tmp_path / "chart.pdf")
    assert not list(tmp_path.iterdir())
