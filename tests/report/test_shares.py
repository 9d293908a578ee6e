"""Shares in a report are of what the text says: of the population where records have weights."""

import re

import polars as pl
import pytest

import sdckit as sdc
from sdckit.report.describe import describe, public_data
from sdckit.report.histograms import histograms
from sdckit.report.mosaic_tables import mosaics
from sdckit.utility.cluster_overlap import cluster_overlap


def survey(weight="w"):
    frame = pl.DataFrame(
        {
            "sex": ["f", "f", "m", "m"] * 10,
            "area": ["a", "b", "a", "b"] * 10,
            "age": [20.0, 30.0, 40.0, 50.0] * 10,
            "w": [7.0, 1.0, 1.0, 1.0] * 10,
        }
    )
    return sdc.read(frame, keys=["sex", "area"], numeric="age", weight=weight)


def files():
    """The survey, with other ages, and the same without its weights."""
    data = survey()
    moved = data.with_frame(data.frame.with_columns(age=pl.col("age") + 5.0))
    return data, moved, sdc.protect.drop(moved, variables="w")


def of_page(data, protected, tmp_path, audience="internal"):
    done = sdc.assess(data, protected, measures=["distribution_distance"])
    page = sdc.report(done, tmp_path / f"{audience}.html", audience=audience).read_text(encoding="utf-8")
    return re.sub(r"\s+", " ", page)


def test_pictures_are_weighted_by_each_files_own_weights():
    data, moved, plain = files()
    (chart,) = histograms(data, moved)["charts"]
    assert sum(chart["before"]) == pytest.approx(1)
    assert max(chart["before"]) == pytest.approx(0.7)  # the quarter of the records who are 20
    (chart,) = histograms(data, plain)["charts"]
    assert max(chart["before"]) == pytest.approx(0.7)
    assert max(chart["after"]) == pytest.approx(0.25)
    (tiles,) = mosaics(data, moved)["charts"]
    cells = [size for row in tiles["before"] for size in row]
    assert max(cells) / sum(cells) == pytest.approx(0.7)


def test_captions_say_what_shares_are_of():
    data, moved, plain = files()
    assert describe(data, moved)["counted"] == "shares of the population (weighted)"
    assert describe(survey(None), None)["counted"] == "shares of the records"
    mixed = "shares of the population in the original (weighted), and of the records in the protected file, "
    assert describe(data, plain)["counted"] == f"{mixed}which has no weights"
    assert describe(data, plain)["weights_lost"]
    assert not describe(data, moved)["weights_lost"]
    assert public_data(data, moved)["counted"] == "shares of the records"


def test_the_report_says_which_numbers_are_of_records(tmp_path):
    data, moved, plain = files()
    page = of_page(data, moved, tmp_path)
    assert "Shares of the population (weighted). The first and last intervals" in page
    assert "Risks, and values changed or missing, are shares of the records." in page
    assert "has no weights: there every record counts once" not in page
    page = of_page(data, plain, tmp_path)
    assert "of the records in the protected file, which has no weights. The first" in page
    assert "has no weights: there every record counts once" in page
    assert "hares of the population (weighted)" not in of_page(data, moved, tmp_path, "public")


def test_clusters_are_called_weighted_only_where_they_are():
    data, moved, _ = files()
    assert "(weighted)" in str(cluster_overlap(data, moved, groups=2).chart().to_dict())
    plain = survey(None)
    other = plain.with_frame(plain.frame.with_columns(age=pl.col("age") + 5.0))
    assert "(weighted)" not in str(cluster_overlap(plain, other, groups=2).chart().to_dict())
