"""Plain twin of the guesses from one column about another in which some values are blanked."""

from math import sqrt


def guess(row, groups, shown, ordered):
    """The value that the other records tell of one, or None."""
    mine = groups[row]
    if mine is None:
        return None
    others = [
        (g, v) for i, (g, v) in enumerate(zip(groups, shown, strict=True)) if i != row and g is not None
    ]
    others = [(g, v) for g, v in others if v is not None]
    same = {v for g, v in others if g == mine}
    if same:
        return same.pop() if len(same) == 1 else None
    below, above = [g for g, _ in others if g < mine], [g for g, _ in others if g > mine]
    if not ordered or not below or not above:
        return None
    near = [{v for g, v in others if g == end} for end in (max(below), min(above))]
    return near[0].pop() if near[0] == near[1] and len(near[0]) == 1 else None


def inferable(groups, values, shown, ordered):
    """The rows of the blanked values that the column tells; none where guesses from it are not sure."""
    known = [v for v in values if v is not None]
    rows, tests, right, chance, variance = [], 0, 0, 0.0, 0.0
    for row, value in enumerate(values):
        found = None if value is None else guess(row, groups, shown, ordered)
        if found is None:
            continue
        share = known.count(found) / len(known)
        tests, right = tests + 1, right + (found == value)
        chance, variance = chance + share, variance + share * (1 - share)
        if shown[row] is None and found == value:
            rows.append(row)
    sure = right - chance >= 0.9 * (tests - chance) - 1e-9 and right - chance > 2 * sqrt(variance) + 1e-9
    return rows if sure else []
