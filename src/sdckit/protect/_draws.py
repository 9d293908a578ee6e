"""Random numbers for the records of a file, the same on every engine and in any order of the rows."""

from functools import cached_property

import numpy as np
import polars as pl

from sdckit._support.arrays import Floats, Ints
from sdckit.data.microdata import Microdata
from sdckit.engine import frames, random
from sdckit.engine.tables import OURS, Table
from sdckit.errors import EngineError, SdcError
from sdckit.kernels.keyed_numbers import keyed_normal, keyed_uniform

_CODE = f"{OURS}code"


class Draws:
    """Numbers drawn for the records of a file, each a function of a secret key, a step and the record's id.

    The key is drawn from the generator. Where no column has the role id, or its values do not tell all
    records apart, the number of the row takes the place of the id; engines outside memory have no order of
    rows, so that they need an id.
    """

    def __init__(self, data: Microdata, rng: np.random.Generator) -> None:
        self.data = data
        self.seed = int(rng.integers(2**63))
        if data.engine != "polars":
            require_id(data)

    def uniform(self, step: int) -> Floats:
        """Numbers in (0, 1) in the order of the records, which are in memory."""
        return self.uniform_of(self.codes, step)

    def uniform_of(self, codes: Ints, step: int) -> Floats:
        """The numbers of records with these codes."""
        return keyed_uniform(codes, random.round_keys(self.seed, step))

    def normal(self, step: int) -> Floats:
        """Standard normal numbers in the order of the records, which are in memory."""
        return keyed_normal(self.codes, random.round_keys(self.seed, step))

    def with_uniform(self, table: Table, step: int, name: str) -> Table:
        """A table of this file's records with a column of these numbers."""
        return random.uniform(table, id=self.data.roles.id or "", seed=self.seed, step=step, name=name)

    def with_normal(self, table: Table, step: int, name: str) -> Table:
        """A table of this file's records with a column of these numbers."""
        return random.normal(table, id=self.data.roles.id or "", seed=self.seed, step=step, name=name)

    @cached_property
    def codes(self) -> Ints:
        """The whole number by which each record is known, in memory."""
        return record_codes(self.data)


def record_codes(data: Microdata) -> Ints:
    """For each record in memory its id as a whole number, or the number of its row."""
    id = data.roles.id
    return whole_numbers(data.frame[id]) if id is not None and data.is_unique(id) else np.arange(data.height)


def in_order_of_ids(data: Microdata) -> Ints:
    """The rows in memory in the order of their ids as whole numbers; without ids in that of the file."""
    codes = record_codes(data)
    return np.arange(len(codes)) if (np.diff(codes) >= 0).all() else np.argsort(codes, kind="stable")


def whole_numbers(values: pl.Series) -> Ints:
    """Values of any type, none missing, as whole numbers: text and what is no whole number by its MD5."""
    try:
        return _coded(values)
    except (SdcError, pl.exceptions.InvalidOperationError):  # fractions, dates, numbers above 2⁶³
        return _coded(values.cast(pl.String))


def _coded(values: pl.Series) -> Ints:
    table = frames.lazy(pl.DataFrame([values.alias("id")]))
    return np.asarray(frames.gather(random.with_whole_id(table, "id", _CODE))[_CODE].to_numpy())


def require_id(data: Microdata, what: str = "Random numbers") -> None:
    """Refuse records outside memory that no id tells apart: nothing else gives each its own draw or place."""
    id = data.roles.id
    if id is not None and data.is_unique(id):
        return
    raise EngineError(
        f"{what} on the {data.engine} engine need a column with the role id, different for every record.",
        given="no such column" if id is None else f"{id!r}, in which values repeat or are missing",
        hint="Give it when you read the data: id=…. In memory, data.collect(), none is needed.",
        plan_hint="Give it under data: id: …; without engine there the records are read into memory.",
    )
