"""Each preparation by hand: what it changes, what it counts, and what it refuses."""

from datetime import date
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit import prepare
from sdckit.errors import ColumnError, DataError, OptionError, RoleError, SdcError
from sdckit.methods.registry import specs
from sdckit.methods.spec import Kind

LABELS = sdc.Labels({"sex": "Sex"}, {"sex": {1: "man", 2: "woman", 9: "refused"}})


def persons(**columns) -> sdc.Microdata:
    frame = {"hid": [1, 1, 2, 3, 3], "sex": [1, 2, 9, 2, 1], "age": [40, 7, 99, 30, 65]}
    return sdc.Microdata.of(pl.DataFrame({**frame, **columns}), labels=LABELS)


def only(data: sdc.Microdata):
    (entry,) = data.prepared
    return entry


# --- what all have in common


def test_every_preparation_is_complete():
    for spec in specs(Kind.PREPARATION):
        for field in spec.form():
            assert field.label, field.name
            assert field.help.endswith("."), f"{spec.name}.{field.name}"
            assert field.required or field.absent or field.default not in (None, [], ""), field.name
        assert spec.summary, spec.name
    assert len(specs(Kind.PREPARATION)) == 9
    assert not [s for s in specs() if s.kind is Kind.PREPARATION]


def test_the_prepared_file_is_an_original_with_a_past():
    data = persons()
    done = prepare.drop_empty(prepare.declare_missing(data, codes=[9], variables="sex"))
    assert [e.method for e in done.prepared] == ["declare_missing", "drop_empty"]
    assert done.log == ()
    assert done.origin != data.origin
    assert data.prepared == ()
    assert "prepared 2: drop_empty" in repr(done)
    protected = sdc.protect.round_values(done.with_roles(numeric=["age"]), base=10)
    assert protected.prepared == done.prepared
    assert [e.method for e in protected.log] == ["round_values"]


def test_a_protected_file_is_not_prepared():
    protected = sdc.protect.round_values(persons().with_roles(numeric=["age"]), base=10)
    with pytest.raises(OptionError, match=r"before it is protected.*after the step round_values"):
        prepare.drop_empty(protected)


def test_wrong_options_are_refused_as_everywhere():
    with pytest.raises(OptionError, match=r"has no option 'wher'.*Did you mean 'where'"):
        prepare.keep_records(persons(), wher="age > 1")
    with pytest.raises(ColumnError, match="There is no column 'sexx'"):
        prepare.set_type(persons(), variables="sexx", type="category")
    with pytest.raises(OptionError, match="takes Microdata"):
        prepare.drop_empty(pl.DataFrame({"x": [1]}))


def test_files_outside_memory_are_refused(tmp_path: Path):
    persons().frame.write_parquet(tmp_path / "a.parquet")
    with pytest.raises(SdcError, match="needs the records in memory"):
        prepare.drop_empty(sdc.read(tmp_path / "a.parquet", engine="duckdb"))


def test_codes_of_missing_values_go_with_their_rows(tmp_path: Path):
    import pyreadstat

    frame = pl.DataFrame({"x": [1.0, 8.0, 2.0, 9.0], "y": [1, 2, 3, 4]}).to_pandas()
    pyreadstat.write_sav(frame, tmp_path / "a.sav", missing_ranges={"x": [8, 9]})
    data = sdc.read(tmp_path / "a.sav")
    kept = prepare.keep_records(data, where="y >= 3")
    back = sdc.read(sdc.write(kept, tmp_path / "b.sav"))
    assert back.frame["x"].to_list() == [2, None]
    assert back.reading.missing_codes["x"].codes.to_list() == [None, 9.0]
    changed = prepare.replace_values(data, variables="x", values={1: 5})
    assert changed.reading.missing_codes == {}


# --- keep_records


