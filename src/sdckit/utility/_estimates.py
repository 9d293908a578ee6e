"""Options and figures of the measures that compare estimates."""

import math
from typing import Annotated

from pydantic import Field

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
    Synthesis,
    Option(
        "Kind of synthesis",
        "By which rules the estimates of several synthetic sets are combined.",
        choices={
            "partial": "some values of the records were synthesised",
            "full": "every set is a new synthetic sample",
        },
    ),
]
# what the comparison of any estimates gives
OVERLAPS = {
    "lost": share("Overlap that is lost"),
    "contained": share("Estimates inside the original interval", better=Better.HIGH),
}
R_SQUARED = {
    f"r_squared_{file}": Figure(f"R², {file}", "", Better.NEITHER, (-math.inf, 1.0))
    for file in ("original", "protected")
}
