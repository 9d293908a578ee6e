"""What steps leave on disk, so that no query on DuckDB carries the steps before it out again.

A relation is a query: whoever counts, sums and writes runs it three times, with all the joins and random
numbers of the steps that made it. Its rows are therefore kept in a table of a database file of this process,
compressed, where a query reads only the columns it asks for.
"""

import weakref
from typing import Any
from uuid import uuid4

from sdckit.engine.duckdb_session import connection, quoted, scratch_path

DATABASE = "sdckit_stages"

_unused: list[str] = []  # tables that nothing refers to any more


def kept_on_disk(native: Any, number: str | None = None) -> Any:
    """The rows of a relation of our connection in a table that lasts as long as what is made from it.

    number: a column with the place of each row in the table, from 0.
    """
    made = connection()
    if not made.execute("select 1 from duckdb_databases() where database_name = ?", [DATABASE]).fetchall():
        path = str(scratch_path() / f"{DATABASE}.duckdb").replace("'", "''")
        made.execute(f"attach '{path}' as {DATABASE}")
        _unused.clear()
    while _unused:  # not at the moment it became unused: a query may be running then
        made.execute(f"drop table if exists {_unused.pop()}")
    table = f"{DATABASE}.t{uuid4().hex}"
    sdckit_rows = native  # noqa: F841 (DuckDB finds it by name)
    # Under names of our own, for a column called rowid would hide the places.
    names = {f"c{i}": quoted(name) for i, name in enumerate(native.columns)}
    stored = ", ".join(f"{name} as {code}" for code, name in names.items())
    made.execute(
        f"create table {table} as select {stored} from sdckit_rows"
    )  # `query` does not hear Ctrl-C soon
    shown = [f"{code} as {name}" for code, name in names.items()] + [f"rowid as {number}"] * (
        number is not None
    )
    kept = native.query("sdckit_rows", f"select {', '.join(shown)} from {table}")
    # Relations made from this one hold it, so that it is gone only after all of them.
    weakref.finalize(kept, _unused.append, table).atexit = False
    return kept
