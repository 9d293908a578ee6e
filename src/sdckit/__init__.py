"""sdckit: statistical disclosure control for Python.

>>> import sdckit as sdc
>>> data = sdc.demo.survey(n=500, seed=1)
>>> protected = sdc.protect.suppress(data, k=3)
>>> sdc.risk.k_anonymity(protected, k=3).value
0.0
"""

from importlib.metadata import version

from sdckit import protect as protect
from sdckit import risk as risk
from sdckit import utility as utility
from sdckit.errors import SdcError as SdcError
from sdckit.labels import Labels as Labels
from sdckit.microdata import Microdata as Microdata
from sdckit.missing import Missing as Missing
from sdckit.result import Result as Result
from sdckit.roles import Role as Role

__version__ = version("sdckit")
