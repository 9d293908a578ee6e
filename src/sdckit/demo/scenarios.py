"""The scenarios of `sdckit demo`, in the spirit of Table 6.1 of the practice guide (Benschop et al. 2019).

Plain data, as a scenario file has them: another way to protect is one more entry.
"""

from typing import Any

# What somebody might know of a neighbour or see from the road.
KEYS = ("region", "urban", "sex", "age", "education", "labour_status", "toilet")

# Strata and clusters tell the region, old numbers the person.
FIRST: list[Any] = [{"drop": {"variables": ["stratum", "psu"]}}, {"new_ids": {}}]
AGE: list[Any] = [*FIRST, {"recode": {"variable": "age", "width": 5}}]
COARSE: list[Any] = [
    *AGE,
    {
        "recode": {
            "variable": "region",
            "breaks": [2, 4, 6],
            "labels": ["Capital", "Coast and Plains", "Lakes and Hills", "Forest, Highlands and Islands"],
        }
    },
    {
        "recode": {
            "variable": "education",
            "breaks": [3, 5],
            "labels": ["Primary or none", "Secondary", "Post-secondary"],
        }
    },
]
# What households share is kept: weights and other members tell it when it is blanked for one of them.
IMPORTANT = {"region": "high", "urban": "high", "toilet": "high"}

SCENARIOS: dict[str, list[Any]] = {
    "age5": AGE,
    "age5_k3_important": [*AGE, {"suppress": {"k": 3, "importance": IMPORTANT}}],
    "age5_k5": [*AGE, {"suppress": {"k": 5}}],
    "coarse": COARSE,
    "coarse_k3": [*COARSE, {"suppress": {"k": 3}}],
    "coarse_k3_important": [*COARSE, {"suppress": {"k": 3, "importance": IMPORTANT}}],
    "coarse_k5_important": [*COARSE, {"suppress": {"k": 5, "importance": IMPORTANT}}],
    "coarse_k3_wealth": [
        *COARSE,
        {"suppress": {"k": 3}},
        {"microaggregate": {"variables": ["wealth_index"], "k": 3}},
    ],
    "coarse_k3_literacy": [*COARSE, {"suppress": {"k": 3}}, {"pram": {"variables": ["literacy"]}}],
}

# The risk of re-identification, against what the keys no longer tell and how far numbers moved.
ASSESS: dict[str, Any] = {"risk": "individual_risk", "utility": {"entropy_loss.share": 3, "il1s": 1}}
