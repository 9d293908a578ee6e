"""Odd but possible data for fuzzing: types, missing values, sizes, names and values that break programs."""

import os
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from math import inf
from typing import Any

import numpy as np
import polars as pl
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

import sdckit as sdc
from sdckit.methods.spec import Spec

EXAMPLES = int(os.environ.get("SDCKIT_FUZZ_EXAMPLES", "12"))  # a longer search: set it to some hundreds
SEARCH = settings(
    max_examples=EXAMPLES,
    derandomize="SDCKIT_FUZZ_EXAMPLES" not in os.environ,
    database=None,
    deadline=None,
    print_blob=False,
    suppress_health_check=list(HealthCheck),
)

NAMES = (
    *("", " ", "a b", "it's", 'say "x"', "🙂", "Größe", "<script>alert(1)</script>", "count", "risk"),
    *(
        "Risk",
        "record",
        "records",
        "weight",
        "x",
        "X",
        "index",
        "__protected",
        "literal",
        "len",
        "a.b",
        "a`b",
    ),
    *("0", "value", "variable", "group", "C(x)", "x + y", "null", "\n", "very long " * 20),
)
PATTERNS = ("*", "^x.*$")  # names that Polars takes for several columns
INTEGERS = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64)
FLOATS = (pl.Float32, pl.Float64)
ODD_NUMBERS = (1e308, -1e308, 1.7e308, -0.0, 0.0, 5e-324, 1e-310, 1e15, -1.0, 1.0, 0.1, 2.0**53, 3.4e38)
AMOUNTS = (0.0, 1e-9, 0.01, 0.3, 0.51, 0.95, 1.0, 2.5, 10.0, 1e6, 1e300)
SIZES = (1, 2, 3, 7, 12, 12, 30, 30)


def numbers(rng: np.random.Generator, n: int, dtype: Any, shape: str) -> pl.Series:
    """Numbers of a type: a few values with ties, many different ones, all the same, or extreme ones."""
    if shape == "constant":
        values = np.full(n, rng.choice([0.0, 1.0, 7.0]))
    elif shape == "ties":
        values = rng.integers(0, 4, n).astype(float)
    elif shape == "extreme":
        values = rng.choice(ODD_NUMBERS, n)
    elif shape == "skewed":
        values = np.exp(rng.normal(5, 3, n))
    else:
        values = np.round(rng.normal(50, 20, n), 2)
    if isinstance(dtype, pl.Decimal):
        return pl.Series([Decimal(f"{v:.2f}") for v in np.clip(values, -1e9, 1e9)], dtype=dtype)
    if dtype in INTEGERS:
        ends = [pl.select(end).item() for end in (dtype.min(), dtype.max())]
        whole = [min(max(int(v), ends[0]), ends[1]) for v in values]
        return pl.Series(whole, dtype=dtype)
    largest = 3.4e38 if dtype == pl.Float32 else 1.8e308
    return pl.Series(np.clip(values, -largest, largest)).cast(dtype)


def categories(rng: np.random.Generator, n: int, kind: str, shape: str) -> pl.Series:
    """Categories of a type."""
    many = {"constant": 1, "ties": 3, "extreme": n, "skewed": 2}.get(shape, 6)
    codes = rng.integers(0, max(many, 1), n)
    texts = ["a", "B", "", "ä 🙂", "<b>", "NA", "nan", '"', *(f"v{i}" for i in range(40))]
    if kind == "boolean":
        return pl.Series(codes % 2 == 1, dtype=pl.Boolean)
    if kind == "date":
        return pl.Series([date(1, 1, 1) + timedelta(days=int(c) * 90_000) for c in codes], dtype=pl.Date)
    if kind == "datetime":
        moments = [datetime(2020, 2, 29) + timedelta(minutes=int(c)) for c in codes]
        return pl.Series(moments, dtype=pl.Datetime("us"))
    if kind == "time":
        return pl.Series([time(int(c) % 24) for c in codes], dtype=pl.Time)
    words = pl.Series([texts[c] for c in codes], dtype=pl.String)
    if kind == "enum":
        return words.cast(pl.Enum(texts))
    return words.cast(pl.Categorical) if kind == "categorical" else words


