"""Beside SDMetrics and Anonymeter: the same files, CPU seconds and results.

    pip install sdmetrics anonymeter
    python -m benchmarks.other_tools [words of a task …] [--write]

--write puts the table into docs/benchmarks.md. Without the two packages it says so and ends.
"""

import argparse
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import sdckit as sdc
from benchmarks._table import OTHERS
from benchmarks._task import WARM, _timed

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
KEYS = ["region", "sex", "education", "labour_status"]
TARGET = "health"
CATEGORIES = [*KEYS, TARGET]
NUMBERS = ["age", "income", "expenditure"]
PAIRS = [list(pair) for pair in combinations(CATEGORIES, 2)]
HALVES = (["region", "sex", "education", "age"], ["labour_status", "health", "income", "expenditure"])
LINEAR, QUADRATIC = (10_000, 50_000), (2_000, 10_000)
ATTACKS = 500
LONG = 10.0  # seconds: a shorter run is repeated and the best of three counts

TEXT = """\
{sdmetrics}, {anonymeter} and sdckit {sdckit} in one environment. To run it again: `pip install sdmetrics
anonymeter`, then `python -m benchmarks.other_tools --write`, which writes this section.

The original is `sdckit.demo.survey`: complete records with five categories and three numbers, without
weights, which neither package takes. The synthetic file draws each column of it independently. *theirs* and
*ours* are CPU seconds of all threads, the best of three unless longer than 10 s, on a busy machine, after a
first call on a small file. Results marked * are by different definitions.
"""

REMARKS = """
What the figures do and do not say:

- **Small figures are no ranking.** Distances of single columns and of pairs take both a few hundredths of a
  second. `distribution_distance` also returns two more distances and a histogram, `contingency_tables` four
  more measures and every cell.
- **Attribution**: `DisclosureProtection` gives one CAP, `attribute_disclosure` twelve figures from the same
  counts. CAP is that of records found; their `zero_cap` is our `cap`. Their yardstick is one over the
  number of categories, ours (`baseline_cap`) a guess from the distribution of the target, which is harder
  to beat.
- **Closest record**: SDMetrics and sdckit do two searches, synthetic records among originals, and a yardstick
  among originals: theirs is a file drawn uniformly, ours real people. Anonymeter's is the first search only.
  Both packages compare all pairs; we search a tree, without approximation. Distances of single records agree
  to 1e-15, with SDMetrics also where values are missing. One rule differs: beyond the range of the original
  its difference is cut at 1, ours is not.
- **With a hold-out** the results do not agree, on purpose. SDMetrics 0.32.0 divides the distances to the
  original by the ranges of the original, and those to the hold-out by the ranges of the hold-out. One large
  income in either file then decides which is closer: with the original and one rich person more as
  hold-out, every synthetic record counts as closer to the hold-out, where each should tie. We use one scale
  for both (and count ties half); a plain loop over all pairs gives our figure.
- **Copies**: with the tolerance at 0, as here; by default theirs also counts numbers within 1 %. Our time
  is that of the whole of `closest_record`.
- **Detection** is not the same work: theirs is the AUC of three-fold cross-validation, turned into a score,
  ours the pMSE of a fit to all records over its expectation (1: a perfect synthesis).
- **Inference**: Anonymeter attacks 500 records by the nearest synthetic record, ours looks at the cell of
  every record; where all keys are found the two estimate the same share. Its sample comes with an interval,
  ours is of all records. In Anonymeter a missing number makes every distance to complete records missing,
  too.
- **Linkability and singling out** (several columns) are the shares of attacks that work, of people in the
  file and of people held back (their `control=`), 500 attacks at most. Theirs are shrunk towards one half and
  break ties at random; ours are not shrunk and take ties at their expectation.
  Our singling out also tries single columns, and few records have descriptions that fit no other.
"""


class Files:
    """Original, synthetic and held-out records, for us and as pandas frames."""

    def __init__(self, n: int) -> None:
        self.n = n
        frames = _frames(n)
        roles = {"keys": KEYS, "numeric": NUMBERS, "sensitive": TARGET}
        self.original, self.synthetic, self.holdout = (sdc.read(f, **roles) for f in frames)
        text = pl.col(CATEGORIES).cast(pl.String)  # so that categories are not taken for numbers
        self.theirs = tuple(f.with_columns(text).to_pandas() for f in frames)


@cache
def _frames(n: int) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    rng = np.random.default_rng(1)
    real, held = (
        sdc.demo.survey(2 * n, seed).frame.select(*CATEGORIES, *NUMBERS).drop_nulls() for seed in (1, 2)
    )
    real, held = (f[rng.permutation(f.height)[:n]] for f in (real, held))
    made = pl.DataFrame([column.gather(rng.integers(0, real.height, n)) for column in real])
    return real, made, held


METADATA = {
    "columns": {
        **{c: {"sdtype": "categorical"} for c in CATEGORIES},
        **{c: {"sdtype": "numerical"} for c in NUMBERS},
    }
}


