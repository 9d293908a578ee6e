"""Every protection and measure with its form, as the page draws it: all from the registry."""

from typing import Any

from sdckit.choose import plain
from sdckit.methods.registry import specs
from sdckit.methods.serialise import to_builtin
from sdckit.methods.spec import Kind, Spec


def methods() -> dict[str, list[dict[str, Any]]]:
    """Protections, risks and utilities with title, help and the fields of their forms."""
    return {kind.value: [_method(spec) for spec in specs(kind)] for kind in Kind}


def _method(spec: Spec) -> dict[str, Any]:
    facts = {name: v for name, v in plain.spec(spec).items() if name not in ("options", "figures")}
    help_text = (spec.function.__doc__ or "").split("\n\n")[0].strip().replace("`", "")
    more: dict[str, Any] = {
        "help": help_text,
        "flags": bool(spec.flags),
        "judges": spec.judges,
        "share": spec.share,
    }
    more["did"] = {name: figure.label for name, figure in spec.figures.items()}
    more["summary"] = spec.summary
    found: dict[str, Any] = plain.clean(to_builtin({**facts, **more}))
    return found
