"""The M-step of the 14 covariance families Σ_k = λ_k D_k A_k D_k' with volume λ, axes D and shape A.

The letters say whether volume, shape and axes are the same in all components (E), vary (V) or are the
identity (I). Reference: Celeux & Govaert (1995).
Where there is no closed form the parts are improved in turn from their values so far, so that the
likelihood never falls. Loops rather than array expressions, which take several times as long to compile.
"""

import math

import numpy as np

from sdckit._support.arrays import Floats
from sdckit.kernels._jit import inner, jit

EII, VII, EEI, VEI, EVI, VVI, EEE, VEE, EVE, VVE, EEV, VEV, EVV, VVV = range(14)
ROUNDS = 3  # improvements in turn within one M-step


def covariances(
    scatter: Floats, sizes: Floats, volumes: Floats, axes: Floats, family: int, out: Floats
) -> bool:
    """Covariances of one family from scatter matrices; False where one is singular.

    `volumes` and `axes` hold λ_k and the shared D from the step before (volumes 0: none yet) and are changed.
    """
    if family <= VVI:
        return _along_variables(scatter, sizes, volumes, family, out)
    if family in (EEE, VEE):
        return _one_form(scatter, sizes, volumes, family, out)
    if family in (EVE, VVE):
        if volumes[0] == 0.0:
            volumes[:] = 1.0
            axes[:] = np.linalg.eigh(np.cumsum(scatter, axis=0)[-1])[1]
        return _shared_axes(scatter, sizes, axes, family, out)
    if family in (EEV, VEV):
        return _own_axes(scatter, sizes, volumes, family, out)
    return _free(scatter, sizes, family, out)


@inner
def cholesky(a: Floats, root: Floats) -> bool:
    """The lower triangle L of a = LL'; False where a is not positive definite."""
    p = a.shape[0]
    for j in range(p):
        s = a[j, j]
        for m in range(j):
            s -= root[j, m] * root[j, m]
        if not s > 0.0:
            return False
        root[j, j] = math.sqrt(s)
        for i in range(j + 1, p):
            t = a[i, j]
            for m in range(j):
                t -= root[i, m] * root[j, m]
            root[i, j] = t / root[j, j]
    return True


@inner
def _sum(values: Floats) -> float:
    total = 0.0
    for v in values:
        total += v
    return total


@inner
def _mean_size(values: Floats) -> float:
    """The geometric mean; 0 where a value is not positive."""
    total = 0.0
    for v in values:
        if not v > 0.0:
            return 0.0
        total += math.log(v)
    return math.exp(total / len(values))


@inner
def _det_root(a: Floats, root: Floats) -> float:
    """|a|^{1/p}; 0 where a is not positive definite. `root` is to write in."""
    p = a.shape[0]
    if not cholesky(a, root):
        return 0.0
    total = 0.0
    for j in range(p):
        total += math.log(root[j, j])
    return math.exp(2.0 * total / p)


@jit
def _along_variables(scatter: Floats, sizes: Floats, volumes: Floats, family: int, out: Floats) -> bool:
    """EII to VVI: diagonal covariances."""
    groups, p = scatter.shape[0], scatter.shape[1]
    n, everything = 0.0, 0.0
    own, variances = np.empty((groups, p)), np.empty((groups, p))
    total, traces, roots = np.zeros(p), np.zeros(groups), np.ones(groups)
    for k in range(groups):
        n += sizes[k]
        for j in range(p):
            own[k, j] = scatter[k, j, j]
            total[j] += own[k, j]
            traces[k] += own[k, j]
        everything += traces[k]
    volume = 0.0
    if family == EVI:
        for k in range(groups):
            roots[k] = _mean_size(own[k])
            if roots[k] == 0.0:
                return False
            volume += roots[k] / n
    if family == VEI and not _volumes_and_shape(own, sizes, volumes, variances):
        return False
    for k in range(groups):
        for j in range(p):
            for other in range(p):
                out[k, j, other] = 0.0
            if family == EII:
                variances[k, j] = everything / (n * p)
            elif family == VII:
                variances[k, j] = traces[k] / (sizes[k] * p)
            elif family == EEI:
                variances[k, j] = total[j] / n
            elif family == EVI:
                variances[k, j] = volume * own[k, j] / roots[k]
            elif family == VVI:
                variances[k, j] = own[k, j] / sizes[k]
            out[k, j, j] = variances[k, j]
    return True


