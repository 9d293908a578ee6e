"""Risks that describe one file say so after protections that hide or make up values."""

import polars as pl
import pytest

import sdckit as sdc
from sdckit.data.effects import Effects
from sdckit.report.summarize import summarize

N = 120
NOT_THE_RISK = "Describes the file and is not the risk of its persons"


@pytest.fixture(scope="module")
def data() -> sdc.Microdata:
    frame = pl.DataFrame(
        {
            "sex": ["f", "m"] * (N // 2),
            "town": [f"T{i % 7}" for i in range(N)],
            "age": [20 + i * 7 % 23 for i in range(N)],
            "income": [float(i * i % 997) for i in range(N)],
        }
    )
    return sdc.read(frame, keys=["sex", "town", "age"], numeric="income")


def rows(x, audience="internal"):
    return {r["name"]: r for s in summarize(x, audience)["risk"] for r in s["rows"]}


MEASURES = ["k_anonymity", "individual_risk", "reidentification_risk"]


@pytest.mark.parametrize(
    ("protect", "words"),
    [
        (lambda d: sdc.protect.suppress(d, k=3, missing="wildcard"), "were suppressed"),
        (lambda d: sdc.protect.pram(d, variables="town", rng=1), "values of town were changed at random"),
        (lambda d: sdc.protect.rank_swap(d, variables="income", rng=1), "went from record to record"),
    ],
)
def test_after_hidden_or_moved_values_it_is_not_the_risk(data, protect, words):
    found = rows(sdc.assess(data, protect(data), measures=MEASURES))
    for name in ("k_anonymity", "individual_risk"):
        assert any(NOT_THE_RISK in note and words in note for note in found[name]["notes"])
    assert not any(NOT_THE_RISK in note for note in found["reidentification_risk"]["notes"])


def test_after_recoding_alone_it_is(data):
    found = rows(sdc.assess(data, sdc.protect.recode(data, variable="age", width=10), measures=MEASURES))
    assert not any(NOT_THE_RISK in note for row in found.values() for note in row["notes"])


def test_after_suppression_the_sound_count_is_shown_first(data):
    protected = sdc.protect.suppress(data, k=3, missing="wildcard")
    done = sdc.assess(data, protected, measures=["k_anonymity"])
    result = done.after["k_anonymity"]
    assert result.value == 0  # a blank matches any value
    sound = sdc.risk.k_anonymity(protected, missing="category").value
    assert sound > 0
    row = rows(done)["k_anonymity"]
    assert row["after"].replace("\N{NO-BREAK SPACE}", " ") == f"{100 * sound:.1f} %".replace(".0 ", " ")
    assert "any value it would be 0" in row["notes"][0]
    assert row["numbers"]["after"]["value"] == 0


def test_counts_of_artificial_records_are_no_risks(data):
    drawn = data.frame.select(pl.all().shuffle(1))
    made = data.with_frame(drawn, effects=Effects(synthesises=("sex", "town", "age", "income")))
    for done in (
        sdc.assess(data, made, measures=MEASURES),
        sdc.assess(data, data.with_frame(drawn), measures=MEASURES, linked=False),
    ):
        content = summarize(done)
        file = next(s for s in content["risk"] if s["name"] == "file")
        assert {"k_anonymity", "individual_risk"} <= {r["name"] for r in file["rows"]}
        assert all(r["bar"] is None and r["change"] == "" for r in file["rows"])
        assert "no risks of persons" in file["intro"]
        assert content["riskiest"] is None
        assert not {"k_anonymity", "individual_risk"} & {*rows(done, "public")}
