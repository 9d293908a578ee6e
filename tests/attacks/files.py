"""Pairs of files on which a verdict must not be "releasable", and pairs on which it must be.

from attacks.files import ATTACKS, HONEST

for case in ATTACKS:
    case.name, case.why, case.original, case.protected, case.max_risk, case.intruders, case.hits()
"""

from attacks import honest, on_columns, on_dates, on_households, on_keys, on_numbers, on_synthetic
from attacks.case import Case

ATTACKS: list[Case] = [
    case
    for module in (on_keys, on_columns, on_numbers, on_dates, on_households, on_synthetic)
    for case in module.CASES
]
HONEST: list[Case] = [*honest.CASES, *on_dates.HONEST]
