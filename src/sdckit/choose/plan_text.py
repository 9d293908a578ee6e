"""The text of a plan as plain data, whoever wrote it: a strict and bounded part of YAML.

Numbers, true, false and null are what they are in YAML 1.2. All else is text: `no`, `off`, `010`, `3:10` and
2026-01-01 are the categories, codes and days that people mean, not a truth value, 8, 190 and an object.
"""

import re
from collections.abc import Iterator
from typing import Any

import yaml

from sdckit.data.values import as_text
from sdckit.errors import FileError

MAX_DEPTH = 50  # lists within lists; a plan has about six levels
MAX_VALUES = 200_000  # with every alias written out
MAX_DIGITS = 18  # of a whole number: what 64 bits hold
LONGEST_NUMBER = 40  # characters of a decimal number
CORE = "tag:yaml.org,2002:"
NO_TEXT = re.compile("[\0\ud800-\udfff]")  # zeros, and halves of characters, which no file can hold
WORDS = {"true": True, "false": False}


def parse_text(text: str) -> Any:
    """The content of YAML text: mappings, lists, text, numbers, true, false and None.

    >>> parse_text("map: {EU: [no, 010, 3:10, 1e3]}")
    {'map': {'EU': ['no', '010', '3:10', 1000.0]}}
    """
    try:
        loader = _PlanLoader(text)
        try:
            node = loader.get_single_node()
            if node is None:
                return None
            _refuse_endless(node)
            return loader.construct_document(node)
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        raise _not_yaml(error) from None


class _PlanLoader(yaml.SafeLoader):
    """Reads YAML 1.2's numbers and truth values, and refuses what a plan cannot mean."""

    depth = 0
    values = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Refuse lists within lists without end, and lists without end, before anything is made of them."""
        self.values += 1
        if self.values > MAX_VALUES:
            raise _too_many(self.peek_event().start_mark)  # type: ignore[no-untyped-call]
        if self.depth > MAX_DEPTH:
            line = self.peek_event().start_mark.line + 1  # type: ignore[no-untyped-call]
            raise FileError(
                "The plan is nested too deeply.",
                given=f"line {line}",
                allowed=f"{MAX_DEPTH} levels",
            )
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """A mapping whose names differ, also as text: the second would silently replace the first."""
        seen: set[str] = set()
        if not isinstance(node, yaml.MappingNode):  # by its tag alone
            raise _refused("this is not a mapping", node)
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value == "<<" and key.style is None:
                raise _refused("<< is not read; write the entries out, or use an alias for the whole", key)
            name = self.construct_object(key, deep=True)
            text = str(name).lower() if isinstance(name, bool) else as_text(name)
            if text in seen:
                raise _refused(f"{name!r} stands twice", key)
            seen.add(text)
        return super().construct_mapping(node, deep)

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Nothing: merged entries could replace others unseen."""


def _refused(what: str, node: yaml.Node) -> yaml.MarkedYAMLError:
    return yaml.constructor.ConstructorError(None, None, what, node.start_mark)


def _whole(loader: _PlanLoader, node: yaml.ScalarNode) -> int:
    text = str(loader.construct_scalar(node))
    if len(text.lstrip("+-")) > MAX_DIGITS:
        raise _refused("a number has too many digits", node)
    try:
        return int(text)
    except ValueError:
        raise _refused("this is not a whole number", node) from None


def _decimal(loader: _PlanLoader, node: yaml.ScalarNode) -> float:
    text = str(loader.construct_scalar(node)).lower()
    if len(text) > LONGEST_NUMBER:
        raise _refused("a number has too many digits", node)
    try:
        return float(text.replace(".inf", "inf").replace(".nan", "nan"))
    except ValueError:
        raise _refused("this is not a number", node) from None


def _truth(loader: _PlanLoader, node: yaml.ScalarNode) -> bool:
    found = WORDS.get(str(loader.construct_scalar(node)).lower())
    if found is None:
        raise _refused("this is neither true nor false", node)
    return found


def _unknown(loader: _PlanLoader, node: yaml.Node) -> Any:
    raise _refused(f"the tag {node.tag!r} is not read", node)


def _set_up() -> None:
    """Which plain texts are numbers, truth values or nothing, and what is made of each tag."""
    resolved = [
        ("null", r"|~|null|Null|NULL", ["", "~", "n", "N"]),
        ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
        ("int", r"[-+]?(?:0|[1-9][0-9]*)", list("-+0123456789")),
        (
            "float",
            r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
            r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
            list("-+0123456789."),
        ),
    ]
    _PlanLoader.yaml_implicit_resolvers = {}  # none of YAML 1.1
    for tag, pattern, first in resolved:
        _PlanLoader.add_implicit_resolver(CORE + tag, re.compile(f"(?:{pattern})\\Z"), first)
    made = {"int": _whole, "float": _decimal, "bool": _truth}
    for tag, make in made.items():
        _PlanLoader.add_constructor(CORE + tag, make)
    for tag in ("timestamp", "binary", "omap", "pairs", "set"):
        _PlanLoader.add_constructor(CORE + tag, _unknown)


_set_up()


def _refuse_endless(root: yaml.Node) -> None:
    """Refuse aliases that contain themselves or are very many values once written out, and texts of none."""
    sizes: dict[int, int] = {}

    def size(node: yaml.Node, above: frozenset[int]) -> int:
        if isinstance(node, yaml.ScalarNode) and NO_TEXT.search(node.value):
            raise _refused("this character, written as an escape, is in no text", node)
        if id(node) in above:
            raise _refused("an alias stands within what it stands for", node)
        if id(node) not in sizes:
            inside = above | {id(node)}
            sizes[id(node)] = 1 + sum(size(part, inside) for part in _parts(node))
        if sizes[id(node)] > MAX_VALUES:
            raise _too_many(node.start_mark)
        return sizes[id(node)]

    size(root, frozenset())


def _too_many(mark: Any) -> FileError:
    return FileError(
        "The plan holds too many values.",
        given=f"line {mark.line + 1}",
        allowed=f"{MAX_VALUES:,}, with aliases written out",
    )


def _parts(node: yaml.Node) -> Iterator[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        for pair in node.value:
            yield from pair
    elif isinstance(node, yaml.SequenceNode):
        yield from node.value


def _not_yaml(error: yaml.YAMLError) -> FileError:
    """Where the text is not YAML; a tab, which looks like spaces, is the usual reason."""
    mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None) or str(error)
    place = "" if mark is None else f"line {mark.line + 1}, column {mark.column + 1}: "
    tab = "'\\t'" in problem
    return FileError(
        "The plan is not valid YAML.",
        given=f"{place}{'a tab' if tab else problem}",
        hint="Use spaces, not tabs, at the beginning of lines." if tab else "",
    )