def other(rng: np.random.Generator, n: int, kind: str) -> pl.Series:
    """Columns no protection or measure works on."""
    if kind == "list":
        return pl.Series([[int(v)] * int(v) for v in rng.integers(0, 3, n)], dtype=pl.List(pl.Int64))
    if kind == "struct":
        return pl.Series([{"x": int(v)} for v in rng.integers(0, 3, n)], dtype=pl.Struct({"x": pl.Int64}))
    if kind == "duration":
        return pl.Series([timedelta(seconds=int(v)) for v in rng.integers(0, 3, n)], dtype=pl.Duration("us"))
    if kind == "binary":
        return pl.Series([bytes([v]) for v in rng.integers(0, 3, n)], dtype=pl.Binary)
    return pl.Series([None] * n, dtype=pl.Null)


NUMBERS = (*INTEGERS, *FLOATS, *FLOATS, pl.Decimal(20, 2))
CATEGORIES = ("text", "text", "enum", "categorical", "boolean", "date", "datetime", "time")
OTHERS = ("list", "struct", "duration", "binary", "null")
SHAPES = ("plain", "ties", "constant", "extreme", "skewed")


@st.composite
def columns(draw: Any, n: int, kinds: tuple[Any, ...], shapes: tuple[str, ...] = SHAPES) -> pl.Series:
    """One column of n values of one of these kinds, with none, some or all of them missing."""
    kind, shape = draw(st.sampled_from(kinds)), draw(st.sampled_from(shapes))
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    if kind in OTHERS:
        column = other(rng, n, kind)
    elif kind in CATEGORIES:
        column = categories(rng, n, kind, shape)
    else:
        column = numbers(rng, n, kind, shape)
    share = draw(st.sampled_from((0.0, 0.0, 0.0, 0.0, 0.2, 0.2, 0.2, 1.0)))
    gone = pl.Series(rng.random(n) < share, dtype=pl.Boolean)
    frame = column.to_frame("x").with_columns(pl.when(~gone).then(pl.col("x")).alias("x"))
    return frame["x"]


@st.composite
def wild_frames(draw: Any) -> pl.DataFrame:
    """Any frame at all: also without rows, with infinities and NaN, and with sixty columns."""
    n = draw(st.sampled_from((0, *SIZES)))
    width = draw(st.sampled_from((1, 2, 3, 6, 60)))
    names = draw(st.permutations([*NAMES, *PATTERNS, *(f"c{i}" for i in range(30))]))[:width]
    made = {}
    for name in names:
        column = draw(columns(n, (*NUMBERS, *CATEGORIES, *OTHERS)))
        if column.dtype.is_float() and n:
            strange = draw(st.sampled_from((None, None, float("inf"), float("-inf"), float("nan"))))
            column = (
                column
                if strange is None
                else pl.concat([pl.Series([strange], dtype=column.dtype), column[1:]])
            )
        made[name] = column
    return pl.DataFrame(made)


@st.composite
def any_roles(draw: Any, names: list[str]) -> dict[str, Any]:
    """Some roles for some columns, sensible or not."""
    roles = {}
    for role in draw(st.lists(st.sampled_from(list(sdc.Role)), max_size=5, unique=True)):
        several = draw(st.lists(st.sampled_from(names), max_size=3, unique=True))
        roles[role.value] = several[0] if len(several) == 1 else several
    return roles


@st.composite
def microdata(draw: Any, needs: Sequence[str] = ()) -> sdc.Microdata:
    """Odd data that `read` accepts: keys, numbers, the roles that are needed, and at times the others."""
    n = draw(st.sampled_from(SIZES))
    names = iter(draw(st.permutations(NAMES)))
    wide = draw(st.integers(0, 19)) == 0
    kinds = (*CATEGORIES, pl.Int64, pl.Float64, pl.UInt8, pl.Decimal(20, 2))
    made: dict[str, pl.Series] = {}
    roles: dict[str, Any] = {}

    def add(role: str, kinds: tuple[Any, ...], most: int, shapes: tuple[str, ...] = SHAPES) -> None:
        new = {next(names): draw(columns(n, kinds, shapes)) for _ in range(draw(st.integers(1, most)))}
        made.update(new)
        roles[role] = list(new)

    add("keys", kinds, 4)
    add("numeric", NUMBERS, 3)
    add("sensitive", (*CATEGORIES, pl.Int64, pl.Float64), 1)
    if wide:
        more = {f"wide {i}": draw(columns(n, (pl.Float64, pl.Int16), ("plain", "ties"))) for i in range(50)}
        made |= more
        roles["numeric"] += list(more)
    for role in ("weight", "household", "strata", "id", "cluster"):
        if role not in needs and draw(st.booleans()):
            continue
        name = next(names)
        roles[role] = name
        rng = np.random.default_rng(draw(st.integers(0, 9)))
        if role == "weight":
            made[name] = pl.Series(rng.choice([0.5, 1, 3, 1e9], n))
        elif role == "id":
            made[name] = pl.Series(rng.permutation(n)).cast(draw(st.sampled_from((pl.Int64, pl.String))))
        else:
            made[name] = draw(columns(n, (*CATEGORIES, pl.Int64), ("ties", "constant")))
    made[next(names)] = draw(columns(n, (*OTHERS, *CATEGORIES)))
    frame = pl.DataFrame(made)
    if all(frame[k].null_count() == n for k in roles["keys"]):
        roles["keys"].append(next(names))
        frame = frame.with_columns(pl.lit("x").alias(roles["keys"][-1]))
    return sdc.read(frame, **roles)


