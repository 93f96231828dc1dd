"""Run the command line with ``python -m labeler``."""

from labeler.cli import main

if __name__ == "__main__":
    main(prog_name="labeler")
