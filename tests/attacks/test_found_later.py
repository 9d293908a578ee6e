"""More files with which a hostile expert got a false "can be released": ids, columns, rows, the original."""

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from attacks.test_found import refused, verdict
from sdckit.choose.criteria import Status
from sdckit.choose.row_order import is_random_order
from sdckit.methods.registry import protection, unregister

N = 1_200
KEYS = ["region", "sex", "age"]
AREAS = {"A": [1, 2], "B": [3, 4, 5, 6, 7, 8]}


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def persons(n: int = N, **columns) -> pl.DataFrame:
    draw = rng(7)
    frame = pl.DataFrame(
        {
            "region": draw.choice(8, n, p=[0.3, 0.2, 0.15, 0.1, 0.1, 0.07, 0.05, 0.03]) + 1,
            "sex": draw.choice(["f", "m"], n),
            "age": draw.integers(16, 90, n),
            "health": draw.choice(["good", "fair", "poor"], n, p=[0.6, 0.3, 0.1]),
        }
    )
    return frame.with_columns(**columns)


def read(frame: pl.DataFrame, **roles) -> sdc.Microdata:
    return sdc.read(frame, **{"keys": KEYS, "sensitive": "health", **roles})


def wide(data: sdc.Microdata) -> sdc.Microdata:
    """Two areas, two classes of age: cells of more than fifty persons."""
    data = sdc.protect.group(data, variables=["region"], map=AREAS)
    return sdc.protect.recode(data, variable="age", breaks=[16, 50, 90])


def test_new_ids_that_are_made_of_what_was_hidden():
    frame = persons(nr=rng().permutation(N) + 50_000)
    data = read(frame, id="nr")
    safe = sdc.protect.new_ids(wide(data), rng=1)
    assert verdict(data, safe).releasable
    made = frame["age"] * 100_000 + frame["region"] * 10_000 + pl.Series(rng(2).permutation(N))
    assert refused(data, safe.with_frame(safe.frame.with_columns(nr=made)))


def test_a_telling_column_that_only_the_protected_file_calls_an_id():
    data = read(persons(cohort=2020 - pl.col("age")), sensitive=["health", "cohort"])
    safe = wide(data).with_roles(id="cohort", sensitive=["health"])
    assert sdc.risk.revealing_columns(data, safe).figures["alarms"] > 0


def test_ids_of_the_original_in_a_file_said_not_to_be_linked():
    """All values but health were drawn anew; whoever has the number of a person reads the health."""
    frame, others = persons(nr=rng().permutation(N) + 50_000), persons(2 * N).tail(N)
    drawn = [pl.col(c).shuffle(seed=i) for i, c in enumerate(KEYS)]
    data, made = read(frame, id="nr"), read(frame.with_columns(drawn), id="nr")
    names = ("closest_record", "attribute_inference", "reidentification_risk")
    judged = verdict(data, made, linked=False, **{name: {"holdout": others} for name in names})
    assert "ids of the original" in [c.name for c in judged if not c.met]


def test_exact_numbers_that_are_only_called_sensitive():
    data = read(persons(income=np.round(rng().lognormal(7.5, 0.6, N), 2)), sensitive=["health", "income"])
    assert refused(data, wide(data))
    assert verdict(data, wide(data), accept={"numbers": ["income"]}).releasable


def test_what_was_accepted_stands_beside_the_verdict():
    data = read(persons())
    all_accepted = {"claims": 10**6, "inference": 1.0, "order": True}
    found = verdict(data, data, max_risk=1.0, accept=all_accepted)
    for words in ("of the persons are found", "1,000,000 right claims", "the order of the rows"):
        assert words in found.headline
    assert "accepts" not in verdict(data, wide(data)).headline


def test_records_that_look_alike_because_they_are_one_persons():
    """Twenty records a person in cells of twenty: the number was dropped, and the cell is the person's."""
    one = persons(100).drop("health").with_columns(nr=pl.int_range(700, 800))
    frame = pl.concat([one] * 20).sample(fraction=1, shuffle=True, seed=1)
    frame = frame.with_columns(health=pl.Series(rng().choice(["good", "fair", "poor"], frame.height)))
    with pytest.warns(sdc.errors.SdcWarning, match="repeated"):
        data = read(frame, id="nr")
    assert refused(data, sdc.protect.drop(data, variables=["nr"]), max_risk=0.06)


def test_an_original_that_was_protected_itself():
    """An intruder knows values as they were before any step."""
    data = sdc.protect.pram(read(persons()), variables=KEYS, stay=0.5, rng=1)
    assert refused(data, wide(data))
    assert verdict(data, wide(data), accept={"prepared": KEYS}).releasable


