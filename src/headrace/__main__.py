"""``python -m headrace``: the command, also where its script is not on the path."""

import sys

from headrace.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
