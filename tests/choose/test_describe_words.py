"""Roles are suggested for names in other languages, with accents and more words."""

import numpy as np
import polars as pl

import sdckit as sdc

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
