"""Hints in the language of plans: the library's own are written for Python."""

import re

from sdckit.methods.registry import specs
from sdckit.methods.spec import Kind

# What the library says in Python, and what to do in a plan or on the command line instead.
SENTENCES = {
    r"say so with linked=False, or ask for it by name": "say so with assess: {linked: false} in a plan, or "
    "name it under --measures",
    r"for example (\w+)=\{'(\w+)': …\}": r"in a plan: assess: {\1: {\2: …}}",
    r"complete=True leaves them out": "atypical_records: {complete: true} in a plan leaves them out",
    r"Leave them out with data\.without\(data\.roles\.direct\), or pass keep_direct=True\.": (
        "Take keep_direct out of the plan's data section: they are then dropped at reading."
    ),
    r"data\.collect\(\) brings them (into memory|there)\.": "Take engine out of the plan's data section: the "
    "records are then read into memory.",
    r"Give it when you read the data: (\w+)=…, under data: in a plan, or --\w+ on the command line\.": (
        r"Give it under data: in the plan, \1: …, or with sdckit assess as --\1."
    ),
    r"Give the role (\w+)= when you read the data": r"Give the role \1: under data: in the plan, or --\1",
    r"A call takes rng=3; a scenario has": "A plan has",
    r", in a call also rng": "",
    r'Step\("method", option=value\), or ': "",
    r", or in Python the result of one": "",
    r"(?<![\w/\\.-])jobs=1(?!\.?[\w/\\-])": "--jobs 1",
    r"\((\w+)=\)": r"(\1: under data: in a plan, or --\1)",
}
NEEDS = re.compile(r"\b(\w+) needs the option '(\w+)'\.")
# Not in the name of a file, as /data/run_k=5.csv.
OPTION = re.compile(
    r"(?<![\w/\\.-])([a-z_]+)=(True|False|…|\[[^\]]*\]|\{[^{}]*\}|'[^']*'|\d+(?:\.\d+)?)(?!\.?[\w/\\-])"
)


def for_plans(text: str) -> str:
    """A message for people who write plans, not Python.

    >>> for_plans("Give variables=[…].")
    'Give variables: […].'
    >>> for_plans("regression: needs to be told formula, for example regression={'formula': …}")
    'regression: needs to be told formula, in a plan: assess: {regression: {formula: …}}'
    """
    for python, words in SENTENCES.items():
        text = re.sub(python, words, text)
    text = NEEDS.sub(lambda m: f"{m[0]} {_where(m[1], m[2])}".rstrip(), text)
    return OPTION.sub(lambda m: f"{m[1]}: {_value(m[2])}", text)


def _where(method: str, option: str) -> str:
    """Where an option that is needed is written."""
    kind = next((spec.kind for spec in specs() if spec.name == method), None)
    if kind is None:
        return ""
    if kind is Kind.PROTECTION:
        return f"In the plan: - {method}: {{{option}: …}}"
    return f"In the plan: assess: {{{method}: {{{option}: …}}}}"


def _value(python: str) -> str:
    if python in ("True", "False"):
        return python.lower()
    return python.replace("'", "")
