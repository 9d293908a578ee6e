"""Records as files of the session, which the page reads by the slice."""

from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import polars as pl

from sdckit.data.microdata import Microdata
from sdckit.data.record_links import source_rows

FILES = 12  # protected files that are kept to be looked at: each may be as large as the data


def kept(data: Microdata, folder: Path, kind: str, key: str) -> str:
    """The records as a file that the page reads by the slice; its name."""
    name = f"{kind}-{sha256(key.encode()).hexdigest()[:24]}.arrow"
    path = folder / name
    if path.exists():
        path.touch()
    else:
        made = sorted(folder.glob("protected-*.arrow"), key=lambda p: p.stat().st_mtime)
        for old in made[: max(len(made) + 1 - FILES, 0)]:
            old.unlink()
        frame = data.frame.with_columns(pl.selectors.categorical().cast(pl.String))
        part = path.with_suffix(".part")
        try:
            frame.write_ipc(part)
        except BaseException:  # a full disk: half a copy is in the way of all others
            part.unlink(missing_ok=True)
            raise
        part.replace(path)
    return name


def aligned_rows(data: Microdata, protected: Microdata, folder: Path, key: str, name: str) -> str | None:
    """The protected records in the rows of their originals, missing where left out; None if not known."""
    rows = source_rows(data, protected)
    if rows is None:
        return None
    if len(rows) == data.height and (np.diff(rows) == 1).all():
        return name
    places = np.full(data.height, protected.height, dtype=np.int64)
    places[rows] = np.arange(protected.height)
    there = pl.Series(places).replace(protected.height, None)
    frame = protected.frame.select(pl.all().gather(there))
    return kept(replace(protected, frame=frame), folder, "protected", f"{key} aligned")
