"""The attack of an intruder who knows keys and numbers, with the whole matrix of persons and records."""

import numpy as np

from sdckit.models.number_column import NumberColumn
from sdckit.models.number_widths import masses_of_values

TIE = 1e-8


def number_matrix(channel, known, released, *, target):
    """m(y | x) for every person and record. target: the person is the one attacked."""
    x, y = known[:, None], released[None, :]
    shown = ~np.isnan(released)
    alike = np.array([np.mean((released == v) | (np.isnan(released) & np.isnan(v))) for v in released])
    if channel.pairs == 0:
        x = np.full_like(x, np.nan)
    profile = channel.profiles(known)
    blank, stay = channel.blank[profile][:, None], channel.stay[profile][:, None]
    if channel.is_map:
        m = (channel.image(known)[:, None] == y) * 1.0
    else:
        spread = channel.spread[profile][:, None]
        z = (
            channel.transform.value(y) - channel.transform.value(x) - channel.middle[profile][:, None]
        ) / spread
        column = NumberColumn(released)
        masses = np.append(masses_of_values(channel, column), np.nan)[column.place]
        moved = channel.density.at(z) / spread * masses[None, :]
        m = stay * (x == y) + (1 - stay) * moved
    m = np.where(np.isnan(y), blank, (1 - blank) * m)
    filled = np.where(
        shown, alike / max(shown.mean(), 1e-300) * (1 - channel.blank_of_missing), channel.blank_of_missing
    )
    return np.where(np.isnan(x), alike if target else filled, m)


def likelihoods(known, released, channels, keys, *, target):
    """L for every person and record."""
    product = np.ones((known.shape[0], released.shape[0]))
    for v, channel in enumerate(channels):
        product = product * number_matrix(channel, known[:, v], released[:, v], target=target)
    if keys is not None:
        for v, matrix in enumerate(keys.channels):
            product = product * matrix[keys.true[:, v]][:, keys.released[:, v]]
    return product


def naive_attack(known, released, own, channels, keys=None):
    """found by shares and by likelihood, believed and posterior of every person."""
    as_target = likelihoods(known, released, channels, keys, target=True)
    as_person = likelihoods(known, released, channels, keys, target=False)
    total = as_person.sum(axis=0)
    others = np.maximum(total - as_person, 1e-12 * np.maximum(total, as_target))
    with np.errstate(divide="ignore", invalid="ignore"):
        odds = np.where(as_target > 0, as_target / others, 0.0)
        shares = np.where(as_target > 0, as_target / (as_target + others), 0.0)
    chance = np.minimum(1.0, shares.sum(axis=1)) if (own < 0).any() else np.ones(len(own))
    rho = chance[:, None] * odds / np.maximum(odds.sum(axis=1, keepdims=True), 1e-300)
    posterior = np.where(own >= 0, rho[np.arange(len(own)), own], 0.0)
    return found(shares, own), found(as_target, own), rho.max(axis=1), posterior


def found(score, own):
    """One over the number of the best, where the own record is among them."""
    best = score.max(axis=1, keepdims=True)
    top = (score >= best * (1 - TIE)) & (score > 0)
    hit = np.where(own >= 0, top[np.arange(len(own)), own], False)
    return hit / np.maximum(top.sum(axis=1), 1)
