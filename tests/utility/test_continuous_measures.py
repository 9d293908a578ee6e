"""The continuous utility measures by hand, against plain twins, and their properties."""

import math

import duckdb
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_continuous as naive
import sdckit as sdc
from sdckit.data.microdata import Microdata
from sdckit.errors import DataError, EngineError, OptionError

U = sdc.utility
DISTRIBUTIONS = ["moments", "matrix_discrepancy", "eigenvalues", "correlation_loss", "distribution_distance"]


def pair(x: dict, y: dict, **roles):
    data = sdc.read(pl.DataFrame(x), **(roles or {"numeric": list(x)}))
    return data, data.with_frame(pl.DataFrame(y))


def random_pair(n=80, seed=1, weights=False, noise=0.5):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3)) @ rng.normal(size=(3, 3)) + 5
    y = x + noise * rng.normal(size=x.shape)
    w = {"w": rng.choice([1.0, 2.0, 3.0], n)} if weights else {}
    first, second = ({**dict(zip("abc", m.T, strict=True)), **w} for m in (x, y))
    return pair(first, second, numeric=list("abc"), weight="w" if weights else None)


def repeated(data, times=None):
    """Every record as often as its weight says, or `times` times; without weights."""
    frame = data.frame
    often = frame["w"].cast(pl.Int64) if times is None else pl.Series([times] * frame.height)
    long = frame.with_columns(often.alias("often")).select(pl.all().repeat_by("often").explode())
    return sdc.read(long.drop("often"), numeric=list("abc"))


# IL1


def test_il1_by_hand_with_zero_missing_and_weights():
    x = {"x": [2.0, 0.0, 4.0, None], "w": [1.0, 5.0, 2.0, 2.0]}
    data, other = pair(x, {**x, "x": [3.0, 7.0, 3.0, 1.0]}, numeric="x", weight="w")
    result = U.il1(data, other)
    assert result.value == pytest.approx((1 * 0.5 + 2 * 0.25) / 10)
    assert result.figures["complete_pairs"] == pytest.approx((1 * 0.5 + 2 * 0.25) / 3)
    assert result.figures["percent_sum"] == pytest.approx(100)
    assert "1 pair with a missing value" in result.notes[0]
    assert "1 original value is 0" in result.notes[1]
    spread = naive.spread([2, 0, 4], [1, 5, 2])
    assert U.il1(data, other, scale="sd").value == pytest.approx((1 + 35 + 2) / 10 / spread)


def test_il1_of_a_constant_variable_and_of_nothing():
    data, other = pair({"x": [5.0, 5.0]}, {"x": [5.0, 6.0]})
    assert U.il1(data, data, scale="sd").value == 0
    result = U.il1(data, other, scale="sd")
    assert math.isinf(result.value)
    assert result.notes == ("Changed although the original does not vary: x.",)
    data, other = pair({"x": [5.0, None]}, {"x": [None, 5.0]})
    nothing = U.il1(data, other)
    assert math.isnan(nothing.value)
    assert nothing.notes[-1] == "No pair of values to compare."


# moments


def test_moments_by_hand():
    data, other = pair({"x": [1.0, 3.0], "y": [1.0, 5.0]}, {"x": [2.0, 6.0], "y": [1.0, 1.0]})
    result = U.moments(data, other, probabilities=[0.5])
    assert result.parts["mean_change"].to_list() == pytest.approx([1.0, 2 / 3])
    assert result.parts["variance_change"].to_list() == pytest.approx([3.0, 1.0])
    assert result.value == pytest.approx((1 + 2 / 3 + 3 + 1) / 4)
    assert result.figures["quantile_change"] == pytest.approx((1 + 2 / 3) / 2)
    assert "Does not vary in one of the files, left out: y." in result.notes


def test_a_zero_mean_has_no_relative_change():
    data, other = pair({"x": [-1.0, 1.0]}, {"x": [0.0, 2.0]})
    result = U.moments(data, other)
    assert result.value == 0  # the variance did not change, the mean is left out
    assert "The mean is 0 in the original only, so has no relative change: x." in result.notes


def test_moments_find_the_direction_of_noise_and_of_averaging():
    data, other = random_pair(400)
    assert (
        (U.moments(data, other).parts.select(pl.col("variance_protected") > pl.col("variance_original")))
        .to_series()
        .all()
    )


# matrices


