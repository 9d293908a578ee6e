"""The synthesis of the slides of Hu done again with `synthesize`: risk and utility beside the slides' files.

python -m studies.hu_synthesis writes docs/studies/hu-synthesis.md, from the ACS files where ../shared (or
SDCKIT_ORACLES) is there, from the demo survey otherwise.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from studies.hu import Example, categorical, table

import sdckit as sdc

PAGE = Path(__file__).parents[1] / "docs" / "studies" / "hu-synthesis.md"
WAYS = {
    "leaf 5, gain 0": (5, 0.0),
    "leaf 5, gain 4": (5, 4.0),
    "leaf 20, gain 0": (20, 0.0),
    "leaf 20, gain 4": (20, 4.0),
}
SETS = 3


def ours(x: Example, leaf: int, gain: float, seed: int = 1) -> Example:
    """The same variables drawn anew by trees, as many sets as the slides have."""
    data = x.original.with_roles(keys=[*x.known, *x.more, *x.synthesised], sensitive=())
    sets = sdc.synthesize(data, m=SETS, seed=seed, variables=list(x.synthesised), leaf=leaf, gain=gain)
    return Example(x.source, x.original, sets, x.known, x.more, x.synthesised)


def row(x: Example) -> tuple[float, float, float, float, float]:
    """Expected match risk, persons truly matched, false match rate, mean and largest S_pMSE of the pairs."""
    figures = x.risk().figures
    names = [*x.known, *x.more, *x.synthesised]
    parts = sdc.utility.table_pmse(x.original, list(x.sets), variables=names).parts
    made = set(x.synthesised)
    pairs = [
        ratio
        for first, second, ratio in parts.select("variable", "with", "pmse_ratio").rows()
        if second is not None and ratio is not None and {first, second} & made
    ]
    true = figures["true_match_rate"] * x.original.height
    return figures["expected_match_risk"], true, figures["false_match_rate"], fmean(pairs), max(pairs)


def rows(x: Example) -> list[tuple[str, ...]]:
    """The slides' files first, then ours."""
    made: dict[str, Example] = {"the source's own files": x}
    made |= {name: ours(x, leaf, gain) for name, (leaf, gain) in WAYS.items()}
    found = {name: row(one) for name, one in made.items()}
    return [
        (name, f"{a:.1f}", f"{b:.1f}", f"{c:.3f}", f"{d:.2f}", f"{e:.1f}")
        for name, (a, b, c, d, e) in found.items()
    ]


def page(x: Example, lines: Sequence[tuple[str, ...]]) -> str:
    head = [
        "synthesis",
        "expected match risk",
        "true matches",
        "false match rate",
        "S_pMSE of pairs",
        "largest",
    ]
    source, theirs = lines[0][1], lines[0][4]
    risks, ratios = (sorted((line[k] for line in lines[1:]), key=float) for k in (1, 4))
    low, high, best, worst = risks[0], risks[-1], ratios[0], ratios[-1]
    return f"""# Hu: the same variables, synthesised here

Made by `python -m studies.hu_synthesis`, beside [who can be found in synthetic data](hu.md). Data: {x.source}
({x.original.height:,} records). {", ".join(x.synthesised)} are drawn anew, all other variables are kept; an
intruder knows {", ".join(x.known)}. {SETS} sets each, means over the sets; S_pMSE over all pairs of variables
in which at least one was drawn anew (1 is what a correct synthesis of both gives; with kept variables it can
be lower).

{table(head, lines)}

- **Expected match risk** is the number of persons an intruder is expected to match correctly. The trees give
  {low} to {high}, the source's files {source}: files that keep more relations also keep more of what tells
  persons apart. Larger leaves and a larger gain lower it.
- **Utility** differs by an order of magnitude: the mean S_pMSE is {best} to {worst}, of the source's files
  {theirs}. Trees keep every pair of variables about as well as a second sample would; the source's model does
  not know some of the relations.
"""


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    x = categorical()
    text = page(x, rows(x))
    PAGE.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
