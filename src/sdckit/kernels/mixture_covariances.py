"""The M-step of the 14 covariance families Σ_k = λ_k D_k A_k D_k' with volume λ, axes D and shape A.

The letters say whether volume, shape and axes are the same in all components (E), vary (V) or are the
identity (I). Reference: Celeux & Govaert (1995).
Where there is no closed form the parts are improved in turn from their values so far, so that the
likelihood never falls.
"""

import math

import numpy as np
import numpy.typing as npt

from sdckit.kernels._jit import jit

Floats = npt.NDArray[np.float64]

EII, VII, EEI, VEI, EVI, VVI, EEE, VEE, EVE, VVE, EEV, VEV, EVV, VVV = range(14)
ROUNDS = 3  # improvements in turn within one M-step


@jit
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
        return _shared_axes(scatter, sizes, volumes, axes, family, out)
    if family in (EEV, VEV):
        return _own_axes(scatter, sizes, volumes, family, out)
    return _free(scatter, sizes, family, out)


@jit
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


@jit
def _mean_size(values: Floats) -> float:
    """The geometric mean; 0 where a value is not positive."""
    total = 0.0
    for v in values:
        if not v > 0.0:
            return 0.0
        total += math.log(v)
    return math.exp(total / len(values))


@jit
def _det_root(a: Floats) -> float:
    """|a|^{1/p}; 0 where a is not positive definite."""
    root = np.zeros_like(a)
    return _mean_size(np.diag(root)) ** 2 if cholesky(a, root) else 0.0


@jit
def _along_variables(scatter: Floats, sizes: Floats, volumes: Floats, family: int, out: Floats) -> bool:
    """EII to VVI: diagonal covariances."""
    groups, p = scatter.shape[0], scatter.shape[1]
    n = sizes.sum()
    own = np.empty((groups, p))
    for k in range(groups):
        own[k] = np.diag(scatter[k])
    total = own.sum(axis=0)
    variances = np.empty((groups, p))
    if family == EII:
        variances[:] = total.sum() / (n * p)
    elif family == EEI:
        variances[:] = total / n
    elif family == VEI:
        if not _volumes_and_shape(own, sizes, volumes, variances):
            return False
    elif family == EVI:
        volume = 0.0
        for k in range(groups):
            size = _mean_size(own[k])
            if size == 0.0:
                return False
            volume += size / n
            variances[k] = own[k] / size
        variances *= volume
    else:
        for k in range(groups):
            if family == VVI:
                variances[k] = own[k] / sizes[k]
            else:
                variances[k] = own[k].sum() / (sizes[k] * p)
    out[:] = 0.0
    for k in range(groups):
        for j in range(p):
            out[k, j, j] = variances[k, j]
    return True


@jit
def _volumes_and_shape(own: Floats, sizes: Floats, volumes: Floats, variances: Floats) -> bool:
    """Volumes of their own and one shape for diagonal scatters (VEI) or eigenvalues (VEV)."""
    groups, p = own.shape
    if volumes[0] == 0.0:
        for k in range(groups):
            volumes[k] = own[k].sum() / (sizes[k] * p)
    shape = np.ones(p)
    for _ in range(ROUNDS):
        shape[:] = 0.0
        for k in range(groups):
            if not volumes[k] > 0.0:
                return False
            shape += own[k] / volumes[k]
        size = _mean_size(shape)
        if size == 0.0:
            return False
        shape /= size
        for k in range(groups):
            volumes[k] = (own[k] / shape).sum() / (sizes[k] * p)
    for k in range(groups):
        variances[k] = volumes[k] * shape
    return True


@jit
def _one_form(scatter: Floats, sizes: Floats, volumes: Floats, family: int, out: Floats) -> bool:
    """EEE, and VEE: one form C with |C| = 1 and volumes of their own."""
    groups, p = scatter.shape[0], scatter.shape[1]
    if family == EEE:
        for k in range(groups):
            out[k] = scatter.sum(axis=0) / sizes.sum()
        return True
    if volumes[0] == 0.0:
        for k in range(groups):
            volumes[k] = np.trace(scatter[k]) / (sizes[k] * p)
    form = np.eye(p)
    for _ in range(ROUNDS):
        form = np.zeros((p, p))
        for k in range(groups):
            if not volumes[k] > 0.0:
                return False
            form += scatter[k] / volumes[k]
        size = _det_root(form)
        if size == 0.0:
            return False
        form /= size
        inverse = np.linalg.inv(form)
        for k in range(groups):
            volumes[k] = (inverse * scatter[k]).sum() / (sizes[k] * p)
    for k in range(groups):
        out[k] = volumes[k] * form
    return True


@jit
def _shared_axes(
    scatter: Floats, sizes: Floats, volumes: Floats, axes: Floats, family: int, out: Floats
) -> bool:
    """EVE and VVE: own shapes along the same axes, which pairs of rotations improve (Flury & Gautschi)."""
    groups, p = scatter.shape[0], scatter.shape[1]
    if volumes[0] == 0.0:
        axes[:] = np.linalg.eigh(scatter.sum(axis=0))[1]
        volumes[:] = 1.0
    variances = np.empty((groups, p))
    if not _variances_on(axes, scatter, sizes, family, variances):
        return False
    for _ in range(ROUNDS):
        for a in range(p - 1):
            for b in range(a + 1, p):
                _rotate(axes, scatter, variances, a, b)
        if not _variances_on(axes, scatter, sizes, family, variances):
            return False
    for k in range(groups):
        out[k] = (axes * variances[k]) @ axes.T
    return True


@jit
def _variances_on(axes: Floats, scatter: Floats, sizes: Floats, family: int, variances: Floats) -> bool:
    """The best variances along given axes; for EVE all with the same volume."""
    groups, p = variances.shape
    volume = 0.0
    for k in range(groups):
        along = scatter[k] @ axes
        for j in range(p):
            variances[k, j] = (axes[:, j] * along[:, j]).sum()
        size = _mean_size(variances[k])
        if size == 0.0:
            return False
        variances[k] /= size if family == EVE else sizes[k]
        volume += size / sizes.sum()
    if family == EVE:
        variances *= volume
    return True


@jit
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


@jit
def _own_axes(scatter: Floats, sizes: Floats, volumes: Floats, family: int, out: Floats) -> bool:
    """EEV and VEV: one shape along axes of their own."""
    groups, p = scatter.shape[0], scatter.shape[1]
    values, own = np.empty((groups, p)), np.empty((groups, p, p))
    for k in range(groups):
        values[k], own[k] = np.linalg.eigh(scatter[k])
        values[k] = np.maximum(values[k], 0.0)
    variances = np.empty((groups, p))
    if family == EEV:
        for k in range(groups):
            variances[k] = values.sum(axis=0) / sizes.sum()
    elif not _volumes_and_shape(values, sizes, volumes, variances):
        return False
    for k in range(groups):
        out[k] = (own[k] * variances[k]) @ own[k].T
    return True


@jit
def _free(scatter: Floats, sizes: Floats, family: int, out: Floats) -> bool:
    """EVV: forms of their own with one volume; VVV: all free."""
    volume = 0.0
    for k in range(len(sizes)):
        out[k] = scatter[k] / sizes[k]
        if family == EVV:
            size = _det_root(scatter[k])
            if size == 0.0:
                return False
            out[k] = scatter[k] / size
            volume += size / sizes.sum()
    if family == EVV:
        out *= volume
    return True
