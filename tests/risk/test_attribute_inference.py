"""What can be inferred of sensitive values, beside guesses made by hand."""

import math

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit import Intruder
from sdckit.models import category_inference
from sdckit.risk import _nearest_guess, _nearest_records
from sdckit.risk._uncertainty import wilson

NEIGHBOUR = [Intruder("neighbour")]


def file(keys, answers, **roles) -> sdc.Microdata:
    return sdc.read(pl.DataFrame({"key": keys, "answer": answers}), keys="key", sensitive="answer", **roles)


def test_a_homogeneous_group_gives_its_value_away_without_anybody_being_found():
    data = file(["a"] * 5 + ["b"] * 5, ["ill"] * 5 + ["ill", "well"] * 2 + ["well"])
    result = sdc.risk.attribute_inference(data, data)
    assert result.value == 0.5
    assert result.figures["inferred"] == 5
    assert result.figures["by_own_record"] == 0
    found = sdc.risk.reidentification_risk(data, data, intruders=NEIGHBOUR)
    assert found.parts["found"].to_list() == pytest.approx([0.2] * 10)


def test_what_everybody_knows_is_no_disclosure():
    data = file(list("ab") * 50, ["well"] * 98 + ["ill"] * 2)
    result = sdc.risk.attribute_inference(data, data)
    assert result.value == 0.0
    assert result.figures["baseline"] == pytest.approx(0.98)


def test_a_person_alone_gives_the_value_away_by_the_own_record():
    data = file(["a"] + ["b"] * 20, ["ill"] + ["ill", "well"] * 10)
    result = sdc.risk.attribute_inference(data, data)
    assert result.figures["inferred"] == 1
    assert result.figures["by_own_record"] == 1


def test_randomised_answers_are_inferred_less():
    rng = np.random.default_rng(1)
    data = file(rng.integers(0, 200, 1000), rng.choice(["x", "y", "z"], 1000))
    plain = sdc.risk.attribute_inference(data, data).value
    answers = sdc.protect.pram(data, variables="answer", stay=0.6, rng=1)
    assert sdc.risk.attribute_inference(data, answers).value < plain / 3


def test_a_number_within_ten_percent():
    keys = ["a"] * 4 + ["b"] * 4
    data = sdc.read(
        pl.DataFrame({"key": keys * 10, "pay": [100.0, 101, 99, 100, 10, 500, 90, 3000] * 10}),
        keys="key",
        sensitive="pay",
        numeric="pay",
    )
    wide = data.with_frame(data.frame.with_columns(pl.col("pay") + pl.int_range(pl.len()) * 1e-6))
    result = sdc.risk.attribute_inference(wide, wide)
    assert result.value == pytest.approx(0.5)


def test_the_hold_out_takes_away_what_the_population_tells():
    rng = np.random.default_rng(3)

    def population(n):
        key = rng.integers(0, 30, n)
        return pl.DataFrame(
            {"key": key, "other": rng.integers(0, 9, n), "answer": np.where(key < 15, "x", "y")}
        )

    original, others, made = (population(n) for n in (600, 600, 600))
    roles = {"keys": ["key", "other"], "sensitive": "answer"}
    data, synthetic, holdout = (sdc.read(f, **roles) for f in (original, made.head(599), others))
    result = sdc.risk.attribute_inference(data, synthetic, holdout=holdout, intruders=NEIGHBOUR)
    assert result.figures["guess_right"] > 0.9
    assert result.value < 0.05
    without = sdc.risk.attribute_inference(data, synthetic, intruders=NEIGHBOUR)
    assert math.isnan(without.value)


def test_a_dropped_sensitive_column_and_one_that_is_all_missing():
    data = file(list("aabb"), ["x", "y", "x", "y"])
    gone = sdc.protect.drop(data, variables="answer")
    assert sdc.risk.attribute_inference(data, gone).value == 0.0
    empty = file(list("aabb"), pl.Series([None] * 4, dtype=pl.String))
    assert math.isnan(sdc.risk.attribute_inference(empty, empty).value)


def known_numbers(n: int) -> sdc.Microdata:
    rng = np.random.default_rng(8)
    frame = pl.DataFrame(
        {
            "key": rng.integers(0, 3, n),
            "number": np.exp(rng.normal(size=n)).round(1),  # nobody is found by it but a few at its end
            "answer": rng.choice(["yes", "no", "perhaps"], n, p=[0.5, 0.3, 0.2]),
        }
    ).with_columns(answer=pl.when(pl.col("number") > 3).then(pl.lit("rich")).otherwise("answer"))
    return sdc.read(frame, keys="key", numeric="number", sensitive="answer")


ROUGHLY = [Intruder("insider", numbers={"number": 0.1})]


def averaged(data: sdc.Microdata) -> sdc.Microdata:
    """Nobody is found for sure by an average of five, so that the answer cannot be read in a record."""
    return sdc.protect.microaggregate(data, k=5)


