"""`python -m sdckit` is the command sdckit."""

import sys

from sdckit.cli import main

if __name__ == "__main__":
    sys.exit(main())
