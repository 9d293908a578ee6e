"""The seven scenarios of the practice guide's Table 6.1, on the demo survey.

python -m studies.benschop_2019 writes docs/studies/benschop-2019.md and its pictures.
"""

import argparse
from pathlib import Path
from typing import Any

import sdckit as sdc
from sdckit._support.number_text import number, percent
from sdckit.choose.cross_table import tabulated

PAGE = Path(__file__).parents[1] / "docs" / "studies" / "benschop-2019.md"
N, SEED, SEEDS = 5_000, 1, 5
CEILING = 0.0005  # one record in two thousand

# every category that the table or its mosaics name
KEYS = (
    "region", "urban", "sex", "age", "relationship_status", "education", "occupation", "literacy", "water",
    "toilet",
)  # fmt: skip


def high(*keys: str) -> dict[str, str]:
    return dict.fromkeys(keys, "high")


def local(k: int, importance: dict[str, str] | None = None) -> dict[str, Any]:
    """Suppression by the rule of the guide's program: a blank matches any value."""
    chosen: dict[str, Any] = {} if importance is None else {"importance": importance}
    return {"suppress": {"k": k, **chosen, "missing": "wildcard", "seed": SEED}}


def merge(variable: str, **new: list[str]) -> dict[str, Any]:
    return {"group": {"variables": [variable], "map": {n.replace("_", " "): old for n, old in new.items()}}}


AGE = [{"recode": {"variable": "age", "width": 5}}]
COARSE = [
    *AGE,
    merge(
        "region",
        Capital_and_Coast=["Capital", "Coast"],
        Plains_and_Lakes=["Plains", "Lakes"],
        The_interior_and_Islands=["Hills", "Forest", "Highlands", "Islands"],
    ),
    merge("urban", Urban_or_rural=["Urban", "Rural"]),
    merge(
        "education",
        Primary_or_none=["None", "Primary"],
        Secondary=["Lower secondary", "Upper secondary"],
        Tertiary=["Post-secondary", "University"],
    ),
    merge(
        "occupation",
        Higher_white_collar=["Managers", "Professionals", "Technicians"],
        Clerks_and_services=["Clerks", "Service and sales workers"],
        Manual=["Agricultural workers", "Craft workers", "Machine operators", "Elementary occupations"],
    ),
]
SCENARIOS: dict[str, list[Any]] = {
    "scenario 1": [*AGE, local(3, high("water", "toilet", "literacy"))],
    "scenario 2": [*AGE, local(5)],
    "scenario 3": [*COARSE, local(3, high("toilet"))],
    "scenario 4": [*COARSE, local(5, high("water", "toilet", "literacy"))],
    "scenario 5": [
        *COARSE,
        local(3),
        {"microaggregate": {"variables": ["wealth_index"], "k": 3}},
    ],
    "scenario 6": [*COARSE, local(3), {"pram": {"variables": ["literacy"]}}],
}
WORDS = {
    "scenario 1": "age in fives; k = 3, high importance of water, toilet and literacy",
    "scenario 2": "age in fives; k = 5, no importance",
    "scenario 3": "age in fives, four variables recoded; k = 3, high importance of toilet",
    "scenario 4": "age in fives, four recoded; k = 5, high importance of water, toilet and literacy",
    "scenario 5": "age in fives, four recoded; k = 3, no importance; wealth index microaggregated",
    "scenario 6": "age in fives, four recoded; k = 3, no importance; literacy by PRAM",
}
# methods and parameters for the gender coefficient: the guide names none of its own
MORE: dict[str, list[Any]] = {
    "age in fives": AGE,
    "k = 3": [*AGE, local(3)],
    "k = 10": [*AGE, local(10)],
    "k = 10, sex first": [*AGE, local(10, {"sex": "low"})],
    "PRAM sex 0.9": [*AGE, {"pram": {"variables": ["sex"], "stay": 0.9}}],
    "PRAM sex 0.6": [*AGE, {"pram": {"variables": ["sex"], "stay": 0.6}}],
    "k = 3, noise": [*AGE, local(3), {"add_noise": {"variables": ["income"], "sd": 1.0}}],
    "k = 3, income in 50s": [
        *AGE, local(3), {"microaggregate": {"variables": ["income"], "k": 50}},
    ],
}  # fmt: skip
PRAM = {"invariant PRAM": [{"pram": {"variables": ["water", "roof", "toilet"]}}]}
MINCER = "log(income) ~ sex + education + age + I(age^2) + labour_status"
GENDER = "sex[T.Female]"
RISK, LOSS = "individual_risk", "entropy_loss.share"
ALSO = ("missing_values", "contingency_loss", "records_changed", "il1s")
TITLES = {
    LOSS: "information lost in the keys",
    "missing_values": "new missing values",
    "contingency_loss": "CTBIL",
    "records_changed": "records changed",
    "il1s": "IL1s",
    "regression": "overlap of the Mincer coefficients",
}


