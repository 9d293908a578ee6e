"""Charts as data (Altair), drawn from aggregates: plain tables and numbers in, a chart out."""

from sdckit.charts.before_after import before_after as before_after
from sdckit.charts.histogram import histogram as histogram
from sdckit.charts.mosaic import mosaic as mosaic
from sdckit.charts.risk_utility_map import risk_utility_map as risk_utility_map
from sdckit.charts.static_svg import static_svg as static_svg
from sdckit.charts.variable_bars import variable_bars as variable_bars