@dataclass(frozen=True)
class Row:
    """Both return the result as text; `same` is the definition."""

    task: str
    tool: str
    sizes: tuple[int, ...]
    theirs: Callable[[Files], str]
    ours: Callable[[Files], str]
    same: bool = True


def _four(value: float) -> str:
    return f"{value:.4f}"


def _columns(metric: str, names: list[Any], module: str, files: Files, scale: float = 1.0) -> str:
    """The mean distance over columns or pairs of them: their scores are 1 for equal."""
    from importlib import import_module

    real, made, _ = files.theirs
    compute = getattr(import_module(f"sdmetrics.{module}"), metric).compute
    return _four(np.mean([scale * (1 - compute(real[c], made[c])) for c in names]))


def _tables(files: Files, tables: list[list[str]]) -> str:
    result = sdc.utility.contingency_tables(files.original, files.synthetic, tables=tables)
    return _four(result.figures["total_variation"])


def _attribution(files: Files) -> str:
    from sdmetrics.single_table import DisclosureProtection

    real, made, _ = files.theirs
    found = DisclosureProtection.compute_breakdown(real, made, KEYS, [TARGET])
    return _four(1 - found["cap_protection"])


def _our_attribution(files: Files) -> str:
    return _four(sdc.risk.attribute_disclosure(files.original, files.synthetic).figures["cap_found"])


def _closest(files: Files) -> str:
    from sdmetrics.single_table import DCRBaselineProtection

    real, made, _ = files.theirs
    found = DCRBaselineProtection.compute_breakdown(real, made, METADATA, None)
    return _four(found["median_DCR_to_real_data"]["synthetic_data"])


def _overfitting(files: Files) -> str:
    from sdmetrics.single_table import DCROverfittingProtection

    real, made, held = files.theirs
    found = DCROverfittingProtection.compute_breakdown(real, made, held, METADATA, None)
    return _four(found["synthetic_data_percentages"]["closer_to_training"])


def _copies(files: Files) -> str:
    from sdmetrics.single_table import NewRowSynthesis

    real, made, _ = files.theirs
    return _four(1 - NewRowSynthesis.compute(real, made, METADATA, numerical_match_tolerance=0.0))


def _our_closest(files: Files, figure: str, holdout: sdc.Microdata | None = None) -> str:
    found = sdc.risk.closest_record(files.original, files.synthetic, records=files.n, holdout=holdout)
    return _four(found.figures[figure])


def _detection(files: Files) -> str:
    from sdmetrics.single_table import LogisticDetection

    real, made, _ = files.theirs
    return _four(LogisticDetection.compute(real, made, METADATA))


def _neighbours(files: Files) -> str:
    from anonymeter.evaluators.linkability_evaluator import MixedTypeKNeighbors  # its own module fails first

    real, made, _ = files.theirs
    search = MixedTypeKNeighbors(n_neighbors=1).fit(real)
    return _four(np.median(search.kneighbors(made, return_distance=True)[0]) / real.shape[1])


def _inference(files: Files) -> str:
    from anonymeter.evaluators import InferenceEvaluator

    real, made, _ = files.theirs
    done = InferenceEvaluator(real, made, aux_cols=KEYS, secret=TARGET).evaluate().results().attack_rate
    return f"{done.value:.2f} ± {done.error:.2f}"


def _linkability(files: Files) -> str:
    from anonymeter.evaluators import LinkabilityEvaluator

    real, made, held = files.theirs
    attacks = min(ATTACKS, files.n)
    done = LinkabilityEvaluator(real, made, HALVES, n_attacks=attacks, control=held).evaluate()
    return _rates(done)


def _our_linkability(files: Files) -> str:
    first, second = HALVES
    given = {"first": first, "second": second, "attacks": ATTACKS, "holdout": files.holdout}
    found = sdc.risk.linkability(files.original, files.synthetic, **given).figures
    return f"{found['attack']:.4f}, {found['control']:.4f}"


def _singling_out(files: Files) -> str:
    from anonymeter.evaluators import SinglingOutEvaluator

    real, made, held = files.theirs
    return _rates(SinglingOutEvaluator(real, made, n_attacks=ATTACKS, control=held, seed=1).evaluate())


def _our_singling_out(files: Files) -> str:
    found = sdc.risk.singling_out(files.original, files.synthetic, holdout=files.holdout, attacks=ATTACKS)
    return ", ".join(f"{found.figures[f'multivariate_{which}']:.4f}" for which in ("attack", "control"))


def _rates(done: Any) -> str:
    """The shares of Anonymeter's attacks that worked, of people in the file and of others."""
    found = done.results()
    return f"{found.attack_rate.value:.4f}, {found.control_rate.value:.4f}"