@jit
def _volumes_and_shape(own: Floats, sizes: Floats, volumes: Floats, variances: Floats) -> bool:
    """Volumes of their own and one shape for diagonal scatters (VEI) or eigenvalues (VEV)."""
    groups, p = own.shape
    shape = np.ones(p)
    for turn in range(ROUNDS + 1):
        if turn > 0:
            for j in range(p):
                shape[j] = 0.0
                for k in range(groups):
                    if not volumes[k] > 0.0:
                        return False
                    shape[j] += own[k, j] / volumes[k]
            size = _mean_size(shape)
            if size == 0.0:
                return False
            for j in range(p):
                shape[j] /= size
        if turn > 0 or volumes[0] == 0.0:
            for k in range(groups):
                volumes[k] = 0.0
                for j in range(p):
                    volumes[k] += own[k, j] / (shape[j] * sizes[k] * p)
    for k in range(groups):
        for j in range(p):
            variances[k, j] = volumes[k] * shape[j]
    return True


@jit
def _one_form(scatter: Floats, sizes: Floats, volumes: Floats, family: int, out: Floats) -> bool:
    """EEE, and VEE: one form C with |C| = 1 and volumes of their own."""
    groups, p = scatter.shape[0], scatter.shape[1]
    room = np.empty((4, p, p))
    form, root, once, twice = room[0], room[1], room[2], room[3]
    if family == EEE:
        for k in range(groups):
            _pooled(scatter, _sum(sizes), out[k])
        return True
    if volumes[0] == 0.0:
        for k in range(groups):
            for j in range(p):
                volumes[k] += scatter[k, j, j] / (sizes[k] * p)
    for _ in range(ROUNDS):
        if not _pooled_over(scatter, volumes, form):
            return False
        size = _det_root(form, root)
        if size == 0.0:
            return False
        for a in range(p):
            for b in range(p):
                form[a, b] /= size
        if not cholesky(form, root):  # rounding
            return False
        for k in range(groups):
            volumes[k] = _trace_over(root, scatter[k], once, twice) / (sizes[k] * p)
    for k in range(groups):
        for a in range(p):
            for b in range(p):
                out[k, a, b] = volumes[k] * form[a, b]
    return True


@inner
def _trace_over(root: Floats, w: Floats, once: Floats, twice: Floats) -> float:
    """tr(C⁻¹W) for C = LL', as the trace of L⁻¹WL⁻ᵀ; `once` and `twice` are to write in."""
    p = w.shape[0]
    total = 0.0
    for j in range(p):
        for i in range(p):
            t = w[i, j]
            for m in range(i):
                t -= root[i, m] * once[m, j]
            once[i, j] = t / root[i, i]
    for j in range(p):
        for i in range(j + 1):
            t = once[j, i]
            for m in range(i):
                t -= root[i, m] * twice[m, j]
            twice[i, j] = t / root[i, i]
        total += twice[j, j]
    return total


@inner
def _pooled_over(scatter: Floats, scales: Floats, out: Floats) -> bool:
    """The sum of the scatter matrices, each over its scale; False where one is not positive."""
    for a in range(out.shape[0]):
        for b in range(out.shape[0]):
            out[a, b] = 0.0
            for k in range(len(scales)):
                if not scales[k] > 0.0:
                    return False
                out[a, b] += scatter[k, a, b] / scales[k]
    return True


@inner
def _pooled(scatter: Floats, scale: float, out: Floats) -> None:
    """The sum of the scatter matrices over a number."""
    for a in range(out.shape[0]):
        for b in range(out.shape[0]):
            out[a, b] = 0.0
            for k in range(scatter.shape[0]):
                out[a, b] += scatter[k, a, b] / scale


