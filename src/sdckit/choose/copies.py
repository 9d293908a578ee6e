"""Whether a synthetic file repeats original records, beyond what people nobody has seen would."""

from sdckit.choose.criteria import Criterion, Status
from sdckit.choose.place import Place, at
from sdckit.choose.release_case import ReleaseCase, ask_it
from sdckit.data.result import Result
from sdckit.data.roles import Role

NAME, MEASURE = "copies of original records", "closest_record"
NEARER = 0.8  # of the median distance among real people: a synthetic file is as far as they are
CLOSER = 0.015  # of the records: surely so many more than expected are closer to the original than to others
UNSURE = 0.05  # of the records: what may be too close beyond chance, and the error of what chance is, at most


def copies_of_originals(case: ReleaseCase) -> Criterion:
    """Not met where more are copies or close than by chance; not judged where too few show what chance is.

    Both the synthetic records and the real people they are compared with are samples: an excess is sure only
    beyond the errors of both, and that there is none is sure only where these are small.
    """
    again = Place.step("synthesize")
    result = case.measured(MEASURE)
    if result is None or "copies" not in result.figures:
        why = "Whether the file repeats original records is not known"
        places = at(Place.role(Role.KEYS), again)
        return case.not_known(NAME, MEASURE, why, ask_it(MEASURE), *places)
    copies, real = result.figures["copies"], result.figures.get("reference_copies", 0.0)
    told = (
        f"{100 * copies:.3g} % of the records are copies of original ones ({100 * real:.3g} % would be "
        f"expected of other people), and {100 * result.value:.3g} % are as close as the closest originals "
        f"({100 * result.figures.get('reference_share', 0.0):.3g} %)"
    )
    repeated, unsure = _beyond_chance(case, result)
    if repeated:
        mends = (
            "Synthesise with a larger gain (6 and more), larger leaves and smoothing, or fewer predictors."
        )
        return Criterion(NAME, Status.NOT_MET, f"{told}.", copies, real, mends, share=True, places=at(again))
    if unsure:
        others = result.figures.get("reference_independent", 0.0)
        why = f"{told}: whether that is chance cannot be told by {others:,.0f} people."
        if _closer(result):
            closer, expected = (result.figures[f"closer_{n}"] for n in ("to_original", "expected"))
            why = (
                f"{100 * closer:.3g} % of the records are closer to the original than to people held back "
                f"({100 * expected:.3g} % expected), as copies with strong noise are."
            )
        mends = "Hold more people back from the synthesis, or synthesise with a larger gain."
        places = at(Place.options(MEASURE), again)
        return Criterion(NAME, Status.NOT_JUDGED, why, copies, real, mends, share=True, places=places)
    why = "The file repeats original records no more often than other people of the population would."
    return Criterion(NAME, Status.MET, why, copies, real, share=True)


def _beyond_chance(case: ReleaseCase, result: Result) -> tuple[bool, bool]:
    """Whether records are repeated beyond chance, and whether it is not sure that they are not."""
    from sdckit.risk._uncertainty import beyond, wilson  # measures are loaded when they are first used
    from sdckit.risk.closest_record import excess_interval

    figures, files = result.figures, len(case.x.protected)
    copies, real = figures["copies"], figures.get("reference_copies", 0.0)
    if "independent" not in figures:  # nothing to compare with
        return copies > 0, True
    counted, others = figures["independent"], figures["reference_independent"]
    shares = (result.value, figures["reference_share"], figures["closest"], figures["reference_closest"])
    low, high = excess_interval(*shares, counted, others, files)
    records = case.data.height * counted / max(min(case.data.height, _looked_for(result)), 1)
    copied = beyond(copies, records, real, others, files)[0]
    at_most = beyond(copies, records, real, others)[1]
    nearer = any(
        figures.get(n, 1.0) < NEARER * figures.get(f"reference_{n}", 0.0)
        for n in ("median_distance", "median_ratio")
    )
    # an excess that the error of few people held back may explain is no proof, and no acquittal either
    perhaps = (
        wilson(copies, case.data.height, files)[0] > real
        or wilson(result.value, counted, files)[0] > figures["reference_share"]
        or _closer(result)
    )
    few = wilson(figures["reference_share"], others)[1] - figures["reference_share"] > UNSURE
    return copied > 0 or low > 0 or nearer, perhaps or few or max(high, at_most) > UNSURE


def _closer(result: Result) -> bool:
    """Whether records are closer to the original than to people held back, more often than by chance."""
    return result.figures.get("closer_low", 0.0) > result.figures.get("closer_expected", 1.0) + CLOSER


def _looked_for(result: Result) -> int:
    """How many records looked for their nearest."""
    return 0 if result.parts is None else result.parts.height
