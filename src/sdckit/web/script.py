"""The Python script that does what the page did."""

from collections.abc import Mapping
from shlex import quote
from typing import Any

from sdckit.web.document import Document

OPTIONS = {  # of `sdckit protect`, by the argument of `sdckit.write` and its value
    ("values", "labels"): "--labels",
    ("decimal", ","): "--decimal-comma",
    ("separator", ","): "--separator ','",
    ("separator", ";"): "--separator ';'",
    ("separator", "|"): "--separator '|'",
    ("separator", "\t"): "--separator tab",
    ("codebook", True): "--codebook",
    ("escape_formulas", True): "--escape-formulas",
    ("header", False): "--no-header",
}


def command(scenario: str, out: str, how: Mapping[str, Any]) -> str:
    """The command that writes the same protected file from the plan.

    >>> command("my own", "protected.csv", {"decimal": ",", "separator": "\\t"})
    "sdckit protect plan.yaml --scenario 'my own' --out protected.csv --decimal-comma --separator tab"
    """
    call = f"sdckit protect plan.yaml --scenario {quote(scenario)} --out {quote(out)}"
    return " ".join([call, *(OPTIONS[pair] for pair in how.items() if pair in OPTIONS)])


def script(document: Document, scenario: str, out: str, how: Mapping[str, Any] | None = None) -> str:
    """A script that reads the plan beside it and writes the same protected file.

    >>> print(script(Document(), "A", "protected.csv"))
    \"\"\"Made by sdckit web: the protected file again, from the plan beside this script.\"\"\"
    <BLANKLINE>
    from pathlib import Path
    <BLANKLINE>
    import sdckit as sdc
    <BLANKLINE>
    plan = sdc.Plan.load(Path(__file__).with_name('plan.yaml'))
    data = plan.read()
    protected = plan.find('A').protect(data, seed=plan.seed)
    other = ('risk', 'utility', 'extra_measures', 'also', 'measures', 'linked')
    said = {name: value for name, value in plan.assess.items() if name not in other}
    done = sdc.assess(data, protected, intruders=plan.intruders or None, **said)
    print(done.verdict)
    sdc.write(protected, Path(__file__).with_name('protected.csv'))
    <BLANKLINE>
    """
    given = "".join(f", {name}={value!r}" for name, value in (how or {}).items())
    lines = [
        '"""Made by sdckit web: the protected file again, from the plan beside this script."""',
        "",
        "from pathlib import Path",
        "",
        "import sdckit as sdc",
        "",
        "plan = sdc.Plan.load(Path(__file__).with_name('plan.yaml'))",
        "data = plan.read()",
        f"protected = plan.find({scenario!r}).protect(data, seed=plan.seed)",
        "other = ('risk', 'utility', 'extra_measures', 'also', 'measures', 'linked')",
        "said = {name: value for name, value in plan.assess.items() if name not in other}",
        "done = sdc.assess(data, protected, intruders=plan.intruders or None, **said)",
        "print(done.verdict)",
        f"sdc.write(protected, Path(__file__).with_name({out!r}){given})",
        "",
    ]
    return "\n".join(lines)