def test_of_large_files_some_persons_are_asked(monkeypatch):
    data = known_numbers(4000)
    shown = averaged(data)
    whole = sdc.risk.attribute_inference(data, shown, intruders=ROUGHLY)
    monkeypatch.setattr(_nearest_records, "ALL", 1000)
    some = sdc.risk.attribute_inference(data, shown, intruders=ROUGHLY)
    assert whole.figures["upper"] == whole.value > 0.05
    assert some.value < some.figures["upper"] < some.value + 0.03
    assert abs(some.value - whole.value) < 3 * math.sqrt(whole.value / 2000 / 2)
    rows = some.tables["sensitive"].filter(pl.col("upper") > pl.col("share"))
    assert rows["intruder"].to_list() == ["insider"]


def test_a_verdict_goes_by_the_upper_end(monkeypatch):
    monkeypatch.setattr(_nearest_records, "ALL", 1000)
    data = known_numbers(4000)
    shown = averaged(data)
    value, upper = (
        sdc.risk.attribute_inference(data, shown, intruders=ROUGHLY).value,
        sdc.risk.attribute_inference(data, shown, intruders=ROUGHLY).figures["upper"],
    )
    for limit, status in ((value, "not met"), ((value + upper) / 2, "not met"), (upper, "met")):
        done = sdc.assess(data, shown, measures=["attribute_inference"], intruders=ROUGHLY, max_risk=limit)
        (one,) = [c for c in done.verdict if c.name == "inference of sensitive values"]
        assert one.status.value == status
        assert "as not all were asked" in one.why


def test_the_commonest_neighbour_is_the_smallest_of_ties():
    values = np.array([[2, 1, 1, 2], [-1, -1, 3, 0], [-1, -1, -1, -1], [4, 4, -1, 0]])
    assert _nearest_guess._commonest(values).tolist() == [1, 0, -2, 4]


@pytest.mark.parametrize(("limit", "status"), [(0.05, "not met"), (0.9, "not judged")])
def test_an_attack_that_was_too_large_is_said_unless_another_infers_too_much(monkeypatch, limit, status):
    monkeypatch.setattr(category_inference, "MOST_PROBABILITIES", 0)
    data = known_numbers(1000)
    shown = averaged(data)
    who = [Intruder("insider", numbers={"number": 0})]
    result = sdc.risk.attribute_inference(data, shown, intruders=who)
    assert math.isnan(result.value)
    assert result.notes[0] == "Could not be judged: answer."
    options = {"measures": ["attribute_inference"], "intruders": who, "max_risk": limit}
    (one,) = [c for c in sdc.assess(data, shown, **options).verdict if c.name.startswith("inference of")]
    assert one.status.value == status


