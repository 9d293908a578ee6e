"""Why the best scenario of a map is recommended, in words."""

from typing import TYPE_CHECKING

from sdckit._support.messages import join_names
from sdckit._support.number_text import SPACE, display
from sdckit.choose import map_charts
from sdckit.choose.criteria import Release
from sdckit.choose.point import lost_everywhere
from sdckit.choose.quantity import Quantity

if TYPE_CHECKING:
    from sdckit.choose.risk_utility_map import RiskUtilityMap

OTHERS = 3  # scenarios that lose less and are not recommended: how many are named


def sentence(found: "RiskUtilityMap") -> str:
    """What speaks for the best scenario, and what against those that lose less."""
    best = found.best
    under = (
        ""
        if found.max_risk is None
        else f" among those with a risk of at most {_risk(found, found.max_risk)}"
    )
    if not any(p.ok for p in found.results):
        return "No scenario could be measured."
    if best is None:
        return f"No scenario is acceptable{under}: protect more, or accept a higher risk."
    passed = _passed_over(found)
    able = " of those that nothing speaks against" if passed else ""
    return (
        f"{best.name} loses least{able} ({_loss(found, best.loss)}){under}; its risk is "
        f"{_risk(found, best.risk)}, {_risk(found, found.original.risk)} before."
        f"{passed}{_refused(found)}{_whole_records(found)}{_unseen(found)}"
    )


def _passed_over(found: "RiskUtilityMap") -> str:
    """Which scenarios under the accepted risk lose less than the best, and what speaks against them."""
    best = found.best
    if best is None or found.objection(best):
        return ""
    others = sorted((p for p in found.acceptable if p.loss < best.loss), key=lambda p: p.loss)
    told = [
        f" {p.name} loses less ({_loss(found, p.loss)}) at a risk of {_risk(found, p.risk)}, "
        f"but {found.objection(p)}."
        for p in others[:OTHERS]
    ]
    if len(others) > OTHERS:
        told.append(f" Something speaks against each of {len(others) - OTHERS} more that lose less.")
    return "".join(told)


def _refused(found: "RiskUtilityMap") -> str:
    """That the best file cannot be released as it is, so that nobody takes the least loss for a yes."""
    best, verdict = found.best, found.verdict
    if best is None or verdict is None or verdict.releasable:
        return ""
    refused = verdict.status is Release.NOT_RELEASABLE
    said = "must not be released as it is" if refused else "is not cleared for release"
    why = found.objection(best)
    return f" It {said}: {why}." if why else f" It {said}; the verdict says why."


def _whole_records(found: "RiskUtilityMap") -> str:
    """What the risk of files of new records is, so that nobody takes it for a link."""
    names = [p.name for p in found.results if p.ok and p.new_records]
    if not names or "reidentification_risk" not in found.risk:
        return ""
    return (
        f" In {join_names(names)} nobody has a record: the risk there is the share of persons whose "
        "whole record comes back and is picked."
    )


def _unseen(found: "RiskUtilityMap") -> str:
    """Of which variables the losses say nothing, whatever the scenario."""
    lost = lost_everywhere(found.results)
    told = [
        f"{Quantity.named(n).spec.title} says nothing of {join_names(lost[n])}"
        for n in found.utility
        if n in lost
    ]
    return f" {'; '.join(told)}, which every scenario drops or recodes." if told else ""


def _risk(found: "RiskUtilityMap", value: float) -> str:
    return display(value, share=map_charts.is_share(found.risk)).replace(SPACE, " ")


def _loss(found: "RiskUtilityMap", value: float) -> str:
    return display(value, share=map_charts.is_share(found.utility)).replace(SPACE, " ")
