"""A rule about records, such as `age >= 18 and region in ["N", "S"]`: checked, and never run as Python."""

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from operator import add, and_, eq, ge, gt, le, lt, mul, ne, or_, sub, truediv
from typing import Annotated, Any

import polars as pl
from pydantic import Field

from sdckit._support.arrays import Bools
from sdckit._support.messages import did_you_mean, join_names
from sdckit.data.microdata import Microdata
from sdckit.data.values import in_words, is_date
from sdckit.errors import ColumnError, OptionError, preview

LANGUAGE = 'age >= 18 and region in ["N", "S"], not, or, ==, !=, <, <=, >, >=, + - * /, x is missing'
LONGEST = 5_000  # characters of a rule
DEEPEST = 50  # parts within parts
MOST_PARTS = 200  # joined by and, or
MOST_VALUES = 5_000  # in a list
LARGEST = 1e15
NUMBER, TEXT, TRUTH, DATE = "numbers", "text", "true or false", "dates or times"
# Text in quotes is left alone; backticks stand round names that are not words.
QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'|`([^`]*)`")
COMPARED: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: eq,
    ast.NotEq: ne,
    ast.Lt: lt,
    ast.LtE: le,
    ast.Gt: gt,
    ast.GtE: ge,
}
ARITHMETIC: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: add,
    ast.Sub: sub,
    ast.Mult: mul,
    ast.Div: truediv,
}

