"""``python -m stackmerge`` and the ``stackmerge`` script."""

from stackmerge.cli import main

if __name__ == "__main__":
    main()
