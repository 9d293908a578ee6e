"""PRAM by its definition, one number at a time."""


def invariant(p, first):
    """R = P·Q with Q_kj = P_jk p_j / Σ_l p_l P_lk."""
    k = range(len(p))
    reached = [sum(p[i] * first[i][j] for i in k) for j in k]
    back = [[first[j][i] * p[j] / reached[i] if reached[i] else 0.0 for j in k] for i in k]
    return [[sum(first[i][m] * back[m][j] for m in k) for j in k] for i in k]
