"""Disclosure risk."""

import math
from functools import partial

import polars as pl

import naive_counts
import naive_identification
import naive_linkage
import naive_suda
import sdckit as sdc
from benchmarks import _files as files
from benchmarks._task import Task

CATEGORIES = {"synthesised": ["born", "language", "school"]}
NUMBERS = {"synthesised": ["x", "y", "z"], "relative_radius": 0.2}


def counts(data: sdc.Microdata) -> float:
    return sdc.risk.frequencies(data).value + sdc.risk.individual_risk(data).value


def codes(data: sdc.Microdata) -> list:
    keys = data.frame.select(pl.col(data.roles.keys).rank("dense").cast(pl.Int64).fill_null(0) - 1)
    return keys.rows()


def naive_counted(data: sdc.Microdata) -> object:
    weights = data.frame["sampling_weight"].to_list()
    return naive_counts.wildcard_counts_of_records(codes(data), weights, 1.0)


def naive_uniques(data: sdc.Microdata) -> object:
    return naive_suda.minimal_uniques_of_records(codes(data), len(data.roles.keys), False)


def naive_linked(both: tuple[sdc.Microdata, sdc.Microdata]) -> object:
    x, y = (d.frame.select(files.NUMBERS).rows() for d in both)
    kinds = ["numeric"] * 4
    columns = [(list(a), list(b)) for a, b in zip(zip(*x, strict=True), zip(*y, strict=True), strict=True)]
    scale = naive_linkage.scales(columns, kinds, "euclidean", 2)
    far = partial(naive_linkage.naive_distance, blank_counts=False)
    return naive_linkage.naive_linkage([[far(q, o, kinds, scale, "euclidean") for o in x] for q in y])


def naive_matched(both: tuple[sdc.Microdata, sdc.Microdata]) -> object:
    equal = ["region", "sex", "age", *CATEGORIES["synthesised"]]
    return naive_identification.identification(*[d.frame.to_dicts() for d in both], equal, {}, {})


def value(result: sdc.Result) -> str:
    return "" if math.isnan(result.value) else f"{result.value:.4g}"


def measure(name: str, **options: object) -> dict:
    """The call and its words, for a measure of one file or of two."""
    call = getattr(sdc.risk, name)
    return {
        "run": lambda given: call(*(given if isinstance(given, tuple) else (given,)), **options),
        "say": value,
    }


def randomised(n: int, keys: list[str] = files.FIVE, changed: int | None = None) -> tuple:
    """A file with weights beside itself with keys randomised: all of them, or the first few."""
    data = files.survey(n, keys)
    return data, sdc.protect.pram(data, variables=list(data.roles.keys)[:changed], stay=0.8, rng=1)


def with_numbers(n: int) -> tuple:
    """Ages in tens and microaggregated numbers."""
    data = files.survey(n, files.EIGHT)
    return data, sdc.protect.microaggregate(sdc.protect.recode(data, variable="age", width=10), k=5)


eight = partial(files.survey, keys=files.EIGHT)
gaps = partial(files.survey, missing=True)

TASKS = [
    Task(
        "frequencies and individual risk, 5 keys",
        files.survey,
        counts,
        naive=naive_counted,
        theirs="freqCalc",
    ),
    Task(
        "frequencies, 3 % of the keys missing",
        gaps,
        **measure("frequencies"),
        naive=naive_counted,
        theirs="freqCalcNA",
    ),
    Task("household risk, 5 keys", files.survey, **measure("household_risk"), theirs="measure_risk_hh"),
    Task("l-diversity, 5 keys", files.survey, **measure("l_diversity"), theirs="ldiversity"),
    Task("t-closeness, 5 keys", files.survey, **measure("t_closeness")),
    Task(
        "special uniques (suda), 8 keys",
        eight,
        **measure("suda", missing="nothing"),
        naive=naive_uniques,
        naive_size=200,
        theirs="suda2",
    ),
    Task(
        "re-identification, 5 keys, 2 randomised",
        partial(randomised, changed=2),
        **measure("reidentification_risk", intruders=[sdc.Intruder("neighbour", in_file=False)]),
    ),
    Task(
        "re-identification, 8 keys, all randomised",
        partial(randomised, keys=files.EIGHT),
        **measure("reidentification_risk", intruders=[sdc.Intruder("neighbour", in_file=False)]),
        sizes=(10_000, 100_000),
    ),
    Task(
        "re-identification, 8 keys and 2 numbers (1,000 targets)",
        with_numbers,
        **measure("reidentification_risk", intruders=[sdc.Intruder("insider", knows=["keys", "numeric"])]),
        sizes=(10_000, 100_000),
    ),
    Task(
        "inference of a sensitive value, 5 keys, 2 randomised",
        partial(randomised, changed=2),
        **measure("attribute_inference"),
        sizes=(10_000, 100_000),
    ),
    Task(
        "columns that tell what was hidden",
        with_numbers,
        **measure("revealing_columns"),
        sizes=(10_000, 100_000),
    ),
    Task("population uniques, log-linear", files.survey, **measure("population_uniques")),
    Task(
        "record linkage, 4 numbers",
        files.with_noise,
        **measure("record_linkage"),
        sizes=(2_000, 10_000, 100_000),
        naive=naive_linked,
        naive_size=400,
        theirs="recordLinkage",
    ),
    Task(
        "record linkage, 6 mixed",
        partial(files.mixed, p=6),
        **measure("record_linkage"),
        sizes=(10_000, 100_000),
    ),
    Task("interval disclosure", files.with_noise, **measure("interval_disclosure"), theirs="dRisk"),
    Task(
        "outlier disclosure",
        files.with_noise,
        **measure("outlier_disclosure"),
        sizes=(5_000, 20_000, 100_000),
        theirs="dRiskRMD",
    ),
    Task("closest record, 4 numbers", files.with_noise, **measure("closest_record"), sizes=(10_000, 100_000)),
    Task(
        "identification risk, 3 known + 3 categories",
        files.synthetic,
        **measure("identification_risk", **CATEGORIES),
        naive=naive_matched,
        naive_size=400,
        theirs="IRCpkg",
    ),
    Task(
        "identification risk, 3 known + 3 numbers",
        files.synthetic,
        **measure("identification_risk", **NUMBERS),
    ),
    Task(
        "attribute disclosure, 3 known, 3 targets",
        files.synthetic,
        **measure(
            "attribute_disclosure", known=["region", "sex", "age"], sensitive=CATEGORIES["synthesised"]
        ),
    ),
    Task(
        "atypical enterprises, by size class",
        lambda n: sdc.demo.business(n=n, seed=1),
        **measure("atypical_records", by="size_class", code="nace", complete=True),
        sizes=(2_000, 10_000),
    ),
]
