"""The only place that knows Polars, DuckDB or Spark."""
