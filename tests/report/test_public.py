"""The public report of many small files: no count and no difference of two tells of fewer than 5 records."""

import json
from collections import Counter
from itertools import combinations

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.data.microdata import Microdata
from sdckit.report.document import document, to_json
from sdckit.report.draw import _histogram, _mosaic
from sdckit.report.public_numbers import MIN_PUBLIC_COUNT as FEW
from sdckit.report.summarize import summarize

KEYS = ["a", "b", "c", "d"]
FILES = 120
MEASURES = ["k_anonymity", "frequencies", "records_changed", "missing_values"]


def planted(seed: int) -> tuple[Microdata, Microdata]:
    """A small file with rare categories, nested keys and a number, and one in which some values changed."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 180))
    age = rng.integers(0, 40, n)
    frame = pl.DataFrame(
        {
            "a": rng.choice(["p", "q", "r", "rare"], n, p=[0.5, 0.3, 0.18, 0.02]).tolist(),
            "b": rng.choice(["u", "v", "other"], n, p=[0.6, 0.38, 0.02]).tolist(),
            "c": (age // 5).tolist(),
            "d": (age // 10).tolist(),
            "x": rng.normal(size=n).round(3).tolist(),
        }
    )
    hit = pl.Series(rng.random(n) < rng.choice([0.0, 0.02, 0.2]))
    gone = pl.Series(rng.random(n) < rng.choice([0.0, 0.02, 0.2]))
    after = frame.with_columns(
        a=pl.when(gone).then(None).otherwise("a"),
        b=pl.when(hit).then(pl.col("b").shuffle(seed)).otherwise("b"),
        x=pl.when(hit).then(pl.col("x") + 1).otherwise("x"),
    )
    return tuple(Microdata.of(f, keys=KEYS, numeric="x") for f in (frame, after))


@pytest.fixture(scope="module")
def published():
    """The two files, and what the public gets of each pair: content and JSON."""
    found = []
    for seed in range(FILES):
        files = planted(seed)
        done = sdc.assess(*files, measures=MEASURES)
        content = summarize(done, "public")
        found.append((files, content, json.loads(to_json(content))))
    return found


def tables(told: dict) -> list[tuple[list[str], np.ndarray, np.ndarray]]:
    """Counts before and after of every picture, as a reader of the JSON works them out."""
    shown = told["distributions"]
    found = [(m["names"], np.array(m["before"]), np.array(m["after"])) for m in shown["mosaics"]]
    for h in shown["histograms"]:
        counts = [np.array(h[f"records_{file}"]) for file in ("before", "after")]
        for share, count in zip((h["before"], h["after"]), counts, strict=True):
            assert np.allclose(np.array(share) * count.sum(), count, atol=0.005 * max(count.sum(), 1))
        found.append(([h["name"]], *counts))
    return found


def test_no_count_is_below_five_and_no_two_of_one_thing_differ_by_less(published):
    pictures = 0
    for _, _, told in published:
        shown = tables(told)
        pictures += len(shown)
        for _, before, after in shown:
            for counts in (before, after):
                assert not ((counts > 0) & (counts < FEW)).any()
                assert (counts % FEW == 0).all()
            assert not ((before != after) & (abs(before - after) < FEW)).any()
        names = [name for picture, _, _ in shown for name in picture]
        assert len(names) == len({*names})  # each variable in one picture
    assert pictures > FILES  # there is something to look at


def test_margins_of_nested_keys_differ_by_nothing_or_by_five(published):
    """Age in fives and in tens: sums of one less sums of the other would be the people between."""
    for _, _, told in published:
        margins = []
        for names, before, after in tables(told):
            axes = [i for i, name in enumerate(names) if name in ("c", "d")]
            for counts in (before, after):
                margins += [counts.sum(axis=tuple(j for j in range(counts.ndim) if j != i)) for i in axes]
        sums = [{int(s) for k in range(1, len(m) + 1) for s in [m[:k].sum()]} for m in margins]
        for first, second in combinations(sums, 2):
            assert not any(0 < abs(x - y) < FEW for x in first for y in second)


def test_a_tile_stands_for_at_least_five_true_records_or_none(published):
    """Rounding alone could be undone where many cells of 1 and 2 add up to a total that is known."""
    for files, _, told in published:
        for m in told["distributions"]["mosaics"]:
            for data, shown in zip(files, (m["before"], m["after"]), strict=True):
                cells = Counter(
                    tuple(
                        text if (text := "missing" if value is None else str(value)) in levels else "rest"
                        for value, levels in zip(row, (m["first"], m["second"]), strict=True)
                    )
                    for row in data.frame.select(m["names"]).iter_rows()
                )
                assert min(cells.values()) >= FEW
                assert abs(sum(map(sum, shown)) - data.height) <= 2.5 * sum(map(len, shown))


def test_headline_shares_are_in_steps_of_five_records(published):
    for (original, protected), _, told in published:
        n = min(original.height, protected.height)
        for section in (*told["risk"], *told["utility"]):
            for measure in section["measures"]:
                numbers = [m["value"] for m in (measure["before"], measure["after"]) if m is not None]
                assert all(v == 0 or v * n >= FEW - 1e-6 for v in numbers)
                if len(numbers) == 2 and 1.0 not in numbers:
                    gap = abs(numbers[0] - numbers[1]) * n
                    assert gap < 1e-6 or gap >= FEW - 1e-6


def test_rare_categories_are_not_named_and_a_real_other_stays_apart(published):
    for (original, protected), _, told in published:
        for m in told["distributions"]["mosaics"]:
            for name, levels in zip(m["names"], (m["first"], m["second"]), strict=True):
                for data in (original, protected):
                    counts = dict(data.frame[name].cast(pl.String).value_counts().iter_rows())
                    assert not any(0 < counts.get(level, 0) < FEW for level in levels)
            if "other" in m["second"] and m["names"][1] == "b":
                assert m["other"] == "all other"


def test_coordinates_in_the_drawings_come_from_the_rounded_counts(published):
    drawn = 0
    for _, content, told in published[:12]:
        for i, m in enumerate(content["mosaics"]["charts"]):
            svg = _mosaic(m, i)
            again = _mosaic({**m, **told["distributions"]["mosaics"][i]}, i)
            assert svg == again
            drawn += 1
        for i, h in enumerate(content["histograms"]["charts"]):
            assert [b * sum(h["records_before"]) for b in h["before"]] == pytest.approx(h["records_before"])
            assert "<svg" in _histogram(h, i)
            drawn += 1
    assert drawn > 5


def test_nothing_beyond_the_allow_list_is_published(published):
    allowed = {
        *("format", "version", "audience", "date", "software", "seed", "scenario_file", "verdict", "data"),
        *("prepared", "map", "risk", "utility", "estimates", "by_key", "riskiest", "distributions"),
        *("missing", "steps", "omitted", "glossary"),
    }
    for _, content, told in published[:20]:
        assert {*told} == allowed == {*document(content)}
        assert told["seed"] is told["scenario_file"] is told["riskiest"] is None
        assert told["by_key"] == told["omitted"] == []
        for section in (*told["risk"], *told["utility"]):
            assert all(m["figures"] == [] and m["options"] == {} for m in section["measures"])
        for criterion in told["verdict"]["criteria"]:
            assert {criterion[name] for name in ("value", "why", "mends", "in_plan")} == {""}


def test_no_setting_and_no_seed_of_a_random_step_is_told():
    data = planted(3)[0]
    steps = {
        "noise at 0.0421": [
            {"add_noise": {"variables": ["x"], "sd": 0.0421}},
            {"pram": {"variables": ["a"], "stay": 0.8123}},
        ]
    }
    found = sdc.compare(data, steps, utility="il1s", seed=90125)
    text = to_json(summarize(found, "public"))
    for secret in ("0421", "8123", "90125", "noise at"):
        assert secret not in text
    assert "Changed at random" in text
