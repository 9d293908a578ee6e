"""Files made by synthesize beside those that synthpop made of the same surveys: utility and disclosure."""

import math

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from reference.cases import CATEGORIES, frame
from sdckit.models.tree_synthesis import Tree

NUMBERS = ["income", "expenditure"]
KEYS = ["region", "sex", "age_group", "labour_status"]
TABLES = [["sex", "age_group", "health"], ["age_group", "labour_status"], ["education", "health"]]
MODELS = {
    "income ~ age + sex": "ols",
    "expenditure ~ age + sex + education": "ols",
    "works ~ age + sex + education": "logit",
}
SETS = 12
ERRORS = 1.5  # standard errors of the mean of synthpop's sets by which ours may be worse


def losses(data: sdc.Microdata, made: sdc.Microdata) -> dict[str, float]:
    """What is worse where it is larger: distances of tables, and shares of records that are disclosed."""
    pairs = sdc.utility.table_pmse(data, made)
    tables = sdc.utility.contingency_tables(data, made, tables=TABLES, missing="category").parts
    three = ["sex", "education", "health"]
    found = {
        "S_pMSE of pairs": pairs.value,
        "S_pMSE of single variables": pairs.figures["single"],
        "S_pMSE of the worst pair": pairs.figures["largest"],
        "logistic pMSE ratio": sdc.utility.propensity(data, made, model="logistic").figures["pmse_ratio"],
        "ratio with interactions": sdc.utility.propensity(
            data, made, variables=three, model="interactions"
        ).figures["pmse_ratio"],
    }
    found |= {f"VW of {t}": v for t, v in zip(map(str, TABLES), tables["voas_williamson"], strict=True)}
    for sensitive in ("health", "education"):
        for known in (KEYS, KEYS[1:]):
            risks = sdc.risk.attribute_disclosure(data, made, known=known, sensitive=sensitive).figures
            found[f"DiSCO of {sensitive} by {len(known)} keys"] = risks["disco"]
    found["replicated uniques"] = risks["replicated_uniques"]
    return found


def survey(name: str) -> pl.DataFrame:
    return frame(name).select(*CATEGORIES, pl.col(NUMBERS).cast(pl.Float64))


@pytest.fixture(scope="module")
def data() -> sdc.Microdata:
    return sdc.read(survey("survey_1000.csv"), keys=CATEGORIES[:5], sensitive="health", numeric=NUMBERS)


@pytest.fixture(scope="module")
def theirs(data) -> list[dict[str, float]]:
    return [losses(data, data.with_frame(survey(f"survey_syn_full_{i}.csv"))) for i in (1, 2)]


@pytest.fixture(scope="module")
def errors(data) -> dict[str, float]:
    """Standard errors of the means of two files whose records are drawn each on its own, as synthpop's are.

    Two files do not show their own spread, and ours differ less from each other than theirs.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Tree, "spread", Tree.pick)
        files = [losses(data, made) for made in sdc.synthesize(data, m=SETS, seed=2)]
    return {name: float(np.std([one[name] for one in files], ddof=1)) / math.sqrt(2) for name in files[0]}


def worse(data, theirs, errors, **options) -> dict[str, tuple[float, float]]:
    """Ours and synthpop's means where ours is worse by more than chance."""
    ours = [losses(data, made) for made in sdc.synthesize(data, m=SETS, seed=1, **options)]
    means = [
        {name: float(np.mean([one[name] for one in files])) for name in errors} for files in (ours, theirs)
    ]
    return {
        name: (means[0][name], means[1][name])
        for name, error in errors.items()
        if means[0][name] > means[1][name] + ERRORS * error
    }


def test_no_statistic_is_worse_than_that_of_synthpop(data, theirs, errors):
    assert worse(data, theirs, errors) == {}


def test_the_comparison_sees_what_is_worse(data, theirs, errors):
    """Trees that grow less lose utility, those that grow freely disclose more."""
    assert "S_pMSE of pairs" in worse(data, theirs, errors, gain=20)
    assert "DiSCO of health by 4 keys" in worse(data, theirs, errors, gain=0)


def overlaps(data: sdc.Microdata, made: sdc.Microdata) -> float:
    found = [
        sdc.utility.regression(data, made, formula=formula, family=family, synthesis="partial").parts[
            "overlap"
        ]
        for formula, family in MODELS.items()
    ]
    return float(np.mean(np.maximum(np.concatenate(found), 0.0)))


def test_regressions_overlap_as_much_as_those_of_synthpop():
    columns = ["sex", "age", "education", "works", *NUMBERS]
    files = [
        frame(n).select(columns) for n in ("adults_450.csv", *(f"adults_syn_{i}.csv" for i in (1, 2, 3)))
    ]
    text = pl.col("sex", "education").cast(pl.String)
    data = sdc.read(files[0].with_columns(text), keys=["sex", "age", "education"], numeric=NUMBERS)
    theirs = [overlaps(data, data.with_frame(one.with_columns(text))) for one in files[1:]]
    ours = [overlaps(data, made) for made in sdc.synthesize(data, m=SETS, seed=1)]
    error = np.std(ours, ddof=1) / math.sqrt(len(theirs))
    assert np.mean(ours) > np.mean(theirs) - ERRORS * error, (np.mean(ours), np.mean(theirs), error)
