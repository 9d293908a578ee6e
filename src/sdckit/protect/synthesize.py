"""Synthesis: values drawn anew, variable by variable, from trees grown on the original."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Annotated

import numpy as np
from pydantic import BeforeValidator, Field

from sdckit.data.microdata import Microdata
from sdckit.data.privacy import PrivacyUnit
from sdckit.engine.tables import moments
from sdckit.errors import OptionError
from sdckit.methods.options import By, Columns, Option, Requires, Shape, as_tuple
from sdckit.methods.registry import protection
from sdckit.methods.where import Chosen, Where
from sdckit.protect._memory import require_memory
from sdckit.protect._private_synthesis import (
    Bounds,
    CountOfRecords,
    Delta,
    Epsilon,
    MaxHousehold,
    PossibleValues,
    PrivateOptions,
    RecordCount,
    Unit,
    private_synthesis,
)
from sdckit.protect._synthesis_in_memory import drawn_in_memory, fit_file
from sdckit.protect._synthesis_kinds import Asked
from sdckit.protect._synthesis_names import rare_texts
from sdckit.protect._synthesis_on_engine import drawn_on_engine
from sdckit.protect._synthesis_release import added_up, predictors_chosen, share_of_own
from sdckit.protect._synthesis_rules import Rule


class Smoothing(StrEnum):
    """What becomes of the number of a donor."""

    LEAF = "leaf"
    NONE = "none"


class SynthesisMethod(StrEnum):
    """How values are drawn."""

    TREES = "trees"
    MARGINALS = "marginals"


class WeightSynthesis(StrEnum):
    """What becomes of the survey weights."""

    AUTO = "auto"
    KEEP = "keep"
    SYNTHESISE = "synthesise"
    EQUAL = "equal"


OF_TREES = (
    *("leaf", "gain", "order", "predictors", "smooth", "tails", "spikes", "categories", "rules", "require"),
    *("derive", "zeros", "by", "weights", "proper", "where"),
)
OF_MARGINALS = ("epsilon", "delta", "values", "bounds", "unit", "max_household", "records")


@protection(
    "Synthesis",
    family="Values drawn anew",
    engines="all",
    reference="Reiter (2005); Nowok, Raab & Dibben (2016); McKenna, Miklau & Sheldon (2021)",
    gets_where=True,
    new_records=True,
    rules=(
        *(Requires(name, "method", (SynthesisMethod.TREES,)) for name in OF_TREES),
        *(Requires(name, "method", (SynthesisMethod.MARGINALS,)) for name in OF_MARGINALS),
    ),
)
def synthesize(
    data: Microdata,
    *,
    variables: Annotated[
        Columns,
        Option(
            "Variables", "The columns to draw anew.", basic=True, absent="all but ids and direct identifiers"
        ),
    ] = (),
    leaf: Annotated[
        int,
        Field(ge=1),
        Option(
            "Donors in a leaf", "Fewest records among which a value is drawn.", basic=True, unit="records"
        ),
    ] = 5,
    gain: Annotated[
        float,
        Field(ge=0),
        Option(
            "Least gain",
            "How much a split must gain, in gains of unrelated records: 0 keeps most, 8 protects most.",
            basic=True,
        ),
    ] = 3.0,
    method: Annotated[
        SynthesisMethod,
        Option(
            "Method",
            "How values are drawn.",
            basic=True,
            choices={
                "trees": "from donors in the leaves of trees",
                "marginals": "from noisy tables of one and two variables: differentially private",
            },
        ),
    ] = SynthesisMethod.TREES,
    order: Annotated[
        Columns, Option("Order", "Columns that are drawn first, in this order.", absent="by role")
    ] = (),
    predictors: Annotated[
        Mapping[str, Columns],
        Option(
            "Predictors",
            "The columns from which a column is drawn.",
            absent="all that are known before it",
            shape=Shape.LISTS,
        ),
    ] = {},
    smooth: Annotated[
        Smoothing,
        Option(
            "Smooth numbers",
            "What becomes of the number of a donor.",
            choices={
                "leaf": "a rare number becomes one between its neighbours in the leaf",
                "none": "the number itself, which discloses unusual ones",
            },
        ),
    ] = Smoothing.LEAF,
    tails: Annotated[
        int,
        Field(ge=0),
        Option("Extreme values", "So many largest and smallest numbers are never released.", unit="records"),
    ] = 5,
    spikes: Annotated[
        Mapping[str, Sequence[float]] | None,
        Option(
            "Spikes",
            "Values of numbers that are classes of their own, such as 0, by column.",
            absent="values of more than 5 % of the records",
            shape=Shape.LISTS,
        ),
    ] = None,
    categories: Annotated[
        Columns,
        Option(
            "Codes",
            "Columns of numbers or dates that are codes, without an order.",
            absent="found by their values",
        ),
    ] = (),
    rules: Annotated[
        Sequence[Rule],
        Option(
            "Rules",
            "Values that records have for sure: [{when: age < 15, then: {works: null}}].",
            absent="no rules",
            shape=Shape.RULES,
        ),
    ] = (),
    require: Annotated[
        Sequence[str],
        BeforeValidator(as_tuple),
        Option(
            "Requirements",
            "Conditions that every record meets: expenditure <= 3 * income.",
            absent="none",
            shape=Shape.EXPRESSIONS,
        ),
    ] = (),
    derive: Annotated[
        Mapping[str, str],
        Option("Computed columns", "Columns that follow from others, by an SQL expression.", absent="none"),
    ] = {},
    zeros: Annotated[
        bool,
        Option(
            "Keep absent pairs", "Pairs of categories that never occur, although expected, do not come up."
        ),
    ] = True,
    uniques: Annotated[
        bool,
        Option(
            "Draw copies again",
            "Of records that equal an original that is unique on the keys the last key is drawn again.",
        ),
    ] = False,
    by: By = (),
    weights: Annotated[
        WeightSynthesis,
        Option(
            "Weights",
            "What becomes of the survey weights.",
            choices={
                "auto": "kept where records are, else synthesised",
                "keep": "every record keeps its weight",
                "synthesise": "drawn last, then scaled to the totals of the strata",
                "equal": "donors are drawn by weight; all weights are equal",
            },
        ),
    ] = WeightSynthesis.AUTO,
    size: Annotated[
        int | None,
        Field(ge=1),
        Option(
            "Size", "Records of a fully synthetic file; households where there are any.", absent="as before"
        ),
    ] = None,
    proper: Annotated[
        bool,
        Option("Proper synthesis", "Learn from a new Bayesian bootstrap of the records for every file."),
    ] = False,
    epsilon: Epsilon | None = None,
    delta: Delta = 1e-6,
    values: PossibleValues | None = None,
    bounds: Bounds | None = None,
    unit: Unit = PrivacyUnit.RECORD,
    max_household: MaxHousehold | None = None,
    records: CountOfRecords = RecordCount.NOISY,
    where: Where | None = None,
    rng: np.random.Generator,
) -> Microdata:
    """Draw values anew, column by column, each from records that are alike in the columns before it.

    For each variable a tree is grown on the original that predicts it from the variables before it; a
    synthetic record is led down the tree by the values it has so far and gets the value of a donor, drawn
    at random in its leaf. Categories are split by the Gini index, numbers by the squares of their ranks. A
    node is split where that leaves `leaf` donors on both sides and lowers its impurity by at least
    g = `gain`·(1 + ln(ways)/4) times the mean impurity of its records, which is what a cut of unrelated
    records gains on average; the best of so many ways to cut gains more (2^(L−1) − 1 ways for L categories).
    Classes that vary in ν dimensions (1 for two of them, K − 1 for K of equal size) vary less by chance, and
    1 + (g − 1)/√ν is enough. Small values keep more detail, in which people of the original come back; 6 and
    more keep little but sure relations. Donors are spread over the values of a leaf, in runs of `leaf` of
    them: values come as often as in the original, single donors as often as chance has it. Missing values
    and spikes of numbers are drawn as classes first. Types, dates and labels stay.

    All columns (but ids, household numbers and direct identifiers): full synthesis. No record is that of a
    person: ids are new, the order is random, direct identifiers are left out. Some `variables`, or records
    flagged by `where`: partial synthesis. The other values are kept and predict; records stay in their place.
    With `where`, too, trees learn from all records, and all give values: where the flag hangs on what is
    drawn anew, as on rare ages, rare values become rarer, and no rule for several files makes up for it.

    What must not get out: with `smooth` a number that fewer than `leaf` records (households, where there
    are any) have is drawn uniformly between the midpoints to the next other values in the leaf of its donor
    and rounded as the column is; the `tails` largest and smallest values are replaced by draws of a
    generalised Pareto distribution fitted to the outermost hundredth (at least 50 records, else by the mean
    of five and more), of which a value that makes up nearly all is cut (p % rule). Spikes have five records
    at least. Numbers with at most 20 different values are drawn as categories if they are whole and at most
    1,000 apart, as counts are; the role numeric makes them numbers, too. Labels of most values make
    categories, a label of −9 alone does not. `uniques`: in a fully synthetic file a record that equals an
    original that is unique on the keys has its last key drawn again. Other people repeat as many by chance:
    it costs utility and protects nobody. Texts that (nearly) name records, such as e-mail addresses,
    numbers that count or identify them, and times to the second that are not smoothed are refused: drop or
    recode them, or give them the role direct or id. That somebody has a rare category is told, not who: the
    log counts `rare_texts`, of fewer than `leaf` records.

    `order`: strata first, then keys, sensitive columns, numbers, the weight last; inside each as in the file.
    `predictors`: beyond 30 those with most mutual information are used, which the log says. Whole
    numbers with the role of a key are codes unless most numbers of their range occur; `categories` names
    others. `rules`: records for which `when` (SQL) holds leave the tree and get the value in `then`.
    `require`: records that break a condition are drawn again in the leaf, then in the nodes above it; what is
    left is an error. `derive`: columns computed from others. `zeros`: pairs of categories that never occur
    although five records would be expected do not come up. `by`: trees for each stratum; small ones pooled.
    On DuckDB and Spark a stratum of at most 1,000,000 records after the other is brought into memory, with
    the same result for the same seed, as every stratum is drawn for itself, its records in the order of
    their ids; `where`, spikes of dates and households in several strata are refused there.

    Households (role household) are drawn in two levels: their shared variables, their size and their head,
    then the other members given household, head, the member before them and their place. Leaves then count
    households, and `size` does. Household numbers are new.

    `weights`: synthesised weights are drawn last and scaled to the totals of the strata, but where a total
    would tell a weight (fewer than five records, or by the p % rule); with `equal` donors
    are drawn by weight and all weights are the same; intervals then allow for Kish's effective number.
    `proper`: trees are grown anew for every file on a Bayesian bootstrap; see `sdckit.synthesize` for several
    files and the rules to combine their estimates.
    The synthetic file has no formal guarantee: leaves in which all donors have the same sensitive value
    disclose it, so measure `attribute_inference` and `closest_record`. Missing values are categories.
    `method="marginals"` is differentially private: counts of every variable and of the pairs of a spanning
    tree get discrete Gaussian noise (from the system's secret source: no seed repeats it), are made
    to agree, and records are drawn down the tree. `epsilon` and `delta` bound what anybody can learn from one
    record or household (`unit`) being in the file, however much they know. Categories (`values`) and `bounds`
    come from value labels or from you, never from the data; weights are refused. The log says what is
    promised, what it costs and what ends it.
    Reference: Reiter (2005); Nowok, Raab & Dibben (2016); tails: Hosking & Wallis (1987); marginals: McKenna,
    Miklau & Sheldon (2021), Canonne, Kamath & Steinke (2020). Departures: rpart prunes classes by wrong
    classes, which drops splits between sides with the same most frequent class; here nothing is pruned.

    >>> import sdckit as sdc
    >>> data = sdc.demo.survey(n=400, seed=1)
    >>> made = sdc.protect.synthesize(data, rng=1)
    >>> made.log[-1].effects.new_records, set(made.frame["person_id"]) & set(data.frame["person_id"])
    (True, set())
    >>> part = sdc.protect.synthesize(data, variables=["income", "health"], rng=1)
    >>> part.frame["age"].equals(data.frame["age"]), part.frame["income"].equals(data.frame["income"])
    (True, False)
    """
    if method is SynthesisMethod.MARGINALS:
        require_memory(data, "synthesize with the method marginals (trees does not)")
        options = PrivateOptions(epsilon, delta, unit, max_household, records)
        return private_synthesis(
            data, variables=variables, values=values, bounds=bounds, options=options, size=size, rng=rng
        )
    chosen = where.records if isinstance(where, Chosen) else None
    equal = _equal_weights(data, weights, variables, chosen is not None)
    asked = Asked(
        tuple(variables),
        tuple(order),
        predictors,
        leaf,
        gain,
        tails,
        spikes,
        tuple(categories),
        tuple(rules),
        tuple(require),
        derive,
        zeros,
        uniques,
        tuple(by),
        _apart(data, weights, variables),
        chosen is not None,
        equal,
        smooth is Smoothing.LEAF,
    )
    seed = int(rng.integers(2**63))
    if data.engine != "polars":
        done, effects, said, kinds = drawn_on_engine(data, asked, seed, size, proper=proper)
    else:
        if proper:  # no two files learn from the same records
            fitted = fit_file(data, asked, seed)
        else:
            fitted = data.cached(("synthesis", repr(asked)), lambda: fit_file(data, asked, None))
        kinds = fitted.kinds
        done, effects, said = drawn_in_memory(data, fitted, asked, seed, size, chosen)
    figures = added_up(said, kinds)
    if kinds.scope.full:
        effects = replace(effects, resamples=proper, learned_from=_learned_from(data, equal))
    else:
        same = np.sum([one["same"] for one in said if "same" in one], axis=0)
        figures["share_of_own_values"] = share_of_own(same, data.height)
    if rare := rare_texts(data, kinds.scope.targets, done.table, leaf):
        figures["rare_texts"] = rare
    if cut := predictors_chosen(said, kinds):
        figures["predictors_chosen_for"] = cut
    if isinstance(where, Chosen):
        figures["records_chosen"] = int(where.records.sum())
        figures |= {"records_not_judged": where.not_judged} if where.not_judged else {}
    return done.with_frame(done.frame, effects=effects, **figures)


def _apart(data: Microdata, weights: WeightSynthesis, variables: Sequence[str]) -> tuple[str, ...]:
    """The weight, where it is not drawn although the records are."""
    weight = data.roles.weight
    kept = weights in (WeightSynthesis.EQUAL, WeightSynthesis.KEEP)
    return (weight,) if weight is not None and kept and weight not in variables else ()


def _equal_weights(data: Microdata, weights: WeightSynthesis, variables: Sequence[str], some: bool) -> bool:
    """Whether all weights become equal; what cannot be is refused."""
    if weights is WeightSynthesis.EQUAL and (variables or some):
        raise OptionError("Weights can be equal in a fully synthetic file only.", given="weights: equal")
    return weights is WeightSynthesis.EQUAL and data.roles.weight is not None


def _learned_from(data: Microdata, equal: bool) -> float:
    """The records that the trees learn from; where weights become equal Kish's effective number of them.

    Equal weights no longer show by how much unequal ones had increased the error.
    """
    weight = data.roles.weight
    if not equal or weight is None:
        return data.height
    found = moments(data.table, [weight], None)
    n, mean, variance = found.n[weight], found.mean[weight] or 1.0, found.variance[weight] or 0.0
    return n / (1 + variance * (n - 1) / n / mean**2)
