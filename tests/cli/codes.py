"""Exit codes that tests ask for."""

RAN = (0, 3, 4)  # the run was carried out, whatever the verdict on the file
