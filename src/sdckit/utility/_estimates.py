"""Options and figures of the measures that compare estimates."""

import math
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema

from sdckit.data.effects import merged
from sdckit.data.microdata import Microdata
from sdckit.estimate.catalogue import CATALOGUE, PANELS, chosen
from sdckit.estimate.combine import Synthesis
from sdckit.estimate.regression import Family
from sdckit.estimate.replication import Replication
from sdckit.estimate.stage import SinglePsu
from sdckit.methods.options import Columns, Option, Requires
from sdckit.methods.spec import Better, Figure, share

USUAL = "usual"  # the indicators that are taken unless others are named


def _known_indicators(wanted: Any) -> Any:
    if wanted != USUAL:
        chosen(wanted)
    return wanted


_INDICATORS = {
    "anyOf": [{"type": "string"}, {"type": "array", "items": {}}, {"type": "object"}],
    "description": f"usual, a panel ({', '.join(PANELS)}) or names: {', '.join(CATALOGUE)}",
}
IndicatorsOption = Annotated[
    Any,
    BeforeValidator(_known_indicators),
    WithJsonSchema(_INDICATORS),
    Option("Indicators", "What to estimate from both files: a panel, or names with options.", basic=True),
]
Formula = Annotated[
    str,
    Option("Formula", 'The model, written as in R: "log(income) ~ sex + age + I(age^2)".', basic=True),
]
FamilyOption = Annotated[
    Family,
    Option(
        "Model",
        "What kind of outcome the formula has.",
        basic=True,
        choices={
            "ols": "a number: linear regression",
            "logit": "yes or no: logistic regression",
            "poisson": "a count: Poisson regression",
        },
    ),
]
LevelOption = Annotated[
    float, Field(gt=0, lt=1), Option("Confidence", "The confidence level of the intervals.")
]
SynthesisOption = Annotated[
    Synthesis | None,
    Option(
        "Kind of synthesis",
        "By which rules the estimates of several synthetic sets are combined.",
        choices={
            "partial": "some values of the records were synthesised",
            "full": "every set is a new sample of a synthetic population",
            "sample": "every set is a sample from one model of the original sample",
            "proper_sample": "the same, with a model of a new bootstrap of the original for each set",
        },
        absent="what the steps say that made the files, else partial",
    ),
]
# what is said of the sample design beyond the roles
FpcOption = Annotated[
    Columns | None,
    Option(
        "Finite population",
        "For each stage of sampling a column with sampling fractions or with numbers of units in the "
        "population, primary sampling units first.",
        absent="no correction",
    ),
]
UnitsOption = Annotated[
    Columns,
    Option(
        "Units of later stages",
        "Columns that name what was drawn within primary sampling units, one for each stage: households.",
        absent="the records",
    ),
]
SinglePsuOption = Annotated[
    SinglePsu,
    Option(
        "Strata with a single primary sampling unit",
        "What they add to a variance that cannot be estimated from them.",
        choices={
            "adjust": "the unit is compared with the mean of all units",
            "average": "the mean variance of the other strata",
            "certainty": "nothing, as the unit was taken with certainty",
            "remove": "nothing, and a note says so",
            "fail": "an error",
        },
    ),
]
SinglePsuDomainsOption = Annotated[
    bool,
    Option(
        "The same in domains",
        "Treat a stratum in this way also where only one of its units has records of the domain.",
    ),
]
# what is said of replicate weights
ReplicateWeightsOption = Annotated[
    Columns, Option("Replicate weights", "The columns of the replicate weights.", absent="none")
]
ReplicateKindOption = Annotated[
    Replication | None,
    Option(
        "Kind of the replicates",
        "How the replicate weights were made, which gives the factor of their squares.",
        choices={
            "jk1": "jackknife without strata: (R−1)/R",
            "jk2": "jackknife of pairs: 1",
            "jkn": "jackknife with strata: the factors of the replicates",
            "brr": "balanced half samples: 1/R",
            "fay": "Fay's half samples: 1/(R(1−ρ)²)",
            "bootstrap": "bootstrap: 1/(R−1)",
            "successive": "successive differences: 4/R",
        },
        absent="one by the number of replicates",
    ),
]
ReplicateScaleOption = Annotated[
    Annotated[float, Field(gt=0)] | None,
    Option(
        "Scale of the replicates",
        "The factor of the sum of squares over the replicates.",
        absent="that of the kind",
    ),
]
ReplicateFactorsOption = Annotated[
    tuple[Annotated[float, Field(ge=0, allow_inf_nan=False)], ...],
    Option("Factors of the replicates", "For each replicate the factor of its square.", absent="1 for all"),
]
ReplicateRhoOption = Annotated[
    Annotated[float, Field(ge=0, lt=1)] | None,
    Option(
        "Fay's coefficient", "By how much Fay's method keeps the weights of a left-out half.", absent="none"
    ),
]
MseOption = Annotated[
    bool | None,
    Option(
        "Squares about the estimate",
        "Whether replicates are compared with the estimate itself, or with the mean of the replicates.",
        absent="about the estimate, for a bootstrap about the mean",
    ),
]
REPLICATE_RULES = (
    Requires("replicate_kind", "replicate_weights"),
    Requires("replicate_scale", "replicate_weights"),
    Requires("replicate_factors", "replicate_weights"),
    Requires("replicate_rho", "replicate_kind", (Replication.FAY,)),
    Requires("single_psu_domains", "single_psu", (SinglePsu.ADJUST, SinglePsu.AVERAGE)),
    Requires("units", "fpc"),
)


def synthesis_of(original: Microdata, sets: Sequence[Microdata], given: Synthesis | None) -> Synthesis:
    """By which rules sets are combined: as told, or as the steps say that made them."""
    if given is not None:
        return given
    effects = [merged(entry.effects for entry in data.steps_since(original)) for data in sets]
    if not all(one.new_records for one in effects):
        return Synthesis.PARTIAL
    return Synthesis.PROPER_SAMPLE if any(one.resamples for one in effects) else Synthesis.SAMPLE


def relative_size(original: Microdata, sets: Sequence[Microdata]) -> float:
    """Records of a set by those its model was learned from: those of the original, or of a sample of it."""
    sizes = []
    for data in sets:
        learned = merged(entry.effects for entry in data.steps_since(original)).learned_from
        sizes.append(data.height / (learned or original.height))
    return sum(sizes) / len(sizes)


def single_file_note(original: Microdata, sets: Sequence[Microdata]) -> tuple[str, ...]:
    """A warning for one partly synthetic file: without a second one the synthesis' own error is unknown."""
    effects = merged(entry.effects for data in sets for entry in data.steps_since(original))
    if len(sets) > 1 or effects.new_records or not effects.synthesises:
        return ()
    return (
        "One partly synthetic file: its intervals leave out the error of the synthesis and are too short "
        "where synthetic columns are used. With five files (sdckit.synthesize) they count it.",
    )


# what the comparison of any estimates gives
OVERLAPS = {
    "lost": share("Overlap that is lost"),
    "contained": share("Estimates inside the original interval", better=Better.HIGH),
}
R_SQUARED = {
    f"r_squared_{file}": Figure(f"R², {file}", "", Better.NEITHER, (-math.inf, 1.0))
    for file in ("original", "protected")
}
