"""Every protection and measure with its form, as the page draws it: all from the registry."""

from dataclasses import asdict
from typing import Any

from sdckit.methods.registry import specs
from sdckit.methods.serialise import to_builtin
from sdckit.methods.spec import Kind, Spec


def methods() -> dict[str, list[dict[str, Any]]]:
    """Protections, risks and utilities with title, help and the fields of their forms."""
    return {kind.value: [_method(spec) for spec in specs(kind)] for kind in Kind}


def _method(spec: Spec) -> dict[str, Any]:
    return {
        "name": spec.name,
        "title": spec.title,
        "help": (spec.function.__doc__ or "").split("\n\n")[0].strip(),
        "interpretation": spec.interpretation,
        "reference": spec.reference,
        "needs": [role.value for role in spec.needs],
        "compares": spec.compares.value,
        "flags": bool(spec.flags),
        "judges": spec.judges,
        "share": spec.share,
        "fields": [to_builtin(asdict(field)) for field in spec.form()],
    }
