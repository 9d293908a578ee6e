"""Results of several files."""

from sdckit.data.result import Result, worst_result


def test_of_several_files_that_are_released_the_worst_counts():
    results = [Result(v, {"x": v}) for v in (0.1, 0.7, 0.2)]
    worst = worst_result(results, low_is_good=True)
    assert (worst.value, worst.figures["x"]) == (0.7, 0.7)
    assert "number 2" in worst.notes[-1]
    assert worst_result(results, low_is_good=False).value == 0.1
    assert worst_result(results[:1], low_is_good=True) is results[0]
    unknown = worst_result([*results, Result(float("nan"))], low_is_good=True)
    assert unknown.value != unknown.value


def test_every_figure_that_should_be_low_is_that_of_its_worst_file():
    results = [
        Result(0.1, {"back": 0.9, "good": 1.0, "kind": 5.0, "unknown": float("nan")}),
        Result(0.7, {"back": 0.2, "good": 0.5, "kind": 6.0, "unknown": 0.4}),
    ]
    worst = worst_result(results, low_is_good=True, low_figures={"back", "unknown"})
    assert worst.figures == {"back": 0.9, "good": 0.5, "kind": 6.0, "unknown": 0.4}
    assert worst.sets == tuple(results)
    assert "back" in worst.notes[-2]
