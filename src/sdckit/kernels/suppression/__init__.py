"""Which key values to suppress, decided on key cells, and what an informed intruder still finds."""
