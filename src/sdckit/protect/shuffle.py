"""Data shuffling: numbers change hands so that their relations with other variables stay."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any

import narwhals as nw
import numpy as np
import polars as pl

from sdckit._support.messages import join_names
from sdckit.data.effects import Effects
from sdckit.data.microdata import Microdata
from sdckit.data.roles import Role
from sdckit.engine import frames
from sdckit.engine.tables import OURS, missing_counts
from sdckit.errors import OptionError
from sdckit.methods.options import NUMERIC, By, Columns, Option
from sdckit.methods.registry import protection
from sdckit.methods.where import Where
from sdckit.protect._engine_numbers import new_name
from sdckit.protect._households import once_per_household
from sdckit.protect._numbers import NumbersToChange, number_columns
from sdckit.protect._shuffled_order import Correlations, Predictor, ShuffledOrder
from sdckit.protect._strata_on_engine import mapped, refuse_large, strata_by_ids, strata_table

MAX_CODES = 30  # values of a key that is a category though its values are numbers
ROOM = 2  # records for each coefficient at least; with fewer the fit is so close that values hardly move


@protection(
    "Data shuffling",
    family="Exchanged values",
    engines="all",
    needs=Role.NUMERIC,
    reference="Muralidhar & Sarathy (2006)",
)
@once_per_household()
def shuffle(
    data: Microdata,
    *,
    variables: NumbersToChange = NUMERIC,
    predictors: Annotated[
        Columns,
        Option(
            "Predictors",
            "Variables with which the relations of the shuffled ones stay.",
            basic=True,
            absent="no predictors",
        ),
    ] = (),
    correlations: Annotated[
        Correlations,
        Option(
            "Correlations that stay",
            "What the order of the new values is drawn from.",
            choices={
                "ranks": "rank correlations (Spearman's)",
                "scores": "correlations of normal scores, which weigh large and small values more",
            },
        ),
    ] = Correlations.RANKS,
    by: By = (),
    where: Where | None = None,
    rng: np.random.Generator,
) -> Microdata:
    r"""Give each variable's values to other records, in an order drawn from a regression on the predictors.

    Each variable and each number among the predictors becomes normal scores, z = Φ⁻¹((rank − ½)/n), ties
    sharing their mean rank; categories (text, and numbers in the keys role with at most 30 values) become
    dummies, all with mean 0 and variance 1. With R_s the correlations of the predictors s, R_sz those with
    the variables, R_z those among the variables and B = R_s⁻¹R_sz,

    .. math:: z^*_i = B^\top s_i + e_i, \qquad e_i \sim N(0, R_z - R_{sz}^\top B)

    are drawn, and the record with the r-th smallest z* of a variable receives its r-th smallest value. The
    values of each variable stay exactly the same. `correlations`: with `ranks` the matrices are made of
    Spearman's correlations r, of two numbers as the correlation ρ of normal variables whose ranks, with the
    same ties, have the correlation r: without ties ρ = 2·sin(πr/6). With w_k and v_k the weights of the
    normalised Hermite polynomials in the ranks as functions of a normal variable it solves
    r = Σ w_k v_k ρᵏ (Mehler), and of a number and a dummy it is r/w_1; so rank correlations stay
    approximately, also of a variable that is 0 for most. With `scores` B is least squares on the scores and
    those of the scores stay, which may move rank correlations by 0.05 where a relation is not that of normal
    variables.
    A record's new value depends on its old one only through the predictors. Relations with variables that
    are no predictors are lost, and so is what is not monotone. The closer the predictors determine a
    variable, the less its values move: the log has the share explained (R²). Without predictors the
    variables keep their relations with each other alone.

    `by`: within strata, each with its own scores, regression and draws; strata with fewer than two records
    for each coefficient are pooled. Variables that households share are shuffled once per household, apart
    from the others; their values stay over households, not persons.

    Missing values stay missing, where they are; a missing predictor is a category of its own. Weights are
    not used.
    `where`: protect only the records that a measure flags, see `sdckit.methods.where`.
    DuckDB and Spark give the values of memory, which depend on the seed and the ids: they bring one stratum
    `by` after the other into memory, of at most 1,000,000 records each.
    Reference: Muralidhar & Sarathy (2006), "Data shuffling", Management Science 52(5). Departure: categories
    can be predictors.

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"age": range(20, 80), "pay": range(60)}), numeric="pay")
    >>> done = sdc.protect.shuffle(data, predictors="age", rng=1)
    >>> sorted(done.frame["pay"]) == list(range(60)), done.log[-1].figures["explained"]
    (True, {'pay': 1.0})
    """
    names = number_columns(data, variables, "shuffle")
    both = [c for c in names if c in predictors]
    if both:
        raise OptionError("A variable cannot predict itself.", given=join_names(both))
    data.require_categories(predictors)
    known = tuple(_predictor(data, name) for name in dict.fromkeys(predictors))
    order = ShuffledOrder(known, correlations, int(rng.integers(2**63)))
    if data.height < ROOM * order.coefficients:
        raise OptionError(
            "The predictors have too many categories for this file.",
            given=f"{order.coefficients:,} coefficients",
            allowed=f"{data.height // ROOM:,} at most",
        )
    shuffled = _in_memory if data.engine == "polars" else _on_engine
    frame, said = shuffled(data, names, by, order)
    explained = np.zeros(len(names))
    for one in said:
        explained += np.array(one["explained"]) * one["records"] / data.height
    return data.with_frame(
        frame,
        effects=Effects(moves_values=tuple(names)),
        values_changed=sum(one["changed"] for one in said),
        explained={name: round(float(share), 4) for name, share in zip(names, explained, strict=True)},
    )


def _predictor(data: Microdata, name: str) -> Predictor:
    """Whether a predictor is a number or a category, and which categories the file has."""
    values = data.table.select(name).unique()
    if frames.schema(data.frame)[name].is_numeric():
        few = name in data.roles.keys and frames.gather(values.head(MAX_CODES + 1)).height <= MAX_CODES
        if not few:
            return Predictor(name, has_missing=missing_counts(data.table, [name])[name] > 0)
    # values that sort alike in any order of the records
    levels = frames.gather(values)[name].cast(pl.String).unique().sort(nulls_last=False).to_list()
    if data.height < ROOM * (len(levels) - 1):
        raise OptionError(f"The predictor {name!r} has too many categories.", given=len(levels))
    return Predictor(name, levels=tuple(levels))


def _in_memory(
    data: Microdata, names: list[str], by: Sequence[str], order: ShuffledOrder
) -> tuple[pl.DataFrame, list[dict[str, Any]]]:
    """The file with values in other places, and what is to be added up of each stratum."""
    columns = [data.frame[name] for name in names]
    known = [data.frame[one.name] for one in order.predictors]
    parts: list[list[pl.Series]] = []
    said, rows_of = [], []
    for number, rows in strata_by_ids(data, by, ROOM * order.coefficients):
        mine, theirs = ([column.gather(rows) for column in some] for some in (columns, known))
        made, did = order.shuffled(mine, theirs, number)
        parts.append(made)
        rows_of.append(rows)
        said.append(did)
    back = np.argsort(np.concatenate(rows_of))
    new = [pl.concat([part[j] for part in parts]).gather(back) for j in range(len(names))]
    return data.frame.with_columns(new), said


def _on_engine(
    data: Microdata, names: list[str], by: Sequence[str], order: ShuffledOrder
) -> tuple[Any, list[dict[str, Any]]]:
    """The same outside memory, where one stratum after the other is brought into it."""
    variables = {f"{OURS}x{j}": nw.col(name) for j, name in enumerate(names)}
    known = {f"{OURS}p{j}": nw.col(one.name) for j, one in enumerate(order.predictors)}
    table = strata_table(data, {**variables, **known}, by, ROOM * order.coefficients, "Shuffled values")
    refuse_large(data, table, by, "bring the records into memory by data.collect()")
    kinds = frames.gather(table.select(*variables).head(0)).schema
    made = {new_name(j): kinds[name] for j, name in enumerate(variables)}
    kernel = partial(_of_stratum, variables=list(variables), known=list(known), order=order)
    records, said = mapped(data, data.table, table, kernel, made)
    done = records.with_columns(nw.col(new_name(j)).alias(name) for j, name in enumerate(names))
    return done.select(*data.columns).to_native(), said


def _of_stratum(
    stratum: pl.DataFrame, number: int, variables: list[str], known: list[str], order: ShuffledOrder
) -> tuple[list[pl.Series], dict[str, Any]]:
    made, did = order.shuffled([stratum[c] for c in variables], [stratum[c] for c in known], number)
    return [column.alias(new_name(j)) for j, column in enumerate(made)], did
