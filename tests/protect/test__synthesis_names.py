"""Columns whose values name records are not drawn."""

from datetime import datetime, timedelta

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.errors import ColumnError, OptionError

N = 200
RNG = np.random.default_rng(0)
NAMING = {
    "e-mail addresses": pl.Series([f"p{i}@example.org" for i in range(N)]),
    "of some persons": pl.Series([f"p{i}" if i % 4 == 0 else None for i in range(N)]),
    "of families": pl.Series([f"family {i // 3}" for i in range(N)]),
    "numbers of records": pl.Series(np.arange(1, N + 1)),
    "national numbers": pl.Series(RNG.integers(10**9, 10**10, N)),
}


def people(extra: pl.Series, **roles: object) -> sdc.Microdata:
    frame = pl.DataFrame(
        {
            "sex": RNG.choice(["f", "m"], N),
            "age": RNG.integers(16, 90, N),
            "income": np.round(np.exp(RNG.normal(7, 1, N)), 2),
        }
    )
    return sdc.Microdata.of(frame.with_columns(extra.alias("extra")), keys=["sex", "age"], **roles)


@pytest.mark.parametrize("extra", NAMING.values(), ids=NAMING)
@pytest.mark.parametrize("options", [{}, {"variables": ["extra"]}, {"smooth": "none", "leaf": 1}])
def test_columns_that_name_records_are_refused_before_any_work(extra, options):
    with pytest.raises(ColumnError, match=r"name records.*Given: extra.*Drop it first, give it the role"):
        sdc.protect.synthesize(people(extra), rng=1, **options)
    with pytest.raises(ColumnError, match="name records"):
        sdc.synthesize(people(extra), m=2, **options)


@pytest.mark.parametrize("extra", list(NAMING.values())[:3], ids=list(NAMING)[:3])
def test_no_role_that_is_drawn_makes_texts_harmless(extra):
    with pytest.raises(ColumnError, match="name records"):
        sdc.protect.synthesize(people(extra, sensitive="extra"), rng=1)


def test_what_is_not_drawn_may_name_records():
    mails = NAMING["e-mail addresses"]
    assert "extra" not in sdc.protect.synthesize(people(mails, direct="extra"), rng=1).columns
    made = sdc.protect.synthesize(people(mails, id="extra"), rng=1)
    assert not made.frame["extra"].cast(pl.String).is_in(mails.implode()).any()
    assert sdc.protect.synthesize(people(mails), variables=["income"], rng=1).height == N


def test_times_to_the_second_are_drawn_only_between_others():
    when = pl.Series([datetime(2020, 1, 1) + timedelta(seconds=int(s)) for s in RNG.integers(0, 10**8, N)])
    data = people(when)
    made = sdc.protect.synthesize(data, rng=1)
    assert made.frame["extra"].is_in(when.implode()).mean() < 0.02
    for options in ({"smooth": "none"}, {"categories": ["extra"]}):
        with pytest.raises(ColumnError, match="name records"):
            sdc.protect.synthesize(data, rng=1, **options)


def test_amounts_that_all_differ_are_no_ids():
    turnover = pl.Series(np.unique(np.round(np.exp(RNG.normal(10, 2, 3 * N))).astype(np.int64))[:N])
    assert sdc.protect.synthesize(people(turnover), rng=1).height == N


def test_rare_texts_that_were_drawn_are_counted():
    towns = pl.Series(["Graz"] * 120 + ["Linz"] * 60 + [f"village {i // 2}" for i in range(20)])
    made = sdc.protect.synthesize(people(towns), rng=1)
    drawn = made.frame["extra"].str.starts_with("village").sum()
    assert drawn > 0
    assert made.log[-1].figures["rare_texts"] == {"extra": drawn}
    common = pl.Series(["Graz", "Linz"] * 100)
    assert "rare_texts" not in sdc.protect.synthesize(people(common), rng=1).log[-1].figures


@pytest.mark.parametrize("role", ["direct", "id"])
@pytest.mark.parametrize("options", [{}, {"variables": ["income"]}])
def test_computed_columns_do_not_copy_what_names_records(role, options):
    data = people(NAMING["e-mail addresses"], **{role: "extra"})
    data = data.with_frame(data.frame.with_columns(copy=pl.lit("x")))
    with pytest.raises(ColumnError, match="names records"):
        sdc.protect.synthesize(data, derive={"copy": "extra"}, rng=1, **options)


def test_spikes_that_few_have_are_refused():
    """A spike is released as it is: who names the largest income would release it."""
    data = people(pl.Series(RNG.choice(["a", "b"], N)))
    largest = data.frame["income"].max()
    with pytest.raises(OptionError, match="fewer than 5 records"):
        sdc.protect.synthesize(data, spikes={"income": [largest]}, rng=1)
    with pytest.raises(OptionError, match="fewer than 5 records"):
        sdc.protect.synthesize(data, spikes={"income": [largest]}, leaf=1, rng=1)
    sdc.protect.synthesize(data, spikes={"income": [0]}, rng=1)  # nobody has it: nothing is released
