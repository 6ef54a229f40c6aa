"""The environment that a gate's command sees: the caller's, without what looks like a secret."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence

_SECRET = re.compile(
    r"TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|API_?KEY|ACCESS_?KEY|PRIVATE|AUTH|COOKIE|WEBHOOK"
    r"|_PWD|(^|_)(KEYS?|PASS|PAT|DSN)(_|$)|^PGPASS|^GIT_|^GH_|^GITHUB_|^GITLAB_"
    r"|^CI_|^AWS_|^AZURE_|^GOOGLE_|^SSH_|^GPG_|^NPM_|^HF_|^STACKMERGE_",
    re.IGNORECASE,
)
_URL_WITH_PASSWORD = re.compile(r"://[^\s/?#@:]*:[^\s/?#@]+@")
_PROXY = re.compile(r"_PROXY$", re.IGNORECASE)
_USER = re.compile(r"^([a-z][a-z0-9+.-]*://)?[^\s/]*@", re.IGNORECASE)


def environment(allowed: Sequence[str] = (), extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The caller's environment without what looks like a secret, but for the names that a gate asks for.

    A secret is known by its name, or as the password in a URL. A proxy stays, without the user that it is asked as.
    The width is fixed: a log must not depend on the terminal that the rebuild was started from.
    """
    kept = {}
    for name, value in os.environ.items():
        if name in allowed:
            kept[name] = value
        elif _SECRET.search(name):
            continue
        elif _PROXY.search(name):
            kept[name] = _USER.sub(r"\1", value)
        elif not _URL_WITH_PASSWORD.search(value):
            kept[name] = value
    return {**kept, "COLUMNS": "100", **(extra or {})}