def survey(n: int = N, seed: int = SEED) -> sdc.Microdata:
    data = sdc.demo.survey(n=n, seed=seed)
    return data.with_roles(keys=KEYS, numeric=["income", "wealth_index"], sensitive=())


def compared(
    data: sdc.Microdata, scenarios: dict[str, list[Any]] = SCENARIOS, **more: Any
) -> sdc.RiskUtilityMap:
    return sdc.compare(
        data,
        scenarios,
        risk=RISK,
        utility=LOSS,
        max_risk=CEILING,
        regression={"formula": MINCER},
        seed=SEED,
        **more,
    )


def changes(found: sdc.RiskUtilityMap, variable: str) -> dict[str, float]:
    """How far the distribution moved (total variation), by scenario: changes that cancel out do not count."""
    files = [found.data, *(found.protect(p.name) for p in found.results)]
    first, *others = [
        {place: size / sum(cells.values()) for place, size in cells.items()}
        for cells in tabulated(files, variable).files
    ]
    return {
        point.name: sum(abs(first.get(c, 0) - other.get(c, 0)) for c in {*first, *other}) / 2
        for point, other in zip(found.results, others, strict=True)
    }


def cramers_v(data: sdc.Microdata, first: str, second: str) -> float:
    """How strongly two categories go together: 0 not at all, 1 one tells the other."""
    table = tabulated([data], [first, second])
    (cells,) = table.files
    total = sum(cells.values())
    rows, columns = (
        {c: sum(size for place, size in cells.items() if place[axis] == c) for c in table.levels[axis]}
        for axis in (0, 1)
    )
    square = sum(cells.get((a, b), 0) ** 2 / (rows[a] * columns[b]) for a in rows for b in columns) - 1
    return (square / (min(len(rows), len(columns)) - 1)) ** 0.5 if total else 0.0


def pictures(found: sdc.RiskUtilityMap, more: sdc.RiskUtilityMap, pram: sdc.RiskUtilityMap) -> dict[str, Any]:
    return {
        "map": found.chart(),
        "multiples": found.multiples(),
        "sex": found.mosaics("sex"),
        "relationship": found.mosaics("relationship_status"),
        "both": found.mosaics(["sex", "relationship_status"]),
        "gender": found.estimate_chart(GENDER),
        "gender-more": more.estimate_chart(GENDER),
        "water": pram.mosaics("water"),
        "roof-toilet": pram.mosaics(["roof", "toilet"]),
    }


def save(charts: dict[str, Any], folder: Path) -> None:
    """Draw every picture on white, so that it can be read on a dark page too."""
    for name, chart in charts.items():
        chart.config.background = "white"
        chart.save(str(folder / f"benschop-2019-{name}.svg"))


def table(head: list[str], rows: list[list[str]], left: int = 1) -> str:
    """A Markdown table; columns after the first `left` hold numbers."""
    rule = ["---"] * left + ["---:"] * (len(head) - left)
    return "\n".join(f"| {' | '.join(line)} |" for line in [head, rule, *rows])


def scenario_table(found: sdc.RiskUtilityMap) -> str:
    head = ["scenario", "what is done", "mean risk", "expected re-identifications", *TITLES.values()]
    rows = []
    for point in (found.original, *found.results):
        losses = [point.value(name) for name in TITLES]
        shares = [number(v) if n == "il1s" else percent(v) for n, v in zip(TITLES, losses, strict=True)]
        name = "0, original" if point is found.original else point.name.removeprefix("scenario ")
        expected = f"{point.value('individual_risk.expected_reidentifications'):.2f}"
        rows.append([name, WORDS.get(point.name, "nothing"), percent(point.risk), expected, *shares])
    return table(head, rows, left=2)


