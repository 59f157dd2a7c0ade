"""``python -m forensix``, which is the command ``forensix``."""

from forensix.cli import main

if __name__ == "__main__":
    main()
