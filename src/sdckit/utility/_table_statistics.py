"""Statistics of two tables of counts, and what a correct synthesis gives of each."""

import math

import numpy as np

from sdckit._support.arrays import Floats, Ints

STATISTICS = ("pmse", "voas_williamson", "freeman_tukey", "deviance", "jensen_shannon", "weighted_difference")
RATIOS = tuple(f"{name}_ratio" for name in STATISTICS if name != "voas_williamson")  # which has that of pmse


def table_statistics(
    original: Floats, protected: Floats, table: Ints, tables: int, *, design_effect: Floats | float = 1.0
) -> dict[str, Floats]:
    """The statistics of several tables by name, and the ratios to their expectations.

    original, protected: counts o and s of the same cells. table: which of the `tables` a cell belongs to. In
    a table there are n1 and n2 records, N in all; c = n2/N and E = o·n2/n1. A correct synthesis draws s from
    the distribution o/n1, so that s has mean E and variance E(1−o/n1), times `design_effect` (of all tables,
    or of each) where records have unequal weights. Over the k cells with o + s > 0:

    pmse = Σ(o+s)(s/(o+s) − c)²/N; voas_williamson = Σ(s−E)²/(c(o+s)); freeman_tukey = 4Σ(√s−√E)²;
    deviance = 2Σ[s·ln(s/E) − (s−E)] over cells with o > 0; jensen_shannon in bits, of the two distributions;
    weighted_difference = Σ|s−E|/√(2c(o+s)/π). Expectations: (k−1)c(1−c)²/N, k−1, k−1, cells with o > 0 less
    one, (k−1)/(8·n2·ln 2), and Σ√(1−(o+s)/N). A statistic is nan for a table that is empty in one file, a
    ratio also where there is one cell and so nothing can differ.
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
            "weighted_difference": total(np.sqrt(1 - (o + s) / (n1 + n2)[table])) / np.sqrt(design_effect),
        }
        empty = (n1 == 0) | (n2 == 0)
        made = {name: np.where(empty, np.nan, values) for name, values in found.items()}
        for name, values in expectations.items():
            usable = (freedom > 0) & (values > 0)
            made[f"{name}_ratio"] = np.where(usable, made[name] / (values * design_effect), np.nan)
    return {"degrees_of_freedom": freedom, **made}


def design_effect(weights: Floats) -> float:
    """Kish's: by how much unequal weights increase the variance of a count, n·Σw²/(Σw)²."""
    if not weights.any():
        return 1.0
    w = weights / weights.max()
    return float(len(w) * np.sum(w**2) / np.sum(w) ** 2)


def _surprise(count: Floats, expected: Floats) -> Floats:
    """s·ln(s/E), 0 where s is."""
    ratio = np.divide(count, expected, out=np.ones_like(count), where=(count > 0) & (expected > 0))
    return np.asarray(count * np.log(ratio))


def _jensen_shannon(p: Floats, q: Floats, table: Ints, tables: int) -> Floats:
    middle = (p + q) / 2
    nats = np.bincount(table, _surprise(p, middle) + _surprise(q, middle), tables)
    return np.asarray(np.maximum(nats / (2 * math.log(2)), 0.0))
