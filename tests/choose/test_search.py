"""search: spaces, determinism, the ceiling, and better than a grid."""

import pytest

import sdckit as sdc
from sdckit.choose.risk_utility_map import hypervolume
from sdckit.choose.space import Space
from sdckit.errors import OptionError, UnknownMethodError

RISK = "individual_risk"  # quick: searches are about many scenarios
SPACE = [
    {"recode": {"variable": "age", "width": {"choices": [1, 5, 10, 20]}}},
    {"optional": {"suppress": {"k": {"range": [2, 6]}}}},
    {"microaggregate": {"k": {"range": [2, 30], "log": True}}},
]


@pytest.fixture(scope="module")
def small():
    return sdc.demo.survey(n=300, seed=2).with_roles(keys=["sex", "age"], numeric=["expenditure"])


def test_the_same_seed_gives_the_same_map_whatever_the_jobs(small):
    def points(**options):
        return sdc.search(small, SPACE, trials=16, risk=RISK, **options).points.drop("seconds")

    one = points(seed=3)
    assert one.equals(points(seed=3, jobs=2))
    assert not one.equals(points(seed=4))


def test_progress_and_budget(small):
    seen = []
    found = sdc.search(
        small, SPACE, trials=10, risk=RISK, progress=lambda m, done, all_: seen.append((done, all_))
    )
    assert seen[-1] == (10, 10)
    assert found.points.height == 10


def test_without_time_the_map_is_empty_and_can_be_looked_at(small):
    found = sdc.search(small, SPACE, trials=50, minutes=0)
    assert found.points.height == found.front.height == found.estimates.height == 0
    assert found.best is found.verdict is None
    assert found.reason == "No scenario could be measured."
    assert "Risk–utility map of 0 scenarios" in repr(found)
    assert found.hypervolume == 0
    assert found.only_front().warnings == ()
    found.chart().to_dict()
    found.multiples().to_dict()


def test_the_best_is_under_the_ceiling(small):
    ceiling = sdc.risk.individual_risk(small).value / 5
    found = sdc.search(
        small, SPACE, trials=24, risk=RISK, max_risk=ceiling, utility=["il1s", "entropy_loss.share"]
    )
    assert found.best.risk <= ceiling
    protected = found.protect()
    assert sdc.risk.individual_risk(protected).value == pytest.approx(found.best.risk)


def test_a_grid_covers_the_space():
    space = Space.of(SPACE)
    grid = [space.decode(genes) for genes in space.grid(100)]
    assert len(grid) <= 100
    widths = {steps[0]["recode"]["width"] for steps in grid}
    assert widths == {1, 5, 10, 20}
    assert {len(steps) for steps in grid} == {2, 3}
    assert len({str(steps) for steps in grid}) == len(grid)


def test_one_of_and_nested_choices():
    space = Space.of(
        [
            {
                "one of": [
                    {"microaggregate": {"k": 3}},
                    {"suppress": {"importance": {"sex": {"choices": ["low", "high"]}}}},
                ]
            }
        ]
    )
    assert sorted(str(space.decode(g)) for g in space.grid(10)) == sorted(
        str([s])
        for s in (
            {"microaggregate": {"k": 3}},
            {"suppress": {"importance": {"sex": "low"}}},
            {"suppress": {"importance": {"sex": "high"}}},
        )
    )


@pytest.mark.parametrize(
    ("space", "error", "text"),
    [
        ([], OptionError, "list of steps"),
        ([{"recode": {"variable": "age", "width": 5}}], OptionError, "leaves nothing open"),
        ([{"recod": {"width": {"choices": [1]}}}], UnknownMethodError, "Did you mean 'recode'"),
        ([{"recode": {"variable": "age", "width": {"choices": []}}}], OptionError, "must be a list"),
        ([{"suppress": {"k": {"range": [5, 2]}}}], OptionError, r"must be \[low, high\]"),
        ([{"suppress": {"k": {"range": [1, 5]}}}], OptionError, "Option 'k' of suppress"),
        ([{"microaggregate": {"k": {"range": [0, 5], "log": True}}}], OptionError, "must be positive"),
        ([{"a": 1, "b": 2}], OptionError, "not valid"),
        ([{"suppress": 3}], OptionError, "must be a mapping"),
        ([{"suppress": {"k": {"choices": 3}}}], OptionError, "choices of 'suppress.k' must be a list"),
    ],
)
def test_mistakes_in_a_space(space, error, text):
    with pytest.raises(error, match=text):
        Space.of(space)


@pytest.mark.parametrize(
    "around", [lambda s: s, lambda s: {"optional": s}, lambda s: {"one of": [s, "drop"]}]
)
def test_a_list_that_is_meant_as_choices(around):
    steps = [
        around({"recode": {"variable": "age", "width": [5, 10, 20]}}),
        {"suppress": {"k": {"range": [2, 5]}}},
    ]
    with pytest.raises(OptionError, match=r"write width: \{choices: \[5, 10, 20\]\}"):
        Space.of(steps)


def test_lists_that_an_option_takes_are_left_alone():
    Space.of([{"microaggregate": {"variables": ["a", "b"], "k": {"choices": [3, 5]}}}])
    Space.of([{"optional": {"recode": {"variable": "age", "breaks": [18, 65]}}}])


@pytest.mark.parametrize(
    ("step", "text"),
    [
        ({"suppress": {"k": 3}}, r"k: \{choices: \[3, …\]\}, .* k: \{range: \[3, …\]\}"),
        ({"drop": {"variables": ["a"]}}, r"optional: \{drop: \{variables: \[a\]\}\}"),
        ("shuffle_order", r"optional: \{shuffle_order: \{\}\}"),
    ],
)
def test_how_to_leave_something_open_is_said_with_the_users_step(step, text):
    with pytest.raises(OptionError, match=text):
        Space.of([step])


def test_a_small_space_is_tried_once_and_no_more(small):
    space = [{"microaggregate": {"k": {"choices": [2, 3, 5]}}}]
    assert sdc.search(small, space, trials=50).points.height == 3


def test_it_beats_a_grid_of_the_same_budget(small):
    judge = {"risk": RISK, "utility": {"entropy_loss.share": 1, "il1s": 1}}
    space = [
        {"recode": {"variable": "age", "width": {"range": [1, 30]}}},
        {"microaggregate": {"k": {"range": [2, 60], "log": True}}},
    ]
    grid = {str(i): Space.of(space).decode(g) for i, g in enumerate(Space.of(space).grid(40))}
    regular = sdc.compare(small, grid, **judge)
    found = sdc.search(small, space, trials=40, seed=1, **judge)
    worst = max(p.loss for p in (*regular.results, *found.results))
    covered = [hypervolume(m.results, m.original.risk, worst) for m in (regular, found)]
    assert covered[1] > covered[0]
