"""A made-up classification of economic activities in the manner of NACE: four digits, unequal classes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sdckit._support.arrays import Floats, Ints
from sdckit.demo._draw import normals, uniforms

# division: groups, relative number of enterprises, staff costs and turnover per worker (thousands),
# materials and services as shares of turnover
DIVISIONS: dict[str, tuple[int, float, float, float, float, float]] = {
    "14": (3, 0.4, 32, 190, 0.30, 0.32),
    "15": (9, 4.5, 31, 330, 0.66, 0.17),
    "17": (6, 2.5, 27, 170, 0.52, 0.24),
    "18": (3, 1.8, 25, 160, 0.48, 0.28),
    "19": (3, 1.4, 26, 170, 0.55, 0.22),
    "20": (4, 0.8, 28, 190, 0.57, 0.19),
    "21": (2, 1.2, 34, 240, 0.54, 0.22),
    "22": (3, 1.8, 38, 200, 0.32, 0.38),
    "24": (6, 3.0, 46, 380, 0.54, 0.22),
    "25": (2, 2.6, 33, 200, 0.52, 0.20),
    "26": (7, 2.6, 33, 190, 0.40, 0.28),
    "27": (5, 1.8, 36, 380, 0.66, 0.14),
    "28": (7, 4.8, 33, 180, 0.48, 0.23),
    "29": (7, 6.5, 37, 200, 0.51, 0.21),
    "30": (1, 0.2, 38, 300, 0.62, 0.18),
    "31": (6, 2.4, 34, 190, 0.53, 0.19),
    "32": (3, 1.0, 39, 220, 0.50, 0.20),
    "33": (4, 1.0, 38, 170, 0.44, 0.22),
    "34": (3, 1.4, 33, 240, 0.64, 0.15),
    "35": (5, 0.8, 36, 190, 0.52, 0.23),
    "36": (6, 2.2, 28, 170, 0.52, 0.24),
    "40": (3, 0.7, 48, 900, 0.68, 0.15),
    "41": (1, 0.4, 39, 150, 0.20, 0.38),
    "45": (5, 3.4, 33, 190, 0.36, 0.42),
    "50": (5, 1.2, 33, 700, 0.86, 0.07),
    "51": (8, 6.0, 38, 620, 0.80, 0.11),
    "52": (7, 4.4, 25, 210, 0.74, 0.13),
    "55": (5, 3.2, 21, 65, 0.30, 0.28),
    "60": (3, 3.6, 33, 85, 0.20, 0.34),
    "61": (2, 0.3, 45, 300, 0.22, 0.50),
    "63": (4, 4.2, 27, 120, 0.08, 0.60),
    "64": (2, 0.6, 36, 200, 0.14, 0.48),
    "70": (3, 0.3, 36, 210, 0.16, 0.46),
    "71": (4, 0.2, 34, 260, 0.22, 0.40),
    "72": (6, 4.4, 42, 110, 0.12, 0.38),
    "73": (2, 0.4, 46, 100, 0.16, 0.36),
    "74": (8, 12.0, 22, 50, 0.08, 0.30),
    "80": (4, 0.4, 25, 40, 0.08, 0.26),
    "85": (3, 6.5, 25, 42, 0.12, 0.24),
    "90": (1, 2.2, 34, 90, 0.14, 0.38),
    "92": (6, 1.4, 34, 160, 0.14, 0.48),
    "93": (1, 0.8, 20, 45, 0.16, 0.22),
}


@dataclass(frozen=True, slots=True)
class Activities:
    """The classes and what their enterprises have in common; one entry a class in every array."""

    code: NDArray[np.str_]
    weight: Floats
    wage: Floats
    turnover: Floats
    materials: Floats
    services: Floats
    # how quickly enterprises get rarer as they get larger (exponent of a Pareto law)
    size_exponent: Floats


def activities() -> Activities:
    """The whole classification, always the same."""
    columns = np.array(list(DIVISIONS.values()))
    groups = columns[:, 0].astype(np.int64)
    of_group = np.repeat(np.arange(len(groups)), groups)
    classes = 1 + np.floor(4.6 * uniforms(0, "classes in group", len(of_group)) ** 1.5).astype(np.int64)
    codes = [
        f"{division}{group}{number}"
        for division, group, count in zip(
            np.repeat(list(DIVISIONS), groups), _numbered(groups), classes, strict=True
        )
        for number in (range(1, count + 1) if count > 1 else (0,))
    ]
    division = np.repeat(of_group, classes)
    n = len(codes)
    common = columns[division]
    # a few classes hold most enterprises of their division
    spread = np.exp(1.6 * normals(0, "class weight", n))
    share = spread / np.bincount(division, spread)[division]
    wage = common[:, 2] * np.exp(0.10 * normals(0, "class wage", n))
    turnover = common[:, 3] * np.exp(0.30 * normals(0, "class turnover", n))
    turnover = np.maximum(turnover, 1.6 * wage)
    materials = common[:, 4] * np.exp(0.12 * normals(0, "class materials", n))
    services = common[:, 5] * np.exp(0.12 * normals(0, "class services", n))
    # materials and services take what staff costs leave of 0.87 of turnover
    scale = (0.87 - wage / turnover) / (materials + services)
    return Activities(
        code=np.array(codes),
        weight=common[:, 1] * share,
        wage=wage,
        turnover=turnover,
        materials=materials * scale,
        services=services * scale,
        size_exponent=1.25 * np.exp(0.25 * normals(0, "class size", n)),
    )


def _numbered(groups: Ints) -> Ints:
    """1, 2, …, g for every division with g groups, one after the other."""
    return np.concatenate([np.arange(1, g + 1) for g in groups])
