"""pygit2, set up for a process that reads and writes objects with it and never talks to a network.

Importing pygit2 loads the machine's certificates, which takes a quarter of its time, and fails where there are none;
so it is shown a place without any. libgit2 hashes each object that it takes from a pack; git does not, and relies
on the checksums of the pack.
"""

import os
from pathlib import Path

_NO_CERTIFICATES = {"SSL_CERT_FILE": os.devnull, "SSL_CERT_DIR": str(Path(__file__).parent)}
_before = {name: os.environ.get(name) for name in _NO_CERTIFICATES}
os.environ.update(_NO_CERTIFICATES)
try:
    import pygit2
finally:
    for _name, _value in _before.items():
        if _value is None:
            del os.environ[_name]
        else:
            os.environ[_name] = _value

pygit2.settings.enable_strict_hash_verification(False)
# What is mapped of a pack counts as this process' memory; by default that is the whole pack.
pygit2.settings.mwindow_size = 1 << 20
pygit2.settings.mwindow_mapped_limit = 16 << 20

__all__ = ["pygit2"]
