"""Roles are suggested for names in other languages, with accents and more words."""

import numpy as np
import polars as pl

import sdckit as sdc
from sdckit.choose.describe import is_commonly_known

RNG = np.random.default_rng(1)
N = 200


def test_names_in_french_and_german_are_understood():
    weights = np.round(RNG.uniform(50, 150, N), 3)
    frame = pl.DataFrame(
        {
            "N° de ménage": [f"M{i // 2}" for i in range(N)],
            "Région": RNG.choice(["Nord", "Sud"], N),
            "sexe (1=h, 2=f)": RNG.choice([1, 2], N),
            "santé": RNG.choice(["bonne", "mauvaise"], N),
            "Poids": weights,
            "Alter": RNG.integers(20, 60, N),
            "revenu": np.exp(RNG.normal(7, 1, N)),
        }
    )
    roles = sdc.describe(sdc.read(frame)).roles
    assert roles == {
        "household": "N° de ménage",
        "keys": ["Région", "sexe (1=h, 2=f)", "Alter"],
        "sensitive": ["santé"],
        "weight": "Poids",
        "numeric": ["revenu"],
    }


def test_numbers_of_spss_are_told_from_codes_and_ids_by_their_values():
    """Every number comes with decimals, and an amount may have a label for "refused" alone."""
    pay = [float(v) for v in RNG.integers(900, 5000, N)]
    frame = pl.DataFrame(
        {
            "hh_income": [float(i // 2 * 310) for i in range(N)],
            "hh_nr": [float(i // 2) for i in range(N)],
            "person_id": [20250000.0 + i for i in range(N)],
            "members": [1.0, 2.0, 3.0, 4.0] * (N // 4),
            "pay": pay,
            "share": [0.25, 0.5] * (N // 2),
            "sex": [1.0, 2.0] * (N // 2),
            "Bemerkung": ["keine", "Frau Huber war da"] * (N // 2),
        }
    )
    labels = sdc.Labels(values={"pay": {999998: "refused"}, "sex": {1: "m", 2: "f"}})
    found = sdc.describe(sdc.Microdata.of(frame, labels=labels))
    assert found.roles == {
        "household": "hh_nr",
        "id": "person_id",
        "keys": ["sex"],
        "numeric": ["hh_income", "pay", "share"],
        "direct": ["Bemerkung"],
    }
    reasons = {c.name: c.reason for c in found.columns}
    assert reasons["members"] == ""  # four values are not "many"
    assert reasons["pay"] == "numbers with many different values"
    assert reasons["share"] == "numbers with decimals"


def test_a_short_label_is_asked_where_the_name_says_nothing_of_a_role():
    frame = pl.DataFrame(
        {
            "gew_pers": RNG.uniform(1, 9, N),
            "HH_Größe": [float(v) for v in RNG.integers(1, 6, N)],
            "gdr_kat": [1.0, 2.0] * (N // 2),
            "outc": [1.0, 2.0, 3.0, 4.0] * (N // 4),
            "opinion": [1.0, 2.0] * (N // 2),
            "NUTS3": ["AT111", "AT112"] * (N // 2),
        }
    )
    texts = {
        "gdr_kat": "Geschlecht",
        "outc": "Diagnose",
        "opinion": "What do you think of your sex education?",
    }
    found = sdc.describe(sdc.Microdata.of(frame, labels=sdc.Labels(variables=texts)))
    assert found.roles == {
        "weight": "gew_pers",
        "keys": ["HH_Größe", "gdr_kat", "NUTS3"],
        "sensitive": ["outc"],
    }
    reasons = {c.name: c.reason for c in found.columns}
    assert reasons["gdr_kat"] == reasons["outc"] == "its label"
    assert reasons["NUTS3"] == "its name"


def test_remarks_of_few_records_are_free_text():
    """Most records have none, so that few of all records have one; what a column is called goes first."""
    few = [i % 5 == 0 for i in range(N)]
    frame = pl.DataFrame(
        {
            "q17": [f"called again on day {i}" if there else None for i, there in enumerate(few)],
            "occupation": [f"job {i // 5}" if there else None for i, there in enumerate(few)],
            "DNAISS": pl.date_range(pl.date(1950, 1, 1), pl.date(1950, 7, 19), eager=True),
            "REMARQ": ["rien", "voir Mme Dupont"] * (N // 2),
        }
    )
    data = sdc.Microdata.of(frame, labels=sdc.Labels({"REMARQ": "Remarques", "DNAISS": "Date de naissance"}))
    assert sdc.describe(data).roles == {"keys": ["occupation", "DNAISS"], "direct": ["q17", "REMARQ"]}


def test_amounts_with_a_few_words_among_them_are_no_direct_identifier():
    amounts = [f"{900 + 7 * i},5" for i in range(200)]
    records = pl.DataFrame(
        {
            "revenu net": [*amounts, *["refus"] * 6],
            "telephone": [*amounts, *["refus"] * 6],
            "matricule": [*(f"0{i}" for i in range(200)), *["aucun"] * 6],
        }
    )
    found = {c.name: c for c in sdc.describe(sdc.read(records)).columns}
    assert found["revenu net"].role is None
    assert "numbers but for a few words" in found["revenu net"].reason
    assert found["revenu net"].missing_codes == ("refus",)
    assert (found["telephone"].role, found["matricule"].role) == ("direct", "direct")


def test_what_neighbours_know_is_known_under_its_austrian_names_too():
    austrian = ("Bezirk", "Staatsbürgerschaft", "staatsangehoerigkeit", "Arbeitgeber", "Kinder", "yob")
    for name in (*austrian, "school_id", "kids", "mother tongue"):
        assert is_commonly_known(name), name
    assert not is_commonly_known("kinderkrankheit")
