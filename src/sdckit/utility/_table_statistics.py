"""Statistics of two tables of counts, and what a correct synthesis gives of each."""

import math

import numpy as np

from sdckit._support.arrays import Floats, Ints

STATISTICS = ("pmse", "voas_williamson", "freeman_tukey", "deviance", "jensen_shannon", "weighted_difference")
RATIOS = tuple(f"{name}_ratio" for name in STATISTICS if name != "voas_williamson")  # which has that of pmse


def table_statistics(
    original: Floats, protected: Floats, table: Ints, tables: int, *, squares: Floats | None = None
) -> dict[str, Floats]:
    """The statistics of several tables by name, and the ratios to their expectations.

    original, protected: counts o and s of the same cells. table: which of the `tables` a cell belongs to. In
    a table there are n1 and n2 records, N in all; c = n2/N and E = o·n2/n1. A correct synthesis draws s from
    the distribution o/n1, so that s has mean E and variance E(1−o/n1), times a design effect where records
    have unequal weights: squares are then the sums of their squares in the cells, s being the sums. Over the
    k cells with o + s > 0:

    pmse = Σ(o+s)(s/(o+s) − c)²/N; voas_williamson = Σ(s−E)²/(c(o+s)); freeman_tukey = 4Σ(√s−√E)²;
    deviance = 2Σ[s·ln(s/E) − (s−E)] over cells with o > 0; jensen_shannon in bits, of the two distributions;
    weighted_difference = Σ|s−E|/√(2c(o+s)/π). Expectations: (k−1)c(1−c)²/N, k−1, k−1, cells with o > 0 less
    one, (k−1)/(8·n2·ln 2), times the mean design effect, and Σ√(1−(o+s)/N), with that of each cell. A
    statistic is nan for a table that is empty in one file, a ratio also where there is one cell and so
    nothing can differ.
    """
    there = original + protected > 0
    o, s, table = original[there], protected[there], table[there]

    def total(values: Floats) -> Floats:
        return np.bincount(table, values, tables).astype(np.float64)

    n1, n2 = total(o), total(s)
    with np.errstate(divide="ignore", invalid="ignore"):
        c = n2 / (n1 + n2)
        unit = c * (1 - c) ** 2 / (n1 + n2)
        expected = o * (n2 / n1)[table]
        away = s - expected
        spread = c[table] * (o + s)  # the variance of a cell's count, nearly
        freedom = total(np.ones_like(o)) - 1
        share = (o + s) / (n1 + n2)[table]
        left = 1 - share if squares is None else _with_weights(share, s, squares[there], table, tables)
        effect = 1.0 if squares is None else total(left) / freedom
        vw = total(away**2 / spread)
        found = {
            "pmse": vw * unit,
            "voas_williamson": vw,
            "freeman_tukey": 4 * total((np.sqrt(s) - np.sqrt(expected)) ** 2),
            "deviance": 2 * total(np.where(o > 0, _surprise(s, expected) - away, 0.0)),
            "jensen_shannon": _jensen_shannon(o / n1[table], s / n2[table], table, tables),
            "weighted_difference": total(np.abs(away) / np.sqrt(2 * spread / math.pi)),
        }
        expectations = {
            "pmse": freedom * unit,
            "freeman_tukey": freedom,
            "deviance": total((o > 0).astype(np.float64)) - 1,
            "jensen_shannon": freedom / (8 * n2 * math.log(2)),
            "weighted_difference": total(np.sqrt(left)) / effect,
        }
        empty = (n1 == 0) | (n2 == 0)
        made = {name: np.where(empty, np.nan, values) for name, values in found.items()}
        for name, values in expectations.items():
            usable = (freedom > 0) & (values > 0)
            made[f"{name}_ratio"] = np.where(usable, made[name] / (values * effect), np.nan)
    return {"degrees_of_freedom": freedom, **made}


def _with_weights(share: Floats, s: Floats, squares: Floats, table: Ints, tables: int) -> Floats:
    """What a correct synthesis gives of (s−E)²/E in a cell with a share p of the table: 1−p without weights.

    With r = Σw²/Σw of the records in the cell and D of all in the table, weights having the mean 1, it is
    (1−2p)r + pD. Its sum over k−1 is the mean design effect of Rao & Scott, which is D, Kish's, where weights
    have nothing to do with the cells, and near the mean weight of a cell where each has weights of its own,
    as regions that were not sampled alike. In an empty cell r is D.
    """
    whole = (np.bincount(table, squares, tables) / np.bincount(table, s, tables))[table]
    cell = np.where(s > 0, squares / s, whole)
    return np.asarray(np.maximum((1 - 2 * share) * cell + share * whole, 0.0))


def _surprise(count: Floats, expected: Floats) -> Floats:
    """s·ln(s/E), 0 where s is."""
    ratio = np.divide(count, expected, out=np.ones_like(count), where=(count > 0) & (expected > 0))
    return np.asarray(count * np.log(ratio))


def _jensen_shannon(p: Floats, q: Floats, table: Ints, tables: int) -> Floats:
    middle = (p + q) / 2
    nats = np.bincount(table, _surprise(p, middle) + _surprise(q, middle), tables)
    return np.asarray(np.maximum(nats / (2 * math.log(2)), 0.0))
