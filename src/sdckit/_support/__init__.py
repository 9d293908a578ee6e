"""What knows nothing of the field: arrays, files, messages, the text of numbers."""
