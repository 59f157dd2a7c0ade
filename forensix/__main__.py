"""The command ``forensix``, and ``python -m forensix``."""

import sys
from typing import NoReturn

from forensix.errors import UsageError
from forensix.interpreter import import_path

# ``-m`` has Python look for modules in the current folder first, before its own.
try:
    sys.path[:] = import_path()
except UsageError as error:
    sys.exit(f"forensix: {error}")


def main() -> NoReturn:
    """Run the command; one that is interrupted while it loads says so as it does later on."""
    try:
        from forensix.cli import main as run
    except KeyboardInterrupt:
        print("\nforensix: interrupted", file=sys.stderr)
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
