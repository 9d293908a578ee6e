"""Protection."""

import numpy as np

import sdckit as sdc
from benchmarks import _files as files
from benchmarks._task import Task
from naive_mdav import naive_mdav
from naive_rank_swap import naive_partners

SWAP = {"geography": "reg", "similar": "hs", "share": 0.05, "keys": ["relat", "age"], "k": 2}


def step(name: str, **options: object) -> dict:
    """The call of a protection."""
    call = getattr(sdc.protect, name)
    drawn = {"rng": 1} if "rng" in sdc.registry.find(name).parameters else {}
    return {"run": lambda data: call(data, **options, **drawn)}


def blanked(data: sdc.Microdata) -> str:
    cells = sum(data.frame[c].null_count() for c in files.FIVE)
    return f"{cells:,} cells blanked"


def lost(data: sdc.Microdata) -> str:
    """SSE/SST of the standardised numbers."""
    x, y = files.amounts(data.height), data.frame.select(files.NUMBERS).to_numpy()
    return f"SSE/SST {np.mean(((x - y) ** 2).sum(axis=0) / ((x - x.mean(axis=0)) ** 2).sum(axis=0)):.2e}"


def naive_groups(data: sdc.Microdata) -> object:
    x = data.frame.to_numpy()
    return naive_mdav(((x - x.mean(axis=0)) / x.std(axis=0, ddof=1)).tolist(), 3)


def naive_swapped(data: sdc.Microdata) -> object:
    import random

    return [naive_partners(data.height, data.height // 20, random.Random(1)) for _ in files.NUMBERS]


TASKS = [
    Task(
        "local suppression, 5 keys, k = 3",
        files.survey,
        **step("suppress", k=3),
        theirs="kAnon3",
        say=blanked,
    ),
    Task(
        "microaggregation, MDAV, 4 numbers",
        files.numbers,
        **step("microaggregate", refine=False),
        naive=naive_groups,
        naive_size=2_000,
        theirs="mdav",
        say=lost,
    ),
    Task("microaggregation, MDAV refined", files.numbers, **step("microaggregate"), theirs="mdav", say=lost),
    Task(
        "microaggregation, individual ranking",
        files.numbers,
        **step("microaggregate", method="individual_ranking"),
        theirs="onedims",
        say=lost,
    ),
    Task(
        "microaggregation, optimal a column",
        files.numbers,
        **step("microaggregate", method="optimal"),
        say=lost,
    ),
    Task(
        "microaggregation, robust",
        files.numbers,
        **step("microaggregate", method="robust"),
        sizes=(1_000, 5_000, 100_000),
        theirs="rmd",
        say=lost,
    ),
    Task(
        "noise, correlated",
        files.numbers,
        **step("add_noise", method="correlated"),
        theirs="addNoise_correlated",
    ),
    Task(
        "rank swapping, 4 numbers", files.numbers, **step("rank_swap"), naive=naive_swapped, theirs="rankSwap"
    ),
    Task("PRAM, one variable", files.survey, **step("pram", variables="relat"), theirs="pram"),
    Task(
        "shuffling, 2 on 3 variables",
        files.survey,
        **step("shuffle", variables=["expend", "savings"], predictors=["age", "income", "urbrur"]),
        theirs="shuffle",
    ),
    Task("record swapping, risky first", files.survey, **step("swap_records", **SWAP), theirs="recordSwap"),
    Task(
        "synthesis by trees, 10 columns",
        lambda n: files.columns(n, 10),
        **step("synthesize"),
        sizes=(5_000, 100_000, 1_000_000),
    ),
    Task(
        "synthesis by trees, 20 columns",
        lambda n: files.columns(n, 20),
        **step("synthesize"),
        sizes=(5_000, 100_000, 1_000_000),
    ),
    Task(
        "ten synthetic sets, 20 columns",
        lambda n: files.columns(n, 20),
        run=lambda data: sdc.synthesize(data, m=10, seed=1),
        sizes=(5_000,),
    ),
    Task(
        "synthesis of households, 22 columns",
        lambda n: sdc.demo.survey(n=n, seed=1),
        **step("synthesize"),
        sizes=(5_000, 20_000, 100_000),
    ),
]