@jit
def _shared_axes(scatter: Floats, sizes: Floats, axes: Floats, family: int, out: Floats) -> bool:
    """EVE and VVE: own shapes along the same axes, which pairs of rotations improve (Flury & Gautschi)."""
    groups, p = scatter.shape[0], scatter.shape[1]
    roots = np.empty(groups)
    variances = np.empty((groups, p))
    if not _variances_on(axes, scatter, sizes, family, variances, roots):
        return False
    for _ in range(ROUNDS):
        for a in range(p - 1):
            for b in range(a + 1, p):
                _rotate(axes, scatter, variances, a, b)
        if not _variances_on(axes, scatter, sizes, family, variances, roots):
            return False
    for k in range(groups):
        _along(axes, variances[k], out[k])
    return True


@jit
def _along(axes: Floats, variances: Floats, out: Floats) -> None:
    """The covariance with these variances along these axes."""
    p = len(variances)
    for a in range(p):
        for b in range(p):
            out[a, b] = 0.0
            for j in range(p):
                out[a, b] += axes[a, j] * variances[j] * axes[b, j]


@inner
def _variances_on(
    axes: Floats, scatter: Floats, sizes: Floats, family: int, variances: Floats, roots: Floats
) -> bool:
    """The best variances along given axes; for EVE all with the same volume. `roots` is to write in."""
    groups, p = variances.shape
    n, volume = _sum(sizes), 0.0
    for k in range(groups):
        for j in range(p):
            variances[k, j] = 0.0
            for a in range(p):
                for b in range(p):
                    variances[k, j] += axes[a, j] * scatter[k, a, b] * axes[b, j]
        roots[k] = _mean_size(variances[k])
        if roots[k] == 0.0:
            return False
        volume += roots[k] / n
    for k in range(groups):
        factor = volume / roots[k] if family == EVE else 1.0 / sizes[k]
        for j in range(p):
            variances[k, j] *= factor
    return True


@inner
def _rotate(axes: Floats, scatter: Floats, variances: Floats, a: int, b: int) -> None:
    """Turn axes a and b in their plane to where Σ_k tr(W_k D A_k⁻¹ D') is least."""
    aa, ab, bb = 0.0, 0.0, 0.0
    p = axes.shape[0]
    for k in range(scatter.shape[0]):
        more = 1.0 / variances[k, a] - 1.0 / variances[k, b]
        for i in range(p):
            ta, tb = 0.0, 0.0
            for j in range(p):
                ta += scatter[k, i, j] * axes[j, a]
                tb += scatter[k, i, j] * axes[j, b]
            aa += more * axes[i, a] * ta
            ab += more * axes[i, a] * tb
            bb += more * axes[i, b] * tb
    # axis a becomes the eigenvector of the smaller eigenvalue of [[aa, ab], [ab, bb]]
    angle = 0.5 * math.atan2(-2.0 * ab, bb - aa)
    c, s = math.cos(angle), math.sin(angle)
    for i in range(p):
        u, v = axes[i, a], axes[i, b]
        axes[i, a] = c * u + s * v
        axes[i, b] = c * v - s * u


def _own_axes(scatter: Floats, sizes: Floats, volumes: Floats, family: int, out: Floats) -> bool:
    """EEV and VEV: one shape along axes of their own."""
    values, axes = np.linalg.eigh(scatter)
    values = np.maximum(values, 0.0)
    variances = np.empty_like(values)
    if family == EEV:
        variances[:] = np.cumsum(values / np.cumsum(sizes)[-1], axis=0)[-1]
    elif not _volumes_and_shape(values, sizes, volumes, variances):
        return False
    for k in range(len(sizes)):
        _along(axes[k], variances[k], out[k])
    return True


@jit
def _free(scatter: Floats, sizes: Floats, family: int, out: Floats) -> bool:
    """EVV: forms of their own with one volume; VVV: all free."""
    groups, p = scatter.shape[0], scatter.shape[1]
    n, volume = _sum(sizes), 0.0
    roots, root = np.empty(groups), np.empty((p, p))
    for k in range(groups):
        if family == EVV:
            roots[k] = _det_root(scatter[k], root)
            if roots[k] == 0.0:
                return False
            volume += roots[k] / n
    for k in range(groups):
        factor = volume / roots[k] if family == EVV else 1.0 / sizes[k]
        for a in range(p):
            for b in range(p):
                out[k, a, b] = scatter[k, a, b] * factor
    return True