def test_matrix_discrepancy_by_hand():
    x, y = np.array([[1.0, 1], [2, 3], [3, 2]]), np.array([[1.0, 3], [2, 2], [3, 1]])
    data, other = pair(*({"a": m[:, 0], "b": m[:, 1]} for m in (x, y)))
    f = U.matrix_discrepancy(data, other).figures
    assert [f["mse_x"], f["mae_x"], f["mvar_x"]] == pytest.approx([6 / 6, 4 / 6, (2 + 1 / 3 + 1 / 2) / 6])
    # covariances 1, .5, 1 become 1, −1, 1
    assert [f["mse_v"], f["mae_v"], f["mvar_v"]] == pytest.approx([2.25 / 3, 1.5 / 3, 3 / 3])
    assert [f["mse_r"], f["mae_r"], f["mvar_r"]] == pytest.approx([2.25, 1.5, 3])
    # components (1,1)/√2 and (1,−1)/√2 with 1.5 and .5; after: (1,−1)/√2 with 2 and (1,1)/√2 with 0
    first, second = math.sqrt(1.5 / 2), math.sqrt(0.5 / 2)
    assert [f["mse_c"], f["mae_c"]] == pytest.approx([0.25**2, 0.25])
    errors = sorted([abs(first - 1), first + 1]), [second, second]
    assert f["mae_rf"] == pytest.approx((1.5 * sum(errors[0]) + 0.5 * sum(errors[1])) / 4)
    root = math.sqrt(1 / 3)  # v/√λ = √½/√1.5, and ½ after
    assert f["mae_f"] == pytest.approx((abs(root - 0.5) + root + 0.5) / 2)


def test_all_components_leave_no_communality_to_lose():
    data, other = random_pair()
    assert U.matrix_discrepancy(data, other, components=3).figures["mae_c"] == pytest.approx(0, abs=1e-12)
    with pytest.raises(OptionError, match=r"not so many components\. Given: 4\. Allowed: 1 to 3"):
        U.matrix_discrepancy(data, other, components=4)


def test_the_sign_of_a_component_does_not_matter():
    data, _ = random_pair()
    mirrored = data.with_frame(data.frame.with_columns(-pl.all()))
    figures = U.matrix_discrepancy(data, mirrored).figures
    for name in ("mae_v", "mae_r", "mae_rf", "mae_c", "mae_f"):
        assert figures[name] == pytest.approx(0, abs=1e-9)
    assert figures["mae_x"] > 1


def test_files_of_different_length_have_no_x():
    data, other = random_pair()
    result = U.matrix_discrepancy(data, other.with_frame(other.frame.head(70)))
    assert "mse_x" not in result.figures
    assert result.parts["matrix"].to_list() == ["V", "R", "RF", "C", "F"]
    assert "X was not compared" in result.notes[0]


def test_correlation_loss_by_hand():
    # uncorrelated three become two with r = .6: inverse diagonals (1, 1, 1) and (1/.64, 1/.64, 1)
    base = np.array([[a, b, c] for a in (-1.0, 1) for b in (-1.0, 1) for c in (-1.0, 1)])
    mixed = base.copy()
    mixed[:, 1] = 0.6 * base[:, 0] + 0.8 * base[:, 1]
    data, other = pair(*(dict(zip("abc", m.T, strict=True)) for m in (base, mixed)))
    result = U.correlation_loss(data, other)
    d = np.array([1 / 0.64, 1 / 0.64, 1])
    expected = np.linalg.norm(np.ones(3) / math.sqrt(3) - d / np.linalg.norm(d)) / math.sqrt(2)
    assert result.value == pytest.approx(expected)
    assert result.parts["protected"].to_list() == pytest.approx(d)
    assert U.correlation_loss(other, data).value == pytest.approx(result.value)
    same = other.with_frame(other.frame.with_columns(c=pl.col("a") * 2))
    assert math.isnan(U.correlation_loss(data, same).value)
    assert "singular" in U.correlation_loss(data, same).notes[-1]


def test_correlation_loss_says_that_two_variables_are_too_few():
    data, other = pair({"a": [1.0, 2, 3, 4], "b": [1.0, 2, 3, 5]}, {"a": [1.0, 2, 3, 4], "b": [3.0, 5, 1, 2]})
    result = U.correlation_loss(data, other)
    assert math.isnan(result.value)
    assert "needs three" in result.notes[-1]
    before, after = result.parts["original"], result.parts["protected"]
    assert before[0] == pytest.approx(before[1])
    assert before[0] > 10 > after[0]
    alone = U.correlation_loss(data, other, variables=["a"])
    assert math.isnan(alone.value)
    assert alone.notes == ("One variable alone has no correlations to lose.",)