ROWS = (
    Row(
        "Kolmogorov–Smirnov, 3 numbers",
        "KSComplement",
        LINEAR,
        lambda f: _columns("KSComplement", NUMBERS, "single_column", f),
        lambda f: _four(sdc.utility.distribution_distance(f.original, f.synthetic).value),
    ),
    Row(
        "total variation, 5 categories",
        "TVComplement",
        LINEAR,
        lambda f: _columns("TVComplement", CATEGORIES, "single_column", f),
        lambda f: _tables(f, [[c] for c in CATEGORIES]),
    ),
    Row(
        "total variation, 10 pairs",
        "ContingencySimilarity",
        LINEAR,
        lambda f: _columns("ContingencySimilarity", PAIRS, "column_pairs", f),
        lambda f: _tables(f, PAIRS),
    ),
    Row(
        "change of a correlation, 3 numbers",
        "CorrelationSimilarity",
        LINEAR,
        lambda f: _columns(
            "CorrelationSimilarity", [list(p) for p in combinations(NUMBERS, 2)], "column_pairs", f, 2.0
        ),
        lambda f: _four(sdc.utility.matrix_discrepancy(f.original, f.synthetic).value),
    ),
    Row(
        "telling the files apart",
        "LogisticDetection",
        LINEAR,
        _detection,
        lambda f: _four(sdc.utility.propensity(f.original, f.synthetic).figures["pmse_ratio"]),
        same=False,
    ),
    Row("attribution (CAP), 4 known", "DisclosureProtection", QUADRATIC, _attribution, _our_attribution),
    Row(
        "closest record, median distance",
        "DCRBaselineProtection",
        QUADRATIC,
        _closest,
        lambda f: _our_closest(f, "median_distance"),
    ),
    Row(
        "closest record, median distance",
        "Anonymeter's MixedTypeKNeighbors",
        QUADRATIC,
        _neighbours,
        lambda f: _our_closest(f, "median_distance"),
    ),
    Row(
        "closer to original than hold-out",
        "DCROverfittingProtection",
        QUADRATIC[:1],
        _overfitting,
        lambda f: _our_closest(f, "closer_to_original", f.holdout),
    ),
    Row("copies", "NewRowSynthesis", QUADRATIC, _copies, lambda f: _our_closest(f, "copies")),
    Row(
        "inference, 4 known",
        "Anonymeter's InferenceEvaluator",
        LINEAR,
        _inference,
        _our_attribution,
        same=False,
    ),
    Row(
        "linkability", "Anonymeter's LinkabilityEvaluator", LINEAR, _linkability, _our_linkability, same=False
    ),
    Row(
        "singling out",
        "Anonymeter's SinglingOutEvaluator",
        LINEAR[:1],
        _singling_out,
        _our_singling_out,
        same=False,
    ),
)


def _best(work: Callable[[Files], str], n: int) -> tuple[str, float]:
    """The result and the least CPU seconds."""
    _once(work, WARM)
    result, seconds = _once(work, n)
    for _ in range(2 if seconds < LONG else 0):
        seconds = min(seconds, _once(work, n)[1])
    return result, seconds


def _once(work: Callable[[Files], str], n: int) -> tuple[str, float]:
    files = Files(n)  # anew, so that nothing kept from the last run helps
    result, seconds, _ = _timed(lambda: work(files))
    return result, seconds


def _line(row: Row, n: int) -> str:
    result, seconds = _best(row.theirs, n)
    ours, our_seconds = _best(row.ours, n)
    mark = "" if row.same else " *"
    cells = (
        row.task,
        row.tool,
        f"{n:,}",
        f"{seconds:.3f}",
        f"{our_seconds:.3f}",
        f"{result}{mark}",
        f"{ours}{mark}",
    )
    return f"| {' | '.join(cells)} |"


def _section(lines: list[str]) -> str:
    names = {"sdmetrics": "SDMetrics", "anonymeter": "Anonymeter", "sdckit": ""}
    said = {name: f"{title} {version(name)}".strip() for name, title in names.items()}
    head = "| task | of SDMetrics, else named | records | theirs | ours | their result | our result |"
    table = [head, "|---|---|---:|---:|---:|---:|---:|", *lines]
    return "\n".join([f"{OTHERS}\n", TEXT.format(**said), *table, REMARKS])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", help="only tasks whose name has one of these")
    parser.add_argument("--write", action="store_true", help="also write the section of docs/benchmarks.md")
    given = parser.parse_args()
    absent = [name for name in ("sdmetrics", "anonymeter") if find_spec(name) is None]
    if absent:
        sys.exit(f"Not installed: {', '.join(absent)}. Try: pip install sdmetrics anonymeter")
    warnings.filterwarnings("ignore")  # theirs, on long tables and weak attacks
    lines = []
    for row in ROWS:
        if given.words and not any(word in row.task for word in given.words):
            continue
        for n in row.sizes:
            lines.append(_line(row, n))
            print(lines[-1], flush=True)
    if given.write:
        before, _, _ = PAGE.read_text(encoding="utf-8").partition(OTHERS)
        PAGE.write_text(before + _section(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
