"""The scenarios of `sdckit demo`, in the spirit of Table 6.1 of the practice guide (Benschop et al. 2019).

Plain data, as a plan has them: another way to protect is one more entry. The first ones are what is
often done, and what an intruder still finds after it; the cells are meant to survive the attack. The last
one is synthetic: it loses least by far, and cannot be cleared, as nobody was held back to compare with.
"""

from typing import Any

# What somebody might know of a neighbour or see from the road.
KEYS = ("region", "sex", "age", "education", "household_size")
NUMERIC = ("income", "expenditure")
SENSITIVE = ("health",)
DESIGN = ("person_id", "household_id", "stratum", "psu")
COLUMNS = (*DESIGN, *KEYS, *SENSITIVE, *NUMERIC, "weight")  # of the artificial survey, which has more

# Who might look for somebody, and what they know. The map is about the one who knows most.
INTRUDERS: dict[str, Any] = {
    "neighbour": {"knows": ["keys"], "in_file": False, "max_risk": 0.01, "on_axis": False},
    "family": {"knows": ["keys"], "unit": "household", "max_risk": 0.2, "on_axis": False},
    "colleague": {"knows": ["keys", {"income": "10%"}, {"expenditure": "10%"}], "max_risk": 0.1},
}

# Strata, clusters and households tell the region and who lives together; the order of the file and old
# numbers tell the person.
FIRST: list[Any] = [{"drop": {"variables": ["household_id", "stratum", "psu"]}}]
LAST: list[Any] = [{"new_ids": {}}, {"shuffle_order": {}}]
COARSE: list[Any] = [
    *FIRST,
    {
        "recode": {
            "variable": "region",
            "breaks": [2, 4],
            "labels": ["Capital", "Coast and Plains", "Lakes to Islands"],
        }
    },
    {
        "recode": {
            "variable": "age",
            "breaks": [15, 30, 45, 65],
            "labels": ["under 15", "15–29", "30–44", "45–64", "65 and over"],
        }
    },
    {
        "recode": {
            "variable": "education",
            "breaks": [3, 5],
            "labels": ["Primary or none", "Secondary", "Post-secondary"],
        }
    },
    {
        "recode": {
            "variable": "household_size",
            "breaks": [3, 5],
            "labels": ["1 or 2", "3 or 4", "5 and more"],
        }
    },
    # the weight of a household, with its region and size, would show who lives together, even if rounded
    {
        "microaggregate": {
            "variables": ["weight"],
            "method": "individual_ranking",
            "k": 20,
            "by": ["region", "household_size"],
        }
    },
]


def _in_cells(k: int) -> list[Any]:
    """Every combination of keys k times, and numbers as means of k persons with the same keys."""
    return [
        {"suppress": {"k": k}},
        {"microaggregate": {"variables": list(NUMERIC), "k": k, "by": list(KEYS)}},
    ]


SCENARIOS: dict[str, list[Any]] = {
    "age5": [*FIRST, {"recode": {"variable": "age", "width": 5}}, *LAST],
    "coarse": [*COARSE, *LAST],
    "coarse_k5": [*COARSE, {"suppress": {"k": 5}}, *LAST],
    "coarse_k5_noise": [*COARSE, {"suppress": {"k": 5}}, {"add_noise": {"sd": 0.3}}, *LAST],
    "coarse_k5_groups": [*COARSE, {"suppress": {"k": 5}}, {"microaggregate": {"k": 5}}, *LAST],
    "coarse_k5_swap": [*COARSE, {"suppress": {"k": 5}}, {"rank_swap": {"rank_distance": 0.1}}, *LAST],
    "cells_of_5": [*COARSE, *_in_cells(5), *LAST],
    "cells_of_10": [*COARSE, *_in_cells(10), *LAST],
    "cells_of_20": [*COARSE, *_in_cells(20), *LAST],
    "synthetic": [*FIRST, {"synthesize": {}}],
}

# What an intruder finds, against what two-way tables lose in detail or in error: the same for every file.
ASSESS: dict[str, Any] = {"max_risk": 0.1, "utility": "table_loss"}
