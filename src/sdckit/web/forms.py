"""Every protection and measure with its form, as the page draws it: all from the registry."""

from typing import Any

from sdckit.choose import plain
from sdckit.methods.registry import specs
from sdckit.methods.serialise import to_builtin
from sdckit.methods.spec import Kind, Spec

COARSER, BLANK, RANDOM, RECORDS = (
    "Make values coarser",
    "Suppress values",
    "Change values at random",
    "Records, ids and columns",
)
GROUPS = {  # of the gallery; a method that is not listed stands under the last heading
    **dict.fromkeys(("recode", "group", "top_code", "bottom_code", "round_values"), COARSER),
    **dict.fromkeys(("suppress", "suppress_risky"), BLANK),
    **dict.fromkeys(("microaggregate", "add_noise", "rank_swap", "shuffle", "swap_records", "pram"), RANDOM),
    **dict.fromkeys(("synthesize",), RANDOM),
    **dict.fromkeys(("shuffle_order", "new_ids", "sample_records", "drop"), RECORDS),
}
OTHER = "Other methods"


def methods() -> dict[str, list[dict[str, Any]]]:
    """Protections, risks and utilities with title, help and the fields of their forms."""
    found = {kind.value: [_method(spec) for spec in specs(kind)] for kind in Kind}
    order = [*GROUPS]
    found["protection"].sort(key=lambda m: order.index(m["name"]) if m["name"] in order else len(order))
    return found


def _method(spec: Spec) -> dict[str, Any]:
    facts = {name: v for name, v in plain.spec(spec).items() if name not in ("options", "figures")}
    help_text = (spec.function.__doc__ or "").split("\n\n")[0].strip().replace("`", "")
    more: dict[str, Any] = {"group": GROUPS.get(spec.name, OTHER)} if spec.kind is Kind.PROTECTION else {}
    more |= {"help": help_text, "flags": bool(spec.flags), "judges": spec.judges, "share": spec.share}
    more["summary"] = spec.summary.replace("`", "")
    found: dict[str, Any] = plain.clean(to_builtin({**facts, **more}))
    return found
