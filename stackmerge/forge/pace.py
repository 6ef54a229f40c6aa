"""How fast a forge may be asked: our own pace of writes, and the waits that it asks for itself."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping

# GitHub: 80 requests a minute and 500 an hour that create content.
WINDOWS = ((60.0, 80), (3600.0, 500))
LONGEST = 3700.0
_UNTOLD = 60.0


class Pace:
    """Waits before a write when there have been too many."""

    def __init__(
        self,
        tell: Callable[[str], None],
        now: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._tell = tell
        self.now = now
        self._sleep = sleep
        self._writes: deque[float] = deque(maxlen=max(most for _, most in WINDOWS))

    def before_write(self) -> None:
        """Wait until one more write is within every window."""
        for seconds, most in WINDOWS:
            if len(self._writes) >= most:
                self.wait(self._writes[-most] + seconds - self.now(), "the forge allows no faster writing")
        self._writes.append(self.now())

    def wait(self, seconds: float, why: str) -> None:
        if seconds > 0:
            self._tell(f"{why}: waiting {seconds:.0f} s")
            self._sleep(seconds)


def asked_to_wait(
    status: int, headers: Mapping[str, str], body: str, attempt: int, now: float
) -> float | None:
    """How many seconds a refusal asks us to wait; None where it is no rate limit.

    Source: GitHub's "Rate limits for the REST API": `retry-after`, else `x-ratelimit-reset` when nothing remains,
    else a minute, and longer each time.
    """
    if status not in (403, 429):
        return None
    after = headers.get("retry-after", "")
    if after.isdigit():
        return float(after)
    if headers.get("x-ratelimit-remaining") == "0" and headers.get("x-ratelimit-reset", "").isdigit():
        return max(float(headers["x-ratelimit-reset"]) - now, 0.0) + 1
    if status == 429 or "rate limit" in body.lower():
        return _UNTOLD * (1 << attempt)
    return None
