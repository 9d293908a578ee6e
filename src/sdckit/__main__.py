"""`python -m sdckit` is the command sdckit."""

from sdckit.cli import main

if __name__ == "__main__":
    main()