@pytest.mark.parametrize(
    ("options", "ages"),
    [
        ({"where": "age >= 40"}, [40, 99, 65]),
        ({"where": "age == 7", "together": "hid"}, [40, 7]),
        ({"first": 2}, [40, 7]),
        ({"first": 2, "together": "hid"}, [40, 7, 99]),
        ({"every": 2}, [40, 99, 65]),
        ({"every": 2, "together": "hid"}, [40, 7, 30, 65]),
    ],
)
def test_records_that_are_kept(options, ages):
    done = prepare.keep_records(persons(), **options)
    assert done.frame["age"].to_list() == ages
    assert only(done).figures["records_kept"] == len(ages)
    assert only(done).figures["records_before"] == 5


def test_random_records_follow_the_seed_and_keep_their_order():
    data = sdc.Microdata.of(pl.DataFrame({"i": range(100), "home": np.repeat(range(25), 4)}))
    one, same, other = (prepare.keep_records(data, n=20, seed=s).frame["i"].to_list() for s in (1, 1, 2))
    assert one == same == sorted(one)
    assert one != other
    assert len(one) == 20
    assert len(prepare.keep_records(data, share=0.25, seed=3)) == 25
    homes = prepare.keep_records(data, n=5, together="home", seed=1).frame["home"]
    assert homes.value_counts()["count"].to_list() == [4] * 5


def test_missing_households_are_households_of_their_own():
    data = sdc.Microdata.of(pl.DataFrame({"home": [None, None, 1, 1], "x": [1, 2, 3, 4]}))
    assert prepare.keep_records(data, first=1, together="home").frame["x"].to_list() == [1]
    assert prepare.keep_records(data, where="x == 2", together="home").frame["x"].to_list() == [2]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "needs 'where' or 'first'"),
        ({"first": 1, "n": 2}, "takes either"),
        ({"n": 6}, "n is larger"),
        ({"share": 1.5}, "share"),
        ({"first": 2, "seed": 4}, "'seed' of keep_records means nothing"),
        ({"where": "age > 200"}, "would keep no record"),
    ],
)
def test_parts_that_cannot_be_kept(options, said):
    with pytest.raises(SdcError, match=said):
        prepare.keep_records(persons(), **options)


def test_notes_say_what_a_part_means_for_weights_and_risk():
    assert "sample_records" in only(prepare.keep_records(persons(), n=2)).figures["note"]
    assert "the rule holds" in only(prepare.keep_records(persons(), where="age > 7")).figures["note"]


# --- values


def test_missing_codes_are_declared_where_they_are_codes():
    done = prepare.declare_missing(persons(), codes=[9.0, 99], variables=["sex", "age"])
    assert done.frame["sex"].to_list() == [1, 2, None, 2, 1]
    assert done.frame["age"].to_list() == [40, 7, None, 30, 65]
    assert only(done).figures["values_changed"] == {"sex": 1, "age": 1}
    assert done.labels.values["sex"] == {1: "man", 2: "woman"}
    assert only(prepare.declare_missing(persons(), codes=["1"])).figures["values_changed"] == {
        "hid": 2,
        "sex": 2,
    }
    with pytest.raises(OptionError, match="None of the codes"):
        prepare.declare_missing(persons(), codes=[77])
    with pytest.raises(OptionError, match="codes"):
        prepare.declare_missing(persons(), codes=[])


def test_values_are_set_to_missing_by_a_rule():
    done = prepare.set_missing(persons(), variables=["sex"], where="age < 18 or age == 99")
    assert done.frame["sex"].to_list() == [1, None, None, 2, 1]
    assert only(done).figures == {"records_chosen": 2, "values_changed": {"sex": 2}}
    with pytest.raises(OptionError, match="holds for no record"):
        prepare.set_missing(persons(), variables=["sex"], where="age > 200")