@st.composite
def protected_from(draw: Any, data: sdc.Microdata) -> sdc.Microdata:
    """What may have been made of a file: values gone, changed or mixed, records gone, in another order."""
    frame = data.frame
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    touched = [*data.roles.keys, *data.roles.numeric, *data.roles.sensitive]
    for what in draw(
        st.lists(st.sampled_from(("blank", "mix", "float", "add", "fewer", "order", "all gone")), max_size=3)
    ):
        n = frame.height
        if what == "fewer":
            frame = frame.head(max(1, n // 2))
            continue
        if what == "order":
            frame = frame.sample(fraction=1, shuffle=True, seed=1)
            continue
        name = draw(st.sampled_from(touched))
        column = pl.col(name)
        if what == "blank":
            changed = pl.when(pl.Series(rng.random(n) < 0.5)).then(column)
        elif what == "mix":
            changed = column.gather(pl.Series(rng.permutation(n)))
        elif what == "all gone":
            changed = pl.lit(None, dtype=frame.schema[name])
        elif not frame.schema[name].is_numeric():
            continue
        else:
            changed = column.cast(pl.Float64)
            changed = changed + pl.Series(rng.normal(0, 1, n)) if what == "add" else changed
        frame = frame.with_columns(changed.alias(name))
    try:
        return data.with_frame(frame)
    except sdc.SdcError:
        return data  # every key gone


def options(
    spec: Spec, data: sdc.Microdata, given: Mapping[str, Any], one_of: Sequence[str] = ()
) -> st.SearchStrategy[dict[str, Any]]:
    """Options from the JSON schema of a function: required ones, one of `one_of` and a few of the others."""
    schema = spec.json_schema
    properties = {n: p for n, p in schema.get("properties", {}).items() if n not in given}
    required = [n for n in schema.get("required", ()) if n in properties]
    strategies = {n: _value(p, schema.get("$defs", {}), data) for n, p in properties.items()}
    possible = {n: s for n, s in strategies.items() if s is not None}

    @st.composite
    def drawn(draw: Any) -> dict[str, Any]:
        free = [n for n in possible if n not in required and n not in one_of]
        chosen = [n for n in free if draw(st.integers(0, 3)) == 0]
        chosen += [draw(st.sampled_from(one_of))] if one_of else []
        return {n: draw(possible[n]) for n in (*required, *chosen)} | dict(given)

    return drawn()


def _value(field: Mapping[str, Any], shared: Mapping[str, Any], data: sdc.Microdata) -> Any:
    """A strategy for one option, or None where the schema does not say enough."""
    if "$ref" in field:
        return _value(shared[field["$ref"].split("/")[-1]], shared, data)
    if "anyOf" in field:
        parts = [s for s in (_value(f, shared, data) for f in field["anyOf"]) if s is not None]
        return st.one_of(parts) if parts else None
    if "enum" in field:
        return st.sampled_from(field["enum"])
    kind, roles = field.get("type"), data.roles
    column = st.one_of(st.sampled_from(c) for c in (roles.numeric, roles.keys, roles.sensitive, data.columns))
    if field.get("format") == "column":
        return column
    if field.get("format") == "columns":
        return st.lists(column, min_size=1, max_size=3, unique=True)
    if kind == "array":
        inner = _value(field.get("items", {}), shared, data)
        return None if inner is None else st.lists(inner, min_size=1, max_size=3)
    if kind == "boolean":
        return st.booleans()
    low, high = field.get("minimum", field.get("exclusiveMinimum", 0)), field.get("maximum", inf)
    if kind == "integer":
        return st.integers(low, min(high, low + 5))
    if kind == "number":
        out = (field.get("exclusiveMinimum"), field.get("exclusiveMaximum"))
        top = field.get("exclusiveMaximum", high)
        return st.sampled_from([v for v in AMOUNTS if low <= v <= top and v not in out])
    return None