@pytest.mark.parametrize("unit", ["person", "household"])
@pytest.mark.parametrize("blank", [0.0, 0.4])
def test_who_knows_more_than_keys_infers_no_less(unit, blank):
    """Half of the cells share a value, and of 40 % of the records it is blank; size tells nothing."""
    rng = np.random.default_rng(4)
    cell, n = np.repeat(np.arange(100), 10), 1000
    answer = np.where(cell % 2 == 0, "ill", rng.choice(["a", "b", "c"], n))
    pay = np.where(cell % 2 == 0, 100.0 + 50 * cell, np.exp(rng.normal(8, 1, n)))
    frame = pl.DataFrame({"key": cell, "home": rng.permutation(n) // 2, "size": np.exp(rng.normal(size=n))})
    frame = frame.with_columns(pl.Series("answer", answer), pl.Series("pay", pay))
    roles = {"keys": "key", "numeric": "size", "household": "home"}
    shown = [pl.when(pl.Series(rng.random(n) >= blank)).then(c).alias(c) for c in ("answer", "pay")]
    more = [] if unit == "household" else [{"size": 0.1}]
    for sensitive in ("answer", "pay"):
        data = sdc.read(frame, sensitive=sensitive, **roles)
        file = data.with_frame(frame.with_columns(shown))
        people = [Intruder("keys"), Intruder("more", ["keys", *more], unit=unit)]
        least, found = (sdc.risk.attribute_inference(data, file, intruders=[i]).value for i in people)
        assert found >= least > 0.45


def strangers(seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    columns = {c: rng.integers(0, many, 400) for c, many in (("region", 6), ("age", 70), ("sex", 2))}
    return pl.DataFrame(columns | {"ill": rng.choice(["a", "b", "c"], 400)})


def of_a_copy(held_back: pl.DataFrame, *intruders: Intruder) -> sdc.Result:
    roles = {"keys": ["region", "age", "sex"], "sensitive": "ill"}
    data, copy = (sdc.read(f, **roles) for f in (strangers(1), strangers(1).sample(fraction=1, shuffle=True)))
    return sdc.risk.attribute_inference(
        data, copy, holdout=held_back, linked=False, intruders=intruders or NEIGHBOUR
    )


def test_of_files_without_a_link_the_best_informed_intruder_counts():
    weak, strong = Intruder("weak", ["sex"]), Intruder("strong", ["region", "age", "sex"])
    alone = of_a_copy(strangers(2), strong).value
    assert alone > 0.3
    assert of_a_copy(strangers(2), weak).value == 0
    assert of_a_copy(strangers(2), weak, strong).value == of_a_copy(strangers(2), strong, weak).value == alone


@pytest.mark.parametrize("lacking", ["age", "ill"])
def test_people_held_back_of_whom_less_is_known_show_nothing(lacking):
    result = of_a_copy(strangers(2).drop(lacking))
    assert math.isnan(result.value)
    assert result.notes == (f"The hold-out lacks {lacking}: it must have all columns that are compared.",)
    blank = pl.lit(None, dtype=pl.String).alias("ill")
    assert math.isnan(of_a_copy(strangers(2).with_columns(blank)).value)


def test_who_knows_no_key_of_a_file_without_a_link_is_not_judged():
    assert math.isnan(of_a_copy(strangers(2), Intruder("odd", [], {"age": 0.1})).value)


def test_how_roughly_people_held_back_show_chance_is_counted():
    """All people of the original are asked; those held back are a sample, and few of them leave more open."""
    open_ends = []
    for many in (40, 400):
        result = of_a_copy(strangers(2).head(many))
        chance, upper = (result.figures[name] for name in ("among_others", "upper"))
        assert upper == pytest.approx(result.value + chance - wilson(chance, many)[0])
        open_ends.append(upper - result.value)
    assert open_ends[0] > open_ends[1] > 0


@pytest.mark.parametrize(("many", "status"), [(60, "not judged"), (3000, "met")])
def test_too_few_people_held_back_leave_inference_open(many, status):
    """Of half of the keys all have one answer: who knows them is right about anybody."""

    def drawn(n: int, seed: int) -> sdc.Microdata:
        key = np.random.default_rng(seed).integers(0, 10, n)
        answer = np.where(key < 5, "x", np.random.default_rng(seed + 1).choice(["x", "y", "z"], n))
        return file(key, answer)

    options = {"max_risk": 0.05, "attribute_inference": {"holdout": drawn(many, 5)}, "intruders": NEIGHBOUR}
    done = sdc.assess(drawn(3000, 1), drawn(2999, 3), measures=["attribute_inference"], **options)
    (one,) = [c for c in done.verdict if c.name.startswith("inference of")]
    assert one.status.value == status


def test_a_noisy_number_is_guessed_as_it_is():
    """Its upper end was the guess: right for half of the persons, where the number itself is for 70 %."""
    rng = np.random.default_rng(1)
    income = rng.lognormal(9, 0.8, 400)
    frame = pl.DataFrame({"row": np.arange(400) // 20, "column": np.arange(400) % 20, "income": income})
    data = sdc.read(frame, keys=["row", "column"], sensitive="income", numeric="income")
    noisy = income * np.exp(rng.normal(0, 0.1, 400))
    protected = data.with_frame(data.frame.with_columns(income=noisy))
    found = sdc.risk.attribute_inference(data, protected, intruders=NEIGHBOUR)
    right = np.mean(np.abs(noisy - income) <= 0.1 * income)
    assert found.figures["guess_right"] == pytest.approx(right)
    assert found.value == pytest.approx(right)


def test_who_finds_a_record_by_an_exact_number_reads_what_stands_in_it():
    """The nearest five records differ in the answer, and yet the first of them is surely the person's."""
    rng = np.random.default_rng(12)
    n = 400
    frame = pl.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "income": rng.permutation(n) * 97,
            "ill": rng.choice(["a", "b"], n),
        }
    )
    data = sdc.read(frame, keys="sex", numeric="income", sensitive="ill")
    shuffled = sdc.protect.shuffle_order(data, rng=1)
    for error, least in ((0.0, 0.95), ("0.1%", 0.2)):
        knows = sdc.Intruder("register", ["keys", {"income": error}])
        result = sdc.risk.attribute_inference(data, shuffled, intruders=[knows])
        assert (
            least <= result.value <= sdc.risk.reidentification_risk(data, shuffled, intruders=[knows]).value
        )
    coarse = sdc.protect.drop(shuffled, variables="income")
    assert sdc.risk.attribute_inference(data, coarse, intruders=[knows]).value == 0


@pytest.mark.parametrize("mark", [";", ", ", " "])
@pytest.mark.parametrize("ward", [True, False])
def test_an_answer_is_asked_for_in_lists(mark, ward):
    """No two lists need be the same, and yet all of a ward have one diagnosis."""
    rng = np.random.default_rng(2)
    key = np.repeat(np.arange(20), 20)
    own = key if ward else rng.permutation(key)
    lists = [mark.join({*"a"[i:], *rng.choice([*"bcdefg"], 3)}) for i in own]
    found = sdc.risk.attribute_inference(file(key, lists), file(key, lists))
    assert found.value == (0.05 if ward else 0)
