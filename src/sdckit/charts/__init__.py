"""Charts as data (Altair), drawn from aggregates: plain tables, numbers or a Result in, a chart out."""

from typing import TYPE_CHECKING

from sdckit._support.module_names import module_names as _module_names
from sdckit._support.static_svg import plain as plain
from sdckit._support.static_svg import static_svg as static_svg
from sdckit._support.static_svg import unchecked as unchecked
from sdckit.charts.attack_rates import attack_rates as attack_rates
from sdckit.charts.bars import FigureBars as FigureBars
from sdckit.charts.bars import PartsBars as PartsBars
from sdckit.charts.bars import PartsBeforeAfter as PartsBeforeAfter
from sdckit.charts.bars import TableBars as TableBars
from sdckit.charts.bars import variable_bars as variable_bars
from sdckit.charts.before_after import before_after as before_after
from sdckit.charts.box_plots import box_plots as box_plots
from sdckit.charts.classes import CellSizes as CellSizes
from sdckit.charts.classes import risk_distribution as risk_distribution
from sdckit.charts.closest_distances import closest_distances as closest_distances
from sdckit.charts.cluster_shares import cluster_shares as cluster_shares
from sdckit.charts.correlation_heatmaps import correlation_heatmaps as correlation_heatmaps
from sdckit.charts.distribution_overlays import distribution_overlays as distribution_overlays
from sdckit.charts.ecdf_curves import ecdf_curves as ecdf_curves
from sdckit.charts.ellipses import ellipses as ellipses
from sdckit.charts.estimate_and_risk import estimate_and_risk as estimate_and_risk
from sdckit.charts.estimates import estimates as estimates
from sdckit.charts.histogram import histogram as histogram
from sdckit.charts.moment_change import moment_change as moment_change
from sdckit.charts.mosaic import mosaic as mosaic
from sdckit.charts.mosaic_three import mosaic_three as mosaic_three
from sdckit.charts.mosaics import mosaics as mosaics
from sdckit.charts.outliers_at_risk import outliers_at_risk as outliers_at_risk
from sdckit.charts.pair_heatmap import pair_heatmap as pair_heatmap
from sdckit.charts.risk_utility_map import risk_utility_map as risk_utility_map
from sdckit.charts.risk_utility_multiples import MapPanel as MapPanel
from sdckit.charts.risk_utility_multiples import risk_utility_multiples as risk_utility_multiples
from sdckit.charts.robust_distances import robust_distances as robust_distances
from sdckit.charts.score_densities import score_densities as score_densities
from sdckit.charts.table_change import table_change as table_change
from sdckit.charts.table_heatmap import table_heatmap as table_heatmap

if not TYPE_CHECKING:
    __getattr__, __dir__ = _module_names(globals())
