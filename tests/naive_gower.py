"""Gower's distance written down plainly."""


def naive_gower(x, y, kind, weights, levels=None):
    """Weighted mean distance of two lists of values; None is missing."""
    present = [v for v in (*x, *y) if v is not None]
    total = 0.0
    for a, b, w in zip(x, y, weights, strict=True):
        if a is None and b is None:
            d = 0.0
        elif a is None or b is None:
            d = 1.0
        elif kind == "nominal":
            d = float(a != b)
        elif kind == "ordinal":
            d = abs(levels.index(a) - levels.index(b)) / max(len(levels) - 1, 1)
        else:
            d = abs(a - b) / (max(present) - min(present)) if a != b else 0.0
        total += w * d
    return total / sum(weights)
