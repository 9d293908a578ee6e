"""A plan, the same for the command line, the web page and the API."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from sdckit._support.files import write_text
from sdckit._support.messages import did_you_mean, join_names, require_flag
from sdckit.choose.plan_text import parse_text
from sdckit.choose.preparation import header_under_roles, preparations_of, read_entries
from sdckit.choose.scenario import Scenario, check_seed
from sdckit.data.intruder import Intruder, intruders_of
from sdckit.data.microdata import Microdata
from sdckit.data.roles import Role
from sdckit.demo import business, survey
from sdckit.errors import FileError, OptionError, preview
from sdckit.io.table_options import MEANT_FOR, TableOptions
from sdckit.methods.registry import specs
from sdckit.methods.serialise import to_builtin

DEMOS: Mapping[str, Callable[..., Microdata]] = {"survey": survey, "business": business}
LARGEST = 10_000_000  # bytes of a plan: anything longer is another file
FLAGS = {"yes": True, "on": True, "no": False, "off": False}
TABLE = tuple(MEANT_FOR)  # options of reading
SECTIONS = ("data", "scenarios", "search", "intruders", "assess", "seed")


@dataclass(frozen=True, slots=True)
class Plan:
    """A data file with roles, named scenarios, intruders, what to assess, and a seed.

    >>> plan = Plan.parse('''
    ... data: {file: survey.csv, keys: [sex]}
    ... scenarios:
    ...   k3: [{suppress: {k: 3}}]
    ... ''')
    >>> plan.scenarios
    (Scenario 'k3': suppress(k=3),)
    """

    data: Mapping[str, Any] = field(default_factory=dict)
    scenarios: tuple[Scenario, ...] = ()
    assess: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None
    folder: Path = Path()
    search: tuple[Any, ...] = ()
    intruders: tuple[Intruder, ...] = ()

    @classmethod
    def parse(cls, text: str, folder: Path = Path()) -> "Plan":
        """A plan from YAML text; every name in it is checked."""
        content = parse_text(text)
        if not isinstance(content, Mapping):
            raise FileError("The plan must hold sections.", allowed=join_names(SECTIONS))
        _known(content, SECTIONS, "section")
        data = _mapping(content, "data")
        _known(data, ("file", "demo", "keep_direct", "engine", *TABLE, "prepare", *Role), "entry of data")
        data = _with_flags(data, "keep_direct", "header")
        require_flag("keep_direct", data.get("keep_direct", False))
        TableOptions(**{name: data[name] for name in TABLE if name in data})
        preparations_of(data.get("prepare"))
        steps = _mapping(content, "scenarios")
        scenarios = tuple(Scenario(str(name), () if s is None else s) for name, s in steps.items())
        seed = content.get("seed")
        if "seed" in content:
            check_seed(seed)
        space = content.get("search") or []
        if not isinstance(space, list):
            raise OptionError("Section 'search' must be a list of steps.", given=type(space).__name__)
        assess = _mapping(content, "assess")
        unnamed = next((name for name in assess if not isinstance(name, str)), None)
        if unnamed is not None:
            raise OptionError("The entries of section 'assess' have names.", given=repr(unnamed))
        named = _mapping(content, "intruders")
        named = {
            name: _with_flags(one, "in_file", "on_axis") if isinstance(one, Mapping) else one
            for name, one in named.items()
        }
        intruders = intruders_of(named) if named else ()
        placed = with_files_named(assess, lambda name: str(folder / Path(name).expanduser()))
        return cls(data, scenarios, placed, seed, folder, tuple(space), intruders)

    @classmethod
    def load(cls, path: str | Path) -> "Plan":
        """A plan from a file; the data file is looked for beside it."""
        path = Path(path)
        if not path.is_file():
            raise FileError("There is no such plan.", given=str(path))
        if path.stat().st_size > LARGEST:
            raise FileError(
                "The plan is too large.",
                given=f"{path}, {path.stat().st_size:,} bytes",
                allowed=f"{LARGEST:,} bytes",
            )
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise FileError("The plan is not text in UTF-8.", given=path) from None
        try:
            return cls.parse(text, path.parent)
        except FileError as error:
            raise error.after(str(path)) from None

    def read(self) -> Microdata:
        """The data this plan is about: read, prepared, and under their roles."""
        if "demo" in self.data:
            made = demo_data(self.data["demo"])
            own = any(name in set(Role) for name in self.data)
            if not own and not self.data.get("prepare"):
                return made
            entries = self.data if own else {**made.roles.as_dict(), **self.data}
            return read_entries(Microdata.of(made.frame, labels=made.labels), entries, self.folder)
        if "file" not in self.data:
            raise OptionError("The plan names no data file.", hint="Add data: {file: …} to it.")
        return read_entries(self.folder / str(self.data["file"]), self.data, self.folder)

    def header(self) -> Microdata | None:
        """The columns of the data under their roles, without records; None where reading has to tell them."""
        if "file" not in self.data:
            return None
        return header_under_roles(self.folder / str(self.data["file"]), self.data)

    def find(self, name: str) -> Scenario:
        """The scenario of this name."""
        for scenario in self.scenarios:
            if scenario.name == name:
                return scenario
        names = [s.name for s in self.scenarios]
        raise OptionError(
            f"The plan has no scenario {name!r}.", allowed=join_names(names), hint=did_you_mean(name, names)
        )

    def to_yaml(self) -> str:
        """The plan as YAML text."""
        content: dict[str, Any] = {}
        if self.data:
            content["data"] = dict(self.data)
        content["scenarios"] = {s.name: s.as_list() for s in self.scenarios}
        if self.search:
            content["search"] = list(self.search)
        if self.intruders:
            content["intruders"] = {one.name: one.as_dict() for one in self.intruders}
        if self.assess:
            content["assess"] = with_files_named(to_builtin(self.assess), self._beside)
        if self.seed is not None:
            content["seed"] = self.seed
        return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=110)

    def _beside(self, name: str) -> str:
        """A file as the plan names it: from its folder, where it lies there."""
        path = Path(name)
        return str(path.relative_to(self.folder)) if path.is_relative_to(self.folder) else name

    def save(self, path: str | Path) -> Path:
        """Write the plan, whole or not at all."""
        return write_text(self.to_yaml(), path)


def demo_data(asked: Any) -> Microdata:
    """The artificial file that a plan asks for: {survey: 2000}, its kind and number of records.

    >>> demo_data({"business": 300}).height
    300
    """
    if not isinstance(asked, Mapping) or len(asked) != 1 or next(iter(asked)) not in DEMOS:
        raise OptionError(
            "There is no such demo file.", given=preview(asked), allowed=f"{{{' or '.join(DEMOS)}: records}}"
        )
    kind, n = next(iter(asked.items()))
    return DEMOS[kind](n=n, seed=1)


def _known(content: Mapping[str, Any], allowed: tuple[str, ...], what: str) -> None:
    for name in content:
        if name not in allowed:
            raise OptionError(
                f"Unknown {what} {name!r}.",
                allowed=join_names(allowed),
                hint=did_you_mean(str(name), allowed),
            )


def _with_flags(content: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """The entries with yes, no, on and off as truth values, where nothing else can be meant."""
    return {n: FLAGS.get(str(v).lower(), v) if n in names else v for n, v in content.items()}


def _mapping(content: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = content.get(name) or {}
    if not isinstance(part, Mapping):
        raise OptionError(f"Section {name!r} must be a mapping.", given=type(part).__name__)
    return part


def with_files_named(assess: Mapping[str, Any], name: Callable[[str], str]) -> dict[str, Any]:
    """The section with files of measures' options under other names: they lie beside the plan."""

    def named(measure: str, given: Any) -> Any:
        spec = known.get(measure)
        if spec is None:
            return given
        files = {field.name for field in spec.form() if field.kind == "file"}
        if isinstance(given, Mapping):
            return {n: name(v) if n in files and isinstance(v, str) else v for n, v in given.items()}
        return name(given) if spec.main in files and isinstance(given, str) else given

    known = {spec.name: spec for spec in specs()}
    return {measure: named(measure, given) for measure, given in assess.items()}
