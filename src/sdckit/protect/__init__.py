"""Protection methods: functions from Microdata to Microdata."""

from sdckit.protect.microaggregate import microaggregate as microaggregate
from sdckit.protect.recode import recode as recode
from sdckit.protect.suppress import suppress as suppress