def interleaved(n: int, kind: str) -> np.ndarray:
    if kind == "as cards":
        return np.column_stack([np.arange(n // 2), np.arange(n // 2, n)]).ravel()
    return np.arange(n) * 601 % n  # every 601st row in turn: half of the steps go up


@pytest.mark.parametrize("kind", ["as cards", "every 601st"])
def test_an_order_that_only_looks_random(kind):
    rows = interleaved(N, kind)
    assert sorted(rows) == list(range(N))
    assert not is_random_order(rows)
    data = read(persons(name=pl.format("P{}", pl.int_range(10_000, 10_000 + N))), direct="name")

    @protection("In another order")
    def laid_out(data: sdc.Microdata) -> sdc.Microdata:
        """Put the rows in another order, and say so."""
        effects = sdc.registry.Effects(reorders_rows=True, source_rows=rows)
        return data.with_frame(data.frame[rows], effects=effects)

    try:
        assert refused(data, laid_out(wide(data)))
    finally:
        unregister("laid_out")
    assert verdict(data, sdc.protect.shuffle_order(wide(data), rng=1)).releasable
    assert all(is_random_order(rng(i).permutation(300)) for i in range(50))


def told(share: float) -> pl.Series:
    return pl.Series(rng(5).random(N) < share)


def in_parts(frame: pl.DataFrame) -> dict[str, pl.Expr]:
    """Five columns, each a copy for one person in twelve."""
    number = pl.Series(rng(6).integers(0, 12, frame.height))
    return {f"part{i}": pl.when(number == i).then("age") for i in range(5)}


def as_codes(frame: pl.DataFrame) -> dict[str, pl.Expr]:
    """A code for each age, without order; the others have codes that mean nothing, as often."""
    codes = rng(6).permutation(200)
    mine = pl.Series(codes[frame["age"].to_numpy()])
    return {"code": pl.when(told(0.35)).then(mine).otherwise(pl.Series(codes[rng(8).integers(100, 200, N)]))}


TELLING_SOME = {
    "a copy": lambda f: {"copy": pl.when(told(0.35)).then("age")},
    "a birth year as a text": lambda f: {
        "cohort": pl.when(told(0.35)).then(pl.format("in {}", 2020 - f["age"]))
    },
    "a copy with a mark beside it": lambda f: {
        "mark": told(0.35).cast(pl.Int64),
        "copy": pl.when(told(0.35)).then("age").otherwise(pl.Series(rng(9).integers(16, 90, N))),
    },
    "several parts": in_parts,
    "codes": as_codes,
}


@pytest.mark.parametrize("kind", list(TELLING_SOME))
def test_a_column_that_tells_some_persons_all_and_others_nothing(kind):
    columns = TELLING_SOME[kind](persons())
    sensitive, accepted = ["health", *columns], {"numbers": list(columns), "inference": 1.0}
    data = read(persons(**columns), sensitive=sensitive)
    mixed = read(data.frame.with_columns(pl.col(*columns).shuffle(seed=3)), sensitive=sensitive)
    assert verdict(mixed, wide(mixed), accept=accepted).releasable
    found = verdict(data, wide(data), accept=accepted)
    asked = {c.name for c in found if not c.met}  # a copy joins its few records as well
    assert asked - {"records joined by a column"} == {"columns that tell what was hidden"}


def test_a_total_of_households_is_the_income_of_who_lives_alone():
    """One person in nine lives alone; incomes were moved by noise, the total was not."""
    size = np.repeat([1, 3, 4], [130, 130, 165])
    home = np.repeat(np.arange(len(size)), size)
    income = np.round(rng().lognormal(7.5, 0.6, len(home)), 0)
    frame = pl.DataFrame(
        {
            "sex": rng(2).choice(["f", "m"], len(home)),
            "size": size[home],
            "income": income,
            "total": np.bincount(home, income)[home],
        }
    ).sample(fraction=1, shuffle=True, seed=1)
    data = sdc.read(frame, keys=["sex"], numeric=["income"])
    safe = data.with_frame(frame.with_columns(pl.col("income") * pl.Series(rng(3).normal(1, 0.5, len(home)))))
    table = sdc.risk.revealing_columns(data, safe).tables["surely_told"]
    assert table["persons"][0] == pytest.approx(130 / len(home), abs=0.02)
    assert "columns that tell what was hidden" in [c.name for c in verdict(data, safe) if not c.met]


@pytest.mark.parametrize("kind", ["a difference", "a sum", "a difference for some"])
def test_numbers_without_meaning_before_two_that_tell_together(kind):
    """Sixty-two columns stand before the two; neither of these depends on the age by itself."""
    large = pl.Series(rng(4).integers(1_000, 90_000, N))
    first = {"a difference": large + pl.col("age"), "a sum": pl.col("age") - large}.get(
        kind, pl.when(told(0.35)).then(large + pl.col("age"))
    )
    junk = {f"junk{i}": rng(100 + i).integers(0, 1_000, N) for i in range(62)}
    frame = persons().select(
        pl.struct(**{c: pl.Series(v) for c, v in junk.items()}).struct.unnest(), pl.all()
    )
    data = read(frame.with_columns(first=first, second=large))
    table = sdc.risk.revealing_columns(data, wide(data)).tables["surely_told"].filter(hidden="age")
    assert table["persons"][0] > (0.3 if kind == "a difference for some" else 0.9)
    assert "first" in table["columns"][0]
    assert table["not_combined"][0] == 0
    mixed = read(data.frame.with_columns(pl.col("second").shuffle(seed=1)))
    assert sdc.risk.revealing_columns(mixed, wide(mixed)).figures["surely_told"] == 0


def test_more_numbers_than_can_be_combined_are_not_judged():
    junk = {f"junk{i}": pl.Series(rng(100 + i).integers(0, 1_000, 200)) for i in range(60)}
    data = read(persons(200, **junk), sensitive=["health"])
    done = sdc.protect.recode(data, variable="age", breaks=[16, 50, 90])
    found = {c.name: c for c in verdict(data, done)}["columns that tell what was hidden"]
    assert found.status is Status.NOT_JUDGED
