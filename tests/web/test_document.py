"""A document says what a plan says, and every change can be undone."""

from dataclasses import replace

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from sdckit.choose.plan import Plan
from sdckit.choose.scenario import Step
from sdckit.errors import OptionError
from sdckit.web.document import CardStep, Document
from sdckit.web.history import History

STEPS = [Step("suppress", k=3, seed=1), Step("recode", variable="age", width=10), Step("shuffle_order")]


def filled() -> Document:
    document = Document(source={"file": "people.csv"})
    for column, role in (("age", "keys"), ("sex", "keys"), ("income", "numeric"), ("w", "weight")):
        document = document.with_role(column, (role,))
    document = document.with_step("A", STEPS[1]).with_step("A", STEPS[0]).with_scenario("B", like="A")
    document = document.with_intruders({"colleague": {"knows": ["keys", {"income": 0.1}]}})
    return document.with_criteria(0.05, {"claims": 2}).with_seed(7)


def test_plan_and_back():
    document = filled()
    text = document.plan().to_yaml()
    assert Document.of_plan(Plan.parse(text)) == document
    assert Document.of_plan(Plan.parse(text)).plan().to_yaml() == text


def test_a_step_that_is_off_is_in_no_plan_but_is_not_lost():
    document = filled().with_step_switched("A", 0, False)
    assert [step.method for step in document.plan().find("A").steps] == ["suppress"]
    again = Document.of_dict(document.as_dict())
    assert again == document
    assert again.with_step_switched("A", 0, True) == filled()


def test_a_single_role_moves():
    document = filled().with_role("w2", ("weight",))
    assert document.columns_by_role["weight"] == "w2"
    assert "w" not in document.roles


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.with_role("age", ("king",)),
        lambda d: d.with_scenario("A"),
        lambda d: d.with_scenario(" "),
        lambda d: d.with_scenario_renamed("A", "B"),
        lambda d: d.without_scenario("Z"),
        lambda d: d.without_step("A", 5),
        lambda d: d.with_step_moved("A", 0, 9),
        lambda d: d.with_criteria(5, {}),
        lambda d: d.with_criteria(0.1, {"everything": True}),
        lambda d: d.with_seed(-1),
        lambda d: d.with_intruders({"x": {"knows": []}}),
    ],
)
def test_what_cannot_be_is_refused(change):
    with pytest.raises(OptionError):
        change(filled())


def test_the_last_scenario_leaves_an_empty_one():
    document = Document(scenarios={"only": (CardStep(STEPS[0]),)}).without_scenario("only")
    assert document.scenarios == {"A": ()}


class Changes(RuleBasedStateMachine):
    """Any sequence of changes: undo all is the start, redo all the end, nothing between is lost."""

    def __init__(self) -> None:
        super().__init__()
        self.start = Document(source={"file": "people.csv"})
        self.history = History((("opened", self.start),))
        self.made = [self.start]

    def _then(self, document: Document) -> None:
        if document == self.history.document:
            return
        self.made = [*self.made[: self.history.position + 1], document]
        self.history = self.history.then("change", document)

    @rule(column=st.sampled_from(["age", "sex", "w"]), role=st.sampled_from(["keys", "weight", "sensitive"]))
    def role(self, column, role):
        self._then(self.history.document.with_role(column, (role,)))

    @rule(step=st.sampled_from(STEPS))
    def step(self, step):
        self._then(self.history.document.with_step(next(iter(self.history.document.scenarios)), step))

    @rule(name=st.sampled_from(["B", "C"]))
    def scenario(self, name):
        document = self.history.document
        self._then(
            document.without_scenario(name) if name in document.scenarios else document.with_scenario(name)
        )

    @rule(seed=st.integers(0, 3))
    def seed(self, seed):
        self._then(replace(self.history.document, seed=seed))

    @precondition(lambda self: self.history.position > 0)
    @rule()
    def undo(self):
        self.history = self.history.at(self.history.position - 1)

    @precondition(lambda self: self.history.position + 1 < len(self.history.entries))
    @rule()
    def redo(self):
        self.history = self.history.at(self.history.position + 1)

    @invariant()
    def nothing_is_lost(self):
        assert [document for _, document in self.history.entries] == self.made
        assert self.history.at(0).document == self.start
        assert self.history.at(len(self.made) - 1).document == self.made[-1]
        assert History.of_dict(self.history.as_dict()) == self.history


TestChanges = Changes.TestCase
TestChanges.settings = settings(max_examples=30, stateful_step_count=15, deadline=None)


def test_a_note_is_in_the_plan_and_survives_a_change_of_the_step():
    document = filled().with_note("A", 1, " asked for by the board ")
    assert "note: asked for by the board" in document.plan().to_yaml()
    assert Document.of_plan(Plan.parse(document.plan().to_yaml())) == document
    assert Document.of_dict(document.as_dict()) == document
    changed = document.with_options("A", 1, Step("suppress", k=5, seed=1))
    assert changed.scenario("A").steps[1].note == "asked for by the board"
    assert changed.with_note("A", 1, "").scenario("A").steps[1].note == ""


@pytest.mark.parametrize("note", [5, None, ["x"], "x" * 2001])
def test_what_is_no_note_is_refused(note):
    with pytest.raises(OptionError):
        filled().with_note("A", 0, note)
