"""The examples of the reference pages: code that is shown, run while the pages are made, and drawn."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sdckit.methods.spec import Compares, Kind, Spec

SURVEY = """\
keys = ["region", "urban", "sex", "age", "education"]
data = sdc.demo.survey(n=2000, seed=1).with_roles(keys=keys)"""
PROTECTED = """\
steps = [
    {"recode": {"variable": "age", "width": 10}},
    {"suppress": {"k": 3}},
    {"microaggregate": {"k": 5}},
]
protected = sdc.Scenario("example", steps).protect(data, seed=1)"""
SYNTHETIC = """\
# a stand-in: draws of a real synthesis would be read from their files
steps = [{"pram": {"variables": ["education", "health"], "stay": 0.5}}, {"shuffle": {}}]
synthetic = sdc.Scenario("stand-in", steps).protect(data, seed=1)"""

# What a measure has to be told.
TOLD = {
    "atypical_records": 'variables=["turnover", "staff_costs", "workers"], by="size_class"',
    "contingency_tables": 'tables=[["region", "sex"], ["region", "education"]]',
    "identification_risk": 'known=["region", "sex", "age"], synthesised="education"',
    "indicators": 'indicators="poverty", by="urban"',
    "inference_attack": 'sensitive="health", holdout=sdc.demo.survey(n=1000, seed=2)',
    "linkability": "holdout=sdc.demo.survey(n=1000, seed=2)",
    "singling_out": "holdout=sdc.demo.survey(n=1000, seed=2)",
    "k_map": "population=sdc.demo.survey(n=10_000, seed=2)",
    "magnitude_tables": 'by=["nace", "size_class"], variables=["turnover", "workers"]',
    "prediction_quality": 'formula="log1p(income) ~ sex + education + age + I(age^2)"',
    "regression": 'formula="log1p(income) ~ sex + education + age + I(age^2)"',
}
FIRST_LINE = {
    **dict.fromkeys(("atypical_records", "magnitude_tables"), "data = sdc.demo.business(n=1000, seed=1)"),
    "shift_dates": """\
import polars as pl

data = sdc.demo.survey(n=2000, seed=1)
day = pl.date(2024, 3, 1) + pl.duration(days=pl.int_range(pl.len()) % 60)
data = data.with_frame(data.frame.with_columns(interview=day))""",
}

# How a protection is tried, and the measure whose picture shows what it does.
TRIED = {
    "add_noise": ("sd=0.5, rng=1", "distribution_distance"),
    "bottom_code": ('variables="expenditure", share=0.1', "distribution_distance"),
    "drop": ('variables="occupation"', ""),
    "group": ('variables="region", map={"Coast and Plains": ["Coast", "Plains"]}', "entropy"),
    "microaggregate": ("k=50", "distribution_distance"),
    "new_ids": ("", ""),
    "pram": ('variables=["education", "sex"], stay=0.7, rng=1', "contingency_tables"),
    "rank_swap": ("rank_distance=0.3, rng=1", "correlation_loss"),
    "recode": ('variable="age", width=20', "entropy"),
    "round_values": ('variables="income", base=5000', "distribution_distance"),
    "sample_records": ("share=0.25, rng=1", "distribution_distance"),
    "shift_dates": ("days=30, rng=1", ""),
    "shuffle": ('predictors=["age", "sex"], rng=1', "correlation_loss"),
    "shuffle_order": ("rng=1", ""),
    "suppress": ("k=3", "missing_values"),
    "suppress_risky": ("threshold=0.02", "missing_values"),
    "swap_records": ('geography="region", similar="sex", share=0.4, rng=1', "contingency_tables"),
    "top_code": ('variables="income", share=0.05', "distribution_distance"),
}


@dataclass(frozen=True)
class Example:
    """What was run, what it printed, and its chart where there is one."""

    code: str
    output: str
    chart: Any
    about: str


def run_example(spec: Spec) -> Example:
    """Run the example of one protection or measure on the demo data."""
    code, draw = _protection(spec) if spec.kind is Kind.PROTECTION else (_measure(spec), "")
    names: dict[str, Any] = {}
    exec("import sdckit as sdc\n" + code, names)
    if spec.kind is not Kind.PROTECTION:
        result = names["result"]
        chart = result.chart() if spec.chart else None
        return Example(f"{code}\nresult", repr(result), chart, "`result.chart()`")
    output = "\n".join(f"{name}: {_short(v)}" for name, v in names["protected"].log[-1].figures.items())
    code += "\nprotected.log[-1].figures"
    if not draw:
        return Example(code, output, None, "")
    call = f"sdc.utility.{draw}(data, protected{_also(draw)}).chart()"
    return Example(code, output, eval(call, names), f"What it does: `{call}`")


def _protection(spec: Spec) -> tuple[str, str]:
    options, draw = TRIED.get(spec.name, ("", ""))
    given = ", ".join(filter(None, ["data", options]))
    first = FIRST_LINE.get(spec.name, SURVEY)
    return f"{first}\nprotected = sdc.protect.{spec.name}({given})", draw


def _measure(spec: Spec) -> str:
    files = list(spec.file_names)
    lines = [FIRST_LINE.get(spec.name, SURVEY)]
    if "synthetic" in files:
        lines.append(SYNTHETIC)
    elif spec.compares is not Compares.ONE_FILE:
        lines.append(PROTECTED)
    given = ["data", *files[1:], TOLD.get(spec.name, "")]
    return "\n".join(
        [*lines, f"result = sdc.{spec.kind.value}.{spec.name}({', '.join(filter(None, given))})"]
    )


def _also(measure: str) -> str:
    return f", {TOLD[measure]}" if measure in TOLD else ""


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) < 200 else text[:200] + " …"


def draw(chart: Any, path: Path, about: str) -> None:
    """The chart as an SVG file."""
    from sdckit.charts import static_svg

    svg = static_svg(chart, path.stem, about)
    # a picture in a file needs its size; inside a page it would fill the page
    size = re.search(r'viewBox="0 0 (\S+) (\S+)"', svg)
    if size:
        svg = svg.replace("<svg ", f'<svg width="{size[1]}" height="{size[2]}" ', 1)
    path.write_text(svg, encoding="utf-8")
