"""SUDA: special uniques, records that few of their keys already make unique."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import comb, prod
from typing import Annotated

import numpy as np
import polars as pl
from pydantic import Field

from sdckit._support.arrays import Floats, Ints
from sdckit._support.number_text import count_of
from sdckit.charts.classes import suda_scores
from sdckit.data.key_cells import KeyCells, Missing, key_cells
from sdckit.data.microdata import Microdata
from sdckit.data.result import Result
from sdckit.data.roles import Role
from sdckit.errors import OptionError
from sdckit.methods.options import KEYS, KeyColumns, MissingKeys, Option
from sdckit.methods.registry import risk
from sdckit.methods.spec import Figure, records, share

MOST_KEYS = 62  # a set of keys is the bits of one integer


class Scoring(StrEnum):
    """What a minimal unique of k out of q keys scores."""

    ORIGINAL = "original"
    SCALED = "scaled"


@dataclass(frozen=True)
class _Uniques:
    """Scores of the cells, the number of minimal uniques by size, and the score each key has a part in."""

    scores: Floats
    by_size: Ints
    by_key: Floats


@risk(
    "Special uniques (SUDA)",
    family="Categorical keys",
    bounds=(0, 1),
    unit="share of records",
    needs=Role.KEYS,
    engines="all",
    share=True,
    main="max_size",
    figures={
        "scored_records": records("Records with a score"),
        "unique_records": records("Records unique on all keys"),
        "minimal_uniques": Figure("Minimal sets of keys that single a record out", counts_records=True),
        "highest_score": Figure("Highest score of a record", "score", extreme=True),
        "highest_dis": share("Highest DIS score: probability that a unique match is right", extreme=True),
        "sum_dis": Figure("DIS scores, added", "records", counts_records=True),
        "match_probability": share("Probability that a unique match is right"),
    },
    chart=suda_scores,
    reference="Elliot, Manning & Ford (2002); Manning, Haglin & Keane (2008); Skinner & Elliot (2002)",
    interpretation=(
        "The intruder knows some keys of a person, we do not know which, and looks for a record that is the "
        "only one with these values. Value: the share of records that can be found so. The fewer keys are "
        "enough, and the more ways there are to choose them, the higher the score of a record. A high score "
        "marks people likely to stand out in the population too, not only in this sample. 0: no record is "
        "unique, whatever keys the intruder knows."
    ),
)
def suda(
    data: Microdata,
    *,
    keys: KeyColumns = KEYS,
    max_size: Annotated[
        Annotated[int, Field(ge=1)] | None,
        Option(
            "Largest set of keys",
            "Sets of up to so many keys are looked at.",
            True,
            "keys",
            absent="any size",
        ),
    ] = None,
    scoring: Annotated[
        Scoring,
        Option(
            "Scoring",
            "What a minimal unique of k out of q keys scores.",
            choices={
                "original": "(q−k)! where every size is looked for",
                "scaled": "k!·(q−k)!/q!·(2^(q−k)−1), so that files with different keys can be compared",
            },
        ),
    ] = Scoring.ORIGINAL,
    dis_fraction: Annotated[
        float,
        Field(gt=0, le=1),
        Option(
            "Sampling fraction",
            "Sampling fraction of the simulated intrusion behind the DIS score.",
            unit="share",
        ),
    ] = 0.01,
    missing: MissingKeys = Missing.WILDCARD,
) -> Result:
    r"""Scores records by the smallest sets of keys that make them unique in the file (special uniques).

    A minimal sample unique of a record is a set of keys on which no other record has the same values, while
    on each smaller part of the set some other has. All of them with at most `max_size` keys are found,
    exactly (None: any size; above some 15 keys give one, as there are 2^q sets to look at). One of k out of q
    keys scores, with m = min(max_size, q−1),

    .. math:: \prod_{i=k}^{m} (q - i), \qquad\text{that is } (q-k)! \text{ when every size is looked for}

    (`scoring="original"`), or k!·(q−k)!/q! · (2^(q−k)−1) (`"scaled"`, where a record unique on all q keys
    only scores 0). The score of a record is the sum over its minimal uniques, 0 for records without.

    DIS-SUDA turns a score s into an estimate of the probability that a match with this record is right:
    1/(1 + c/(s^Q·A)) with c = P·(1−f)/f, Q = 1 + (8−q)/20 and A = Σ s^−Q over records with a score. P is the
    number of records in pairs (cells of two), f = `dis_fraction` the sampling fraction of the simulated
    intrusion. Without pairs (P = 0) nothing speaks against a match, and every record with a score gets 1.

    value: the share of records with a score. figures: how many scored_records that is, unique_records (on all
    keys), minimal_uniques, highest_score, highest_dis, sum_dis and match_probability U·f/(U·f + P·(1−f)), the
    chance that a unique match is right in a file with U unique records (0 without any).
    parts: score and dis_score of each record. tables: contributions (share of the total score that comes from
    minimal uniques with this key; they add up to more than 1), sizes and scores (how many there are).

    Weights: not used. Missing keys: a value that is missing never helps to find its record. That of another
    record matches any value (`missing="wildcard"`), or none ("nothing": as sdcMicro does); with "category"
    missing is a value like any other. For P under "nothing" missing is a value of its own.
    After suppression, PRAM, swapping or synthesis it describes the file and is not the risk of its persons;
    that is `reidentification_risk`.
    Reference: Elliot, Manning & Ford (2002); Manning, Haglin & Keane (2008); DIS: Skinner & Elliot (2002).

    >>> import polars as pl, sdckit as sdc
    >>> frame = pl.DataFrame(
    ...     {
    ...         "residence": ["urban"] * 4 + ["rural"] + ["urban"] * 5,
    ...         "gender": ["f", "f", "f", "m", "f", "m", "f", "m", "f", "f"],
    ...         "education": ["second-", "second-", "prim-", "second", "second", "second", "prim", "post",
    ...                       "second-", "second-"],
    ...         "labour": ["work", "work", "none", "work", "unemployed", "work", "none", "unemployed",
    ...                    "none", "none"],
    ...     }
    ... )
    >>> data = sdc.read(frame, keys=frame.columns)
    >>> found = sdc.risk.suda(data)
    >>> found.value, found.parts["score"].to_list()
    (0.4, [0.0, 0.0, 6.0, 0.0, 12.0, 0.0, 6.0, 10.0, 0.0, 0.0])
    >>> found.parts["dis_score"].filter(found.parts["score"] > 0).round(8).to_list()
    [0.0049868, 0.01138301, 0.0049868, 0.00916668]
    >>> found.tables["contributions"].rows()
    [('residence', 0.235...), ('gender', 0.176...), ('education', 0.647...), ('labour', 0.235...)]
    """
    if len(keys) > MOST_KEYS:
        raise OptionError("suda takes fewer keys.", given=len(keys), allowed=f"up to {MOST_KEYS}")
    # under "nothing" records are still in one cell when their keys, also missing ones, are equal
    rule = Missing.WILDCARD if missing is Missing.WILDCARD else Missing.CATEGORY
    cells = key_cells(data, keys, rule)
    points = _points(len(keys), min(max_size or len(keys), len(keys)), scoring)
    found = _uniques(cells, keys, points, missing)
    pairs = cells.count(cells.sample == 2)
    alone = cells.count(cells.sample == 1)
    dis = dis_scores(found.scores, cells.records, pairs, len(keys), dis_fraction)
    scored = cells.count(found.scores > 0)
    right = alone * dis_fraction
    return Result(
        scored / data.height,
        {
            "scored_records": scored,
            "unique_records": alone,
            "minimal_uniques": int(found.by_size.sum()),
            "highest_score": float(found.scores.max(initial=0)),
            "highest_dis": float(dis.max(initial=0)),
            "sum_dis": float(dis.sum()),
            "match_probability": right / (right + pairs * (1 - dis_fraction)) if alone else 0.0,
        },
        cells.parts(score=found.scores, dis_score=dis),
        _notes(cells, missing, pairs, scored, len(keys)),
        {
            "contributions": _contributions(keys, found),
            "sizes": pl.DataFrame({"size": np.arange(1, len(points) + 1), "minimal_uniques": found.by_size}),
            "scores": score_classes(found.scores),
        },
    )


def _points(keys: int, max_size: int, scoring: Scoring) -> list[float]:
    """What a minimal unique of 1, 2, …, max_size keys scores."""
    sizes = range(1, max_size + 1)
    if scoring is Scoring.SCALED:
        return [(2 ** (keys - size) - 1) / comb(keys, size) for size in sizes]
    most = min(max_size, keys - 1)
    return [float(prod(keys - i for i in range(size, most + 1))) for size in sizes]


def _uniques(cells: KeyCells, keys: Sequence[str], points: Sequence[float], missing: Missing) -> _Uniques:
    from sdckit.kernels.minimal_uniques import minimal_uniques

    codes = np.ascontiguousarray(cells.codes[:, : len(keys)])
    if missing is Missing.CATEGORY:
        codes = codes + 1
    scores = np.zeros(len(codes))
    by_size = np.zeros(len(points), dtype=np.int64)
    by_key = np.zeros(len(keys))
    wildcard = missing is Missing.WILDCARD
    for subset, which in minimal_uniques(codes, cells.sample == 1, len(points), wildcard=wildcard):
        scored = points[len(subset) - 1]
        scores[which] += scored
        by_size[len(subset) - 1] += len(which)
        by_key[subset] += scored * len(which)
    return _Uniques(scores, by_size, by_key)


def dis_scores(scores: Floats, records: Ints, pairs: int, keys: int, fraction: float) -> Floats:
    """DIS-SUDA of each cell: how likely a match with its record is right."""
    dis = np.zeros_like(scores)
    scored = scores > 0
    power = scores[scored] ** (1 + (8 - keys) / 20)
    scale = (records[scored] / power).sum()
    dis[scored] = 1 / (1 + pairs * (1 - fraction) / fraction / (power * scale))
    return dis


def _contributions(keys: Sequence[str], found: _Uniques) -> pl.DataFrame:
    total = found.scores.sum()
    shares = found.by_key / total if total > 0 else np.zeros(len(keys))
    return pl.DataFrame({"key": list(keys), "contribution": shares})


def score_classes(scores: Floats) -> pl.DataFrame:
    """How many records score how much; scores of 0 left out.

    Limits double from class to class, or grow faster where more than sixteen classes would be needed.
    """
    positive = scores[scores > 0]
    if not len(positive):
        return pl.DataFrame(schema={"from": pl.Float64, "below": pl.Float64, "records": pl.Int64})
    power = np.floor(np.log2(positive)).astype(np.int64)
    low = power.min()
    step = 1 + (power.max() - low) // 16
    records = np.bincount((power - low) // step)
    limits = 2.0 ** (low + step * np.arange(len(records) + 1))
    return pl.DataFrame({"from": limits[:-1], "below": limits[1:], "records": records})


def _notes(cells: KeyCells, missing: Missing, pairs: int, scored: int, keys: int) -> tuple[str, ...]:
    notes: tuple[str, ...] = ()
    incomplete = cells.count(cells.incomplete)
    if incomplete:
        rule = {
            Missing.WILDCARD: "a missing value matches any value and never helps to find its record",
            Missing.CATEGORY: "missing counts as a category of its own",
            Missing.NOTHING: "a missing value matches no other and never helps to find its record",
        }[missing]
        notes += (f"{count_of(incomplete, 'record has', 'records have')} a missing key; {rule}.",)
    if scored and not pairs:
        notes += (
            "No two records make a pair, so every DIS score is 1: the file is too small to estimate it.",
        )
    if keys >= 28:
        notes += ("With 28 keys and more the exponent of the DIS score is not positive: do not use it.",)
    return notes
