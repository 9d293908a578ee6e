"""Document: all that a steward decided, and the changes that can be made to it. It says what a plan says."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from secrets import randbits
from typing import Any

from sdckit._support.accepted_risk import accepted_risk
from sdckit._support.messages import join_names, require_known
from sdckit.choose.criteria import Accepted
from sdckit.choose.plan import TABLE, Plan
from sdckit.choose.preparation import preparations_of
from sdckit.choose.scenario import Scenario, Step, check_seed
from sdckit.data.intruder import Intruder, default_intruders, intruders_of
from sdckit.data.roles import Role, Roles
from sdckit.errors import OptionError, preview
from sdckit.io.formats import ending_of
from sdckit.io.table_options import TableOptions
from sdckit.methods.options import Shape
from sdckit.methods.registry import find
from sdckit.methods.spec import Kind

SINGLE = (Role.ID, Role.WEIGHT, Role.CLUSTER, Role.HOUSEHOLD)  # roles of one column


SECRET_BITS = 52  # what a number of a browser can hold


def with_written_seed(step: Step, *, anew: bool = False) -> Step:
    """The step with a seed where it would draw one in secret: page, plan and script then make one file.

    anew: also where it has one.

    >>> with_written_seed(Step("suppress", k=3, seed=1))
    suppress(k=3, seed=1)
    """
    secret = [f.name for f in find(step.method, Kind.PROTECTION).form() if f.secret]
    drawn = {name: randbits(SECRET_BITS) for name in secret if anew or name not in step.options}
    return Step(step.method, **{**step.options, **drawn}).with_note(step.note)


def links_of(steps: Iterable[Step]) -> dict[str, tuple[str, ...]]:
    """The columns that follow each key in any of the steps.

    >>> links_of([Step("suppress", linked={"region": [name]}) for name in ("town", "zip")])
    {'region': ('town', 'zip')}
    """
    found: dict[str, tuple[str, ...]] = {}
    for step in steps:
        option = follower_option(step)
        for key, columns in (step.options.get(option) or {} if option else {}).items():
            found[key] = tuple(dict.fromkeys((*found.get(key, ()), *columns)))
    return found


def follower_option(step: Step) -> str:
    """The option of a step that says which columns follow a key; none: empty."""
    fields = find(step.method, Kind.PROTECTION).form()
    return next((f.name for f in fields if f.shape == Shape.FOLLOWERS), "")


@dataclass(frozen=True, slots=True)
class CardStep:
    """A step as its card shows it: it may be switched off, and then no plan has it."""

    step: Step
    on: bool = True

    def as_dict(self, *, noted: bool = True) -> dict[str, Any]:
        """As JSON has it, with the note or without."""
        facts = {"method": self.step.method, "options": dict(self.step.options), "on": self.on}
        return {**facts, "note": self.step.note} if noted else facts

    @classmethod
    def of_dict(cls, content: Mapping[str, Any]) -> "CardStep":
        """The step that JSON holds."""
        step = Step(content["method"], **content["options"]).with_note(content.get("note", ""))
        return cls(step, content["on"])


@dataclass(frozen=True, slots=True)
class Document:
    """Source, roles, scenarios, intruders, what is accepted, and the seed. Every change makes a new one.

    source: {"file": path} with options of reading, {"demo": {"survey": 2000}}, either with what is done to
    it before, "prepare": [{method: options}, …]; or {}, where nothing is open yet.
    """

    source: Mapping[str, Any] = field(default_factory=dict)
    roles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # of each column
    scenarios: Mapping[str, tuple[CardStep, ...]] = field(default_factory=lambda: {"A": ()})
    intruders: tuple[Intruder, ...] = ()
    max_risk: float | None = None
    accept: Mapping[str, Any] = field(default_factory=dict)
    seed: int = field(default_factory=lambda: randbits(SECRET_BITS))
    assess: Mapping[str, Any] = field(default_factory=dict)  # what else a plan says of measures
    search: tuple[Any, ...] = ()
    linked: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # columns that follow a key, by key
    waiting: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # roles of columns not in this file

    def with_role(self, column: str, roles: tuple[str, ...]) -> "Document":
        """Other roles for a column; the one column of a single role loses it to the new one."""
        for role in roles:
            if role not in set(Role):
                raise OptionError("There is no such role.", given=preview(role), allowed=join_names(Role))
        single = {role for role in roles if role in SINGLE}
        kept = {c: tuple(r for r in had if r not in single) for c, had in self.roles.items() if c != column}
        found = {c: had for c, had in kept.items() if had}
        return replace(self, roles={**found, column: roles} if roles else found)

    def with_preparation(self, given: Any) -> "Document":
        """Other preparations of the file, all of them as a plan writes them."""
        steps = [step.as_dict() for step in preparations_of(given)]
        kept = {name: value for name, value in self.source.items() if name != "prepare"}
        return replace(self, source={**kept, "prepare": steps} if steps else kept)

    def with_reading(self, given: Mapping[str, Any]) -> "Document":
        """The file read with other options; those left out are found out again."""
        options = {name: value for name, value in given.items() if value is not None}
        require_known(options, TABLE, "There is no such option of reading.")
        TableOptions(**options).require_for(ending_of(Path(str(self.source.get("file", "")))), "this file")
        kept = {name: value for name, value in self.source.items() if name not in TABLE}
        return replace(self, source={**kept, **options})

    def with_file(self, path: Path) -> "Document":
        """Another file, read and prepared as this one; nothing of it is accepted yet beyond the risk.

        All seeds are others: the same noise on both files would cancel in their difference.

        >>> wave = Document(source={"file": "a.csv", "decimal": ","}, accept={"order": True}, max_risk=0.1)
        >>> new = wave.with_file(Path("b.csv"))
        >>> new.source, new.accept, new.max_risk
        ({'file': 'b.csv', 'decimal': ','}, {}, 0.1)
        """
        kept = {n: v for n, v in self.source.items() if n != "demo"}
        if ending_of(path) != ending_of(Path(str(kept.get("file", "")))):
            kept = {n: v for n, v in kept.items() if n not in TABLE or n == "codebook"}
        scenarios = {
            name: tuple(replace(card, step=with_written_seed(card.step, anew=True)) for card in cards)
            for name, cards in self.scenarios.items()
        }
        source, seed = {**kept, "file": str(path)}, randbits(SECRET_BITS)
        return replace(self, source=source, accept={}, seed=seed, scenarios=scenarios)

    def with_step(self, scenario: str, step: Step, at: int | None = None) -> "Document":
        """One more step, at the end or at a place."""
        cards = list(self.steps_of(scenario))
        cards.insert(len(cards) if at is None else at, CardStep(step))
        return self.with_cards(scenario, cards)

    def with_options(self, scenario: str, at: int, step: Step) -> "Document":
        """Another step in the place of one."""
        cards = self._with_place(scenario, at)
        cards[at] = replace(cards[at], step=step.with_note(step.note or cards[at].step.note))
        return self.with_cards(scenario, cards)

    def with_note(self, scenario: str, at: int, note: str) -> "Document":
        """A note on why a step is there; an empty one takes it away."""
        cards = self._with_place(scenario, at)
        cards[at] = replace(cards[at], step=cards[at].step.with_note(note))
        return self.with_cards(scenario, cards)

    def with_step_moved(self, scenario: str, at: int, to: int) -> "Document":
        """A step in another place of the order."""
        cards = self._with_place(scenario, at)
        self._with_place(scenario, to)
        cards.insert(to, cards.pop(at))
        return self.with_cards(scenario, cards)

    def with_step_switched(self, scenario: str, at: int, on: bool) -> "Document":
        """A step switched off, or on again."""
        cards = self._with_place(scenario, at)
        cards[at] = replace(cards[at], on=on)
        return self.with_cards(scenario, cards)

    def without_step(self, scenario: str, at: int) -> "Document":
        """The scenario without one of its steps."""
        cards = self._with_place(scenario, at)
        del cards[at]
        return self.with_cards(scenario, cards)

    def with_cards(self, scenario: str, cards: list[CardStep]) -> "Document":
        """The document with other steps of a scenario."""
        return replace(self, scenarios={**self.scenarios, scenario: tuple(cards)})

    def with_scenario(self, name: str, like: str | None = None) -> "Document":
        """One more scenario, empty or a copy of another."""
        self._new_name(name)
        return replace(self, scenarios={**self.scenarios, name: self.steps_of(like) if like else ()})

    def with_scenario_renamed(self, name: str, new: str) -> "Document":
        """A scenario under another name, in its place."""
        self.steps_of(name)
        if new != name:
            self._new_name(new)
        return replace(self, scenarios={new if n == name else n: s for n, s in self.scenarios.items()})

    def without_scenario(self, name: str) -> "Document":
        """The document without a scenario; one is always left."""
        self.steps_of(name)
        left = {n: s for n, s in self.scenarios.items() if n != name}
        return replace(self, scenarios=left or {"A": ()})

    def with_intruders(self, given: Mapping[str, Any]) -> "Document":
        """Other intruders, as a plan writes them; none: those that follow from the roles."""
        return replace(self, intruders=intruders_of(given) if given else ())

    def with_criteria(self, max_risk: float | None, accept: Mapping[str, Any]) -> "Document":
        """What is accepted."""
        number = isinstance(max_risk, int | float) and not isinstance(max_risk, bool)
        if max_risk is not None and not (number and 0 <= max_risk <= 1):
            raise OptionError(
                "The accepted risk is a share of persons.", given=preview(max_risk), allowed="0 to 1"
            )
        Accepted.of(accept)
        return replace(self, max_risk=max_risk, accept=dict(accept))

    def with_seed(self, seed: int) -> "Document":
        """Another seed of everything that is drawn."""
        check_seed(seed)
        return replace(self, seed=seed)

    def steps_of(self, scenario: str) -> tuple[CardStep, ...]:
        """The steps of a scenario, those switched off among them."""
        if scenario not in self.scenarios:
            raise OptionError(f"There is no scenario {scenario!r}.", allowed=join_names(list(self.scenarios)))
        return self.scenarios[scenario]

    def scenario(self, name: str) -> Scenario:
        """A scenario as it is run: without the steps that are switched off."""
        return Scenario(name, [card.step for card in self.steps_of(name) if card.on])

    @property
    def columns_by_role(self) -> dict[str, Any]:
        """The roles as `sdckit.read` takes them."""
        found: dict[str, Any] = {}
        for role in Role:
            columns = [c for c, roles in self.roles.items() if role in roles]
            if columns:
                found[role.value] = columns[0] if role in SINGLE else columns
        return found

    @property
    def usual_intruders(self) -> dict[str, Any]:
        """Who is taken to attack by these roles where nobody else is named, with what they know in words."""
        lists: dict[str, Any] = {
            n: tuple(v) if isinstance(v, list) else v for n, v in self.columns_by_role.items()
        }
        return {
            one.name: one.as_dict() | {"words": one.describe()} for one in default_intruders(Roles(**lists))
        }

    def plan(self, folder: Path = Path()) -> Plan:
        """The plan that does the same on the command line."""
        assess = dict(self.assess)
        if self.max_risk is not None:
            assess["max_risk"] = self.max_risk
        if self.accept:
            assess["accept"] = dict(self.accept)
        data = {**self.source, **self.columns_by_role}
        scenarios = tuple(self.scenario(name) for name in self.scenarios)
        return Plan(data, scenarios, assess, self.seed, folder, self.search, self.intruders)

    @classmethod
    def of_plan(cls, plan: Plan) -> "Document":
        """The document that a plan describes."""
        source = {n: plan.data[n] for n in ("file", "demo", *TABLE) if plan.data.get(n) is not None}
        if "codebook" in source:
            source["codebook"] = str(plan.folder / Path(source["codebook"]).expanduser())
        if steps := preparations_of(plan.data.get("prepare")):
            placed = (step.with_files(lambda name: str(plan.folder / name)) for step in steps)
            source["prepare"] = [step.as_dict() for step in placed]
        roles: dict[str, tuple[str, ...]] = {}
        for role in Role:
            given = plan.data.get(role.value) or ()
            for column in (given,) if isinstance(given, str) else given:
                roles[column] = (*roles.get(column, ()), role.value)
        scenarios = {s.name: tuple(CardStep(with_written_seed(x)) for x in s.steps) for s in plan.scenarios}
        return cls(
            source,
            roles,
            scenarios or {"A": ()},
            plan.intruders,
            accepted_risk(plan.assess.get("max_risk"), "Entry 'max_risk' of section 'assess'"),
            plan.assess.get("accept") or {},
            randbits(SECRET_BITS) if plan.seed is None else plan.seed,
            {name: value for name, value in plan.assess.items() if name not in ("max_risk", "accept")},
            plan.search,
            links_of(step for scenario in plan.scenarios for step in scenario.steps),
        )

    def as_dict(self) -> dict[str, Any]:
        """As JSON has it, with the steps that are switched off."""
        return {
            "source": dict(self.source),
            "roles": {c: list(r) for c, r in self.roles.items()},
            "scenarios": {n: [card.as_dict() for card in cards] for n, cards in self.scenarios.items()},
            "intruders": {one.name: one.as_dict() for one in self.intruders},
            "max_risk": self.max_risk,
            "accept": dict(self.accept),
            "seed": self.seed,
            "assess": dict(self.assess),
            "search": list(self.search),
            "linked": {key: list(columns) for key, columns in self.linked.items()},
            "waiting": {c: list(r) for c, r in self.waiting.items()},
        }

    @classmethod
    def of_dict(cls, content: Mapping[str, Any]) -> "Document":
        """The document that JSON holds."""
        scenarios = {
            name: tuple(CardStep.of_dict(card) for card in cards)
            for name, cards in content["scenarios"].items()
        }
        return cls(
            content["source"],
            {c: tuple(r) for c, r in content["roles"].items()},
            scenarios,
            intruders_of(content["intruders"]) if content["intruders"] else (),
            content["max_risk"],
            content["accept"],
            content["seed"],
            content["assess"],
            tuple(content["search"]),
            {key: tuple(columns) for key, columns in content.get("linked", {}).items()},
            {c: tuple(r) for c, r in content.get("waiting", {}).items()},
        )

    def _with_place(self, scenario: str, at: int) -> list[CardStep]:
        cards = list(self.steps_of(scenario))
        if not isinstance(at, int) or not 0 <= at < len(cards):
            raise OptionError("There is no such step.", given=preview(at), allowed=f"0 to {len(cards) - 1}")
        return cards

    def _new_name(self, name: str) -> None:
        if not isinstance(name, str) or not name.strip():
            raise OptionError("A scenario needs a name.", given=preview(name))
        if name in self.scenarios:
            raise OptionError("There is a scenario of this name already.", given=name)
