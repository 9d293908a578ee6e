"""Plain-Python twins of the statistics of two tables: counts are dicts of cells, records are lists."""

from math import log, log2, pi, sqrt


def statistics(o, s):
    """By the formulas of Raab, Nowok & Dibben (2021), loops over cells; ratios by ours."""
    cells = [j for j in {**o, **s} if o.get(j, 0) + s.get(j, 0) > 0]
    n1, n2 = sum(o.values()), sum(s.values())
    N, c, k = n1 + n2, n2 / (n1 + n2), len(cells)
    found = dict.fromkeys(("pmse", "voas_williamson", "freeman_tukey", "deviance", "jensen_shannon"), 0.0)
    found |= {"weighted_difference": 0.0}
    expected_difference = 0.0
    for j in cells:
        a, b = o.get(j, 0), s.get(j, 0)
        found["pmse"] += (a + b) * (b / (a + b) - c) ** 2 / N
        found["voas_williamson"] += (b - a * c / (1 - c)) ** 2 / (c * (a + b))
        found["freeman_tukey"] += 4 * (sqrt(b) - sqrt(a * c / (1 - c))) ** 2
        p, q = a / n1, b / n2
        for x in (p, q):
            found["jensen_shannon"] += x * log2(2 * x / (p + q)) / 2 if x else 0.0
        found["weighted_difference"] += abs(b - a * n2 / n1) / sqrt(2 * c * (a + b) / pi)
        expected_difference += sqrt(1 - (a + b) / N)
        if a:
            found["deviance"] += 2 * ((b * log(q / p) if b else 0.0) - (b - a * n2 / n1))
    born = sum(1 for j in cells if o.get(j, 0) == 0)
    under = {
        "pmse": (k - 1) * c * (1 - c) ** 2 / N,
        "freeman_tukey": k - 1,
        "deviance": k - born - 1,
        "jensen_shannon": (k - 1) / (8 * n2 * log(2)),
        "weighted_difference": expected_difference,
    }
    ratios = {f"{n}_ratio": found[n] / e if k > 1 and e > 0 else None for n, e in under.items()}
    return {**found, **ratios}


def scores(o, s):
    """The propensity score of every record, of the original and of the synthetic file."""
    share = {j: s.get(j, 0) / (s.get(j, 0) + o.get(j, 0)) for j in {**o, **s}}
    return [share[j] for j in o for _ in range(o[j])], [share[j] for j in s for _ in range(s[j])]


def specks(o, s):
    """Kolmogorov and Smirnov's statistic of the scores."""
    x, y = scores(o, s)
    points = {*x, *y}
    return max(abs(sum(v <= t for v in x) / len(x) - sum(v <= t for v in y) / len(y)) for t in points)


def over_half(o, s):
    """Records told rightly by whether their score is above c, in percent over 50; ties are half right.

    Each file counts the same, however many records it has.
    """
    x, y = scores(o, s)
    c = len(y) / (len(x) + len(y))
    right_x = sum((v < c - 1e-12) + 0.5 * (abs(v - c) <= 1e-12) for v in x) / len(x)
    right_y = sum((v > c + 1e-12) + 0.5 * (abs(v - c) <= 1e-12) for v in y) / len(y)
    return 50 * (right_x + right_y) - 50


def mann_whitney(o, s):
    """How many pairs of an original and a synthetic record have the scores in the right order."""
    x, y = scores(o, s)
    return sum((b > a + 1e-12) + 0.5 * (abs(a - b) <= 1e-12) for a in x for b in y)
