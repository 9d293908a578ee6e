import gc

import duckdb

from sdckit.engine import _duckdb
from sdckit.engine.duckdb_session import connection
from sdckit.engine.duckdb_stages import DATABASE, kept_on_disk


def tables():
    asked = "select count(*) from duckdb_tables() where database_name = ?"
    return connection().execute(asked, [DATABASE]).fetchall()[0][0]


def test_rows_are_worked_out_once():
    drawn = connection().sql("select random() as u, null::int as nothing, 'ä' as text from range(1000)")
    kept = _duckdb.worked_out(drawn)
    assert drawn.sum("u").fetchall() != drawn.sum("u").fetchall()
    assert kept.order("u").fetchall() == kept.order("u").fetchall()
    assert kept.types == drawn.types
    assert kept.columns == ["u", "nothing", "text"]


def test_a_table_lasts_as_long_as_what_was_made_from_it():
    gc.collect()  # what other tests left
    before = _duckdb.worked_out(connection().sql("select range as x from range(5)"))
    made = before.project("x + 1 as y").filter("y > 2")
    here = tables()
    del before
    gc.collect()
    other = _duckdb.worked_out(connection().sql("select 1 as x"))
    assert tables() == here + 1
    assert made.order("y").fetchall() == [(3,), (4,), (5,)]
    del made
    gc.collect()
    another = _duckdb.worked_out(connection().sql("select 2 as x"))
    assert tables() == here + 1
    assert (other.fetchall(), another.fetchall()) == ([(1,)], [(2,)])


def test_relations_of_a_users_connection_stay_there():
    theirs = duckdb.connect()
    kept = _duckdb.worked_out(theirs.sql("select random() as u from range(10)"))
    assert kept.fetchall() == kept.fetchall()
    assert theirs.execute("select database_name from duckdb_tables()").fetchall() == [("temp",)]


def test_no_bar_is_drawn_among_what_commands_print():
    """DuckDB draws one to standard output when a query takes more than two seconds."""
    shown = connection().execute("select current_setting('enable_progress_bar')").fetchall()
    assert shown[0][0] in (False, "false")


def test_a_column_called_rowid_does_not_hide_the_places_of_rows():
    """It was taken for them: new values went to wrong records, or an error of Python ended the step."""
    rows = connection().sql('select 3 - range as rowid, range as "C0", range as "a""b" from range(4)')
    kept = kept_on_disk(rows, "__sdckit_at")
    assert kept.columns == ["rowid", "C0", 'a"b', "__sdckit_at"]
    assert sorted(kept.fetchall()) == [(3 - i, i, i, i) for i in range(3, -1, -1)]
