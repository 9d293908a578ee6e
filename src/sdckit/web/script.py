"""The Python script that does what the page did."""

from sdckit.web.document import Document


def script(document: Document, scenario: str, out: str) -> str:
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
        f"sdc.write(protected, Path(__file__).with_name({out!r}))",
        "",
    ]
    return "\n".join(lines)
