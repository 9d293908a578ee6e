"""Which records can be nobody else's, in plain Python."""

import math


def distance(a, b, nominal, left_out):
    total = 0.0
    for j, (x, y) in enumerate(zip(a, b, strict=True)):
        if j == left_out:
            continue
        missing = [math.isnan(v) for v in (x, y)]
        if any(missing):
            total += 0.0 if all(missing) else 1.0
        elif nominal[j]:
            total += float(x != y)
        else:
            total += abs(x - y)
    return total


def nearest(person, others, nominal, left_out, *, same):
    """The smallest distance, without equal rows where `same`, and how many rows are equal."""
    apart = [distance(person, other, nominal, left_out) for other in others]
    equal = sum(d <= 1e-9 for d in apart)
    kept = [d for d in apart if d > 1e-9] if same else [0.0 if d <= 1e-9 else d for d in apart]
    return min(kept, default=math.inf), equal


def owner(record, people, nominal, left_out, limits):
    """The nearest person within whose limit the record lies, −1 for nobody."""
    best, least = -1, math.inf
    for i, (person, limit) in enumerate(zip(people, limits, strict=True)):
        apart = distance(person, record, nominal, left_out)
        if apart <= limit + 1e-9 and apart < least:
            best, least = i, apart
    return best
