"""Disclosure-risk measures: functions from Microdata to a Result."""

from sdckit.risk.frequencies import frequencies as frequencies
from sdckit.risk.individual_risk import individual_risk as individual_risk
from sdckit.risk.k_anonymity import k_anonymity as k_anonymity
