"""Survey estimation: indicators and regressions with design-based variances, and how two of them compare."""
