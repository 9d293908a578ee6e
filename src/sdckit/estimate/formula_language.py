"""What a formula may say, and how much: one from a stranger's file must not run code, nor run for ever."""

import ast
import re
from math import inf

from sdckit._support.messages import did_you_mean, join_names
from sdckit.errors import OptionError, preview

LANGUAGE = "columns joined by +, :, * or -, I(age^2), C(region) for categories, -1 for no intercept"
FUNCTIONS = ("log", "log2", "log10", "log1p", "exp", "sqrt", "abs", "I", "C")
LONGEST = 5_000  # characters of a formula
MOST_OPERATORS = 300
DEEPEST = 30  # parentheses within parentheses
MOST_TERMS = 2_000  # that sums, products and powers of sums may make
HIGHEST_POWER = 10
FEW_PRODUCTS = 8  # whose terms can be written out unseen
LARGEST_NUMBER = 1e15
QUOTED = re.compile(r"`([^`]*)`")

_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Mod, ast.FloorDiv, ast.Pow)
_COMPARED = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_RELEVEL = 'reference={"x": "b"} chooses the reference; in the formula C(x, Treatment("b")) does.'
_INSTEAD = {
    "relevel": _RELEVEL,
    "Treatment": _RELEVEL,
    "contr": _RELEVEL,
    "C": f"It takes one column. {_RELEVEL}",
    "poly": "Write the powers: age + I(age^2).",
    "ln": "log is the natural logarithm.",
    "ifelse": "Make a column of it before.",
    "cut": "Make a column of it before.",
    "offset": "Offsets and random effects are not fitted.",
}


def unread(formula: str, error: Exception | None = None) -> OptionError:
    """Why a formula cannot be read, in one line: formulaic colours its messages, and marks the place."""
    said = str(error).partition("\n")[0] if "\x1b" in str(error) else ""
    if met := re.match(r"Operator `(.+?)`", said):
        said = f"{met[1]} stands in the wrong place, or one of its sides is missing."
    return OptionError("The formula cannot be read.", given=preview(formula), allowed=LANGUAGE, hint=said)


def refuse_endless(formula: str) -> None:
    """Refuse a formula whose terms would take for ever to write out, before anything is made of it.

    a*b is three terms, (a+b+c)^2 at most nine.
    """
    depth = deepest = 0
    for letter in formula:
        depth += (letter == "(") - (letter == ")")
        deepest = max(deepest, depth)
    operators = sum(formula.count(letter) for letter in "+-*/^:<>=%")
    if len(formula) > LONGEST or deepest > DEEPEST or operators > MOST_OPERATORS:
        raise OptionError(
            "The formula is too long.",
            given=f"{len(formula):,} characters, {operators:,} operators, {deepest:,} nested parentheses",
            allowed=f"{LONGEST:,}, {MOST_OPERATORS} and {DEEPEST}",
        )
    for side in formula.split("~"):
        text = re.sub(r"`[^`]*`|\"[^\"]*\"|'[^']*'", "v", side)
        text = re.sub(r"%\s*in\s*%", "/", text)
        text = re.sub(r"(?<![\w.])[^\W\d][\w.]*", "v", text)  # a column may have the name of a Python word
        text = text.replace("^", "**").replace(":", "@").strip()
        try:
            tree = ast.parse(text, mode="eval")
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            if "**" in text or text.count("*") > FEW_PRODUCTS:
                raise unread(formula) from None
            continue  # the parser says what is wrong
        if _terms(tree.body, formula) > MOST_TERMS:
            raise _too_many(formula)


def _too_many(formula: str) -> OptionError:
    return OptionError(
        "The formula has too many terms.",
        given=preview(formula),
        allowed=f"{MOST_TERMS:,}, with all products and powers written out",
    )


