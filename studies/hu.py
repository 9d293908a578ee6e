"""Identification risk of synthetic data: the slides' table and their open question.

python -m studies.hu writes docs/studies/hu.md, from the ACS and CE files where ../shared (or
SDCKIT_ORACLES) is there, from the demo survey otherwise.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

import sdckit as sdc

ROOT = Path(__file__).parents[1]
SHARED = Path(os.environ.get("SDCKIT_ORACLES", ROOT.parent / "shared"))
SLIDES = {
    "expected_match_risk": 41.46743,
    "true_match_rate": 0.0005666667,
    "false_match_rate": 0.9638026,
    "unique_matches": 161,
}
RADII = (0.01, 0.05, 0.2, 0.5, 1.0)


@dataclass(frozen=True)
class Example:
    """An original, its synthetic sets, and what is known and synthesised."""

    source: str
    original: sdc.Microdata
    sets: Sequence[sdc.Microdata]
    known: Sequence[str]
    more: Sequence[str]  # known variables to add
    synthesised: Sequence[str]

    def risk(self, known: Sequence[str] | None = None, **options) -> sdc.Result:
        return sdc.risk.identification_risk(
            self.original,
            list(self.sets),
            known=self.known if known is None else known,
            **{"synthesised": self.synthesised, **options},
        )


def draw(data: sdc.Microdata, given: Sequence[str], columns: Sequence[str], seed: int) -> sdc.Microdata:
    """A simple synthesis: `columns` come, together, from a random record with the same `given` values."""
    rng = np.random.default_rng(seed)
    frame = data.frame.with_row_index("__row").with_columns(__draw=pl.Series(rng.random(data.height)))
    donors = frame.select(pl.col("__row").sort_by("__draw").over(given)).to_series()
    return data.with_frame(data.frame.with_columns(data.frame[c].gather(donors) for c in columns))


def categorical() -> Example:
    known, made = ("SEX", "RACE", "MAR"), ("LANX", "WAOB", "DIS", "HICOV")
    if (SHARED / "data").is_dir():
        files = [sdc.read(SHARED / "data" / f"ACSdata_{x}.csv") for x in ("org", "syn", "syn2", "syn3")]
        return Example("the ACS files of the slides", files[0], files[1:], known, ("MIG", "SCH"), made)
    data = sdc.demo.survey(n=10_000, seed=4)
    made = ("education", "labour_status", "health", "literacy")
    sets = [draw(data, ("sex", "region"), made, seed) for seed in (1, 2, 3)]
    known, more = ("sex", "region", "relationship_status"), ("citizenship", "household_size")
    return Example("the demo survey, 10,000 people", data, sets, known, more, made)


def continuous() -> Example:
    if (SHARED / "oracles").is_dir():
        paths = [
            SHARED / "data" / "CEdata.csv",
            *(SHARED / "oracles" / "files" / f"CEsyn{k}.csv" for k in (1, 2, 3)),
        ]
        files = [sdc.read(path) for path in paths]
        known, made = ("UrbanRural", "Race"), ("Income", "Expenditure")
        return Example("the Consumer Expenditure sample", files[0], files[1:], known, (), made)
    data = sdc.demo.survey(n=1_000, seed=4)
    made = ("income", "expenditure")
    sets = [draw(data, ("sex", "urban"), made, seed) for seed in (1, 2, 3)]
    return Example("the demo survey, 1,000 people", data, sets, ("sex", "urban"), (), made)


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table; numbers to seven figures, as the slides print them."""
    lines = [header, ["---"] * len(header), *rows]
    shown = [[f"{v:.7g}" if isinstance(v, float) else str(v) for v in line] for line in lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in shown)


def first_part(x: Example) -> str:
    result = x.risk()
    n = x.original.height
    ours = [(name.replace("_", " "), result.figures[name]) for name in SLIDES]
    on_slides = "slides" in x.source
    if on_slides:
        head = ["mean over three sets", "slides", "sdckit"]
        rows = [(name, f"{SLIDES[key]:.7g}", value) for key, (name, value) in zip(SLIDES, ours, strict=True)]
    else:
        head, rows = ["mean over three sets", "sdckit"], ours
    sets = result.tables["sets"].drop("match_risk_per_record")
    wrong = round(result.figures["unique_matches"] * result.figures["false_match_rate"])
    text = f"""Data: {x.source} ({n:,} records). Known: {", ".join(x.known)};
synthesised: {", ".join(x.synthesised)}.

{table(head, rows)}

{table([c.replace("_", " ") for c in sets.columns], sets.rows())}

- The expected match risk is a **sum** over the records: {result.value:.2f} records are expected to be matched
  correctly, {result.figures["match_risk_per_record"]:.4f} a record.
- True match rate: {result.figures["true_match_rate"] * n:.1f} of {n:,} records have one match, the right one.
- False match rate: of {result.figures["unique_matches"]:.0f} unique matches about {wrong} are somebody else.
- An intruder who knows more finds more:

{table(["known", "expected match risk", "true match rate", "false match rate"], knowing(x))}
"""
    return text + (SLIP if on_slides else "")