def test_outliers_do_not_move_the_robust_components():
    rng = np.random.default_rng(4)
    x = rng.normal(size=(300, 3)) @ np.array([[1.0, 0.3, 0], [0, 1, 0], [0, 0, 1]])
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    y = x.copy()
    y[:20] += 500
    data, other = pair(*(dict(zip("abc", m.T, strict=True)) for m in (x, y)))
    share = [pl.col("original") / pl.col("original").sum(), pl.col("protected") / pl.col("protected").sum()]
    plain, robust = (U.eigenvalues(data, other, robust=r).parts.select(share) for r in (False, True))
    assert plain["protected"][0] > 0.99
    assert robust["protected"].to_list() == pytest.approx(robust["original"].to_list(), abs=0.05)
    assert U.eigenvalues(data, other, robust=True).value == U.eigenvalues(data, other, robust=True).value


def test_robust_eigenvalues_of_numbers_that_are_mostly_zero_are_plain():
    """The MCD has none where half of the records lie on a plane: one component was left out."""
    rng = np.random.default_rng(1)
    x = np.where(rng.random(200) < 0.6, 0.0, rng.lognormal(size=200))
    data = sdc.read(pl.DataFrame({"x": x, "y": rng.normal(size=200)}), numeric=["x", "y"])
    other = sdc.protect.add_noise(data, sd=0.1, rng=1)
    found = U.eigenvalues(data, other, robust=True)
    assert found.value == pytest.approx(U.eigenvalues(data, other).value)
    assert any("plain covariances" in note for note in found.notes)
    few = sdc.read(data.frame.head(2), numeric=["x", "y"])
    assert any("plain covariances" in note for note in U.eigenvalues(few, few, robust=True).notes)


def test_robust_eigenvalues_need_memory():
    duckdb = pytest.importorskip("duckdb")
    data, _ = random_pair()
    there = data.with_frame(duckdb.from_arrow(data.frame.to_arrow()))
    assert U.eigenvalues(there, there).value == pytest.approx(0, abs=1e-9)
    with pytest.raises(EngineError, match=r"robust=True\) needs the records in memory"):
        U.eigenvalues(there, there, robust=True)


# probabilistic loss


def test_pil_of_a_mean_by_hand():
    data, other = pair({"x": [1.0, 2.0, 3.0, 4.0]}, {"x": [2.0, 3.0, 4.0, 5.0]})
    result = U.probabilistic_loss(data, other)
    error = math.sqrt(5 / 3 / 4)
    assert result.figures["means"] == pytest.approx(100 * math.erf(1 / error / math.sqrt(2)))
    assert result.figures["variances"] == 0
    assert set(result.figures) == {"means", "variances", "quantiles"}
    assert result.value == pytest.approx(sum(result.figures.values()) / 3)
    # μ₄ = (2·1.5⁴ + 2·.5⁴)/4 = 2.5625, S⁴(n−3)/(n−1) = (25/9)/3
    row = result.parts.filter(kind="variances").row(0, named=True)
    assert row["standard_error"] == pytest.approx(math.sqrt((2.5625 - 25 / 27) / 4))


def test_pil_standard_errors_are_those_of_normal_data():
    n, r = 20_000, 0.6
    rng = np.random.default_rng(5)
    u = rng.normal(size=(2, n))
    data, _ = pair({"x": u[0], "y": r * u[0] + 0.8 * u[1]}, {"x": u[0], "y": u[1]})
    parts = U.probabilistic_loss(data, data, probabilities=[0.5]).parts
    found = dict(parts.select("kind", pl.col("standard_error") * math.sqrt(n)).iter_rows())
    expected = {
        "means": 1,
        "variances": math.sqrt(2),
        "covariances": math.sqrt(1 + r**2),
        "correlations": 1 - r**2,
        "quantiles": math.sqrt(math.pi / 2),
    }
    assert found == pytest.approx(expected, rel=0.06)


def test_pil_grows_with_the_size_of_the_file_and_ends_at_100():
    files = [random_pair(n)[0] for n in (50, 2000)]
    moved = [d.with_frame(d.frame.with_columns(pl.all() + 0.1)) for d in files]
    small, large = (U.probabilistic_loss(*both).figures["means"] for both in zip(files, moved, strict=True))
    assert 0 < small < large < 100
    data, _ = random_pair()
    far = data.with_frame(data.frame.with_columns(pl.all() * 1000))
    assert U.probabilistic_loss(data, far).figures["means"] == pytest.approx(100)
    data, other = pair({"x": [5.0] * 4}, {"x": [5.0, 5.0, 5.0, 6.0]})
    assert U.probabilistic_loss(data, other).figures["means"] == 100


