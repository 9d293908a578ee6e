"""Disclosure-risk measures: functions from Microdata to a Result."""

from typing import TYPE_CHECKING

from sdckit._support.module_names import module_names as _module_names
from sdckit.risk.attribute_disclosure import attribute_disclosure as attribute_disclosure
from sdckit.risk.attribute_inference import attribute_inference as attribute_inference
from sdckit.risk.atypical_records import atypical_records as atypical_records
from sdckit.risk.closest_record import closest_record as closest_record
from sdckit.risk.frequencies import frequencies as frequencies
from sdckit.risk.household_risk import household_risk as household_risk
from sdckit.risk.identification_risk import identification_risk as identification_risk
from sdckit.risk.individual_risk import individual_risk as individual_risk
from sdckit.risk.inference_attack import inference_attack as inference_attack
from sdckit.risk.interval_disclosure import interval_disclosure as interval_disclosure
from sdckit.risk.k_anonymity import k_anonymity as k_anonymity
from sdckit.risk.k_map import k_map as k_map
from sdckit.risk.l_diversity import l_diversity as l_diversity
from sdckit.risk.linkability import linkability as linkability
from sdckit.risk.magnitude_tables import magnitude_tables as magnitude_tables
from sdckit.risk.outlier_disclosure import outlier_disclosure as outlier_disclosure
from sdckit.risk.population_uniques import population_uniques as population_uniques
from sdckit.risk.record_linkage import record_linkage as record_linkage
from sdckit.risk.reidentification_risk import reidentification_risk as reidentification_risk
from sdckit.risk.revealing_columns import revealing_columns as revealing_columns
from sdckit.risk.singling_out import singling_out as singling_out
from sdckit.risk.suda import suda as suda
from sdckit.risk.t_closeness import t_closeness as t_closeness

if not TYPE_CHECKING:
    __getattr__, __dir__ = _module_names(globals())
