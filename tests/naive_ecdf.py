"""The distance of empirical distribution functions by its definition: every record against every other."""

from fractions import Fraction


def naive_dominance(points: list, values: list) -> list:
    """For each point the sum of the values of the points at or below it in every coordinate."""
    return [
        sum(v for x, v in zip(points, values, strict=True) if all(a <= b for a, b in zip(x, u, strict=True)))
        for u in points
    ]


def naive_ecdf_distance(original: list, protected: list, weights: list, other_weights: list) -> tuple:
    """Greatest and mean squared difference of the two weighted distribution functions, in fractions."""

    def cdf(records, their_weights, u):
        below = [all(a <= b for a, b in zip(x, u, strict=True)) for x in records]
        inside = sum(Fraction(w) for w, yes in zip(their_weights, below, strict=True) if yes)
        return inside / sum(Fraction(w) for w in their_weights)

    differences = [
        cdf(original, weights, u) - cdf(protected, other_weights, u) for u in [*original, *protected]
    ]
    return (
        float(max(abs(d) for d in differences)),
        float(sum(d * d for d in differences) / len(differences)),
    )
