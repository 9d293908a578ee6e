"""Options and figures of the measures that compare estimates."""

import math
from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from sdckit.data.effects import merged
from sdckit.data.microdata import Microdata
from sdckit.estimate.combine import Synthesis
from sdckit.estimate.regression import Family
from sdckit.methods.options import Option
from sdckit.methods.spec import Better, Figure, share

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


def synthesis_of(original: Microdata, sets: Sequence[Microdata], given: Synthesis | None) -> Synthesis:
    """By which rules sets are combined: as told, or as the steps say that made them."""
    if given is not None:
        return given
    effects = [merged(entry.effects for entry in data.steps_since(original)) for data in sets]
    if not all(one.new_records for one in effects):
        return Synthesis.PARTIAL
    return Synthesis.PROPER_SAMPLE if any(one.resamples for one in effects) else Synthesis.SAMPLE


# what the comparison of any estimates gives
OVERLAPS = {
    "lost": share("Overlap that is lost"),
    "contained": share("Estimates inside the original interval", better=Better.HIGH),
}
R_SQUARED = {
    f"r_squared_{file}": Figure(f"R², {file}", "", Better.NEITHER, (-math.inf, 1.0))
    for file in ("original", "protected")
}
