"""Identification risk and attribute disclosure, pair by pair and exactly in decimals."""

from collections import Counter
from decimal import Decimal


def number(value) -> Decimal:
    """The number a person wrote: 0.1 is one tenth."""
    return Decimal(repr(value))


def near(target: dict, record: dict, radius: dict, relative: dict, shape: str) -> bool:
    """Whether a synthetic record lies in the window around the target."""
    total, zero = Decimal(0), Decimal(0)
    for column in (*radius, *relative):
        x, y = target[column], record[column]
        if x is None or y is None:
            if x is not y:
                return False
            continue
        x, y = number(x), number(y)
        width = number(radius[column]) if column in radius else number(relative[column]) * abs(x)
        if abs(y - x) > width:
            return False
        total += ((y - x) / width) ** 2 if width > zero else zero
    return shape == "box" or total <= 1 + Decimal("1e-20")


def identification(original, synthetic, equal, radius, relative, shape="box"):
    """(c, t, k, f) of every record: lists of dicts in, list of tuples out."""
    found = []
    for i, target in enumerate(original):
        matches = [
            j
            for j, record in enumerate(synthetic)
            if all(target[e] == record[e] for e in equal) and near(target, record, radius, relative, shape)
        ]
        c, t = len(matches), int(i in matches)
        found.append((c, t, int(c * t == 1), int(c * (1 - t) == 1)))
    return found


def attribution(original, synthetic, known, target, threshold=1.0):
    """Every share, counted record by record."""
    n = len(original)

    def keys(record):
        return tuple(record[c] for c in known)

    real, made = Counter(map(keys, original)), Counter(map(keys, synthetic))
    totals = Counter()
    for record in original:
        guesses = [r[target] for r in synthetic if keys(r) == keys(record)]
        same = [r[target] for r in original if keys(r) == keys(record)]
        shares = {g: guesses.count(g) / len(guesses) for g in guesses}
        right = shares.get(record[target], 0.0)
        certain = any(s >= threshold for s in shares.values())
        alone = same.count(record[target]) / len(same)
        totals["cap"] += right
        totals["original_cap"] += alone
        totals["found"] += bool(guesses)
        totals["disclosive"] += certain
        totals["disco"] += right >= threshold
        totals["dorig"] += alone >= threshold
        totals["both"] += right >= threshold and alone >= threshold
        totals["uiois"] += real[keys(record)] == 1 and bool(guesses)
        totals["repu"] += real[keys(record)] == 1 and made[keys(record)] == 1
        totals["uio"] += real[keys(record)] == 1
        totals["right", record[target]] += right >= threshold
    for record in synthetic:
        same = [r[target] for r in synthetic if keys(r) == keys(record)]
        totals["caps"] += same.count(record[target]) / len(same)
        totals["dsyn"] += same.count(record[target]) / len(same) >= threshold
    values = Counter(r[target] for r in original)
    most = max(values.values())
    fewest = min(totals["right", value] for value, count in values.items() if count == most)
    return {
        "disco": totals["disco"] / n,
        "beyond_baseline": (totals["disco"] - fewest) / n,
        "baseline": most / n,
        "disclosive_in_original": totals["dorig"] / n,
        "found_in_synthetic": totals["found"] / n,
        "disclosive_in_synthetic": totals["disclosive"] / n,
        "tcap": totals["disco"] / totals["disclosive"] if totals["disclosive"] else None,
        "tcap_found": totals["disco"] / totals["found"] if totals["found"] else None,
        "disclosed_in_both": totals["both"] / n,
        "cap": totals["cap"] / n,
        "cap_found": totals["cap"] / totals["found"] if totals["found"] else None,
        "original_cap": totals["original_cap"] / n,
        "baseline_cap": sum((v / n) ** 2 for v in values.values()),
        "synthetic_cap": totals["caps"] / len(synthetic),
        "disclosive_synthetic_records": totals["dsyn"] / len(synthetic),
        "replicated_uniques": totals["repu"] / n,
        "unique_found": totals["uiois"] / n,
        "unique_in_original": totals["uio"] / n,
        "unique_in_synthetic": sum(made[keys(r)] == 1 for r in synthetic) / len(synthetic),
    }
