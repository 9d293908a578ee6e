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
    accepted = {name: plan.assess.get(name) for name in ('max_risk', 'accept')}
    done = sdc.assess(data, protected, intruders=plan.intruders or None, **accepted)
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
        "accepted = {name: plan.assess.get(name) for name in ('max_risk', 'accept')}",
        "done = sdc.assess(data, protected, intruders=plan.intruders or None, **accepted)",
        "print(done.verdict)",
        f"sdc.write(protected, Path(__file__).with_name({out!r}))",
        "",
    ]
    return "\n".join(lines)
