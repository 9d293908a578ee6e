"""Preparations: what is done to a file before it is the original that is protected and measured."""

from typing import TYPE_CHECKING

from sdckit._support.module_names import module_names as _module_names
from sdckit.prepare.combine import combine as combine
from sdckit.prepare.declare_missing import declare_missing as declare_missing
from sdckit.prepare.drop_empty import drop_empty as drop_empty
from sdckit.prepare.equal_weights import equal_weights as equal_weights
from sdckit.prepare.keep_records import keep_records as keep_records
from sdckit.prepare.merge_file import merge_file as merge_file
from sdckit.prepare.replace_values import replace_values as replace_values
from sdckit.prepare.set_missing import set_missing as set_missing
from sdckit.prepare.set_type import set_type as set_type

if not TYPE_CHECKING:
    __getattr__, __dir__ = _module_names(globals())