def minus(value: float) -> str:
    return f"{value:.3f}".replace("-", "−")


def estimate_table(found: sdc.RiskUtilityMap) -> str:
    rows = [
        [
            row["scenario"],
            f"{row['expected_reidentifications']:.2f}",
            minus(row["estimate"]),
            f"{minus(row['low'])} … {minus(row['high'])}",
            "yes" if row["contained"] else "no",
            percent(row["overlap"]),
        ]
        for row in found.estimates.filter(name=GENDER).to_dicts()
    ]
    own = next(e for e in found.original.estimates if e.name == GENDER)
    expected = f"{found.original.value('individual_risk.expected_reidentifications'):.2f}"
    first = ["original", expected, minus(own.estimate), f"{minus(own.low)} … {minus(own.high)}", "", ""]
    head = ["scenario", "expected re-identifications", "gender coefficient", "95 % interval"]
    return table([*head, "in the original interval", "overlap"], [first, *rows])


def change_table(found: sdc.RiskUtilityMap) -> str:
    both = {variable: changes(found, variable) for variable in ("sex", "relationship_status")}
    published = {"sex": "256", "relationship_status": "34"}
    rows = []
    for scenario in found.results:
        digit = scenario.name[-1]
        cells = []
        for variable, change in both.items():
            place = sorted(round(v, 6) for v in change.values()).index(round(change[scenario.name], 6)) + 1
            cells += [percent(change[scenario.name]), str(place)]
            cells.append("among the smallest" if digit in published[variable] else "")
        rows.append([digit, *cells])
    head = ["scenario"]
    for name in ("gender", "relationship status"):
        head += [f"{name} changed", "place", "in the guide"]
    return table(head, rows)


