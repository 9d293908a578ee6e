"""Utility measures: functions from the original and the protected Microdata to a Result."""

from sdckit.utility.contingency_tables import contingency_tables as contingency_tables
from sdckit.utility.il1s import il1s as il1s
from sdckit.utility.missing_values import missing_values as missing_values
