"""``python -m forensix``, which is the command ``forensix``."""

import sys

from forensix.interpreter import import_path

# ``-m`` has Python look for modules in the current folder first, before its own.
sys.path[:] = import_path()

from forensix.cli import main  # noqa: E402

if __name__ == "__main__":
    main()