# variable loss


def test_variable_loss_by_hand():
    x = {"k": [1, 2, 3, 4], "o": ["lo", "mid", "hi", None], "x": [0.0, None, 1.0, None], "w": [1.0, 1, 1, 3]}
    y = {
        "k": [1, 3, None, 4],
        "o": ["hi", "mid", None, None],
        "x": [1.0, 3.0, 1.0, None],
        "w": [1.0, 1, 1, 3],
    }
    data, other = pair(x, y, keys=["k", "o"], numeric="x", weight="w")
    result = U.variable_loss(data, other, ordinal={"o": ["lo", "mid", "hi"]})
    far = 2 / math.pi * math.atan(3)
    assert result.parts["loss"].to_list() == pytest.approx([2 / 6, 2 / 6, (0.5 + far) / 6])
    assert result.parts["kind"].to_list() == ["nominal", "ordinal", "numeric"]
    ranked = U.variable_loss(data, other, variables="k", ordinal="k")
    assert ranked.value == pytest.approx((1 / 3 + 1) / 6)


def test_variable_loss_refuses_levels_it_does_not_know():
    data, other = pair({"o": ["lo", "hi"]}, {"o": ["lo", "top"]}, keys="o")
    assert U.variable_loss(data, other, ordinal={"o": ["lo", "mid", "hi"]}).value == 0.5  # "top" counts 1
    with pytest.raises(OptionError, match=r"The order of 'o' is not known.*ordinal=\{'o': \[lowest"):
        U.variable_loss(data, other, ordinal="o")
    with pytest.raises(OptionError, match=r"hold every value of the original\. Given: hi"):
        U.variable_loss(data, other, ordinal={"o": ["lo", "mid"]})
    with pytest.raises(OptionError, match="levels of 'o' must differ"):
        U.variable_loss(data, other, ordinal={"o": ["lo", "lo", "hi"]})
    with pytest.raises(OptionError, match="a variable that is not compared"):
        U.variable_loss(*random_pair(), variables="a", ordinal="b")


def test_variable_loss_of_a_recoded_number_is_nominal():
    data = sdc.read(pl.DataFrame({"x": [1.0, 2.0]}), numeric="x")
    other = sdc.read(pl.DataFrame({"x": ["low", None]}), keys="x")
    result = U.variable_loss(data, other)
    assert result.value == 1
    assert "x has other categories than in the original" in result.notes[0]


maybe = st.one_of(st.none(), st.integers(-4, 4).map(float))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(maybe, maybe), min_size=1, max_size=8))
def test_numeric_variable_loss_is_the_plain_one(values):
    x, y = ([row[i] for row in values] for i in (0, 1))
    frames = [pl.DataFrame({"x": v}, schema={"x": pl.Float64}) for v in (x, y)]
    data = sdc.read(frames[0], numeric="x")
    expected = naive.mean(naive.numeric_loss(x, y), [1] * len(x))
    assert U.variable_loss(data, data.with_frame(frames[1])).value == pytest.approx(expected)


# distribution distance

weighted = st.lists(
    st.tuples(st.integers(-3, 3).map(float), st.sampled_from([0.5, 1.0, 2.0])), min_size=2, max_size=9
)


@settings(max_examples=40, deadline=None)
@given(weighted, weighted)
def test_distribution_distance_is_the_plain_one(first, second):
    (x, w), (y, u) = (tuple(zip(*rows, strict=True)) for rows in (first, second))
    data, other = pair({"x": x, "w": w}, {"x": y, "w": u}, numeric="x", weight="w")
    row = U.distribution_distance(data, other).parts.row(0)[1:]
    largest, cramer, moved = naive.distances(x, w, y, u)
    spread = naive.spread(x, w)
    scaled = moved / spread if spread > 1e-9 else (math.inf if moved > 1e-12 else 0.0)
    assert row == pytest.approx((largest, cramer, scaled), abs=1e-12)


def test_disjoint_distributions_are_as_far_as_can_be():
    data, other = pair({"x": np.arange(500.0)}, {"x": np.arange(500.0) + 1000})
    result = U.distribution_distance(data, other)
    assert result.value == 1
    assert result.figures["cramer_von_mises"] == pytest.approx(1 / 3, rel=1e-3)
    assert result.figures["wasserstein"] == pytest.approx(1000 / np.std(np.arange(500.0), ddof=1))
    back = U.distribution_distance(other, data).figures
    assert back == pytest.approx(result.figures)


