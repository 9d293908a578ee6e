"""Where to write the names of points so that they do not cover each other."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import copysign, expm1, log1p

LETTER, LINE = 6.0, 13.0  # pixels of a letter and a line at 11 points
Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis from `low` to `top` over `pixels`; symmetric-log when `constant` is set (as Vega's symlog)."""

    low: float
    top: float
    pixels: int
    constant: float = 0.0

    def pixel(self, value: float) -> float:
        """The distance from the low end in pixels."""
        low, top = self._bent(self.low), self._bent(self.top)
        return self.pixels * (self._bent(value) - low) / (top - low)

    def value(self, pixel: float) -> float:
        """The value at a distance from the low end in pixels."""
        low, top = self._bent(self.low), self._bent(self.top)
        size = low + pixel / self.pixels * (top - low)
        return copysign(self.constant * expm1(abs(size)), size) if self.constant else size

    def _bent(self, value: float) -> float:
        return copysign(log1p(abs(value) / self.constant), value) if self.constant else value


def place(
    named: Sequence[tuple[float, float, str]],
    points: Sequence[tuple[float, float]],
    lines: Sequence[tuple[float, float]],
    x: Scale,
    y: Scale,
) -> list[tuple[float, float] | None]:
    """For each (x, y, text) the left middle of its text in data units, or None where there is no room.

    Texts are placed in the order given, so the important ones come first. They keep off other points and
    off `lines`, given as points along them.
    """
    taken = [_around(x.pixel(a), y.pixel(b), 6) for a, b in points]
    taken += [_around(x.pixel(a), y.pixel(b), 1) for a, b in lines]
    places: list[tuple[float, float] | None] = []
    for a, b, text in named:
        box = _free(x.pixel(a), y.pixel(b), LETTER * len(text), taken, x.pixels, y.pixels)
        if box is None:
            places.append(None)
            continue
        taken.append(box)
        places.append((x.value(box[0]), y.value((box[1] + box[3]) / 2)))
    return places


def _around(across: float, up: float, size: float) -> Box:
    return across - size, up - size, across + size, up + size


def _free(
    across: float, up: float, length: float, taken: Sequence[Box], width: int, height: int
) -> Box | None:
    """The first free place of those beside, above and below the point."""
    shifts = [(10, 0), (-10 - length, 0), (8, 13), (8, -13), (-8 - length, 13), (-8 - length, -13)]
    shifts += [(-length / 2, 17), (-length / 2, -17), (10, 26), (10, -26)]
    for right, higher in shifts:
        left, middle = across + right, up + higher
        box = (left, middle - LINE / 2, left + length, middle + LINE / 2)
        inside = box[0] >= 2 and box[2] <= width and box[1] >= 0 and box[3] <= height
        if inside and not any(_overlap(box, other) for other in taken):
            return box
    return None


def _overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
