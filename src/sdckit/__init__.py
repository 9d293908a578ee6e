"""sdckit: statistical disclosure control for Python.

>>> import sdckit as sdc
>>> data = sdc.demo.survey(n=500, seed=1)
>>> protected = sdc.protect.suppress(data, k=3)
>>> sdc.risk.k_anonymity(protected, k=3).value
0.0
"""

from typing import TYPE_CHECKING

from sdckit._support.module_names import module_names as _module_names
from sdckit._version import __version__ as __version__
from sdckit.errors import SdcError as SdcError
from sdckit.report import report as report

if TYPE_CHECKING:
    from sdckit import charts as charts
    from sdckit import demo as demo
    from sdckit import prepare as prepare
    from sdckit import protect as protect
    from sdckit import risk as risk
    from sdckit import utility as utility
    from sdckit.choose.assess import assess as assess
    from sdckit.choose.assessment import Assessment as Assessment
    from sdckit.choose.compare import compare as compare
    from sdckit.choose.describe import describe as describe
    from sdckit.choose.plan import Plan as Plan
    from sdckit.choose.risk_utility_map import RiskUtilityMap as RiskUtilityMap
    from sdckit.choose.scenario import Scenario as Scenario
    from sdckit.choose.scenario import Step as Step
    from sdckit.choose.search import search as search
    from sdckit.choose.synthetic_sets import synthesize as synthesize
    from sdckit.choose.warm_up import warm_up as warm_up
    from sdckit.data.intruder import Intruder as Intruder
    from sdckit.data.key_cells import Missing as Missing
    from sdckit.data.labels import Labels as Labels
    from sdckit.data.microdata import Microdata as Microdata
    from sdckit.data.result import Result as Result
    from sdckit.data.roles import Role as Role
    from sdckit.io import read as read
    from sdckit.io import write as write
    from sdckit.report import load_results as load_results
    from sdckit.report import save_results as save_results

if not TYPE_CHECKING:
    # everything loads when it is first used: importing sdckit stays quick
    __getattr__, __dir__ = _module_names(
        globals(),
        packages=("charts", "demo", "prepare", "protect", "registry", "risk", "utility"),
        names={
            "Assessment": "choose.assessment",
            "Intruder": "data.intruder",
            "Labels": "data.labels",
            "Microdata": "data.microdata",
            "Missing": "data.key_cells",
            "Plan": "choose.plan",
            "Result": "data.result",
            "RiskUtilityMap": "choose.risk_utility_map",
            "Role": "data.roles",
            "Scenario": "choose.scenario",
            "Step": "choose.scenario",
            "assess": "choose.assess",
            "compare": "choose.compare",
            "describe": "choose.describe",
            "load_results": "report.results",
            "read": "io",
            "save_results": "report.results",
            "search": "choose.search",
            "synthesize": "choose.synthetic_sets",
            "warm_up": "choose.warm_up",
            "write": "io",
        },
    )
