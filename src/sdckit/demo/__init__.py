"""The project's own generated microdata: artificial persons and enterprises."""

from typing import TYPE_CHECKING

from sdckit._support.module_names import module_names as _module_names
from sdckit.demo.business import business as business
from sdckit.demo.survey import survey as survey

if not TYPE_CHECKING:
    __getattr__, __dir__ = _module_names(globals())
