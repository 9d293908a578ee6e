"""What several differentially private releases of the same data cost together."""

from collections.abc import Iterable, Mapping

from sdckit.data.effects import merged
from sdckit.data.microdata import Microdata
from sdckit.data.privacy import PrivacyLoss, distinct
from sdckit.models.zcdp import epsilon_of


def losses_of(data: Microdata) -> tuple[PrivacyLoss, ...]:
    """What was promised of a file, by the steps of its log."""
    return merged(entry.effects for entry in data.log).privacy


def total_cost(losses: Iterable[PrivacyLoss]) -> str:
    """The cost of all releases together, in words; of different units each on its own.

    The ρ of several releases add up, and ε follows from their sum at the smallest δ. A record replaced is one
    removed and one added, which is two steps and costs four times the ρ of one.

    >>> from sdckit.data.privacy import PrivacyUnit
    >>> one, two = (PrivacyLoss(1, 1e-6, 0.02, PrivacyUnit.RECORD, False, i) for i in (1, 2))
    >>> total_cost([one, two, two])
    'ε = 1.3 at δ = 1e-06 for each record (ρ = 0.04)'
    """
    groups: dict[str, list[PrivacyLoss]] = {}
    for loss in distinct(losses):
        groups.setdefault(loss.unit.value, []).append(loss)
    words = []
    for unit, found in groups.items():
        mixed = any(loss.replaced for loss in found)
        rho = sum(loss.rho * (4 if mixed and not loss.replaced else 1) for loss in found)
        delta = min(loss.delta for loss in found)
        words.append(f"ε = {epsilon_of(rho, delta):.3g} at δ = {delta:g} for each {unit} (ρ = {rho:.3g})")
    return " and ".join(words)


def cost_of_map(
    tried: Iterable[PrivacyLoss], made: Mapping[str, Microdata], best: tuple[str, tuple[PrivacyLoss, ...]]
) -> list[str]:
    """What a comparison says of differential privacy; nothing where no scenario promises any.

    tried: of all scenarios. made: the files handed out, by scenario. best: the recommended one, as measured.
    """
    name, measured = best
    files = [loss for data in made.values() for loss in losses_of(data)]
    found = distinct([*tried, *files])
    if not found:
        return []
    if len(found) > 1:
        first = (
            f"{len(found)} differentially private releases of these data were made for this comparison. "
            f"Together they cost {total_cost(found)}: that is what was spent, not the ε of the scenario "
            "chosen. The choice rests on measures that look at the original, which no promise covers."
        )
    else:
        first = (
            "A differentially private scenario was compared by measures that look at the original: neither "
            f"the choice nor a measure that is published is covered by its promise ({total_cost(found)})."
        )
    words = [first]
    again = name in made and {x.release for x in losses_of(made[name])} != {x.release for x in measured}
    if again and measured:
        words.append(
            "The recommended file was drawn again, as its noise cannot be repeated: the numbers on the map "
            "are of another one, and both releases count."
        )
    return words