def _terms(node: ast.expr, formula: str) -> float:
    """How many terms a part of a formula makes at most."""
    if isinstance(node, ast.UnaryOp):
        return _terms(node.operand, formula)
    if not isinstance(node, ast.BinOp):
        return 1
    left = _terms(node.left, formula)
    if isinstance(node.op, ast.Pow):
        times = node.right.value if isinstance(node.right, ast.Constant) else None
        if not isinstance(times, int) or times > HIGHEST_POWER:
            raise OptionError(
                "A power of terms is a small whole number.",
                given=preview(formula),
                allowed=f"up to {HIGHEST_POWER}",
                hint="For arithmetic write I(x^2.5).",
            )
        made = left**times
    else:
        right = _terms(node.right, formula)
        made = left * right if isinstance(node.op, ast.MatMult) else left + right
        if isinstance(node.op, ast.Mult | ast.Div):
            made += left * right
    return made if made <= MOST_TERMS else inf


def names_in(expression: str, formula: str) -> dict[str, bool]:
    """The columns in an expression and whether they stand in C(); anything but arithmetic is refused."""
    quoted = {f"quoted_{i}_": name for i, name in enumerate(dict.fromkeys(QUOTED.findall(expression)))}
    text = expression
    for stand_in, name in quoted.items():
        text = text.replace(f"`{name}`", stand_in)
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise unread(formula, error) from None
    found: dict[str, bool] = {}
    _read(tree.body, expression, found, category=False)
    if not found:
        raise OptionError(
            "Every part of a formula needs a column.", given=preview(expression), hint="-1: no intercept."
        )
    return {quoted.get(name, name): category for name, category in found.items()}


def _read(node: ast.expr, expression: str, found: dict[str, bool], *, category: bool) -> None:
    """Collect the columns of an allowed expression; a name once outside C() is no category."""
    if isinstance(node, ast.Name):
        found[node.id] = category or found.get(node.id, False)
    elif isinstance(node, ast.Call):
        named = isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS
        if not named or node.keywords or len(node.args) != 1:
            raise _not_allowed(expression, ast.unparse(node.func))
        inside = isinstance(node.func, ast.Name) and node.func.id == "C"
        _read(node.args[0], expression, found, category=inside and isinstance(node.args[0], ast.Name))
    elif isinstance(node, ast.BinOp) and isinstance(node.op, _ARITHMETIC):
        if isinstance(node.op, ast.Pow):
            _check_power(node, expression)
        _read(node.left, expression, found, category=False)
        _read(node.right, expression, found, category=False)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.UAdd | ast.USub):
        _read(node.operand, expression, found, category=False)
    elif isinstance(node, ast.Compare) and all(isinstance(op, _COMPARED) for op in node.ops):
        for part in (node.left, *node.comparators):
            if not (isinstance(part, ast.Constant) and isinstance(part.value, str)):
                _read(part, expression, found, category=False)
    elif not _is_number(node, LARGEST_NUMBER):
        raise _not_allowed(expression, "")


def _check_power(node: ast.BinOp, expression: str) -> None:
    """Powers have small exponents, and a base that is a number is written as one: 9^9^9 never ends."""
    exponent = node.right.operand if isinstance(node.right, ast.UnaryOp) else node.right
    base = isinstance(node.left, ast.Constant) or any(isinstance(n, ast.Name) for n in ast.walk(node.left))
    if not _is_number(exponent, HIGHEST_POWER) or not base:
        raise OptionError(
            "A power in a formula has a column or a number as base and a small number as exponent.",
            given=preview(expression),
            allowed=f"exponents up to {HIGHEST_POWER}",
        )


def _is_number(node: ast.expr, largest: float) -> bool:
    value = node.value if isinstance(node, ast.Constant) else None
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= largest


def _not_allowed(expression: str, name: str) -> OptionError:
    return OptionError(
        "A formula may only hold columns, numbers, arithmetic and a few functions of one column.",
        given=preview(expression),
        allowed=join_names(FUNCTIONS),
        hint=_INSTEAD.get(name) or did_you_mean(name, [f for f in FUNCTIONS if f != name]),
    )
