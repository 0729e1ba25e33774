"""``python -m headrace``: the command, also where its script is not on the path."""

from headrace.cli.main import run

if __name__ == "__main__":
    run()
