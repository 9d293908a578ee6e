"""One page a family of measures and methods, made from the registry and the docstrings."""

from math import inf
from pathlib import Path

from sdckit.registry import Kind, Spec, specs

PAGES = {
    Kind.PROTECTION: ("protect", "Protections", "Functions from Microdata to Microdata."),
    Kind.RISK: ("risk", "Risk measures", "What an intruder could still learn."),
    Kind.UTILITY: ("utility", "Utility measures", "What an analyst has lost."),
}


def make_reference(folder: Path) -> None:
    """Write the pages; files that would not change are left alone."""
    folder.mkdir(exist_ok=True)
    index = ["# Reference", "", "```{toctree}", ":maxdepth: 1", ""]
    for kind, (module, title, about) in PAGES.items():
        found = sorted(specs(kind), key=lambda s: s.name)
        lines = [f"# {title}", "", about, "", "| name | what |", "|---|---|"]
        lines += [f"| [`{s.name}`](#{module}-{s.name.replace('_', '-')}) | {s.title} |" for s in found]
        for spec in found:
            lines += ["", *_section(spec, module)]
        _write(folder / f"{module}.md", lines)
        index.append(module)
    _write(folder / "index.md", [*index, "```"])


def _section(spec: Spec, module: str) -> list[str]:
    lines = [f"({module}-{spec.name.replace('_', '-')})=", f"## {spec.name}", "", f"**{spec.title}.**"]
    if spec.kind is not Kind.PROTECTION:
        low, high = spec.bounds
        ends = f"{low:g} to {'∞' if high == inf else f'{high:g}'}"
        lines += [
            "",
            spec.reading,
            "",
            f"Good is {spec.better.value}; {ends}{f', {spec.unit}' if spec.unit else ''}.",
        ]
        lines += [f"Looks at {spec.compares.value}."]
    lines += ["", "```{eval-rst}", f".. autofunction:: sdckit.{module}.{spec.name}", "```"]
    return lines


def _write(path: Path, lines: list[str]) -> None:
    text = "\n".join(lines) + "\n"
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