SLIP = """
**A slip on the slide.** It reads 41.47 / 10000 = 0.000042 "probability on average for each record to be
correctly identified". But 41.47 / 10,000 is 0.0041; 0.000042 is what dividing by 1,000,000 gives. The risk is
a hundred times what the slide says: one record in 241, not one in 24,000.
"""


def knowing(x: Example) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    for known in ((), x.known[1:2], x.known, (*x.known, *x.more)):
        figures = x.risk(known).figures
        rates = (figures.get(name, "none") for name in ("true_match_rate", "false_match_rate"))
        rows.append((", ".join(known) or "nothing", figures["expected_match_risk"], *rates))
    return rows


def second_part(x: Example) -> str:
    one, two = x.synthesised[:1], x.synthesised
    rows: list[tuple[object, ...]] = []
    for radius in RADII:
        results = [
            x.risk(synthesised=one, relative_radius=dict.fromkeys(one, radius)),
            x.risk(relative_radius=dict.fromkeys(two, radius)),
            x.risk(relative_radius=dict.fromkeys(two, radius), shape="ellipsoid"),
        ]
        cells = (f"{r.value:.2f} ({r.parts['c'].mean():.1f})" for r in results)
        rows.append((f"{radius:.0%}", *cells))
    head = [
        "radius, of the target's value",
        one[0],
        f"{' and '.join(two)}, box",
        f"{' and '.join(two)}, ellipsoid",
    ]
    return f"""Data: {x.source} ({x.original.height:,} records). Known: {", ".join(x.known)}.
Expected match risk, and in brackets the mean number of matches c:

{table(head, rows)}
{ANSWER}"""


ANSWER = """
The slides end with a question: what if more than one synthesised variable is continuous, and how is the
radius made then? Our answer:

- **One radius a variable, never one for all.** An intruder knows income to within some error and age to
  within another, in other units. A percentage of the target's own value makes radii of money amounts
  comparable; an absolute radius suits values like age.
- **Box (the default): every variable within its radius.** It is the slides' rule applied to each variable,
  and the continuous form of "equal on all variables". Each radius can be argued for by itself, and a further
  variable never adds matches.
- **Ellipsoid: Σ((y−x)/r)² ≤ 1.** The errors share one allowance: a record at the limit in one variable must
  be exact in the others. It fits radii that are multiples of standard errors of independent normal errors.
  It is contained in the box (π/4 of its area for two variables, π/6 of the volume for three, 0.31 for four),
  so c is smaller.
- **No correlations.** A Mahalanobis distance would use how variables vary among people. What makes a match is
  how wrong the intruder's knowledge may be, and that is another thing.
- **Try several radii.** A wider window holds the target's own record more often (T = 1) but among more others
  (c), so the risk need not grow with the radius. Report the highest over the radii an intruder could choose.
- **The interval is closed**, as in the slides' code (≤ and ≥). The R package IdentificationRiskCalculation
  has an open one; the two differ only where a value lies exactly on an end.
"""


def third_part(x: Example) -> str:
    result = sdc.risk.attribute_disclosure(x.original, list(x.sets), known=x.known, sensitive=x.synthesised)
    names = ("disco", "disclosive_in_original", "tcap", "cap", "original_cap", "baseline_cap")
    rows = result.parts.select("target", *names).rows()
    uniques = result.figures["replicated_uniques"], result.figures["unique_in_original"]
    return f"""The same files seen by someone who knows {", ".join(x.known)}
and wants to learn one of the others:

{table(["target", *(n.replace("_", " ") for n in names)], rows)}

`disco` is the share of people whose value all synthetic records with their keys agree on, correctly;
`disclosive in original` is what the original itself would give away (the synthetic file can be the more
uniform one). Where `cap` is hardly above `baseline cap`, the keys help little beyond guessing from the
distribution of the target. Replicated uniques: {uniques[0]:.4f} of the records are alone on their keys in
both files, {uniques[1]:.4f} in the original.
"""


def page() -> str:
    x, y = categorical(), continuous()
    return f"""# Hu: who can be found in synthetic data

Made by `python -m studies.hu`. The measures are
`sdckit.risk.identification_risk` and `sdckit.risk.attribute_disclosure`.

## The table of the slides

{first_part(x)}
## Continuous variables

{second_part(y)}
## What is learnt without being found

{third_part(x)}"""


def main() -> None:
    target = ROOT / "docs" / "studies" / "hu.md"
    target.parent.mkdir(exist_ok=True)
    target.write_text(page())
    print(f"wrote {target.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