def test_values_are_replaced_all_at_once():
    done = prepare.replace_values(persons(), variables=["sex"], values={"1": 2, 2: 1})
    assert done.frame["sex"].to_list() == [2, 1, 9, 1, 2]
    assert done.frame.schema["sex"] == pl.Int64
    assert only(done).figures["values_changed"] == {"sex": 4}
    data = persons(city=["Viena", None, "Graz", "Viena", "Linz"])
    done = prepare.replace_values(data, variables=["city"], values={"Viena": "Vienna", "Rome": "Roma"})
    assert done.frame["city"].to_list() == ["Vienna", None, "Graz", "Vienna", "Linz"]
    assert prepare.replace_values(persons(), variables="age", values={7: 7.5}).frame["age"].to_list() == [
        40,
        7.5,
        99,
        30,
        65,
    ]
    with pytest.raises(ColumnError, match="holds numbers, and 'x' is none"):
        prepare.replace_values(persons(), variables="age", values={7: "x"})
    with pytest.raises(OptionError, match="None of the values"):
        prepare.replace_values(persons(), variables="age", values={1000: 1})
    born = sdc.Microdata.of(pl.DataFrame({"born": [date(2000, 1, 1)]}))
    with pytest.raises(ColumnError, match="holds dates or times"):
        prepare.replace_values(born, variables="born", values={"2000-01-01": "2001-01-01"})


def test_types_change_without_losing_a_value():
    done = prepare.set_type(persons(), variables=["sex"], type="category")
    assert done.frame["sex"].to_list() == ["1", "2", "9", "2", "1"]
    assert done.labels.text("sex", "9") == "refused"
    back = prepare.set_type(done, variables=["sex"], type="number")
    assert back.frame["sex"].to_list() == [1, 2, 9, 2, 1]
    assert back.labels.values == LABELS.values
    data = persons(
        x=["1,5", " 2", None, "3", "4"], y=["1.5", "2", "-3e2", "4", None], z=[True, False] * 2 + [None]
    )
    american = prepare.set_type(persons(d=["12/31/1980"] + ["01/02/1990"] * 4), variables="d", type="date")
    assert american.frame["d"].to_list()[:2] == [date(1980, 12, 31), date(1990, 1, 2)]
    numbers = prepare.set_type(data, variables=["x", "y", "z"], type="number").frame
    assert numbers["x"].to_list() == [1.5, 2, None, 3, 4]
    assert numbers["y"].to_list() == [1.5, 2, -300, 4, None]
    assert numbers["z"].to_list() == [1, 0, 1, 0, None]
    days = persons(d=["31.12.1980", None, "1.2.1990", "01.02.1990", "3.4.2000"], n=[20240131] * 5)
    done = prepare.set_type(days, variables="d", type="date", format="%d.%m.%Y")
    assert done.frame["d"].to_list()[:3] == [date(1980, 12, 31), None, date(1990, 2, 1)]
    assert prepare.set_type(days, variables=["d", "n"], type="date").frame["d"].equals(done.frame["d"])
    assert prepare.set_type(days, variables="n", type="date", format="%Y%m%d").frame["n"][0] == date(
        2024, 1, 31
    )


@pytest.mark.parametrize(
    ("values", "options", "said"),
    [
        (["1", "x", "3", "4", "5"], {"type": "number"}, "1 of 5 values.*declare_missing"),
        (["0110", "1", "2", "3", "4"], {"type": "number"}, "codes such as 0110 are categories"),
        (["31.12.1980"] * 5, {"type": "date", "format": "%Y-%m-%d"}, "5 of 5 values"),
        (["31.12.1980", "31.12.80", "x", "1.1.1990", "2.2.1992"], {"type": "date"}, "2 of 5 values.*form of"),
        (["01/02/1980"] * 5, {"type": "date"}, "can be read as %d/%m/%Y or %m/%d/%Y"),
        (["2020-01-01"] * 5, {"type": "number", "format": "%Y"}, "'format' of set_type means nothing"),
        (["2020-01-01"] * 5, {"type": "thing"}, "'type' of set_type is not valid"),
        ([date(2000, 1, 1)] * 5, {"type": "number"}, "dates, which are no numbers"),
    ],
)
def test_types_that_do_not_fit(values, options, said):
    with pytest.raises(SdcError, match=said):
        prepare.set_type(persons(x=values), variables="x", **options)


# --- columns


