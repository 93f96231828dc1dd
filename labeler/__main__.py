"""``python -m labeler`` is the command ``labeler``."""

from labeler.cli import main

if __name__ == "__main__":
    main(prog_name="labeler")
