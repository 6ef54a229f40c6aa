"""Who listens to a rebuild: a view where standard error is a terminal, and a file of events where one is named."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from stackmerge import screen_terminal
from stackmerge.progress.event import Event, Tell, silent
from stackmerge.stack import Stack


@contextmanager
def watching(verb: str, stack: Stack, *, gated: bool, events: str = "") -> Iterator[Tell]:
    """Tell those who listen; nothing is started where nobody does.

    ``gated``: gates may run; ``events``: a file for JSON lines, ``-`` for standard output, empty for none.
    """
    listeners: list[Tell] = []
    with ExitStack() as listening:
        if screen_terminal.smart():
            from stackmerge.show.live import View

            view = View(verb, stack.name, gated=gated and bool(stack.manifest.gates))
            listening.enter_context(view.shown())
            listeners.append(view)
        elif sys.stderr.isatty():
            from stackmerge.show.plain import Plain

            listeners.append(Plain())
        if events:
            from stackmerge.show.events import event_log

            listeners.append(listening.enter_context(event_log(events)))
        yield _all(listeners)


def _all(listeners: list[Tell]) -> Tell:
    if len(listeners) < 2:
        return listeners[0] if listeners else silent

    def tell(event: Event) -> None:
        for listener in listeners:
            listener(event)

    return tell
