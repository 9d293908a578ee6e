"""The project's own generated microdata: artificial persons and enterprises."""

from sdckit.demo.business import business
from sdckit.demo.survey import survey

__all__ = ["business", "survey"]
