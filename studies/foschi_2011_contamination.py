"""Clean and contaminated records of Foschi's simulation; the contaminations are our definitions."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

Array = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Place:
    """Two spherical normal components of p variables (an even number) whose 0.99 spheres touch."""

    p: int

    @property
    def radius(self) -> float:
        """r, of a sphere that holds 0.99 of a component."""
        from scipy.stats import chi2

        return math.sqrt(chi2.ppf(0.99, self.p))

    @property
    def centres(self) -> Array:
        """0 and 2c·1 with c = r/√p, and so 2r apart."""
        return np.outer([0.0, 2 * self.radius / math.sqrt(self.p)], np.ones(self.p))

    def squares(self, x: Array) -> Array:
        """Squared distances of records from both centres."""
        return np.asarray(((x[:, None, :] - self.centres) ** 2).sum(axis=2))


Contamination = Callable[[Place, int, np.random.Generator], Array]


def larger(n: int) -> int:
    """How many of n clean records are of the larger component."""
    return round(n * 5 / 9)


def clean(place: Place, n: int, rng: np.random.Generator) -> Array:
    """n records of the two components, 5/9 and 4/9 of them."""
    owner = np.repeat([0, 1], [larger(n), n - larger(n)])
    return np.asarray(place.centres[owner] + rng.normal(size=(n, place.p)))


def separate(place: Place, m: int, rng: np.random.Generator, *, away: float = 2.0) -> Array:
    """A third component, its centre `away` radii from both others."""
    across = np.tile([1.0, -1.0], place.p // 2) / math.sqrt(place.p)
    centre = place.centres.mean(axis=0) + math.sqrt(away**2 - 1) * place.radius * across
    return np.asarray(centre + rng.normal(size=(m, place.p)))


def in_line(place: Place, m: int, rng: np.random.Generator) -> Array:
    """A third component beyond the smaller one, on the line through both centres."""
    return np.asarray(2 * place.centres[1] + rng.normal(size=(m, place.p)))


def radial(
    place: Place, m: int, rng: np.random.Generator, *, variance: float = 9.0, outside: bool = True
) -> Array:
    """Around the centres, 5/9 and 4/9, with a larger variance; drawn again unless outside both spheres."""

    def draw() -> Array:
        owner = (rng.random(m) >= 5 / 9).astype(int)
        return np.asarray(place.centres[owner] + math.sqrt(variance) * rng.normal(size=(m, place.p)))

    return beyond(place, m, draw) if outside else draw()


def diffuse(place: Place, m: int, rng: np.random.Generator) -> Array:
    """Evenly over the smallest cube that holds both spheres, but outside these."""
    low, high = -place.radius, place.centres.max() + place.radius
    return beyond(place, m, lambda: rng.uniform(low, high, size=(m, place.p)))


def shell(place: Place, m: int, rng: np.random.Generator, *, out: float = 1.5) -> Array:
    """Evenly over what is between 1 and `out` radii from a centre, 5/9 and 4/9, outside both spheres."""

    def draw() -> Array:
        towards = rng.normal(size=(m, place.p))
        towards /= np.linalg.norm(towards, axis=1, keepdims=True)
        far = place.radius * rng.uniform(1, out**place.p, size=(m, 1)) ** (1 / place.p)
        return np.asarray(place.centres[(rng.random(m) >= 5 / 9).astype(int)] + far * towards)

    return beyond(place, m, draw)


def beyond(place: Place, m: int, draw: Callable[[], Array]) -> Array:
    """The first m records drawn that are outside both 0.99 spheres."""
    found = np.empty((0, place.p))
    while len(found) < m:
        x = draw()
        found = np.vstack([found, x[(place.squares(x) > place.radius**2).all(axis=1)]])
    return found[:m]


KINDS: dict[str, Contamination] = {"separate": separate, "radial": radial, "diffuse": diffuse}
OTHERS: dict[str, Contamination] = {
    "separate, 1.5 r from both centres": partial(separate, away=1.5),
    "separate, in line with the centres": in_line,
    "radial, variance 9, also inside the spheres": partial(radial, outside=False),
    "radial, variance 5": partial(radial, variance=5.0),
    "diffuse, 1 to 1.5 r from a centre": shell,
}


def draw_examples(path: Path) -> None:
    """The three contaminations in two variables, as Figure 1 of the paper shows its own."""
    import altair as alt

    place, n = Place(2), 90
    frames = []
    for name, kind in KINDS.items():
        rng = np.random.default_rng(1)
        x = np.vstack([clean(place, n, rng), kind(place, 8, rng)])
        record = ["clean"] * n + ["contaminated"] * 8
        frames.append(pl.DataFrame({"x": x[:, 0], "y": x[:, 1], "record": record, "kind": name}))
    chart = (
        alt.Chart(pl.concat(frames))
        .mark_point(size=16)
        .encode(
            x=alt.X("x", title=None),
            y=alt.Y("y", title=None),
            shape=alt.Shape("record", scale=alt.Scale(range=["circle", "triangle-up"]), title=None),
            color=alt.Color("record", title=None),
            column=alt.Column("kind", title=None, sort=list(KINDS)),
        )
    )
    chart.properties(width=170, height=170).save(str(path))
