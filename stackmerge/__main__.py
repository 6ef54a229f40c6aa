"""``python -m stackmerge`` and the ``stackmerge`` script."""

import gc

gc.set_threshold(50_000)  # before anything is loaded: what a command holds, it mostly holds to its end

from stackmerge.cli import main  # noqa: E402

if __name__ == "__main__":
    main()
