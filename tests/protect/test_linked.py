"""Linked variables: they are missing wherever the key they follow is, and no longer tell it."""

import polars as pl
import pytest

import sdckit as sdc
from sdckit.errors import ColumnError, OptionError


def people() -> sdc.Microdata:
    region = ["a"] * 6 + ["b"] * 6 + ["c", None]
    frame = pl.DataFrame(
        {
            "region": region,
            "district": [f"{r}1" for r in region],
            "sex": ["f", "m"] * 7,
            "income": [float(i) for i in range(14)],
        }
    )
    return sdc.read(frame, keys=["region", "sex"], numeric="income")


def test_a_linked_column_is_missing_where_its_key_is():
    data = people()
    plain = sdc.protect.suppress(data, k=3, seed=1)
    done = sdc.protect.suppress(data, k=3, linked={"region": "district"}, seed=1)
    assert done.frame.drop("district").equals(plain.frame.drop("district"))
    blank = done.frame["region"].is_null()
    assert blank[12]
    assert blank[13]  # missing from the start, and not to be told apart
    assert done.frame["district"].is_null().equals(blank)
    shown = done.frame.filter(pl.col("region").is_not_null())
    assert (shown["district"] == shown["region"] + "1").all()
    assert plain.frame["district"].null_count() == 0


def test_it_is_written_down_and_no_longer_told():
    data = people()
    plain = sdc.protect.suppress(data, k=3, seed=1).log[-1]
    done = sdc.protect.suppress(data, k=3, linked={"region": ["district"]}, seed=1).log[-1]
    assert done.figures["linked_suppressed"] == {"district": done.figures["by_key"]["region"] + 1}
    assert "district" in done.effects.suppresses
    assert "linked_suppressed" not in plain.figures
    assert "district" not in done.figures.get("inferred_from", {}).get("region", {})


def test_a_column_can_follow_two_keys():
    data = people()
    done = sdc.protect.suppress(data, k=3, linked={"region": ["district"], "sex": ["district"]}, seed=1)
    either = done.frame["region"].is_null() | done.frame["sex"].is_null()
    assert done.frame["district"].is_null().equals(either)


def test_in_a_plan():
    step = sdc.Step("suppress", k=3, linked={"region": ["district"]}, seed=1)
    again = sdc.Plan.parse(sdc.Plan(scenarios=(sdc.Scenario("a", [step]),)).to_yaml()).find("a")
    found = again.protect(people()).frame
    assert found.equals(sdc.protect.suppress(people(), k=3, linked={"region": ["district"]}, seed=1).frame)


@pytest.mark.parametrize(
    ("linked", "error", "said"),
    [
        ({"district": ["income"]}, OptionError, "not a key"),
        ({"region": ["sex"]}, OptionError, "follows no other"),
        ({"region": ["nothing"]}, ColumnError, "no column 'nothing'"),
        ({"region": 3}, OptionError, "'linked' of suppress is not valid"),
    ],
)
def test_what_cannot_be_linked(linked, error, said):
    with pytest.raises(error, match=said):
        sdc.protect.suppress(people(), k=3, linked=linked)
