"""Utility measures: functions from the original and the protected Microdata to a Result."""

from typing import TYPE_CHECKING

from sdckit._support.module_names import module_names as _module_names
from sdckit.utility.cluster_overlap import cluster_overlap as cluster_overlap
from sdckit.utility.contingency_loss import contingency_loss as contingency_loss
from sdckit.utility.contingency_tables import contingency_tables as contingency_tables
from sdckit.utility.correlation_loss import correlation_loss as correlation_loss
from sdckit.utility.distribution_distance import distribution_distance as distribution_distance
from sdckit.utility.ecdf_distance import ecdf_distance as ecdf_distance
from sdckit.utility.eigenvalues import eigenvalues as eigenvalues
from sdckit.utility.entropy import entropy as entropy
from sdckit.utility.entropy_loss import entropy_loss as entropy_loss
from sdckit.utility.gower_distance import gower_distance as gower_distance
from sdckit.utility.il1 import il1 as il1
from sdckit.utility.il1s import il1s as il1s
from sdckit.utility.indicators import indicators as indicators
from sdckit.utility.matrix_discrepancy import matrix_discrepancy as matrix_discrepancy
from sdckit.utility.missing_values import missing_values as missing_values
from sdckit.utility.moments import moments as moments
from sdckit.utility.prediction_quality import prediction_quality as prediction_quality
from sdckit.utility.probabilistic_loss import probabilistic_loss as probabilistic_loss
from sdckit.utility.propensity import propensity as propensity
from sdckit.utility.records_changed import records_changed as records_changed
from sdckit.utility.regression import regression as regression
from sdckit.utility.table_loss import table_loss as table_loss
from sdckit.utility.table_pmse import table_pmse as table_pmse
from sdckit.utility.variable_loss import variable_loss as variable_loss

if not TYPE_CHECKING:
    __getattr__, __dir__ = _module_names(globals())
