"""The studies of synthetic files, in small."""

import pytest

import conftest


def test_trees_keep_pairs_far_better():
    study = conftest.study("hu_synthesis")
    source = conftest.study("hu").categorical()
    made = study.ours(source, 20, 4.0)
    theirs, mine = study.row(source), study.row(made)
    assert mine[3] < theirs[3]
    if "slides" in source.source:  # the stand-in of the demo survey keeps nearly nothing, also of the risk
        assert mine[0] < 1.3 * theirs[0]
    assert "expected match risk" in study.page(source, study.rows(source)[:2])


def test_synthetic_and_anonymised_files_are_on_one_map():
    study = conftest.study("synthetic_and_anonymised")
    data, others = study.people(300, seed=1)
    assert not set(data.frame["household_id"]) & set(others.frame["household_id"])
    study.WAYS = {name: study.WAYS[name] for name in ("age5", "cells_of_10", "synthetic", "synthetic leaf 1")}
    study.JUDGED = ()
    found = study.compare(300)
    place = {p.name: p for p in found.results}
    assert [p.error for p in found.results] == [""] * 4
    assert place["synthetic"].loss < place["cells_of_10"].loss
    assert place["synthetic"].risk < place["synthetic leaf 1"].risk < place["age5"].risk
    text = study.page(found, study.rows(found), study.CONCLUSION)
    assert "| synthetic |" in text
    assert place["synthetic"].risk == pytest.approx(found.points.filter(scenario="synthetic")["risk"][0])
