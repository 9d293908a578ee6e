"""Protection methods: functions from Microdata to Microdata."""

from sdckit.protect.add_noise import add_noise as add_noise
from sdckit.protect.microaggregate import microaggregate as microaggregate
from sdckit.protect.rank_swap import rank_swap as rank_swap
from sdckit.protect.recode import recode as recode
from sdckit.protect.suppress import suppress as suppress