def page(found: sdc.RiskUtilityMap, more: sdc.RiskUtilityMap, pram: sdc.RiskUtilityMap) -> str:
    protected = pram.protect("invariant PRAM")
    water = changes(pram, "water")["invariant PRAM"]
    moved = float((pram.data.frame["water"] != protected.frame["water"]).mean())
    before, after = (cramers_v(data, "roof", "toilet") for data in (pram.data, protected))
    after_pram = found.results[5].risk / found.results[4].risk
    best = found.best
    return f"""# Seven scenarios, one map: the practice guide's Table 6.1

*Written by `python -m studies.benschop_2019`.*

The practice guide for microdata anonymization (Benschop, Machingauta & Welch 2019, chapter *Measuring
utility*) compares an untreated file and six sets of methods, its Table 6.1, and shows with mosaic plots what
they do to gender and relationship status. It prints no numbers. Here are the same seven scenarios on the demo
survey ({found.data.height:,} artificial people), with the risk, six utility measures, the gender coefficient
of a wage equation and the mosaics, all from one comparison:

```python
found = sdc.compare(
    data,
    SCENARIOS,
    risk="individual_risk",
    utility="entropy_loss.share",
    max_risk={CEILING},
    seeds={SEEDS},
    extra_measures=[{", ".join(f'"{name}"' for name in ALSO)}],
    regression={{"formula": "{MINCER}"}},
)
found.chart()
found.multiples()
found.estimate_chart("{GENDER}")
found.mosaics("sex")
```

## The scenarios

The keys are the categories that the table names, and the two of the mosaics:
{", ".join(KEYS)}.
Suppression is by the rule of the guide's program, by which a blank matches any value
(`missing="wildcard"`), and the risk is the one it measures; neither says what an informed intruder finds
(`reidentification_risk`).
"High importance" means that suppressing the variable costs a hundred times as much as another. Recoding:
eight regions become three, six levels of education three, nine occupations three; the demo knows urban and
rural only, so recoding that variable merges the two. Scenarios 5 and 6 have random steps: means over {SEEDS}
seeds.

{scenario_table(found)}

Mean risk: of re-identification (`individual_risk`). Losses are 0 for the original; the overlap of its
confidence intervals with themselves is 100 %. What can be read off:

- Scenarios 1 and 2 blank more cells than 3 and 5 and still lose far less of what the keys tell, because
  recoding takes detail from every record. It shows most in the regression: all coefficients of education are
  other ones after recoding, and count as lost.
- PRAM after suppression makes new rare combinations: scenario 6 has {after_pram:.1f} times the measured risk
  of scenario 5, whose keys differ in literacy only. The measure takes randomised values for true, which an
  intruder cannot, so the real risk is lower.
- IL1s sees scenario 5 only, the one that touches a number: a measure must suit the method.

## The risk–utility map

![Risk–utility map of the six scenarios](benschop-2019-map.svg)

Recommended is {best.name}: it loses least ({percent(best.loss)}) among those with at most the accepted
risk, here one in {1 / CEILING:,.0f} as an example; its risk is {percent(best.risk)},
{percent(found.original.risk)} before. The triangle is the original, the square no release, as in the guide's
Figure 6.1. Another measure of utility can turn the picture round:

![The same scenarios by six measures of utility](benschop-2019-multiples.svg)

By new missing values the recoded scenarios are best; by the information left in the keys, and by the wage
equation, those without recoding. The recommended point is that of the map above in every panel.

## Gender and relationship status (the guide's Figure 6.7)

![Gender in the original and the six scenarios](benschop-2019-sex.svg)

![Relationship status in the original and the six scenarios](benschop-2019-relationship.svg)

Change is how far the distribution moved: the least share of people who must have changed category (total
variation; scenarios 5 and 6 with their first seed), place 1 the smallest. The guide reads off its figure
which scenarios change least.

{change_table(found)}

- Gender: the guide's three are the scenarios without an importance vector. Ours point the same way where the
  rest is alike: 5 and 6 change gender a little less than 3, and 2 less than 1 although it asks for more
  (k = 5). Such differences are small: other names of the merged categories alone, which decide between equal
  choices, moved scenario 3 from 1.1 to 1.5 %. And 2 comes after 3 and 4: with ten keys and no recoding, k = 5
  needs more suppression here.
- Relationship status: 3 changes little, as in the guide. 4 does not: its k = 5 takes from the variables that
  were not called important, and relationship status has rare categories.
- The guide's data, keys and recodings are not published, and its suppression, sdcMicro's, is another
  algorithm; so the places need not agree.

Both at once, columns by gender (the narrow one: gender suppressed):

![Relationship status by gender in all scenarios](benschop-2019-both.svg)

## The gender coefficient (the guide's Figure 6.2)

`{MINCER}`, with weights and the variance of the survey design.

![Gender coefficient of the scenarios against expected re-identifications](benschop-2019-gender.svg)

{estimate_table(found)}

All six keep the coefficient; suppression leaves records out, which widens the interval. Age enters as the
middle of its interval. In the guide's figure estimates "vary greatly" with methods and parameters that it
does not name. With methods that touch gender or income they do here too:

![Gender coefficient under more methods](benschop-2019-gender-more.svg)

{estimate_table(more)}

PRAM of gender pulls the coefficient to 0 (the invariant step lets fewer values stay than its number says) and
hardly lowers the risk. What is done to income moves the coefficient at the same risk, since income is no key.
The guide draws expected re-identifications upwards, we from left to right.

## PRAM and mosaics (the guide's Figures 6.6, 6.8 and 6.9)

Invariant PRAM of water, roof and toilet, with the usual `stay=0.8`.

![Water before and after PRAM](benschop-2019-water.svg)

As in the guide, the distribution of one variable hardly changes: that of water moves by {percent(water)},
although {percent(moved)} of the records have another value.

![Roof by toilet before and after PRAM](benschop-2019-roof-toilet.svg)

And as in the guide the two-way table does: Cramér's V of roof and toilet falls from {before:.2f} to
{after:.2f}.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=N)
    parser.add_argument("--out", type=Path, default=PAGE)
    given = parser.parse_args()
    data = survey(given.n)
    found = compared(data, extra_measures=ALSO, seeds=SEEDS, jobs=2)
    more = compared(data, MORE, jobs=2)
    pram = sdc.compare(data, PRAM, utility="contingency_loss", seed=SEED)
    save(pictures(found, more, pram), given.out.parent)
    given.out.write_text(page(found, more, pram), encoding="utf-8")


if __name__ == "__main__":
    main()
