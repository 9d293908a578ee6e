"""Numbers of public reports: coarse enough that no difference tells of a few records."""

from hypothesis import given
from hypothesis import strategies as st

from sdckit._support.number_text import SPACE
from sdckit.methods.registry import find
from sdckit.methods.spec import Figure, Kind
from sdckit.report.public_numbers import public_count, public_number, public_share, rounded_count, share_step


@given(st.integers(0, 10_000), st.integers(0, 10_000))
def test_rounded_counts_are_the_same_or_five_apart(first, second):
    difference = abs(rounded_count(first) - rounded_count(second))
    assert difference == 0 or difference >= 5
    assert abs(rounded_count(first) - first) <= 2.5
    assert {str(public_count(n)) for n in range(1, 5)} == {"<5"}


@given(st.integers(1, 5000), st.data())
def test_shares_are_the_same_or_five_records_apart(records, data):
    counts = [data.draw(st.integers(0, records)) for _ in range(2)]
    shown = [public_share(count / records, records) for count in counts]
    if records < 20:
        assert shown == [None, None]
        return
    assert all(s is not None for s in shown)
    difference = abs(shown[0].value - shown[1].value) * records
    full = 1.0 in {s.value for s in shown}  # the last step may be shorter: nobody is missing from it
    assert difference < 1e-6 or difference >= 5 - 1e-6 or full
    assert all(abs(s.value - c / records) <= share_step(records) for s, c in zip(shown, counts, strict=True))
    assert all(s.at_most or s.value == 0 or s.value * records >= 5 - 1e-6 for s in shown)


def test_what_a_measure_may_show():
    assert str(public_number(find("k_anonymity"), Kind.RISK, 0.0312, 1000)) == f"3{SPACE}%"
    assert str(public_number(find("population_uniques"), Kind.RISK, 12.4, 1000)) == "10"
    assert str(public_number(find("gower_distance"), Kind.UTILITY, 0.123, 1000)) == "0.12"
    for unbounded in ("il1s", "contingency_tables", "moments"):  # the mean change of 64 cells is 2 records
        assert public_number(find(unbounded), Kind.UTILITY, 0.03125, 1000) is None
    assert public_number(find("l_diversity"), Kind.RISK, 2, 1000) is None
    assert public_number(find("t_closeness"), Kind.RISK, 0.4, 1000) is None
    assert public_number(find("il1s"), Kind.UTILITY, float("nan"), 1000) is None
    assert public_number(Figure("Highest", share=True, extreme=True), Kind.RISK, 0.4, 1000) is None