def test_columns_are_combined():
    data = persons(region=["N", "N", None, "S", "S"])
    done = prepare.combine(data, variables=["region", "sex"], name="stratum")
    assert done.frame["stratum"].to_list() == ["N / 1", "N / 2", None, "S / 2", "S / 1"]
    assert only(done).figures == {"different_values": 4, "made_from": {"stratum": ["region", "sex"]}}
    with pytest.raises(ColumnError, match="a column 'sex' already"):
        prepare.combine(data, variables=["region", "age"], name="sex")
    with pytest.raises(OptionError, match="variables"):
        prepare.combine(data, variables=["region"], name="stratum")
    with pytest.raises(DataError, match="which stands between"):
        prepare.combine(persons(region=["a / b"] * 5), variables=["region", "sex"], name="s")


def test_a_direct_identifier_does_not_get_another_name():
    data = persons(name=list("abcde"))
    done = prepare.combine(data, variables=["name", "sex"], name="who")
    with pytest.raises(RoleError, match="'who' was made from name, a direct identifier"):
        done.with_roles(direct=["name"])
    short = {f"{n} / {s}": n for n, s in done.frame.select("name", "sex").rows()}
    renamed = prepare.replace_values(done, variables="who", values=short)
    again = prepare.combine(renamed, variables=["who", "age"], name="also")
    with pytest.raises(RoleError, match="'also' was made from who, name"):
        again.with_roles(direct=["name", "who"])
    assert again.with_roles(direct=["name", "who", "also"])


def test_columns_without_values_go():
    done = prepare.drop_empty(persons(note=[None] * 5, other=pl.Series([None] * 5, dtype=pl.String)))
    assert done.columns == ("hid", "sex", "age")
    assert only(done).figures == {"columns_removed": ["note", "other"]}
    assert prepare.drop_empty(persons()).columns == ("hid", "sex", "age")
    with pytest.raises(DataError, match="No column would be left"):
        prepare.drop_empty(sdc.Microdata.of(pl.DataFrame({"x": [None, None]})))


HOMES = pl.DataFrame({"hid": [3, 1, 2, 4], "region": ["S", "N", None, "S"], "rooms": [1, 2, 3, 4]})


def test_households_are_merged(tmp_path: Path):
    done = prepare.merge_file(persons(), file=HOMES, by="hid")
    assert done.frame["region"].to_list() == ["N", "N", None, "S", "S"]
    assert done.frame["rooms"].to_list() == [2, 2, 3, 1, 1]
    assert done.frame["age"].to_list() == persons().frame["age"].to_list()
    assert only(done).figures == {"columns_added": ["region", "rooms"], "households": 3}
    HOMES.write_csv(tmp_path / "homes.csv")
    read = prepare.merge_file(persons(), file=tmp_path / "homes.csv", by="hid", variables=["rooms"])
    assert read.columns == ("hid", "sex", "age", "rooms")
    assert only(read).options["file"] == str(tmp_path / "homes.csv")


@pytest.mark.parametrize(
    ("homes", "options", "said"),
    [
        (HOMES.head(2), {}, "Persons have no household.*1 of 5 persons"),
        (pl.concat([HOMES, HOMES.head(1)]), {}, "repeated in the household file.*2 records"),
        (HOMES.with_columns(pl.col("hid").cast(pl.String)), {}, "of another type"),
        (HOMES.rename({"rooms": "age"}), {}, "Both files have these columns"),
        (HOMES.select("hid"), {}, "no further column"),
        (HOMES, {"variables": ["garden"]}, "There is no column 'garden'"),
        (HOMES, {"by": "age"}, "There is no column 'age'"),
        ("/none/homes.csv", {}, "does not exist"),
    ],
)
def test_households_that_cannot_be_merged(homes, options, said):
    with pytest.raises(SdcError, match=said):
        prepare.merge_file(persons(), **{"file": homes, "by": "hid", **options})


def test_a_person_without_a_number_has_no_household():
    with pytest.raises(DataError, match="1 of 5 persons"):
        prepare.merge_file(persons(hid=[1, 1, 2, 3, None]), file=HOMES, by="hid")
