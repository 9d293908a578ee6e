"""The text of a plan: what plain words mean, and that odd text is refused by an error of ours, soon."""

import contextlib
import subprocess
import sys

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import sdckit as sdc
from sdckit.choose.plan_text import parse_text
from sdckit.errors import FileError, OptionError, SdcError

TEN = ["x"] * 10
LAUGHS = "a0: &a0 [" + ",".join(TEN) + "]\n"
LAUGHS += "".join(f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 12))
ODD = {
    "aliases that explode": LAUGHS,
    "an alias of itself": "scenarios: &s {a: *s}",
    "a list in itself": "search: &s [*s]",
    "lists in lists": "search: " + "[" * 3_000 + "]" * 3_000,
    "lists that never end": "search: " + "[" * 100_000,
    "blocks in blocks": "".join(" " * i + "a:\n" for i in range(3_000)),
    "merge keys": "data: &d {file: a.csv}\nscenarios: {a: [{suppress: {<<: *d, k: 3}}]}",
    "a number of 5,000 digits": "seed: " + "9" * 5_000,
    "a tagged number": "seed: !!int '" + "9" * 5_000 + "'",
    "a long decimal": "seed: 0." + "9" * 5_000,
    "a hexadecimal number": "seed: 0x" + "f" * 5_000,
    "a step with such a number": "scenarios: {a: [{suppress: {k: " + "9" * 5_000 + "}}]}",
    "a name twice": "seed: 1\nseed: 2",
    "a name twice as text": "scenarios: {1: [], '1': []}",
    "a category twice as text": "scenarios: {a: [{group: {variables: sex, map: {1: [1], 1.0: [2]}}}]}",
    "an object": "seed: !!python/object/apply:os.getcwd []",
    "a set": "data: !!set {a, b}",
    "bytes": "seed: !!binary aGk=",
    "a name that is a list": "scenarios: {? [a, b] : []}",
    "two documents": "seed: 1\n---\nseed: 2",
    "a zero character": "seed: \0",
    "a list that is called a number": "seed: !!int [1]",
    "a list that is called a decimal number": "seed: !!float [1]",
    "a mapping that is called a truth value": "seed: !!bool {a: 1}",
    "a text that is called a mapping": "data: !!map x",
    "half a character": 'scenarios: {a: [{group: {variables: sex, map: {"\\ud800": [f]}}}]}',
    "an escaped zero character": 'data: {file: "a\\0b.csv"}',
    "nothing": "",
}
CHECK = """
import sys, sdckit as sdc
try:
    sdc.Plan.parse(sys.stdin.read())
except sdc.SdcError as error:
    print(type(error).__name__, len(str(error)))
"""


@pytest.mark.parametrize("name", ODD)
def test_odd_text_is_refused_by_an_error_of_ours(name):
    with pytest.raises(SdcError) as caught:
        sdc.Plan.parse(ODD[name])
    assert len(str(caught.value)) < 500


def test_a_long_list_is_refused_where_the_limit_is_passed(monkeypatch):
    """Not after all of it was read: what stands behind the limit is not even YAML."""
    monkeypatch.setattr("sdckit.choose.plan_text.MAX_VALUES", 100)
    with pytest.raises(FileError, match="too many values"):
        parse_text("search:\n" + "- 1\n" * 200 + "}")


def test_it_takes_little_time_and_memory():
    """In another process, under a limit that a loop without end or memory without end would break."""
    limited = "import resource as r; r.setrlimit(r.RLIMIT_AS, (4 << 30, 4 << 30))\n" + CHECK
    for name in ("aliases that explode", "lists that never end"):
        done = subprocess.run(
            [sys.executable, "-c", limited],
            input=ODD[name],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.stdout.startswith("FileError"), done.stderr


def test_plain_words_are_what_people_mean():
    found = parse_text("[no, off, yes, on, y, 010, 3:10, 1:2:3, 0x1f, 0o7, 1_000, 2026-01-01, =, NaN, 1 2]")
    assert found == [
        "no", "off", "yes", "on", "y", "010", "3:10", "1:2:3", "0x1f", "0o7", "1_000", "2026-01-01", "=",
        "NaN", "1 2",
    ]  # fmt: skip


def test_numbers_truth_values_and_nothing():
    assert parse_text("[1, -3, 0, 0.5, .5, 1e3, -1.5E-2, true, False, null, ~, ]") == [
        1, -3, 0, 0.5, 0.5, 1000.0, -0.015, True, False, None, None,
    ]  # fmt: skip
    assert parse_text("a:") == {"a": None}
    assert parse_text("['1', \"true\", !!str 3]") == ["1", "true", "3"]
    assert parse_text("[.inf, -.inf]") == [float("inf"), float("-inf")]


def test_aliases_within_reason_are_read():
    text = "scenarios:\n  a: &steps [{suppress: {k: 3}}]\n  b: *steps\n"
    one, two = sdc.Plan.parse(text).scenarios
    assert one.steps == two.steps


def test_flags_may_be_yes_and_no():
    text = "data: {file: a.csv, keep_direct: yes}\nintruders: {a: {knows: [keys], in_file: no, on_axis: off}}"
    plan = sdc.Plan.parse(text)
    assert plan.data["keep_direct"] is True
    assert plan.intruders[0].in_file is False
    assert plan.intruders[0].on_axis is False


def test_a_time_is_no_number():
    with pytest.raises(OptionError, match="k"):
        sdc.Plan.parse("scenarios: {a: [{suppress: {k: 3:10}}]}")


def test_a_file_that_is_no_plan(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(b"a: b\n" * 2_100_000)
    with pytest.raises(FileError, match="too large"):
        sdc.Plan.load(path)


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**17), 10**17)
    | st.floats(-1e6, 1e6)
    | st.text("abno013:.-+ ~'é", max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text("abcdefgh", min_size=1, max_size=6), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(PLAIN)
def test_what_is_written_is_read_again(content):
    text = yaml.safe_dump(content, allow_unicode=True)
    assert parse_text(text) == content


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from("abk:-[]{},&*!<>|'\"# \n\t0123.?%@`~"), max_size=60))
def test_any_text_is_read_or_refused_by_an_error_of_ours(text):
    with contextlib.suppress(SdcError):
        sdc.Plan.parse(text)
