"""The strongest of several attacks on a sensitive column."""

import math

from sdckit.risk._inferred import most_of

EVERYBODY = {"share": 0.02, "upper": 0.02, "guess_right": 0.5}
SAMPLE = {"share": 0.018, "upper": 0.029, "guess_right": 0.4}


def test_an_attack_on_a_sample_may_infer_more_than_the_one_that_infers_most():
    assert most_of([SAMPLE, EVERYBODY]) == {"share": 0.02, "upper": 0.029, "guess_right": 0.5}


def test_what_an_attack_that_was_not_judged_would_infer_is_not_known():
    nothing = {"share": math.nan, "upper": math.nan, "guess_right": 0.9}
    for rows in ([nothing, EVERYBODY], [most_of([EVERYBODY, nothing]), SAMPLE]):
        found = most_of(rows)
        assert (found["share"], found["guess_right"]) == (0.02, 0.5)
        assert math.isnan(found["upper"])
    assert math.isnan(most_of([nothing])["share"])