# An option that is a rule.
RuleText = Annotated[str, Field(json_schema_extra={"format": "rule"})]


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a rule: what it computes, of which kind, and its value where it is written out."""

    expression: pl.Expr
    kind: str
    name: str
    value: Any = None


def records_where(data: Microdata, rule: str) -> Bools:
    """For each record whether a rule holds; a comparison with a missing value holds neither way.

    >>> data = Microdata.of(pl.DataFrame({"age": [17, 40, None], "sex": ["f", "m", "f"]}))
    >>> records_where(data, "age >= 18 or sex == 'f'").tolist()
    [True, True, True]
    >>> records_where(data, "not age >= 18").tolist(), records_where(data, "age is missing").tolist()
    ([True, False, False], [False, False, True])
    """
    tree, names = _parsed(rule)
    reader = _Reader(data, rule, names)
    try:
        found = reader.truth(tree, 0).expression
        held = data.frame.select(found.fill_null(value=False).alias("held"))["held"]
    except (pl.exceptions.PolarsError, RecursionError, OverflowError) as error:
        raise _unread(rule) from error
    if len(held) != data.height:  # a rule without a column
        raise OptionError("A rule is about columns.", given=preview(rule), allowed=LANGUAGE)
    found_true: Bools = held.to_numpy()
    return found_true


def _parsed(rule: str) -> tuple[ast.expr, dict[str, str]]:
    """The rule as a tree, and the columns whose names stood in backticks by their stand-ins."""
    if len(rule) > LONGEST:
        raise OptionError("The rule is too long.", given=f"{len(rule):,} characters", allowed=f"{LONGEST:,}")
    names: dict[str, str] = {}

    def stand_in(found: re.Match[str]) -> str:
        if found[1] is None:
            return found[0]
        names[f"quoted_{len(names)}_"] = found[1]
        return f"quoted_{len(names) - 1}_"

    text = " ".join(QUOTED.sub(stand_in, rule).split())
    try:
        return ast.parse(text, mode="eval").body, names
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise _unread(rule) from None


def _unread(rule: str) -> OptionError:
    single = re.search(r"(?<![=!<>])=(?!=)", QUOTED.sub("", rule))
    hint = "Equal is ==." if single else "Names that are not words stand in backticks: `income (net)`."
    return OptionError("The rule cannot be read.", given=preview(rule), allowed=LANGUAGE, hint=hint)


class _Reader:
    """Makes an expression of Polars of a tree, part by part; what is not listed here is refused."""

    def __init__(self, data: Microdata, rule: str, names: Mapping[str, str]) -> None:
        self._schema, self._columns = data.frame.schema, data.columns
        self._rule, self._names = rule, names

    def truth(self, node: ast.expr, depth: int) -> _Part:
        """A part that holds or does not."""
        self._require(depth)
        if isinstance(node, ast.BoolOp):
            if len(node.values) > MOST_PARTS:
                raise self._refused(f"at most {MOST_PARTS} parts joined by and, or")
            parts = [self.truth(part, depth + 1).expression for part in node.values]
            return _Part(reduce(and_ if isinstance(node.op, ast.And) else or_, parts), TRUTH, "a condition")
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return _Part(~self.truth(node.operand, depth + 1).expression, TRUTH, "a condition")
        if isinstance(node, ast.Compare):
            return self._comparison(node, depth + 1)
        part = self._value(node, depth + 1)
        if part.kind != TRUTH:
            raise self._refused(f"{part.name} holds {part.kind}: compare it with something")
        return part

    def _comparison(self, node: ast.Compare, depth: int) -> _Part:
        found, left = [], node.left
        for operator, right in zip(node.ops, node.comparators, strict=True):
            found.append(self._compared(left, operator, right, depth))
            left = right
        return _Part(reduce(and_, found), TRUTH, "a condition")

    def _compared(self, left: ast.expr, operator: ast.cmpop, right: ast.expr, depth: int) -> pl.Expr:
        if isinstance(operator, ast.Is | ast.IsNot):
            if not (isinstance(right, ast.Name) and right.id == "missing"):
                raise self._refused("is stands before missing only: x is missing, x is not missing")
            missing = self._value(left, depth).expression.is_null()
            return missing if isinstance(operator, ast.Is) else ~missing
        one = self._value(left, depth)
        if isinstance(operator, ast.In | ast.NotIn):
            inside = self._listed(one, right)
            return inside if isinstance(operator, ast.In) else ~inside
        first, second = self._alike(one, self._value(right, depth))
        if first.kind in (TEXT, TRUTH) and not isinstance(operator, ast.Eq | ast.NotEq):
            name = first.name if first.value is None else second.name
            raise self._refused(f"{name} holds {first.kind}, which has no order: only == and != compare it")
        made: pl.Expr = COMPARED[type(operator)](first.expression, second.expression)
        return made

    def _listed(self, one: _Part, node: ast.expr) -> pl.Expr:
        """Whether a value is one of a list of values that are written out."""
        if not isinstance(node, ast.List | ast.Tuple) or not 0 < len(node.elts) <= MOST_VALUES:
            raise self._refused(f"in stands before a list of 1 to {MOST_VALUES:,} values: in [1, 2]")
        values = []
        for part in node.elts:
            written = self._value(part, 0)
            if written.value is None:
                raise self._refused("a list holds values, not columns")
            values.append(self._alike(one, written)[1].value)
        if one.kind == NUMBER:  # whole and other numbers of a list have one type
            return one.expression.cast(pl.Float64).is_in([float(value) for value in values])
        return one.expression.is_in(values)

    def _alike(self, one: _Part, other: _Part) -> tuple[_Part, _Part]:
        """Two parts that can be compared; a text beside a date is a day."""
        if DATE in (one.kind, other.kind) and TEXT in (one.kind, other.kind):
            return tuple(self._day(p) if p.kind == TEXT else p for p in (one, other))  # type: ignore[return-value]
        if one.kind != other.kind:
            hint = "Text stands in quotes, numbers do not."
            what = f"{one.name} holds {one.kind}, {other.name} {other.kind}"
            raise OptionError(
                "A rule compares what cannot be compared.", given=what, allowed="the same kind", hint=hint
            )
        return one, other

    def _day(self, part: _Part) -> _Part:
        try:
            day = datetime.fromisoformat(str(part.value)) if part.value is not None else None
        except ValueError:
            day = None
        if day is None:
            raise self._refused('a day is written "2024-12-31"')
        return _Part(pl.lit(day), DATE, part.name, day)

    def _value(self, node: ast.expr, depth: int) -> _Part:
        """A column, a value that is written out, or arithmetic with them."""
        self._require(depth)
        if isinstance(node, ast.Name):
            return self._column(node.id)
        if isinstance(node, ast.Constant):
            return self._constant(node.value)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
            part = self._number(node.operand, depth + 1)
            if isinstance(node.op, ast.UAdd):
                return part
            value = None if part.value is None else -part.value
            return _Part(-part.expression, NUMBER, part.name, value)
        if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
            left, right = self._number(node.left, depth + 1), self._number(node.right, depth + 1)
            pair = (part.expression.cast(pl.Float64) for part in (left, right))
            return _Part(ARITHMETIC[type(node.op)](*pair), NUMBER, "a sum or product")
        if isinstance(node, ast.BoolOp | ast.Compare) or isinstance(getattr(node, "op", None), ast.Not):
            return self.truth(node, depth + 1)
        joined = isinstance(getattr(node, "op", None), ast.BitAnd | ast.BitOr)
        raise self._refused(
            "write and, or, not instead of &, |, ~" if joined else "this is not part of rules"
        )

    def _number(self, node: ast.expr, depth: int) -> _Part:
        part = self._value(node, depth)
        if part.kind != NUMBER:
            raise self._refused(f"{part.name} holds {part.kind}, with which nothing can be computed")
        return part

    def _column(self, name: str) -> _Part:
        name = self._names.get(name, name)
        if name not in self._columns:
            if name.lower() in ("true", "false"):
                return self._constant(name.lower() == "true")
            raise ColumnError(
                f"A rule names {name!r}, which is no column.",
                allowed=join_names(self._columns),
                hint=did_you_mean(name, self._columns) or 'Text stands in quotes: region == "N".',
            )
        dtype = self._schema[name]
        kind, column = in_words(dtype), pl.col(name)
        if kind == TEXT:
            column = column.cast(pl.String)
        elif is_date(dtype):
            column = column.cast(pl.Datetime("us"))
        elif kind not in (NUMBER, TRUTH):
            raise self._refused(f"{name} holds {dtype}, which cannot be compared")
        return _Part(column, kind, name)

    def _constant(self, value: Any) -> _Part:
        kinds = {bool: TRUTH, int: NUMBER, float: NUMBER, str: TEXT}
        kind = kinds.get(type(value))
        if kind is None or (kind == NUMBER and not abs(value) <= LARGEST):
            raise self._refused("values are numbers, text in quotes, true or false")
        return _Part(pl.lit(value), kind, preview(value), value)

    def _require(self, depth: int) -> None:
        if depth > DEEPEST:
            raise self._refused(f"at most {DEEPEST} parts within parts")

    def _refused(self, hint: str) -> OptionError:
        hint = f"{hint[0].upper()}{hint[1:]}."
        return OptionError("The rule cannot be read.", given=preview(self._rule), allowed=LANGUAGE, hint=hint)