def test_bins_are_open_shares_add_up_and_ties_share_a_bin():
    data, other = pair({"x": [1.0] * 5 + [2.0, 3.0, 4.0]}, {"x": [1.0] * 4 + [4.0] * 4})
    bins = U.distribution_distance(data, other, bins=4).tables["bins"]
    assert bins["from"].to_list() == [None, *bins["to"].to_list()[:-1]]
    assert bins["to"][-1] is None
    assert bins["original"].sum() == pytest.approx(1)
    assert bins["to"][0] == 4  # the quarters of both together are 1, 1 and 4, and nothing lies below 1
    assert bins["original"][0] == pytest.approx(7 / 8)
    assert bins["protected"][0] == pytest.approx(4 / 8)


@settings(max_examples=40, deadline=None)
@given(weighted, st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.75, 1.0]))
def test_weighted_quantiles_are_the_plain_ones(rows, p):
    x, w = zip(*rows, strict=True)
    data, _ = pair({"x": x, "w": w}, {"x": x, "w": w}, numeric="x", weight="w")
    table = U.moments(data, data, probabilities=[p]).tables["quantiles"]
    assert table["original"][0] == naive.quantile(x, w, p)


# all of them


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_repeating_every_record_changes_no_shape(name):
    data, other = random_pair()
    once, thrice = (
        getattr(U, name)(*files) for files in ((data, other), (repeated(data, 3), repeated(other, 3)))
    )
    tolerance = 0.02 if name in ("moments",) else 1e-9  # n − 1 and type 7 quantiles
    assert thrice.value == pytest.approx(once.value, rel=tolerance)


@pytest.mark.parametrize("name", [*DISTRIBUTIONS, "il1", "variable_loss"])
def test_integer_weights_are_repeated_records(name):
    data, other = random_pair(weights=True)
    weighted_value = getattr(U, name)(data, other).value
    assert getattr(U, name)(repeated(data), repeated(other)).value == pytest.approx(weighted_value, rel=1e-9)


@pytest.mark.parametrize("name", [*DISTRIBUTIONS, "probabilistic_loss"])
def test_files_of_different_length(name):
    data, other = random_pair()
    shorter = other.with_frame(other.frame.head(61))
    assert math.isfinite(getattr(U, name)(data, shorter).value)


@pytest.mark.parametrize("name", ["il1", "variable_loss"])
def test_records_cannot_be_compared_in_files_of_different_length(name):
    data, other = random_pair()
    with pytest.raises(DataError, match="different lengths"):
        getattr(U, name)(data, other.with_frame(other.frame.head(61)))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", [*DISTRIBUTIONS, "probabilistic_loss"])
def test_extreme_numbers_give_what_ordinary_ones_give(name):
    data, other = random_pair()
    grown = [d.with_frame(d.frame.with_columns(pl.col("a") * 2.0**700)) for d in (data, other)]
    assert getattr(U, name)(*grown).value == pytest.approx(getattr(U, name)(data, other).value, rel=1e-9)


def test_il1s_tells_no_value_from_no_variation():
    frame = pl.DataFrame(
        {"x": [1.0, 2.0], "flat": [5.0, 5.0], "none": pl.Series([None, None], dtype=pl.Float64)}
    )
    data = sdc.read(frame, numeric=frame.columns)
    assert sdc.utility.il1s(data, data).notes == (
        "flat does not vary in the original.", "none has no value in the original.",
    )  # fmt: skip


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("engine", ["polars", "duckdb"])
@pytest.mark.parametrize("size", [2.0**-900, 2.0**500, 2.0**1000])
@pytest.mark.parametrize("name", ["il1s", "gower_distance"])
def test_record_distances_of_extreme_numbers_are_those_of_ordinary_ones(name, size, engine):
    files = [pl.DataFrame({"id": [1, 2, 3, 4], "x": [1.0, -1.0, 0.5, x]}) for x in (0.25, 0.75)]

    def on_engine(frame):
        return duckdb.from_arrow(frame.to_arrow()) if engine == "duckdb" else frame

    def value(factor):
        scaled = (on_engine(f.with_columns(pl.col("x") * factor)) for f in files)
        return getattr(U, name)(*(Microdata.of(f, id="id", numeric=["x"]) for f in scaled)).value

    assert value(size) == pytest.approx(value(1.0), rel=1e-12)


def test_il1s_says_which_numbers_are_too_large():
    data, other = (sdc.read(pl.DataFrame({"x": [1.7e308, y]}), numeric="x") for y in (-1.7e308, 1.7e308))
    found = sdc.utility.il1s(data, other)
    assert math.isnan(found.value)
    assert "too large" in found.notes[0]
