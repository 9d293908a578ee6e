"""Protection methods: functions from Microdata to Microdata."""

from typing import TYPE_CHECKING

from sdckit._support.module_names import module_names as _module_names
from sdckit.protect.add_noise import add_noise as add_noise
from sdckit.protect.bottom_code import bottom_code as bottom_code
from sdckit.protect.drop import drop as drop
from sdckit.protect.group import group as group
from sdckit.protect.microaggregate import microaggregate as microaggregate
from sdckit.protect.new_ids import new_ids as new_ids
from sdckit.protect.pram import pram as pram
from sdckit.protect.rank_swap import rank_swap as rank_swap
from sdckit.protect.recode import recode as recode
from sdckit.protect.round_values import round_values as round_values
from sdckit.protect.sample_records import sample_records as sample_records
from sdckit.protect.shift_dates import shift_dates as shift_dates
from sdckit.protect.shuffle import shuffle as shuffle
from sdckit.protect.shuffle_order import shuffle_order as shuffle_order
from sdckit.protect.suppress import suppress as suppress
from sdckit.protect.suppress_risky import suppress_risky as suppress_risky
from sdckit.protect.swap_records import swap_records as swap_records
from sdckit.protect.synthesize import synthesize as synthesize
from sdckit.protect.top_code import top_code as top_code

if not TYPE_CHECKING:
    __getattr__, __dir__ = _module_names(globals())
