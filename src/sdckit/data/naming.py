"""From when on the values of a column (nearly) name the records that have them."""

DIFFERENT = 0.5  # as many different values as half of the records: the column (nearly) names them
FEWEST = 20  # different values at least: in a handful of records every column has few values in common
